/**
 * The queue of a region's shards (docs/adr/0019): BullMQ has one job for each shard, and a node holds the job for as long
 * as it checks the services of the shard. The judge maintains the jobs: every shard of every region has one. If Redis was emptied, all
 * are added again within seconds.
 */
import { type Job, Queue } from 'bullmq';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Clock } from '../../clock.ts';
import { SHARDS, type ShardFence } from '../../domain/node.ts';
import type { RedisAddress } from '../../domain/store-address.ts';
import { hashNumber } from '../../engine/host/phase.ts';
import { messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
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

export interface ShardCounts {
  /** Shards that a node checks. */
  readonly held: number;
  /** Shards that no node checks. */
  readonly waiting: number;
}

export interface ShardMaintenance {
  /** Counts of the last poll by region. A region is absent before its first poll. */
  counts(): ReadonlyMap<string, ShardCounts>;
  /** Why shards cannot be handed out, one line; null: they are. */
  problem(): string | null;
  stop(): Promise<void>;
}

const PERIOD_MS = 2_000;
/** Upper bound of the generations that one judge creates. */
const GENERATIONS = 1_000_000;

type ShardQueue = Queue<ShardData, void, 'shard'>;

/** Starts the maintenance. It writes nothing while the lease is not fresh. */
export function maintainShards({
  address,
  regions,
  lease,
  clock,
  log,
}: {
  readonly address: RedisAddress;
  /** The regions in which nodes check services. */
  readonly regions: () => readonly string[];
  /** The writer lease. Its fence makes generations increase from judge to judge. */
  readonly lease: { readonly fence: number; isFresh(): boolean };
  readonly clock: Clock;
  readonly log: Log;
}): ShardMaintenance {
  const { client, requireMaster, reconnect, noteFailure, options } = connectQueues(address);
  const queues = new Map<string, ShardQueue>();
  const counts = new Map<string, ShardCounts>();
  let generations = 0;
  let problem: string | null = null;
  let stopped = false;

  function queueOf(region: string): ShardQueue {
    let queue = queues.get(region);
    if (queue === undefined) {
      queue = new Queue<ShardData, void, 'shard'>(region, options);
      queue.on('error', () => {});
      queues.set(region, queue);
    }
    return queue;
  }

  async function maintain(region: string): Promise<void> {
    const queue = queueOf(region);
    const { active = 0, waiting = 0 } = await queue.getJobCounts('active', 'waiting');
    counts.set(region, { held: active, waiting });
    if (active + waiting >= SHARDS || stopped || !lease.isFresh()) return;
    const generation = lease.fence * GENERATIONS + generations;
    generations += 1;
    // BullMQ ignores a job whose ID exists, in any state.
    await queue.addBulk(
      MIXED_SHARDS.map((shard) => ({
        name: 'shard',
        data: { shard, generation },
        opts: { jobId: jobIdOf(shard), removeOnComplete: true, removeOnFail: true },
      })),
    );
    log.info({ region, missing: SHARDS - active - waiting, generation }, 'shards are handed out');
  }

  const loop = createCoalescingLoop(async () => {
    try {
      await requireMaster();
      for (const region of new Set([...queues.keys(), ...regions()])) if (!stopped) await maintain(region);
      problem = null;
    } catch (error) {
      const message = messageOf(error);
      if (problem === null && !stopped) log.warn({ problem: message }, 'the shards cannot be handed out');
      problem = message;
      noteFailure(error);
    }
  });
  const poll = () => {
    reconnect();
    if (!loop.isRunning && client.status === 'ready') void loop.run();
  };
  client.on('ready', poll);
  const cancel = clock.every(PERIOD_MS, poll);
  poll();

  return {
    counts: () => counts,
    problem: () => (problem === null ? null : `shards cannot be handed out: ${problem}`),
    async stop() {
      stopped = true;
      cancel();
      client.disconnect();
      await loop.idle();
      await Promise.all([...queues.values()].map((queue) => queue.close().catch(() => {})));
    },
  };
}
