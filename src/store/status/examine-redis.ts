/** The test of Redis by `upbeat doctor`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { describeRedis, readRedisAddress } from '../../domain/redis-address.ts';
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
    const policy = /maxmemory_policy:(\S+)/.exec(info)?.[1] ?? 'noeviction';
    const evicts = policy.startsWith('allkeys') && !/maxmemory:0\r/.test(info);
    return {
      found: `Redis ${version} at ${where} answers in ${ms.toFixed(1)} ms`,
      advice: evicts
        ? `set maxmemory-policy to volatile-ttl: with ${policy} statuses are thrown away when memory is full`
        : null,
    };
  } catch (error) {
    return {
      found: `${where}: ${messageOf(error)}`,
      advice: 'start Redis, or correct storage.redis.url; until then limits are counted in each process',
    };
  } finally {
    connection.close();
  }
}
