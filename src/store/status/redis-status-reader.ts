/**
 * The status store of a process that only serves: a copy of what the monitor keeps in Redis. It follows the stream of
 * changes from where it was; where it has missed some, it reads everything again. Without Redis the last copy answers.
 */
import type { CurrentStatus } from '../../domain/current.ts';
import type { StatusStore } from '../ports/status.ts';
import { createMemoryStatusStore } from './memory-status-store.ts';
import type { RedisClient } from './redis-client.ts';
import { openRedisConnection, type RedisConnectionState } from './redis-connection.ts';
import { parseRecord, type StoredRecord, statusKeys } from './redis-status-keys.ts';
import type { RedisStatusOptions } from './redis-status-store.ts';

/** The port, and how Redis is doing. `put` and `remove` reject: only the monitor writes. */
export interface RedisStatusReader extends StatusStore {
  ageMs(): number;
  /** Takes records that the registry has, before the monitor's own word of them comes by Redis. Older ones change nothing. */
  learn(records: readonly CurrentStatus[]): Promise<void>;
  state(): RedisConnectionState;
  /** Resolves when everything was read once, or after `patienceMs`; true: it was read. */
  loaded(patienceMs: number): Promise<boolean>;
}

/** Where the reader is in the stream. */
interface Position {
  /** Of the newest entry that was read. */
  readonly id: string;
  /** Number of that entry, from 1; without gaps. */
  readonly count: number;
}

const BLOCK_MS = 500;
const TIMEOUT_MS = 1_500;
const MAX_ENTRIES = 500;
const ONLY_ONE_WRITES = 'only the monitor writes statuses';

/** Opens the copy. Redis may be away: the copy is empty then until it comes. */
export function openRedisStatusReader({ address, clock, log }: RedisStatusOptions): RedisStatusReader {
  const keys = statusKeys(address.prefix);
  const copy = createMemoryStatusStore({ log });
  /** Epoch of each record in the copy. */
  const epochs = new Map<number, number>();
  const loading = Promise.withResolvers<true>();
  let birth: string | null = null;
  let position: Position | null = null;
  let heardMs = clock.monotonic();
  let following = false;

  const connection = openRedisConnection({
    address,
    purpose: 'status-reader',
    timeoutMs: TIMEOUT_MS,
    blocking: true,
    prepare: (client) => client.hget(keys.meta, 'birth'),
    // The stream is asked all the time.
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
        heardMs = clock.monotonic();
        loading.resolve(true);
        position = await readChanges(position);
      }
    } catch {
      // The connection has said so; the copy answers.
    }
    following = false;
    if (connection.ready) void follow();
  }

  /** Reads on; null: something was missed. */
  async function readChanges(from: Position): Promise<Position | null> {
    const answer = await connection.ask((client) =>
      client.xread('COUNT', MAX_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', keys.changes, from.id),
    );
    const entries = answer?.[0]?.[1] ?? [];
    if (entries.length === 0) return (await isStillThere(from)) ? from : null;
    let at = from;
    for (const [id, fields] of entries) {
      const { count, id: service, record } = fieldsOf(fields);
      if (Number(count) !== at.count + 1) return null;
      at = { id, count: Number(count) };
      if (record === '') await forget(Number(service));
      else await take(Number(service), parseRecord(record ?? ''));
    }
    return at;
  }

  /** Whether the store is the one that was read, and has told nothing that this reader does not know. */
  async function isStillThere({ count }: Position): Promise<boolean> {
    const [bornNow, countNow] = await connection.ask((client) => client.hmget(keys.meta, 'birth', 'count'));
    // One entry may just have been written; the stream tells of it, and of gaps, by itself.
    return bornNow === birth && Number(countNow ?? 0) >= count;
  }

  async function loadAll(): Promise<Position> {
    const bornNow = await connection.ask((client) => client.hget(keys.meta, 'birth'));
    const start = await connection.ask(newestPosition);
    // A store that began anew counts its epochs anew, and may be half filled: nothing is forgotten on its word.
    const isSame = bornNow === birth;
    if (!isSame) epochs.clear();
    birth = bornNow ?? null;
    const seen = new Set<number>();
    let cursor = '0';
    do {
      const [next, fields] = await connection.ask((client) =>
        client.hscan(keys.records, cursor, 'COUNT', 500),
      );
      for (let index = 0; index < fields.length; index += 2) {
        const serviceId = Number(fields[index]);
        seen.add(serviceId);
        await take(serviceId, parseRecord(fields[index + 1] ?? ''));
      }
      cursor = next;
    } while (cursor !== '0');
    if (isSame) for (const serviceId of [...epochs.keys()]) if (!seen.has(serviceId)) await forget(serviceId);
    return start;
  }

  async function newestPosition(client: RedisClient): Promise<Position> {
    const [newest] = await client.xrevrange(keys.changes, '+', '-', 'COUNT', 1);
    return newest === undefined
      ? { id: '0-0', count: 0 }
      : { id: newest[0], count: Number(fieldsOf(newest[1]).count) };
  }

  async function take(serviceId: number, stored: StoredRecord | null): Promise<void> {
    if (stored === null || stored.record.serviceId !== serviceId) {
      log.warn({ serviceId }, 'Redis has an unreadable record; ignoring it');
      return;
    }
    const { epoch, record } = stored;
    const known = copy.get(serviceId);
    const knownEpoch = epochs.get(serviceId) ?? 0;
    if (epoch < knownEpoch) return;
    epochs.set(serviceId, epoch);
    // The word of a later epoch holds even where it is older, as after a restored backup.
    if (epoch > knownEpoch && known !== null && !isSameMoment(known, record)) await copy.remove(serviceId);
    await copy.put([record]);
  }

  async function forget(serviceId: number): Promise<void> {
    epochs.delete(serviceId);
    await copy.remove(serviceId);
  }

  return {
    get: copy.get,
    watch: copy.watch,
    put: () => Promise.reject(new Error(ONLY_ONE_WRITES)),
    remove: () => Promise.reject(new Error(ONLY_ONE_WRITES)),
    ageMs: () => clock.monotonic() - heardMs,
    learn: async (records) => void (await copy.put(records)),
    state: () => connection.state(),
    async loaded(patienceMs) {
      const late = new Promise<false>((resolve) => clock.after(patienceMs, () => resolve(false)));
      return await Promise.race([loading.promise, late]);
    },
    async close() {
      connection.close();
      await copy.close();
    },
  };
}

function isSameMoment(a: CurrentStatus, b: CurrentStatus): boolean {
  return a.seq === b.seq && a.observedAt === b.observedAt;
}

/** The fields of an entry by their names. */
function fieldsOf(flat: readonly string[]): { count?: string; id?: string; record?: string } {
  return Object.fromEntries(
    flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]]] : [])),
  );
}
