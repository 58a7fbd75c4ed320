/**
 * The status store of the monitor, which copies its statuses to Redis for other processes. The copy in memory is always
 * current; after every outage Redis is filled from it again.
 */
import { randomUUID } from 'node:crypto';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { CurrentStatus, StatusHead } from '../../domain/status/current.ts';
import type { LoadableStatusStore, StatusCounts } from '../ports/status.ts';
import { createMemoryStatusStore, type MemoryStatusStore } from './memory-status-store.ts';
import { pairsOf, type RedisClient, runScript } from './redis-client.ts';
import {
  openRedisConnection,
  type RedisConnection,
  type RedisConnectionState,
  type RedisContext,
} from './redis-connection.ts';
import {
  BEGIN,
  EMPTY,
  formatHeld,
  PUT,
  REMOVE,
  type StatusKeys,
  SUPERSEDED,
  statusKeys,
} from './redis-status-keys.ts';

interface RedisStatusStoreOptions extends RedisContext {
  /**
   * False: this process may have an unknown successor, as after a sleep, and writes nothing. The epoch alone does not tell
   * if Redis was emptied since. Default: always true.
   */
  readonly mayWrite?: () => boolean;
  /** The statuses that this process knows already, continued from now on by this store alone; absent: none. */
  readonly copy?: MemoryStatusStore;
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
export class RedisStatusStore implements LoadableStatusStore {
  readonly #address: RedisStatusStoreOptions['address'];
  readonly #clock: RedisStatusStoreOptions['clock'];
  readonly #log: RedisStatusStoreOptions['log'];
  readonly #mayWrite: () => boolean;
  readonly #keys: StatusKeys;
  readonly #allKeys: string[];
  readonly #copy: MemoryStatusStore;
  readonly #known = new Set<number>();
  #epoch = 0;
  #superseded = false;
  #loaded = false;
  #isLearning = false;
  #filling: Promise<void> | null = null;
  /** Services whose newest records are to be sent. */
  readonly #changed = new Set<number>();
  readonly #sending: ReturnType<typeof createCoalescingLoop>;
  /** Resolves when the routine records collected now are sent; null: none are collected. */
  #gathering: Promise<void> | null = null;
  readonly #connection: RedisConnection;
  readonly get: (serviceId: number) => CurrentStatus | null;
  readonly headOf: (serviceId: number) => StatusHead | null;
  readonly counts: StatusCounts;
  readonly watch: (listener: (head: StatusHead) => void) => () => void;

  constructor(options: RedisStatusStoreOptions) {
    const { address, log } = options;
    this.#address = address;
    this.#clock = options.clock;
    this.#log = log;
    this.#mayWrite = options.mayWrite ?? (() => true);
    this.#keys = statusKeys(address.prefix);
    this.#allKeys = [this.#keys.records, this.#keys.changes, this.#keys.meta];
    this.#copy = options.copy ?? createMemoryStatusStore({ log });
    this.#sending = createCoalescingLoop(() => this.#sendChanged());
    this.#connection = openRedisConnection({
      ...options,
      purpose: 'status',
      timeoutMs: TIMEOUT_MS,
      prepare: async (client) => {
        this.#checkMayWrite();
        const begun = Number(await runScript(client, BEGIN, [this.#keys.meta], [this.#epoch, randomUUID()]));
        if (begun === SUPERSEDED) this.#supersede();
        else this.#epoch = begun;
        // Without arguments the scripts change nothing: this shows that they may write, and loads them, so that they run in order.
        for (const script of [PUT, REMOVE]) await runScript(client, script, this.#allKeys, [this.#epoch]);
      },
      probe: async (client) => {
        const stored = Number((await client.hget(this.#keys.meta, 'epoch')) ?? 0);
        if (stored > this.#epoch) this.#supersede();
        else if (stored < this.#epoch) throw new Error('it was emptied');
      },
    });
    this.#connection.watchReady(() => {
      if (this.#loaded) this.#fill();
    });
    this.get = this.#copy.get;
    this.headOf = this.#copy.headOf;
    this.counts = this.#copy.counts;
    this.watch = this.#copy.watch;
  }

  async put(records: readonly CurrentStatus[], isRoutine: boolean = false): Promise<number> {
    const taken = await this.#copy.put(records);
    for (const { serviceId } of records) this.#known.add(serviceId);
    const isFirst = !this.#loaded && !this.#isLearning && records.length > 0;
    this.#loaded ||= isFirst;
    if (!this.#connection.ready) return taken;
    if (isFirst) {
      this.#fill();
      // The connection logs a failure; everything is sent when it is ready again.
      await this.#filling?.catch(() => {});
      return taken;
    }
    for (const { serviceId } of records) this.#changed.add(serviceId);
    if (isRoutine) this.#gathering ??= this.#sendSoon();
    await (isRoutine ? this.#gathering : this.#sending.run());
    return taken;
  }

  learn(records: readonly CurrentStatus[]): void {
    this.#isLearning = true;
    void this.#copy.put(records);
    for (const { serviceId } of records) this.#known.add(serviceId);
  }

  complete(): void {
    this.#copy.keepOnly(this.#known);
    this.#loaded = true;
    if (this.#connection.ready) this.#fill();
  }

  async remove(serviceId: number): Promise<void> {
    await this.#copy.remove(serviceId);
    this.#known.delete(serviceId);
    if (!this.#connection.ready) return;
    try {
      await this.#change((client) => runScript(client, REMOVE, this.#allKeys, [this.#epoch, serviceId]));
    } catch {
      // As above: services that this process does not know are then removed.
    }
  }

  /** True: another monitor has started under the same prefix, so that this one no longer writes. */
  get superseded(): boolean {
    return this.#superseded;
  }

  state(): RedisConnectionState {
    const state = this.#connection.state();
    return this.#superseded && state.problem === null
      ? { ...state, problem: 'another monitor writes under the same prefix' }
      : state;
  }

  async close(): Promise<void> {
    this.#connection.close();
    await this.#filling?.catch(() => {});
    await this.#copy.close();
  }

  /** Another monitor has started after this one, which must not write any more. */
  #supersede(): void {
    if (!this.#superseded)
      this.#log.error(
        { prefix: this.#address.prefix },
        'another monitor uses this Redis prefix; not writing to Redis. Give each monitor its own ?prefix=',
      );
    this.#superseded = true;
  }

  /** Throws, so that everything is written again later. */
  #checkMayWrite(): void {
    if (!this.#mayWrite()) throw new Error('the lease of the data directory was not renewed lately');
  }

  #fill(): void {
    this.#filling = this.#fillAll();
    // After a failure it is filled when the connection is ready again.
    this.#filling.catch(() => {});
  }

  /** Writes all statuses to Redis and removes those of other services. */
  async #fillAll(): Promise<void> {
    const ids = [...this.#known];
    for (let at = 0; at < ids.length; at += BATCH) await this.#send(ids.slice(at, at + BATCH));
    // A scan reads the records, too: of a million services more than a gigabyte.
    if ((await this.#connection.run((client) => client.hlen(this.#keys.records))) <= ids.length) return;
    let cursor = '0';
    do {
      const [next, fields] = await this.#connection.run((client) =>
        client.hscan(this.#keys.records, cursor, 'COUNT', 500),
      );
      const others = pairsOf(fields).flatMap(([id]) => (this.#known.has(Number(id)) ? [] : [id]));
      if (others.length > 0)
        await this.#change((client) => runScript(client, REMOVE, this.#allKeys, [this.#epoch, ...others]));
      cursor = next;
    } while (cursor !== '0');
  }

  /** Sends the newest records of the changed services. Never rejects. */
  async #sendChanged(): Promise<void> {
    const ids = [...this.#changed];
    this.#changed.clear();
    const batches: number[][] = [];
    for (let at = 0; at < ids.length; at += BATCH) batches.push(ids.slice(at, at + BATCH));
    try {
      for (let at = 0; at < batches.length && this.#connection.ready; at += SENT_TOGETHER)
        await Promise.all(batches.slice(at, at + SENT_TOGETHER).map((ids) => this.#send(ids)));
    } catch {
      // The connection logs it; everything is sent when it is ready again.
    }
  }

  /** Sends the changed services after a pause in which more records are collected. */
  async #sendSoon(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.after(GATHER_MS, resolve));
    this.#gathering = null;
    await this.#sending.run();
  }

  /** Sends the newest records of some services; one that was removed meanwhile is skipped. */
  async #send(ids: readonly number[]): Promise<void> {
    const records = ids.flatMap((id) => this.#copy.heldOf(id) ?? []);
    if (records.length === 0) return;
    const args = records.flatMap((record) => [
      record.serviceId,
      record.seq,
      record.observedAt,
      formatHeld(this.#epoch, record),
    ]);
    await this.#change((client) => runScript(client, PUT, this.#allKeys, [this.#epoch, ...args]));
  }

  async #change(run: (client: RedisClient) => Promise<unknown>): Promise<void> {
    if (this.#superseded) return;
    await this.#connection.run(async (client) => {
      this.#checkMayWrite();
      const answer = Number(await run(client));
      if (answer === SUPERSEDED) this.#supersede();
      if (answer === EMPTY) throw new Error('it was emptied');
    });
  }
}
