/**
 * The queue of a region's shards (docs/adr/0019): BullMQ has one job for each shard, and a node holds the job for as long
 * as it checks the services of the shard.
 */
import type { Job } from 'bullmq';
import type { RedisAddress } from '../../domain/redis-address.ts';
import { SHARDS, type ShardFence } from '../../domain/shard.ts';
import { hashNumber } from '../../engine/host/phase.ts';
import { createRedisClient } from '../../store/status/redis-client.ts';

/** The data of a job. */
export interface ShardData {
  readonly shard: number;
  readonly generation: number;
}

/** A job of a shard. */
export type ShardJob = Job<ShardData, void, 'shard'>;

/** Timeout of a command, milliseconds. */
const COMMAND_TIMEOUT_MS = 2_000;
/** BullMQ writes an event for each change of a job; nothing reads them. */
const MAX_EVENTS = 100;

/** Every shard, in no order: the ids of a few services lie in shards side by side, which are not to be one node's alone. */
export const MIXED_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard).sort(
  (a, b) => hashNumber(a + 1) - hashNumber(b + 1),
);

/** The id of a shard's job; BullMQ reserves whole numbers for its own. */
export function jobIdOf(shard: number): string {
  return `shard-${shard}`;
}

/** The fence of a job that was just claimed, or of its newest claim. */
export function fenceOf({ data, attemptsStarted }: ShardJob): ShardFence {
  return { generation: data.generation, claim: attemptsStarted };
}

/**
 * A connection for the queues, and the options that every part passes to BullMQ. Commands fail at once while Redis is
 * unavailable. The hash tag keeps all keys in one slot of a cluster, as BullMQ's scripts need.
 */
export function connectQueues(address: RedisAddress) {
  const client = createRedisClient(address, {
    name: 'upbeat-shards',
    timeoutMs: COMMAND_TIMEOUT_MS,
    // BullMQ sends its commands in pipelines of its own.
    blocking: true,
  });
  client.on('error', () => {});
  return {
    client,
    /** The client can stop although it is to reconnect indefinitely: news of a failover can end it. Called again and again. */
    reconnect(): void {
      if (client.status === 'end') client.connect().catch(() => {});
    },
    options: {
      connection: client,
      prefix: `${address.prefix}:{shards}`,
      skipVersionCheck: true,
      streams: { events: { maxLen: MAX_EVENTS } },
    },
  };
}
