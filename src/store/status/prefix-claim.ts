/**
 * The installation that a prefix of Redis belongs to. Two installations under one prefix would mix their statuses, nodes and
 * rate limits, so the second one does not start. The claim has a short life: an installation that has ended, was restored
 * from a backup or was set up anew is never refused for long, and an emptied Redis is claimed again within a second.
 */
import { hostname } from 'node:os';
import type { Clock } from '../../clock.ts';
import { describeRedis, type RedisAddress } from '../../domain/store-address.ts';
import type { Log } from '../../log.ts';
import { type RedisClient, redisScript, runScript } from './redis-client.ts';
import type { RedisConnection } from './redis-connection.ts';

/** Thrown at a start if another installation that is alive uses the prefix. */
class RedisPrefixTaken extends Error {
  readonly code = 'redis_prefix_taken';
}

export interface PrefixClaimOptions {
  readonly address: RedisAddress;
  /** The identity of this installation, which all its processes share. */
  readonly installation: string;
  readonly clock: Clock;
  readonly log: Log;
}

export type PrefixClaim = ReturnType<typeof createPrefixClaim>;

/** Each process renews the claim every second; without a renewal it ends after this time, milliseconds. */
const CLAIM_TTL_MS = 4_000;
/** The time for which a start waits for Redis, milliseconds. */
const START_TIMEOUT_MS = 2_000;
/** Interval at which a start checks whether the holder renews its claim, milliseconds. */
const LOOK_MS = 200;

/**
 * Renews the claim, or makes it if there is none. Keys: the claim. Arguments: installation, description of the process, life in
 * milliseconds. Returns nothing, or the description and the remaining life of the claim of another installation.
 */
const CLAIM = redisScript(`
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #ARGV[1]) ~= ARGV[1] then
  return {string.match(held, ' (.*)') or 'unknown', redis.call('PTTL', KEYS[1])}
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
return {}`);

/** Ends the claim, unless it is that of another installation. Keys and arguments: as above. */
const RELEASE = redisScript(`
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #ARGV[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return {}`);

interface ForeignClaim {
  readonly process: string;
  readonly lifeMs: number;
}

/** Creates the claim. The owner of the connection calls `renew` every second. */
export function createPrefixClaim({ address, installation, clock, log }: PrefixClaimOptions) {
  // Beside the keys of nodes, so that users of Redis with the least rights may write it.
  const key = `${address.prefix}:{nodes}:installation`;
  const args = [installation, `process ${process.pid} on ${hostname()}`, CLAIM_TTL_MS];
  /** Null: the prefix is ours, as far as is known. */
  let foreign: ForeignClaim | null = null;
  let started = false;

  async function renew(client: RedisClient): Promise<void> {
    const [holder, lifeMs] = (await runScript(client, CLAIM, [key], args)) as [string?, number?];
    const isNew = foreign === null;
    foreign = holder === undefined ? null : { process: holder, lifeMs: lifeMs ?? 0 };
    if (foreign !== null && isNew && started)
      log.error({ prefix: address.prefix, by: holder }, 'another installation uses this Redis prefix');
  }

  return {
    renew,
    /**
     * Resolves when the prefix is claimed, or when Redis does not respond. Rejects with {@link RedisPrefixTaken} if another
     * installation renews its claim.
     */
    async atStart(connection: RedisConnection): Promise<void> {
      const patienceEndsMs = clock.monotonic() + START_TIMEOUT_MS;
      let before: ForeignClaim | null = null;
      while (connection.ready || clock.monotonic() < patienceEndsMs) {
        if (connection.ready) {
          await connection.run(renew).catch(() => {});
          if (foreign === null) break;
          const { process, lifeMs }: ForeignClaim = foreign;
          if (before !== null && (before.process !== process || before.lifeMs < lifeMs))
            throw new RedisPrefixTaken(
              `Another installation, ${process}, uses the prefix ${address.prefix} in Redis at ${describeRedis(address)}. Add ?prefix= with a name of its own to storage.redis.url of one of the two.`,
            );
          before = foreign;
        }
        await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
      }
      started = true;
    },
    /** Ends the claim when this process stops; other processes of the installation make it again within a second. */
    async release(connection: RedisConnection): Promise<void> {
      if (connection.ready && foreign === null)
        await connection.run((client) => runScript(client, RELEASE, [key], args)).catch(() => {});
    },
    /** One line; null: the prefix is ours, or Redis does not respond. */
    problem: (): string | null =>
      foreign === null ? null : `another installation, ${foreign.process}, uses the same prefix`,
  };
}
