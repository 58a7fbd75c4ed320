/**
 * The status store of the monitor, which copies its statuses to Redis for other processes. The copy in memory is always
 * current; after every outage Redis is filled from it again.
 */
import { randomUUID } from 'node:crypto';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { LoadableStatusStore } from '../ports/status.ts';
import { createMemoryStatusStore, type MemoryStatusStore } from './memory-status-store.ts';
import { pairsOf, type RedisClient, runScript } from './redis-client.ts';
import { openRedisConnection, type RedisConnectionState, type RedisContext } from './redis-connection.ts';
import { BEGIN, EMPTY, formatHeld, PUT, REMOVE, SUPERSEDED, statusKeys } from './redis-status-keys.ts';

/** Options of the store. */
interface RedisStatusStoreOptions extends RedisContext {
  /**
   * False: this process may have an unknown successor, as after a sleep, and writes nothing. The epoch alone does not tell
   * if Redis was emptied since. Default: always true.
   */
  readonly mayWrite?: () => boolean;
  /** The statuses that this process knows already, continued from now on by this store alone; absent: none. */
  readonly copy?: MemoryStatusStore;
}

/** The port, and the state of Redis. */
export interface RedisStatusStore extends LoadableStatusStore {
  state(): RedisConnectionState;
  /** True: another monitor has started under the same prefix, so that this one no longer writes. */
  readonly superseded: boolean;
}

/** Records of one script, which blocks Redis, and the rate limits in it, for a millisecond or two. */
const BATCH = 128;
/** Scripts that are sent without waiting, for a server that is far away. */
const SENT_TOGETHER = 8;
/** Routine records are collected for this time, milliseconds; then the newest one of each service is sent. */
const GATHER_MS = 200;
const TIMEOUT_MS = 1_000;

/**
 * Opens the store for the holder of the writer lease. Redis may be unavailable. The first records that are put are the
 * whole list, unless it is learned: records of other services are then removed from Redis.
 */
export function openRedisStatusStore(options: RedisStatusStoreOptions): RedisStatusStore {
  const { address, clock, log, mayWrite = () => true } = options;
  const keys = statusKeys(address.prefix);
  const allKeys = [keys.records, keys.changes, keys.meta];
  const copy = options.copy ?? createMemoryStatusStore({ log });
  const known = new Set<number>();
  let epoch = 0;
  let superseded = false;
  let loaded = false;
  let isLearning = false;
  let filling: Promise<void> | null = null;
  /** Services whose newest records are to be sent. */
  const changed = new Set<number>();
  const sending = createCoalescingLoop(sendChanged);
  /** Resolves when the routine records collected now are sent; null: none are collected. */
  let gathering: Promise<void> | null = null;

  const connection = openRedisConnection({
    ...options,
    purpose: 'status',
    timeoutMs: TIMEOUT_MS,
    async prepare(client) {
      checkMayWrite();
      const begun = Number(await runScript(client, BEGIN, [keys.meta], [epoch, randomUUID()]));
      if (begun === SUPERSEDED) supersede();
      else epoch = begun;
      // Without arguments the scripts change nothing: this shows that they may write, and loads them, so that they run in order.
      for (const script of [PUT, REMOVE]) await runScript(client, script, allKeys, [epoch]);
    },
    async probe(client) {
      const stored = Number((await client.hget(keys.meta, 'epoch')) ?? 0);
      if (stored > epoch) supersede();
      else if (stored < epoch) throw new Error('it was emptied');
    },
  });
  connection.watchReady(() => {
    if (loaded) fill();
  });

  /** Another monitor has started after this one, which must not write any more. */
  function supersede(): void {
    if (!superseded)
      log.error(
        { prefix: address.prefix },
        'another monitor uses this Redis prefix; not writing to Redis. Give each monitor its own ?prefix=',
      );
    superseded = true;
  }

  /** Throws, so that everything is written again later. */
  function checkMayWrite(): void {
    if (!mayWrite()) throw new Error('the lease of the data directory was not renewed lately');
  }

  function fill(): void {
    filling = fillAll();
    // After a failure it is filled when the connection is ready again.
    filling.catch(() => {});
  }

  /** Writes all statuses to Redis and removes those of other services. */
  async function fillAll(): Promise<void> {
    const ids = [...known];
    for (let at = 0; at < ids.length; at += BATCH) await send(ids.slice(at, at + BATCH));
    // A scan reads the records, too: of a million services more than a gigabyte.
    if ((await connection.run((client) => client.hlen(keys.records))) <= ids.length) return;
    let cursor = '0';
    do {
      const [next, fields] = await connection.run((client) =>
        client.hscan(keys.records, cursor, 'COUNT', 500),
      );
      const others = pairsOf(fields).flatMap(([id]) => (known.has(Number(id)) ? [] : [id]));
      if (others.length > 0) await change((client) => runScript(client, REMOVE, allKeys, [epoch, ...others]));
      cursor = next;
    } while (cursor !== '0');
  }

  /** Sends the newest records of the changed services. Never rejects. */
  async function sendChanged(): Promise<void> {
    const ids = [...changed];
    changed.clear();
    const batches: number[][] = [];
    for (let at = 0; at < ids.length; at += BATCH) batches.push(ids.slice(at, at + BATCH));
    try {
      for (let at = 0; at < batches.length && connection.ready; at += SENT_TOGETHER)
        await Promise.all(batches.slice(at, at + SENT_TOGETHER).map(send));
    } catch {
      // The connection logs it; everything is sent when it is ready again.
    }
  }

  /** Sends the changed services after a pause in which more records are collected. */
  async function sendSoon(): Promise<void> {
    await new Promise<void>((resolve) => clock.after(GATHER_MS, resolve));
    gathering = null;
    await sending.run();
  }

  /** Sends the newest records of some services; one that was removed meanwhile is skipped. */
  async function send(ids: readonly number[]): Promise<void> {
    const records = ids.flatMap((id) => copy.heldOf(id) ?? []);
    if (records.length === 0) return;
    const args = records.flatMap((record) => [
      record.serviceId,
      record.seq,
      record.observedAt,
      formatHeld(epoch, record),
    ]);
    await change((client) => runScript(client, PUT, allKeys, [epoch, ...args]));
  }

  /** Runs a script of this epoch. */
  async function change(run: (client: RedisClient) => Promise<unknown>): Promise<void> {
    if (superseded) return;
    await connection.run(async (client) => {
      checkMayWrite();
      const answer = Number(await run(client));
      if (answer === SUPERSEDED) supersede();
      if (answer === EMPTY) throw new Error('it was emptied');
    });
  }

  return {
    get: copy.get,
    headOf: copy.headOf,
    counts: copy.counts,
    watch: copy.watch,
    async put(records, isRoutine = false) {
      const taken = await copy.put(records);
      for (const { serviceId } of records) known.add(serviceId);
      const isFirst = !loaded && !isLearning && records.length > 0;
      loaded ||= isFirst;
      if (!connection.ready) return taken;
      if (isFirst) {
        fill();
        // The connection logs a failure; everything is sent when it is ready again.
        await filling?.catch(() => {});
        return taken;
      }
      for (const { serviceId } of records) changed.add(serviceId);
      if (isRoutine) gathering ??= sendSoon();
      await (isRoutine ? gathering : sending.run());
      return taken;
    },
    learn(records) {
      isLearning = true;
      void copy.put(records);
      for (const { serviceId } of records) known.add(serviceId);
    },
    complete() {
      copy.keepOnly(known);
      loaded = true;
      if (connection.ready) fill();
    },
    async remove(serviceId) {
      await copy.remove(serviceId);
      known.delete(serviceId);
      if (!connection.ready) return;
      try {
        await change((client) => runScript(client, REMOVE, allKeys, [epoch, serviceId]));
      } catch {
        // As above: services that this process does not know are then removed.
      }
    },
    get superseded() {
      return superseded;
    },
    state() {
      const state = connection.state();
      return superseded && state.problem === null
        ? { ...state, problem: 'another monitor writes under the same prefix' }
        : state;
    },
    async close() {
      connection.close();
      await filling?.catch(() => {});
      await copy.close();
    },
  };
}
