/** A look at Redis for `upbeat doctor`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { describeRedis, readRedisAddress } from '../../domain/redis-address.ts';
import { silentLog } from '../../log.ts';
import { openRedisConnection } from './redis-connection.ts';

/** A finding; `advice` is null if nothing needs to be fixed. */
export interface RedisFinding {
  readonly found: string;
  readonly advice: string | null;
}

const TIMEOUT_MS = 1_000;
const PATIENCE_MS = 4_000;
const LOOK_MS = 20;

/** Asks Redis who it is, and whether it would throw statuses away when its memory is full. Waits for it `patienceMs`. */
export async function examineRedis(
  url: string,
  clock: Clock,
  patienceMs = PATIENCE_MS,
): Promise<RedisFinding> {
  const address = readRedisAddress(url);
  if (address === null) return { found: 'no address', advice: 'mend storage.redis.url' };
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
    const until = clock.monotonic() + patienceMs;
    while (!connection.ready && clock.monotonic() < until) await sleep(LOOK_MS);
    const startedMs = clock.monotonic();
    const info = await connection.ask((client) => client.info());
    const ms = clock.monotonic() - startedMs;
    const version = /redis_version:(\S+)/.exec(info)?.[1] ?? 'of an unknown version';
    const policy = /maxmemory_policy:(\S+)/.exec(info)?.[1] ?? 'noeviction';
    const forgets = policy.startsWith('allkeys') && !/maxmemory:0\r/.test(info);
    return {
      found: `Redis ${version} at ${where} answers in ${ms.toFixed(1)} ms`,
      advice: forgets
        ? `set maxmemory-policy to volatile-ttl: with ${policy} statuses are thrown away when memory is full`
        : null,
    };
  } catch (error) {
    return {
      found: `${where}: ${(error as Error).message}`,
      advice: 'start Redis, or mend storage.redis.url; until then limits are counted in each process',
    };
  } finally {
    connection.close();
  }
}
