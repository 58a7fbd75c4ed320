/**
 * Small things that the monitor knows, kept in Redis for whoever wants to see them: looked at every second, and what
 * has changed is written. After an absence of Redis all is compared with what stands there, so that nothing has to be
 * remembered meanwhile.
 */
import type { Clock } from '../../clock.ts';
import type { RedisAddress } from '../../domain/redis-address.ts';
import type { Log } from '../../log.ts';
import type { RedisClient } from './redis-client.ts';
import { openRedisConnection, type RedisConnectionState } from './redis-connection.ts';

/** One key that is kept equal to what this process knows. */
export interface MirroredKey {
  /** Behind the prefix. */
  readonly key: string;
  /** `hash`: texts by field. `sorted-set`: scores by member. */
  readonly type: 'hash' | 'sorted-set';
  /** What is to stand there. */
  readonly read: () => ReadonlyMap<string, string>;
}

/** What mirroring needs. */
export interface RedisMirrorOptions {
  readonly address: RedisAddress;
  readonly keys: readonly MirroredKey[];
  /** False: the keys are another monitor's now. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** The mirror at work. */
export interface RedisMirror {
  state(): RedisConnectionState;
  close(): void;
}

const TIMEOUT_MS = 1_000;
const LOOK_MS = 1_000;
const BATCH = 500;

/** Keeps the keys until it is closed; they stay as they are then. */
export function openRedisMirror({ address, keys, mayWrite, clock, log }: RedisMirrorOptions): RedisMirror {
  /** What stands under each key; absent: not known. */
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

  async function look(): Promise<void> {
    if (running || !connection.ready || !mayWrite()) return;
    running = true;
    try {
      for (const key of keys) await bring(key);
    } catch {
      // The connection has said so; all is compared when it is ready again.
    }
    running = false;
  }

  async function bring(key: MirroredKey): Promise<void> {
    const name = nameOf(key);
    let known = written.get(key);
    if (known === undefined) {
      known = await connection.ask((client) => readAll(client, key.type, name));
      written.set(key, known);
    }
    const wanted = key.read();
    const changed = [...wanted].filter(([member, value]) => known.get(member) !== value);
    const gone = [...known.keys()].filter((member) => !wanted.has(member));
    for (let at = 0; at < changed.length; at += BATCH) {
      const part = changed.slice(at, at + BATCH);
      await connection.ask((client) => write(client, key.type, name, part));
      for (const [member, value] of part) known.set(member, value);
    }
    for (let at = 0; at < gone.length; at += BATCH) {
      const part = gone.slice(at, at + BATCH);
      await connection.ask((client) =>
        key.type === 'hash' ? client.hdel(name, ...part) : client.zrem(name, ...part),
      );
      for (const member of part) known.delete(member);
    }
  }

  const stops = [connection.watchReady(() => void look()), clock.every(LOOK_MS, () => void look())];
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
  const flat = await client.zrange(name, '0', '-1', 'WITHSCORES');
  return new Map(flat.flatMap((member, index) => (index % 2 === 0 ? [[member, flat[index + 1] ?? '']] : [])));
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
