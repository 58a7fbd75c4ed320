/**
 * Holds the shards of a probing node: claims its share, renews its claims every second, releases shards that belong to
 * another node, and detects lost ones. BullMQ implements claims, locks and their expiry. This file decides how many
 * shards to claim, and tells the threads until when the node is certain to hold them.
 */
import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Clock } from '../../clock.ts';
import type { NodeState } from '../../domain/node.ts';
import type { RedisAddress } from '../../domain/redis-address.ts';
import type { ShardFence } from '../../domain/shard.ts';
import type { StartPermit } from '../../engine/start-permit.ts';
import { messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import { isFullRedis, runScript } from '../../store/status/redis-client.ts';
import { createShardBalance } from './shard-balance.ts';
import {
  connectQueues,
  fenceOf,
  jobIdOf,
  MIXED_SHARDS,
  RENEW_IN_PLACE,
  type ShardData,
  type ShardJob,
} from './shard-queue.ts';

/** A shard that the node holds. */
export interface HeldShard {
  readonly shard: number;
  /** The fence of the claim. */
  readonly fence: ShardFence;
}

/** Options of the holder. */
export interface HoldShardsOptions {
  readonly address: RedisAddress;
  readonly region: string;
  /** Name of the node, stored with its jobs. */
  readonly node: string;
  /** The live nodes among which the shards of the region are divided. */
  readonly holders: () => readonly Pick<NodeState, 'name' | 'reachesRegistry'>[];
  /** The permit of the fleet, set to the time until which no other node can hold a shard of this one. */
  readonly permit: StartPermit;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the node has gained shards, whose services it must check from now on. */
  readonly onGain: (gained: readonly HeldShard[]) => void;
  /**
   * Called when the node has lost shards. Released shards become available to other nodes when the promise resolves, or
   * after a second.
   */
  readonly onLoss: (lost: readonly HeldShard[]) => Promise<void> | void;
  /** Default: `process.hrtime.bigint`. */
  readonly nowNs?: () => bigint;
  /** Duration of a claim without a renewal, milliseconds, more than 1,500. Default 6,000. */
  readonly lockMs?: number;
}

/** The holder of the shards of a node. */
export interface ShardHolder {
  held(): readonly HeldShard[];
  /** Why the claims cannot be renewed, so that checks stop, one line; null: they are renewed. */
  problem(): string | null;
  /** Releases all shards. The caller must have stopped its checks. */
  stop(): Promise<void>;
}

const PERIOD_MS = 1_000;
const LOCK_MS = 6_000;
/** Safety margin, since clocks may differ in rate: a node stops checking this much earlier. */
const LOCK_MARGIN_MS = 500;
/** Interval at which BullMQ looks for expired locks. */
const EXPIRY_PERIOD_MS = 1_000;
/** Maximum time that a release waits for results in flight. */
const LEAVE_TIMEOUT_MS = 1_000;
const NS_PER_MS = 1_000_000;

interface Claim extends HeldShard {
  readonly job: ShardJob;
  readonly token: string;
}

/** Starts claiming shards. */
export function holdShards(options: HoldShardsOptions): ShardHolder {
  const { region, node, holders, permit, clock, log, onGain, onLoss } = options;
  const { nowNs = process.hrtime.bigint, lockMs = LOCK_MS } = options;
  const { client, requireMaster, reconnect, noteFailure, options: shared } = connectQueues(options.address);
  const queue = new Queue<ShardData, void, 'shard'>(region, { ...shared, skipMetasUpdate: true });
  // The worker has no processor and fetches jobs one by one (BullMQ, "Manually processing jobs"). The worker's own loop
  // would not notice that its share has grown before one of its jobs ends, and does not report when it last renewed
  // them.
  const worker = new Worker<ShardData, void, 'shard'>(region, null, {
    ...shared,
    name: node,
    lockDuration: lockMs,
    stalledInterval: EXPIRY_PERIOD_MS,
    maxStalledCount: Number.MAX_SAFE_INTEGER,
  });
  queue.on('error', () => {});
  worker.on('error', () => {});
  const claims = new Map<number, Claim>();
  const balance = createShardBalance(clock);
  const permitNs = BigInt(Math.round((lockMs - LOCK_MARGIN_MS) * NS_PER_MS));
  let problem: string | null = null;
  let isFirst = true;
  let stopped = false;

  /** Renews all claims and drops those that were lost. Rejects while Redis is full, after it has renewed them. */
  async function renew(): Promise<void> {
    const all = [...claims.values()];
    if (all.length === 0) return;
    const askedNs = nowNs();
    const tokens = all.map(({ token }) => token);
    try {
      const ids = all.map(({ shard }) => jobIdOf(shard));
      const failed = new Set(await worker.extendJobLocks(ids, tokens, lockMs));
      noteRenewal(
        all.filter(({ shard }) => failed.has(jobIdOf(shard))),
        askedNs,
      );
    } catch (error) {
      if (!isFullRedis(error)) throw error;
      const locks = all.map(({ shard }) => queue.toKey(`${jobIdOf(shard)}:lock`));
      const lost = new Set((await runScript(client, RENEW_IN_PLACE, locks, [lockMs, ...tokens])) as number[]);
      noteRenewal(
        all.filter((_, at) => lost.has(at)),
        askedNs,
      );
      throw error;
    }
  }

  function noteRenewal(lost: readonly Claim[], askedNs: bigint): void {
    // After a loss, only the next renewal extends the permit. By then the threads know which services they must not
    // check.
    if (lost.length === 0) {
      permit.set(askedNs + permitNs);
      return;
    }
    log.warn({ region, shards: lost.map(({ shard }) => shard) }, 'shards were lost');
    forget(lost);
    if (claims.size === 0) permit.revoke();
    void onLoss(lost.map(toHeld));
  }

  function forget(gone: readonly Claim[]): void {
    for (const { shard, token } of gone) if (claims.get(shard)?.token === token) claims.delete(shard);
  }

  async function claim(limit: number): Promise<void> {
    const gained: Claim[] = [];
    try {
      while (gained.length < limit && !stopped) {
        const token = randomUUID();
        const job: ShardJob | undefined = await worker.getNextJob(token, { block: false });
        if (job === undefined) break;
        gained.push({ shard: job.data.shard, fence: fenceOf(job), job, token });
      }
    } finally {
      if (gained.length > 0) {
        for (const one of gained) claims.set(one.shard, one);
        log.info({ region, shards: gained.length, held: claims.size }, 'shards were claimed');
        onGain(gained.map(toHeld));
      }
    }
  }

  /** The claims in an order in which any subset mixes shards with small and large numbers. */
  function mixed(): Claim[] {
    return MIXED_SHARDS.flatMap((shard) => claims.get(shard) ?? []);
  }

  async function handBack(given: readonly Claim[]): Promise<void> {
    if (given.length === 0) return;
    forget(given);
    if (claims.size === 0) permit.revoke();
    const leaving = Promise.resolve(onLoss(given.map(toHeld)));
    await Promise.race([leaving, new Promise<void>((done) => clock.after(LEAVE_TIMEOUT_MS, done))]);
    // A shard that cannot be released now expires.
    await Promise.allSettled(given.map(({ job, token }) => job.moveToWait(token)));
    log.info({ region, shards: given.length, held: claims.size }, 'shards were handed back');
  }

  const loop = createCoalescingLoop(async () => {
    try {
      await requireMaster();
      await renew();
      // After a fault, the worker would look for expired locks only seconds later.
      if (isFirst || problem !== null) await worker.startStalledCheckTimer();
      isFirst = false;
      const { waiting = 0 } = await queue.getJobCounts('waiting');
      if (stopped) return;
      const among = holders();
      const own = among.find(({ name }) => name === node);
      const isHolder = own !== undefined;
      const { reachesRegistry = false } = own ?? {};
      const move = balance({ held: claims.size, nodes: among.length, isHolder, reachesRegistry, waiting });
      if (move.handBack > 0 && !isHolder)
        log.warn(
          { region },
          'this node is offline or does not reach the registry; its shards go to the other nodes',
        );
      if (move.handBack > 0) await handBack(mixed().slice(-move.handBack));
      else if (move.claim > 0) await claim(move.claim);
      problem = null;
    } catch (error) {
      // Nothing can be claimed, by this node or another one, and what it holds was renewed.
      if (isFullRedis(error) && claims.size > 0) return;
      const message = messageOf(error);
      if (problem === null && !stopped)
        log.warn({ region, problem: message }, 'shards cannot be renewed; checks stop until they are');
      problem = message;
      noteFailure(error);
    }
  });
  const turn = () => {
    reconnect();
    if (!loop.isRunning && client.status === 'ready') void loop.run();
  };
  client.on('ready', turn);
  const cancel = clock.every(PERIOD_MS, turn);
  turn();

  return {
    held: () => [...claims.values()].map(toHeld),
    problem: () => (problem === null ? null : `shards cannot be renewed: ${problem}`),
    async stop() {
      stopped = true;
      cancel();
      permit.revoke();
      await loop.idle();
      const all = [...claims.values()];
      claims.clear();
      if (client.status === 'ready')
        await Promise.allSettled(all.map(({ job, token }) => job.moveToWait(token)));
      await Promise.allSettled([worker.close(true), queue.close()]);
      client.disconnect();
    },
  };
}

function toHeld({ shard, fence }: Claim): HeldShard {
  return { shard, fence };
}
