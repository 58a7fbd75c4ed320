/**
 * The status store of the monitor, kept in Redis for other processes. The monitor's own copy is always current; Redis
 * follows it, and is filled again from it after every absence, so that nothing has to be remembered meanwhile.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { CurrentStatus } from '../../domain/current.ts';
import type { RedisAddress } from '../../domain/redis-address.ts';
import type { Log } from '../../log.ts';
import type { StatusStore } from '../ports/status.ts';
import { createMemoryStatusStore } from './memory-status-store.ts';
import { type RedisClient, runScript } from './redis-client.ts';
import { openRedisConnection, type RedisConnectionState } from './redis-connection.ts';
import { BEGIN, EMPTY, formatRecord, PUT, REMOVE, SUPERSEDED, statusKeys } from './redis-status-keys.ts';

/** How to open the store. */
export interface RedisStatusStoreOptions extends RedisStatusOptions {
  /**
   * False: this process may have a successor that it has not heard of, as after a sleep; nothing is written meanwhile.
   * An epoch alone does not tell where Redis was emptied since. Default: true always.
   */
  readonly mayWrite?: () => boolean;
}

/** How to reach Redis. */
export interface RedisStatusOptions {
  readonly address: RedisAddress;
  readonly clock: Clock;
  readonly log: Log;
}

/** The port, and how Redis is doing. */
export interface RedisStatusStore extends StatusStore {
  /** How the connection is. */
  state(): RedisConnectionState;
  /** True: another monitor has begun under the same prefix after this one, which writes nothing any more. */
  readonly superseded: boolean;
}

/** One call of a script holds Redis for a millisecond or two: limits wait behind it. */
const BATCH = 128;
const TIMEOUT_MS = 1_000;

/**
 * Opens the store as the one that writes it; only the holder of the writer lease may. Redis may be away. The first
 * records that are put are taken for the whole list: what Redis has of other services is then removed.
 */
export function openRedisStatusStore(options: RedisStatusStoreOptions): RedisStatusStore {
  const { address, clock, log, mayWrite = () => true } = options;
  const keys = statusKeys(address.prefix);
  const allKeys = [keys.records, keys.changes, keys.meta];
  const copy = createMemoryStatusStore({ log });
  const known = new Set<number>();
  let epoch = 0;
  let superseded = false;
  let loaded = false;
  let filling: Promise<void> | null = null;

  const connection = openRedisConnection({
    address,
    purpose: 'status',
    timeoutMs: TIMEOUT_MS,
    async prepare(client) {
      checkMayWrite();
      const begun = Number(await runScript(client, BEGIN, [keys.meta], [epoch, randomUUID()]));
      if (begun === SUPERSEDED) supersede();
      else epoch = begun;
      // Nothing yet: shows that scripts may write here, and makes them known, so that none is overtaken by another.
      for (const script of [PUT, REMOVE]) await runScript(client, script, allKeys, [epoch]);
    },
    async probe(client) {
      const stored = Number((await client.hget(keys.meta, 'epoch')) ?? 0);
      if (stored > epoch) supersede();
      else if (stored < epoch) throw new Error('it was emptied');
    },
    clock,
    log,
  });
  connection.watchReady(() => {
    if (loaded) fill();
  });

  /** Another monitor has begun after this one: what this one says counts for nothing any more. */
  function supersede(): void {
    if (!superseded)
      log.error(
        { prefix: address.prefix },
        'another monitor uses this Redis prefix; not writing to Redis. Give each monitor its own ?prefix=',
      );
    superseded = true;
  }

  /** Throws, so that everything is written again when it may be. */
  function checkMayWrite(): void {
    if (!mayWrite()) throw new Error('the lease of the data directory was not renewed lately');
  }

  function fill(): void {
    filling = fillAll();
    // What failed is done again when the connection is ready again.
    filling.catch(() => {});
  }

  /** Brings Redis to what this process knows. */
  async function fillAll(): Promise<void> {
    const ids = [...known];
    for (let at = 0; at < ids.length; at += BATCH)
      await send(ids.slice(at, at + BATCH).flatMap((id) => copy.get(id) ?? []));
    let cursor = '0';
    do {
      const [next, fields] = await connection.ask((client) =>
        client.hscan(keys.records, cursor, 'COUNT', 500),
      );
      // Fields and values by turns.
      const strangers = fields.filter((id, index) => index % 2 === 0 && !known.has(Number(id)));
      if (strangers.length > 0)
        await change((client) => runScript(client, REMOVE, allKeys, [epoch, ...strangers]));
      cursor = next;
    } while (cursor !== '0');
  }

  async function send(records: readonly CurrentStatus[]): Promise<void> {
    if (records.length === 0) return;
    const args = records.flatMap((record) => [
      record.serviceId,
      record.seq,
      record.observedAt,
      formatRecord(epoch, record),
    ]);
    await change((client) => runScript(client, PUT, allKeys, [epoch, ...args]));
  }

  /** Runs a script of this epoch. */
  async function change(run: (client: RedisClient) => Promise<unknown>): Promise<void> {
    if (superseded) return;
    await connection.ask(async (client) => {
      checkMayWrite();
      const answer = Number(await run(client));
      if (answer === SUPERSEDED) supersede();
      if (answer === EMPTY) throw new Error('it was emptied');
    });
  }

  return {
    get: copy.get,
    watch: copy.watch,
    async put(records) {
      const taken = await copy.put(records);
      for (const { serviceId } of records) known.add(serviceId);
      const isFirst = !loaded && records.length > 0;
      loaded ||= isFirst;
      if (!connection.ready) return taken;
      try {
        if (isFirst) {
          fill();
          await filling;
        } else {
          for (let at = 0; at < records.length; at += BATCH) await send(records.slice(at, at + BATCH));
        }
      } catch {
        // The connection has said so; everything is sent when it is ready again.
      }
      return taken;
    },
    async remove(serviceId) {
      await copy.remove(serviceId);
      known.delete(serviceId);
      if (!connection.ready) return;
      try {
        await change((client) => runScript(client, REMOVE, allKeys, [epoch, serviceId]));
      } catch {
        // As above: what this process does not know is removed then.
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
