/**
 * Maintains the shard jobs, for the judge: every shard of every region has a job. If Redis was emptied, all jobs are
 * added again within seconds.
 */
import { Queue } from 'bullmq';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Clock } from '../../clock.ts';
import { SHARDS } from '../../domain/node.ts';
import type { RedisAddress } from '../../domain/store-address.ts';
import { messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import { connectQueues, jobIdOf, MIXED_SHARDS, type ShardData } from './shard-queue.ts';

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
