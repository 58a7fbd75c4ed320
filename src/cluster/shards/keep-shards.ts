/**
 * The judge's side of the shards: it sees to it that each shard of each region has its job, so that a Redis that was emptied
 * has all of them again within seconds.
 */
import { Queue } from 'bullmq';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Clock } from '../../clock.ts';
import type { RedisAddress } from '../../domain/redis-address.ts';
import { SHARDS } from '../../domain/shard.ts';
import { messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import { connectQueues, jobIdOf, MIXED_SHARDS, type ShardData } from './shard-queue.ts';

/** What the judge provides. */
export interface KeepShardsOptions {
  readonly address: RedisAddress;
  /** The regions in which nodes check services. */
  readonly regions: () => readonly string[];
  /** The writer lease: its fence makes generations grow from judge to judge. */
  readonly lease: { readonly fence: number; isFresh(): boolean };
  readonly clock: Clock;
  readonly log: Log;
}

/** The shards of a region by their state. */
export interface ShardCounts {
  /** A node checks them. */
  readonly held: number;
  /** No node checks them. */
  readonly waiting: number;
}

/** What keeps the shards, until it is stopped. */
export interface ShardKeeper {
  /** As of the last look, by region; without a region before its first look. */
  counts(): ReadonlyMap<string, ShardCounts>;
  stop(): Promise<void>;
}

const PERIOD_MS = 2_000;
/** A judge makes fewer generations than this. */
const GENERATIONS = 1_000_000;

type ShardQueue = Queue<ShardData, void, 'shard'>;

/** Starts to keep the shards. Nothing is written while the lease is not fresh. */
export function keepShards({ address, regions, lease, clock, log }: KeepShardsOptions): ShardKeeper {
  const { client, reconnect, options } = connectQueues(address);
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

  async function keep(region: string): Promise<void> {
    const queue = queueOf(region);
    const { active = 0, waiting = 0 } = await queue.getJobCounts('active', 'waiting');
    counts.set(region, { held: active, waiting });
    if (active + waiting >= SHARDS || stopped || !lease.isFresh()) return;
    const generation = lease.fence * GENERATIONS + generations;
    generations += 1;
    // BullMQ ignores a job whose id it has, whatever its state.
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
      for (const region of new Set([...queues.keys(), ...regions()])) if (!stopped) await keep(region);
      problem = null;
    } catch (error) {
      const message = messageOf(error);
      if (problem === null && !stopped) log.warn({ problem: message }, 'the shards cannot be handed out');
      problem = message;
    }
  });
  const look = () => {
    reconnect();
    if (!loop.isRunning && client.status === 'ready') void loop.run();
  };
  client.on('ready', look);
  const cancel = clock.every(PERIOD_MS, look);
  look();

  return {
    counts: () => counts,
    async stop() {
      stopped = true;
      cancel();
      client.disconnect();
      await loop.idle();
      await Promise.all([...queues.values()].map((queue) => queue.close().catch(() => {})));
    },
  };
}
