/**
 * The queue of a region's shards (docs/adr/0019): BullMQ has one job for each shard, and a node holds the job for as long
 * as it checks the services of the shard.
 */
import type { Job } from 'bullmq';
import { SHARDS, type ShardFence } from '../../domain/node.ts';
import type { RedisAddress } from '../../domain/store-address.ts';
import { hashNumber } from '../../engine/host/phase.ts';
import { messageOf } from '../../error.ts';
import { createRedisClient, redisScript, requireMaster } from '../../store/status/redis-client.ts';

export interface ShardData {
  readonly shard: number;
  readonly generation: number;
}

export type ShardJob = Job<ShardData, void, 'shard'>;

/** The client's message about a command without a response in time. */
const TIMED_OUT = 'Command timed out';
/** Timeout of a command, milliseconds. */
const COMMAND_TIMEOUT_MS = 2_000;
/** Maximum length of BullMQ's event stream. BullMQ writes an event for each change of a job, but no part reads them. */
const MAX_EVENTS = 100;

/** All shards in mixed order. The IDs of a few services lie in neighbouring shards, which should not all go to one node. */
export const MIXED_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard).sort(
  (a, b) => hashNumber(a + 1) - hashNumber(b + 1),
);

/** The id of a shard's job; BullMQ reserves whole numbers for its own. */
export function jobIdOf(shard: number): string {
  return `shard-${shard}`;
}

/**
 * Renews locks of jobs without more memory, which BullMQ's own way needs. Keys: the locks. Arguments: the time until they expire,
 * milliseconds, and the token of each. Returns the places of those that were lost, from 0.
 */
export const RENEW_IN_PLACE = redisScript(`
local lost = {}
for at, key in ipairs(KEYS) do
  if redis.call('GET', key) ~= ARGV[at + 1] or redis.call('PEXPIRE', key, ARGV[1]) == 0 then lost[#lost + 1] = at - 1 end
end
return lost
`);

/** The fence of a newly claimed job, or of the newest claim of a job. */
export function fenceOf({ data, attemptsStarted }: ShardJob): ShardFence {
  return { generation: data.generation, claim: attemptsStarted };
}

/**
 * Creates the connection for the queues, and the options that each part passes to BullMQ. Commands fail at once while
 * Redis is unavailable. The hash tag keeps all keys in one slot of a cluster, as BullMQ's scripts need.
 */
export function connectQueues(address: RedisAddress) {
  const client = createRedisClient(address, {
    name: 'upbeat-shards',
    timeoutMs: COMMAND_TIMEOUT_MS,
    // BullMQ pipelines its commands itself.
    blocking: true,
  });
  client.on('error', () => {});
  return {
    client,
    /** Rejects if the server takes no writes. A replica shows the claims of the time when it became one. */
    requireMaster: () => requireMaster(client, address),
    /**
     * Reconnects a stopped client; called periodically. The client can stop although it is configured to reconnect
     * indefinitely: a failover message can end it.
     */
    reconnect(): void {
      if (client.status === 'end') client.connect().catch(() => {});
    },
    /**
     * Replaces the connection after a command without a response. TCP repeats what was lost in a long interruption only
     * after pauses of up to two minutes (RFC 6298, 5.5).
     */
    noteFailure(error: unknown): void {
      if (messageOf(error) === TIMED_OUT && client.status === 'ready') client.disconnect(true);
    },
    options: {
      connection: client,
      prefix: `${address.prefix}:{shards}`,
      skipVersionCheck: true,
      streams: { events: { maxLen: MAX_EVENTS } },
    },
  };
}
