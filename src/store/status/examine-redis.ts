/** The test of Redis by `upbeat doctor`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { describeRedis, readRedisAddress } from '../../domain/store-address.ts';
import { messageOf } from '../../error.ts';
import { silentLog } from '../../log.ts';
import { openRedisConnection } from './redis-connection.ts';

/** A finding; `advice` is null if nothing needs to be fixed. */
interface RedisFinding {
  readonly found: string;
  readonly advice: string | null;
}

const TIMEOUT_MS = 1_000;
/** Default time to wait for the connection, milliseconds. */
const CONNECT_TIMEOUT_MS = 4_000;
const POLL_MS = 20;
/** From this part of `maxmemory` on, Redis is nearly full. */
const MAX_USED_SHARE = 0.9;

/** Reads the version of Redis, and whether it would evict statuses when its memory is full. */
export async function examineRedis(
  url: string,
  clock: Clock,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
): Promise<RedisFinding> {
  const address = readRedisAddress(url);
  if (address === null) return { found: 'no address', advice: 'correct storage.redis.url' };
  const where = describeRedis(address);
  const connection = openRedisConnection({
    address,
    purpose: 'doctor',
    timeoutMs: TIMEOUT_MS,
    prepare: (client) => client.set(`${address.prefix}:limit-probe`, '1', 'PX', TIMEOUT_MS),
    probe: async () => {},
    clock,
    log: silentLog,
  });
  try {
    const until = clock.monotonic() + connectTimeoutMs;
    while (!connection.ready && clock.monotonic() < until) await sleep(POLL_MS);
    const startedMs = clock.monotonic();
    const info = await connection.run((client) => client.info());
    const ms = clock.monotonic() - startedMs;
    const version = /redis_version:(\S+)/.exec(info)?.[1] ?? 'of an unknown version';
    return {
      found: `Redis ${version} at ${where} answers in ${ms.toFixed(1)} ms`,
      advice: adviseOnMemory(info),
    };
  } catch (error) {
    const message = messageOf(error);
    return { found: `${where}: ${message}`, advice: adviseOnError(message) };
  } finally {
    connection.close();
  }
}

/** Advice with which a full memory does no harm; null: none. `info`: the answer to INFO. */
function adviseOnMemory(info: string): string | null {
  const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
  const bound = figure('maxmemory');
  if (bound === 0) return null;
  const set = 'set maxmemory-policy to volatile-lru';
  if (policy.startsWith('allkeys'))
    return `${set}: with ${policy} statuses are thrown away when memory is full`;
  if (policy === 'volatile-ttl' || policy === 'volatile-random')
    return `${set}: with ${policy} claims of shards are thrown away when memory is full, and checks move from node to node`;
  const share = figure('used_memory') / bound;
  if (share < MAX_USED_SHARE) return null;
  return `raise maxmemory, of which ${Math.floor(share * 100)} % are in use: while it is full, results of a cluster wait at its nodes and no status changes`;
}

function adviseOnError(message: string): string {
  if (/^(?:READONLY|MASTERDOWN|NOREPLICAS)/.test(message))
    return 'storage.redis.url leads to a replica, or a master without its replicas, which takes no writes: name the master, or the Sentinels that know it';
  if (message.startsWith('OOM'))
    return 'raise maxmemory: while Redis is full, results of a cluster wait at its nodes and no status changes';
  return 'start Redis, or correct storage.redis.url; until then limits are counted in each process';
}
