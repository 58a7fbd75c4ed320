/**
 * The status store of a process that only serves: a copy of the monitor's statuses in Redis. It follows the stream of
 * changes, and reads everything again if it has missed some. Without Redis it serves the last copy.
 */
import type { CurrentStatus, StatusHead } from '../../domain/status/current.ts';
import type { StatusStore } from '../ports/status.ts';
import { createMemoryStatusStore, type MemoryStatusStore } from './memory-status-store.ts';
import { pairsOf, type RedisClient } from './redis-client.ts';
import {
  openRedisConnection,
  type RedisConnection,
  type RedisConnectionState,
  type RedisContext,
} from './redis-connection.ts';
import { receiveRecord, type StatusKeys, type StoredRecord, statusKeys } from './redis-status-keys.ts';

interface Position {
  /** Of the newest entry that was read. */
  readonly id: string;
  /** Number of that entry, from 1; without gaps. */
  readonly count: number;
}

const BLOCK_MS = 500;
const TIMEOUT_MS = 1_500;
const MAX_ENTRIES = 500;
const refuseWrite = () => Promise.reject(new Error('only the monitor writes statuses'));

/** Opens the copy, which is empty until Redis is available. */
export class RedisStatusReader implements StatusStore {
  readonly #clock: RedisContext['clock'];
  readonly #log: RedisContext['log'];
  readonly #keys: StatusKeys;
  readonly #copy: MemoryStatusStore;
  /** Epoch of each record in the copy. */
  readonly #epochs = new Map<number, number>();
  /** Services of which a record was learned that Redis did not have yet: older ones of Redis are on their way before it. */
  readonly #learned = new Set<number>();
  readonly #loading = Promise.withResolvers<true>();
  #birth: string | null = null;
  #position: Position | null = null;
  #updatedMs: number;
  #following = false;
  #isHandedOver = false;
  readonly #connection: RedisConnection;
  readonly get;
  readonly headOf;
  readonly counts;
  readonly watch;
  readonly put: StatusStore['put'] = refuseWrite;
  readonly remove: StatusStore['remove'] = refuseWrite;

  constructor({ address, clock, log }: RedisContext) {
    this.#clock = clock;
    this.#log = log;
    this.#keys = statusKeys(address.prefix);
    this.#copy = createMemoryStatusStore({ log });
    this.#updatedMs = clock.monotonic();
    this.#connection = openRedisConnection({
      address,
      purpose: 'status-reader',
      timeoutMs: TIMEOUT_MS,
      blocking: true,
      prepare: (client) => client.hget(this.#keys.meta, 'birth'),
      // The stream is read all the time.
      probe: async () => {},
      clock,
      log,
    });
    this.#connection.watchReady(() => void this.#follow());
    this.get = this.#copy.get;
    this.headOf = this.#copy.headOf;
    this.counts = this.#copy.counts;
    this.watch = this.#copy.watch;
  }

  ageMs(): number {
    return this.#clock.monotonic() - this.#updatedMs;
  }

  /** Adds records from the registry that have not arrived through Redis yet. Older ones change nothing. */
  async learn(records: readonly CurrentStatus[]): Promise<void> {
    if (this.#isHandedOver) return;
    // Before everything was read, Redis may have what is right, as after a restored backup.
    if (this.#position !== null)
      for (const { serviceId } of records) if (!this.#epochs.has(serviceId)) this.#learned.add(serviceId);
    await this.#copy.put(records);
  }

  state(): RedisConnectionState {
    return this.#connection.state();
  }

  /** Stops following and returns the copy, which this store still reads but changes no more. */
  handOver(): MemoryStatusStore {
    this.#isHandedOver = true;
    this.#connection.close();
    return this.#copy;
  }

  /** Resolves when everything was read once, or with false after `timeoutMs`. */
  async loaded(timeoutMs: number): Promise<boolean> {
    const late = new Promise<false>((resolve) => this.#clock.after(timeoutMs, () => resolve(false)));
    return await Promise.race([this.#loading.promise, late]);
  }

  async close() {
    this.#connection.close();
    if (!this.#isHandedOver) await this.#copy.close();
  }

  async #follow(): Promise<void> {
    if (this.#following) return;
    this.#following = true;
    try {
      if (this.#position !== null && !(await this.#isStillThere(this.#position))) this.#position = null;
      while (this.#connection.ready) {
        this.#position ??= await this.#loadAll();
        this.#updatedMs = this.#clock.monotonic();
        this.#loading.resolve(true);
        this.#position = await this.#readChanges(this.#position);
      }
    } catch {
      // The connection logs it; the copy is served.
    }
    this.#following = false;
    if (this.#connection.ready) void this.#follow();
  }

  /** Reads the next changes; null: some were missed. */
  async #readChanges(from: Position): Promise<Position | null> {
    const answer = await this.#connection.run((client) =>
      client.xread('COUNT', MAX_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', this.#keys.changes, from.id),
    );
    const entries = answer?.[0]?.[1] ?? [];
    if (entries.length === 0) return (await this.#isStillThere(from)) ? from : null;
    let at = from;
    for (const [id, fields] of entries) {
      const { count, service, record } = entryOf(fields);
      if (count !== at.count + 1) return null;
      at = { id, count };
      if (record === '') this.#forget(service);
      else this.#take(service, receiveRecord(record));
    }
    return at;
  }

  /** Returns true if Redis still has the store that was read, and no fewer entries. */
  async #isStillThere({ count }: Position): Promise<boolean> {
    const [bornNow, countNow] = await this.#connection.run((client) =>
      client.hmget(this.#keys.meta, 'birth', 'count'),
    );
    // An entry may just have been written; the stream shows it, and gaps, too.
    return bornNow === this.#birth && Number(countNow ?? 0) >= count;
  }

  async #loadAll(): Promise<Position> {
    const bornNow = await this.#connection.run((client) => client.hget(this.#keys.meta, 'birth'));
    const start = await this.#connection.run((client) => this.#newestPosition(client));
    // A new store counts its epochs anew, and may be half filled: records that it lacks are kept. Without a birth, no
    // monitor has begun to fill it.
    const isSame = bornNow !== null && bornNow === this.#birth;
    if (!isSame) {
      this.#epochs.clear();
      this.#learned.clear();
    }
    this.#birth = bornNow ?? null;
    const seen = new Set<number>();
    let cursor = '0';
    do {
      const [next, fields] = await this.#connection.run((client) =>
        client.hscan(this.#keys.records, cursor, 'COUNT', 500),
      );
      for (const [id, record] of pairsOf(fields)) {
        seen.add(Number(id));
        this.#take(Number(id), receiveRecord(record));
      }
      cursor = next;
    } while (cursor !== '0');
    if (isSame)
      for (const serviceId of [...this.#epochs.keys()]) if (!seen.has(serviceId)) this.#forget(serviceId);
    return start;
  }

  async #newestPosition(client: RedisClient): Promise<Position> {
    const [newest] = await client.xrevrange(this.#keys.changes, '+', '-', 'COUNT', 1);
    return newest === undefined
      ? { id: '0-0', count: 0 }
      : { id: newest[0], count: entryOf(newest[1]).count };
  }

  #take(serviceId: number, stored: StoredRecord | null): void {
    if (this.#isHandedOver) return;
    if (stored === null || stored.record.serviceId !== serviceId) {
      this.#log.warn({ serviceId }, 'Redis has an unreadable record; ignoring it');
      return;
    }
    const { epoch, record } = stored;
    const known = this.#copy.headOf(serviceId);
    const knownEpoch = this.#epochs.get(serviceId) ?? 0;
    if (epoch < knownEpoch) return;
    this.#epochs.set(serviceId, epoch);
    // A record of a later epoch is valid even if it is older, as after a restored backup.
    const isAwaited = this.#learned.delete(serviceId) && known !== null && isBefore(record, known);
    if (isAwaited) this.#learned.add(serviceId);
    else if (epoch > knownEpoch && known !== null && !isSameMoment(known, record))
      void this.#copy.remove(serviceId);
    this.#copy.take(record);
  }

  #forget(serviceId: number): void {
    if (this.#isHandedOver) return;
    this.#epochs.delete(serviceId);
    this.#learned.delete(serviceId);
    void this.#copy.remove(serviceId);
  }
}

type Moment = Pick<StatusHead, 'seq' | 'observedAt'>;

/** Returns true if the first one is older. */
function isBefore(a: Moment, b: Moment): boolean {
  return a.seq < b.seq || (a.seq === b.seq && a.observedAt < b.observedAt);
}

function isSameMoment(a: Moment, b: Moment): boolean {
  return a.seq === b.seq && a.observedAt === b.observedAt;
}

/** The entry with these names and values; `record` is empty if the service was removed. */
function entryOf(flat: readonly string[]) {
  const partOf = (name: string): string => flat[flat.indexOf(name) + 1] ?? '';
  return { count: Number(partOf('count')), service: Number(partOf('id')), record: partOf('record') };
}
