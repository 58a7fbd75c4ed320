/**
 * The monitor's state and the deadlines of heartbeats in Redis. The monitor compares them every second with what it wrote
 * and writes the changes; after an outage of Redis it compares them with what Redis has. Serving processes read the state.
 */
import { pairsOf, type RedisClient } from './redis-client.ts';
import { openRedisConnection, type RedisContext, type RedisPart } from './redis-connection.ts';

/** After the prefix: the hash of the monitor's state. */
export const MONITOR_KEY = '{monitor}:words';
/** After the prefix: the sorted set of services by the deadline of their next heartbeat, epoch milliseconds. */
export const DEADLINES_KEY = '{heartbeats}:deadlines';

/** After the prefix: the sorted set of API keys that were revoked lately, by time, epoch milliseconds. */
export const REVOKED_KEY = '{monitor}:revoked';

interface MirroredKey {
  /** After the prefix. */
  readonly key: string;
  /** `hash`: strings by field. `sorted-set`: scores by member. */
  readonly type: 'hash' | 'sorted-set';
  /** The values that the key must have; null: not known yet, so that the key stays as it is. */
  readonly read: () => ReadonlyMap<string, string> | null;
}

interface RedisMirrorOptions extends RedisContext {
  readonly keys: readonly MirroredKey[];
  /** False: the keys belong to another monitor now. */
  readonly mayWrite: () => boolean;
}

const TIMEOUT_MS = 1_000;
const MIRROR_MS = 1_000;
const BATCH = 500;

/** Mirrors the keys until it is closed; they then keep their values. */
export function openRedisMirror({ address, keys, mayWrite, clock, log }: RedisMirrorOptions): RedisPart {
  /** The values that Redis has, by key; absent: not known. */
  const written = new Map<MirroredKey, Map<string, string>>();
  let running = false;
  const nameOf = ({ key }: MirroredKey) => `${address.prefix}:${key}`;

  const connection = openRedisConnection({
    address,
    purpose: 'mirror',
    timeoutMs: TIMEOUT_MS,
    prepare: async (client) => {
      written.clear();
      await client.exists(`${address.prefix}:${keys[0]?.key}`);
    },
    async probe(client) {
      // Emptied under a working connection.
      for (const [key, known] of written)
        if (known.size > 0 && (await client.exists(nameOf(key))) === 0) throw new Error('it was emptied');
    },
    clock,
    log,
  });

  async function mirror(): Promise<void> {
    if (running || !connection.ready || !mayWrite()) return;
    running = true;
    try {
      for (const key of keys) await update(key);
    } catch {
      // The connection logs it; everything is compared when it is ready again.
    }
    running = false;
  }

  async function update(key: MirroredKey): Promise<void> {
    const name = nameOf(key);
    const wanted = key.read();
    if (wanted === null) return;
    let known = written.get(key);
    if (known === undefined) {
      known = await connection.run((client) => readAll(client, key.type, name));
      written.set(key, known);
    }
    const changed = [...wanted].filter(([member, value]) => known.get(member) !== value);
    const gone = [...known.keys()].filter((member) => !wanted.has(member));
    for (let at = 0; at < changed.length; at += BATCH) {
      const part = changed.slice(at, at + BATCH);
      await connection.run((client) => write(client, key.type, name, part));
      for (const [member, value] of part) known.set(member, value);
    }
    for (let at = 0; at < gone.length; at += BATCH) {
      const part = gone.slice(at, at + BATCH);
      await connection.run((client) =>
        key.type === 'hash' ? client.hdel(name, ...part) : client.zrem(name, ...part),
      );
      for (const member of part) known.delete(member);
    }
  }

  const stops = [connection.watchReady(() => void mirror()), clock.every(MIRROR_MS, () => void mirror())];
  return {
    state: connection.state,
    close() {
      for (const stop of stops) stop();
      connection.close();
    },
  };
}

async function readAll(
  client: RedisClient,
  type: MirroredKey['type'],
  name: string,
): Promise<Map<string, string>> {
  if (type === 'hash') return new Map(Object.entries(await client.hgetall(name)));
  return new Map(pairsOf(await client.zrange(name, '0', '-1', 'WITHSCORES')));
}

function write(
  client: RedisClient,
  type: MirroredKey['type'],
  name: string,
  entries: readonly (readonly [string, string])[],
): Promise<unknown> {
  if (type === 'hash') return client.hset(name, ...entries.flat());
  return client.zadd(name, ...entries.flatMap(([member, score]) => [score, member]));
}

/** Reads the monitor's state every second until it is closed; `onState` gets its fields as they were written. */
export function openMonitorState(
  options: RedisContext & { readonly onState: (fields: Readonly<Record<string, string>>) => void },
): RedisPart {
  const key = `${options.address.prefix}:${MONITOR_KEY}`;
  const read = async (client: RedisClient) => options.onState(await client.hgetall(key));
  return openRedisConnection({
    ...options,
    purpose: 'words',
    timeoutMs: TIMEOUT_MS,
    prepare: read,
    probe: read,
  });
}
