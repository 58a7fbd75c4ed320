/**
 * The status store of a process that only serves: a copy of the monitor's statuses in Redis. It follows the stream of
 * changes, and reads everything again if it has missed some. Without Redis it serves the last copy.
 */
import type { CurrentStatus, StatusHead } from '../../domain/status/current.ts';
import type { StatusStore } from '../ports/status.ts';
import { createMemoryStatusStore, type MemoryStatusStore } from './memory-status-store.ts';
import { pairsOf, type RedisClient } from './redis-client.ts';
import { openRedisConnection, type RedisConnectionState, type RedisContext } from './redis-connection.ts';
import { receiveRecord, type StoredRecord, statusKeys } from './redis-status-keys.ts';

/** The port, and the state of Redis. `put` and `remove` reject: only the monitor writes. */
export interface RedisStatusReader extends StatusStore {
  ageMs(): number;
  /** Adds records from the registry that have not arrived through Redis yet. Older ones change nothing. */
  learn(records: readonly CurrentStatus[]): Promise<void>;
  state(): RedisConnectionState;
  /** Stops following and returns the copy, which this store still reads but changes no more. */
  handOver(): MemoryStatusStore;
  /** Resolves when everything was read once, or with false after `timeoutMs`. */
  loaded(timeoutMs: number): Promise<boolean>;
}

/** The position of the reader in the stream. */
interface Position {
  /** Of the newest entry that was read. */
  readonly id: string;
  /** Number of that entry, from 1; without gaps. */
  readonly count: number;
}

const BLOCK_MS = 500;
const TIMEOUT_MS = 1_500;
const MAX_ENTRIES = 500;
const MONITOR_WRITES = 'only the monitor writes statuses';

/** Opens the copy, which is empty until Redis is available. */
export function openRedisStatusReader({ address, clock, log }: RedisContext): RedisStatusReader {
  const keys = statusKeys(address.prefix);
  const copy = createMemoryStatusStore({ log });
  /** Epoch of each record in the copy. */
  const epochs = new Map<number, number>();
  const loading = Promise.withResolvers<true>();
  let birth: string | null = null;
  let position: Position | null = null;
  let updatedMs = clock.monotonic();
  let following = false;
  let isHandedOver = false;

  const connection = openRedisConnection({
    address,
    purpose: 'status-reader',
    timeoutMs: TIMEOUT_MS,
    blocking: true,
    prepare: (client) => client.hget(keys.meta, 'birth'),
    // The stream is read all the time.
    probe: async () => {},
    clock,
    log,
  });
  connection.watchReady(() => void follow());

  async function follow(): Promise<void> {
    if (following) return;
    following = true;
    try {
      if (position !== null && !(await isStillThere(position))) position = null;
      while (connection.ready) {
        position ??= await loadAll();
        updatedMs = clock.monotonic();
        loading.resolve(true);
        position = await readChanges(position);
      }
    } catch {
      // The connection logs it; the copy is served.
    }
    following = false;
    if (connection.ready) void follow();
  }

  /** Reads the next changes; null: some were missed. */
  async function readChanges(from: Position): Promise<Position | null> {
    const answer = await connection.run((client) =>
      client.xread('COUNT', MAX_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', keys.changes, from.id),
    );
    const entries = answer?.[0]?.[1] ?? [];
    if (entries.length === 0) return (await isStillThere(from)) ? from : null;
    let at = from;
    for (const [id, fields] of entries) {
      const { count, service, record } = entryOf(fields);
      if (count !== at.count + 1) return null;
      at = { id, count };
      if (record === '') forget(service);
      else take(service, receiveRecord(record));
    }
    return at;
  }

  /** Whether Redis still has the store that was read, and no fewer entries. */
  async function isStillThere({ count }: Position): Promise<boolean> {
    const [bornNow, countNow] = await connection.run((client) => client.hmget(keys.meta, 'birth', 'count'));
    // An entry may just have been written; the stream shows it, and gaps, too.
    return bornNow === birth && Number(countNow ?? 0) >= count;
  }

  async function loadAll(): Promise<Position> {
    const bornNow = await connection.run((client) => client.hget(keys.meta, 'birth'));
    const start = await connection.run(newestPosition);
    // A new store counts its epochs anew, and may be half filled: records that it lacks are kept. Without a birth, no
    // monitor has begun to fill it.
    const isSame = bornNow !== null && bornNow === birth;
    if (!isSame) epochs.clear();
    birth = bornNow ?? null;
    const seen = new Set<number>();
    let cursor = '0';
    do {
      const [next, fields] = await connection.run((client) =>
        client.hscan(keys.records, cursor, 'COUNT', 500),
      );
      for (const [id, record] of pairsOf(fields)) {
        seen.add(Number(id));
        take(Number(id), receiveRecord(record));
      }
      cursor = next;
    } while (cursor !== '0');
    if (isSame) for (const serviceId of [...epochs.keys()]) if (!seen.has(serviceId)) forget(serviceId);
    return start;
  }

  async function newestPosition(client: RedisClient): Promise<Position> {
    const [newest] = await client.xrevrange(keys.changes, '+', '-', 'COUNT', 1);
    return newest === undefined
      ? { id: '0-0', count: 0 }
      : { id: newest[0], count: entryOf(newest[1]).count };
  }

  function take(serviceId: number, stored: StoredRecord | null): void {
    if (isHandedOver) return;
    if (stored === null || stored.record.serviceId !== serviceId) {
      log.warn({ serviceId }, 'Redis has an unreadable record; ignoring it');
      return;
    }
    const { epoch, record } = stored;
    const known = copy.headOf(serviceId);
    const knownEpoch = epochs.get(serviceId) ?? 0;
    if (epoch < knownEpoch) return;
    epochs.set(serviceId, epoch);
    // A record of a later epoch is valid even if it is older, as after a restored backup.
    if (epoch > knownEpoch && known !== null && !isSameMoment(known, record)) void copy.remove(serviceId);
    copy.take(record);
  }

  function forget(serviceId: number): void {
    if (isHandedOver) return;
    epochs.delete(serviceId);
    void copy.remove(serviceId);
  }

  return {
    get: copy.get,
    headOf: copy.headOf,
    counts: copy.counts,
    watch: copy.watch,
    put: () => Promise.reject(new Error(MONITOR_WRITES)),
    remove: () => Promise.reject(new Error(MONITOR_WRITES)),
    ageMs: () => clock.monotonic() - updatedMs,
    async learn(records) {
      if (!isHandedOver) await copy.put(records);
    },
    state: () => connection.state(),
    handOver() {
      isHandedOver = true;
      connection.close();
      return copy;
    },
    async loaded(timeoutMs) {
      const late = new Promise<false>((resolve) => clock.after(timeoutMs, () => resolve(false)));
      return await Promise.race([loading.promise, late]);
    },
    async close() {
      connection.close();
      if (!isHandedOver) await copy.close();
    },
  };
}

type Moment = Pick<StatusHead, 'seq' | 'observedAt'>;

function isSameMoment(a: Moment, b: Moment): boolean {
  return a.seq === b.seq && a.observedAt === b.observedAt;
}

/** The entry with these names and values; `record` is empty if the service was removed. */
function entryOf(flat: readonly string[]) {
  const partOf = (name: string): string => flat[flat.indexOf(name) + 1] ?? '';
  return { count: Number(partOf('count')), service: Number(partOf('id')), record: partOf('record') };
}
