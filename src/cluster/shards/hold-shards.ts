/**
 * Holds the shards of a probing node: claims its share, renews its claims every second, releases shards that belong to
 * another node, and detects lost ones. BullMQ implements claims, locks and their expiry. This file decides how many
 * shards to claim, and tells the threads until when the node is certain to hold them.
 */
import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Cancel, Clock } from '../../clock.ts';
import { type NodeState, SHARDS, type ShardFence } from '../../domain/node.ts';
import type { RedisAddress } from '../../domain/store-address.ts';
import type { StartPermit } from '../../engine/protocol.ts';
import { messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import { isFullRedis, type RedisClient, runScript } from '../../store/status/redis-client.ts';
import {
  connectQueues,
  fenceOf,
  jobIdOf,
  MIXED_SHARDS,
  RENEW_IN_PLACE,
  type ShardData,
  type ShardJob,
} from './shard-queue.ts';

export interface HeldShard {
  readonly shard: number;
  /** The fence of the claim. */
  readonly fence: ShardFence;
}

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

/** The shards that this node holds. A new holder starts claiming. */
export class ShardHolder {
  readonly #region: string;
  readonly #permit: StartPermit;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #onGain: (gained: readonly HeldShard[]) => void;
  readonly #onLoss: (lost: readonly HeldShard[]) => Promise<void> | void;
  readonly #nowNs: () => bigint;
  readonly #lockMs: number;
  readonly #client: RedisClient;
  readonly #queues: ReturnType<typeof connectQueues>;
  readonly #node: string;
  readonly #holders: HoldShardsOptions['holders'];
  readonly #balance: ReturnType<typeof createShardBalance>;
  readonly #queue;
  // The worker has no processor and fetches jobs one by one (BullMQ, "Manually processing jobs"). The worker's own loop would not
  // notice that its share has grown before one of its jobs ends, and does not report when it last renewed them.
  readonly #worker;
  readonly #claims = new Map<number, Claim>();
  readonly #permitNs: bigint;
  #problem: string | null = null;
  #isFirst = true;
  #stopped = false;
  readonly #loop: ReturnType<typeof createCoalescingLoop>;
  readonly #cancel: Cancel;

  constructor(options: HoldShardsOptions) {
    const { region, node, clock } = options;
    this.#region = region;
    this.#permit = options.permit;
    this.#clock = clock;
    this.#log = options.log;
    this.#onGain = options.onGain;
    this.#onLoss = options.onLoss;
    const { lockMs = LOCK_MS } = options;
    this.#nowNs = options.nowNs ?? process.hrtime.bigint;
    this.#lockMs = lockMs;
    this.#queues = connectQueues(options.address);
    const { client, options: shared } = this.#queues;
    this.#client = client;
    this.#node = node;
    this.#holders = options.holders;
    this.#balance = createShardBalance(clock);
    this.#queue = new Queue<ShardData, void, 'shard'>(region, { ...shared, skipMetasUpdate: true });
    this.#worker = new Worker<ShardData, void, 'shard'>(region, null, {
      ...shared,
      name: node,
      lockDuration: lockMs,
      stalledInterval: EXPIRY_PERIOD_MS,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    });
    this.#queue.on('error', () => {});
    this.#worker.on('error', () => {});
    this.#permitNs = BigInt(Math.round((lockMs - LOCK_MARGIN_MS) * NS_PER_MS));
    this.#loop = createCoalescingLoop(() => this.#share());
    client.on('ready', () => this.#turn());
    this.#cancel = clock.every(PERIOD_MS, () => this.#turn());
    this.#turn();
  }

  held(): readonly HeldShard[] {
    return [...this.#claims.values()].map(toHeld);
  }

  /** Why the claims cannot be renewed, so that checks stop, one line; null: they are renewed. */
  problem(): string | null {
    return this.#problem === null ? null : `shards cannot be renewed: ${this.#problem}`;
  }

  /** Releases all shards. The caller must have stopped its checks. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.#permit.revoke();
    await this.#loop.idle();
    const all = [...this.#claims.values()];
    this.#claims.clear();
    if (this.#client.status === 'ready')
      await Promise.allSettled(all.map(({ job, token }) => job.moveToWait(token)));
    await Promise.allSettled([this.#worker.close(true), this.#queue.close()]);
    this.#client.disconnect();
  }

  /** Renews the claims, and claims or hands back as many as the share of this node has changed by. */
  async #share(): Promise<void> {
    try {
      await this.#queues.requireMaster();
      await this.#renew();
      // After a fault, the worker would look for expired locks only seconds later.
      if (this.#isFirst || this.#problem !== null) await this.#worker.startStalledCheckTimer();
      this.#isFirst = false;
      const { waiting = 0 } = await this.#queue.getJobCounts('waiting');
      if (this.#stopped) return;
      const among = this.#holders();
      const own = among.find(({ name }) => name === this.#node);
      const isHolder = own !== undefined;
      const { reachesRegistry = false } = own ?? {};
      const move = this.#balance({
        held: this.#claims.size,
        nodes: among.length,
        isHolder,
        reachesRegistry,
        waiting,
      });
      if (move.handBack > 0 && !isHolder)
        this.#log.warn(
          { region: this.#region },
          'this node is offline or does not reach the registry; its shards go to the other nodes',
        );
      if (move.handBack > 0) await this.#handBack(this.#mixed().slice(-move.handBack));
      else if (move.claim > 0) await this.#claim(move.claim);
      this.#problem = null;
    } catch (error) {
      // Nothing can be claimed, by this node or another one, and what it holds was renewed.
      if (isFullRedis(error) && this.#claims.size > 0) return;
      const message = messageOf(error);
      if (this.#problem === null && !this.#stopped)
        this.#log.warn(
          { region: this.#region, problem: message },
          'shards cannot be renewed; checks stop until they are',
        );
      this.#problem = message;
      this.#queues.noteFailure(error);
    }
  }

  /** Renews all claims and drops those that were lost. Rejects while Redis is full, after it has renewed them. */
  async #renew(): Promise<void> {
    const all = [...this.#claims.values()];
    if (all.length === 0) return;
    const askedNs = this.#nowNs();
    const tokens = all.map(({ token }) => token);
    try {
      const ids = all.map(({ shard }) => jobIdOf(shard));
      const failed = new Set(await this.#worker.extendJobLocks(ids, tokens, this.#lockMs));
      this.#noteRenewal(
        all.filter(({ shard }) => failed.has(jobIdOf(shard))),
        askedNs,
      );
    } catch (error) {
      if (!isFullRedis(error)) throw error;
      const locks = all.map(({ shard }) => this.#queue.toKey(`${jobIdOf(shard)}:lock`));
      const lost = new Set(
        (await runScript(this.#client, RENEW_IN_PLACE, locks, [this.#lockMs, ...tokens])) as number[],
      );
      this.#noteRenewal(
        all.filter((_, at) => lost.has(at)),
        askedNs,
      );
      throw error;
    }
  }

  #noteRenewal(lost: readonly Claim[], askedNs: bigint): void {
    // After a loss, only the next renewal extends the permit. By then the threads know which services they must not check.
    if (lost.length === 0) {
      // A renewal that was on its way when the node stopped allows nothing.
      if (!this.#stopped) this.#permit.set(askedNs + this.#permitNs);
      return;
    }
    this.#log.warn({ region: this.#region, shards: lost.map(({ shard }) => shard) }, 'shards were lost');
    this.#forget(lost);
    if (this.#claims.size === 0) this.#permit.revoke();
    void this.#onLoss(lost.map(toHeld));
  }

  #forget(gone: readonly Claim[]): void {
    for (const { shard, token } of gone)
      if (this.#claims.get(shard)?.token === token) this.#claims.delete(shard);
  }

  async #claim(limit: number): Promise<void> {
    const gained: Claim[] = [];
    try {
      while (gained.length < limit && !this.#stopped) {
        const token = randomUUID();
        const job: ShardJob | undefined = await this.#worker.getNextJob(token, { block: false });
        if (job === undefined) break;
        gained.push({ shard: job.data.shard, fence: fenceOf(job), job, token });
      }
    } finally {
      if (gained.length > 0) {
        for (const one of gained) this.#claims.set(one.shard, one);
        this.#log.info(
          { region: this.#region, shards: gained.length, held: this.#claims.size },
          'shards were claimed',
        );
        this.#onGain(gained.map(toHeld));
      }
    }
  }

  /** The claims in an order in which any subset mixes shards with small and large numbers. */
  #mixed(): Claim[] {
    return MIXED_SHARDS.flatMap((shard) => this.#claims.get(shard) ?? []);
  }

  async #handBack(given: readonly Claim[]): Promise<void> {
    if (given.length === 0) return;
    this.#forget(given);
    if (this.#claims.size === 0) this.#permit.revoke();
    const leaving = Promise.resolve(this.#onLoss(given.map(toHeld)));
    await Promise.race([leaving, new Promise<void>((done) => this.#clock.after(LEAVE_TIMEOUT_MS, done))]);
    // A shard that cannot be released now expires.
    await Promise.allSettled(given.map(({ job, token }) => job.moveToWait(token)));
    this.#log.info(
      { region: this.#region, shards: given.length, held: this.#claims.size },
      'shards were handed back',
    );
  }

  #turn() {
    this.#queues.reconnect();
    if (!this.#loop.isRunning && this.#client.status === 'ready') void this.#loop.run();
  }
}

function toHeld({ shard, fence }: Claim): HeldShard {
  return { shard, fence };
}

// Decides how many shards a node holds: an equal share of its region, plus the shards that no other node takes.

/** The state of a region as a node sees it. */
interface ShardSituation {
  /** Number of shards that this node holds. */
  readonly held: number;
  /** Number of live nodes among which the shards of the region are divided. */
  readonly nodes: number;
  /** False: this node is not among them, because it does not reach the registry and others do. */
  readonly isHolder: boolean;
  /** False: this node does not reach the registry. */
  readonly reachesRegistry: boolean;
  /** Number of shards that no node holds. */
  readonly waiting: number;
}

/** The next step of a node: the maximum number of shards to claim, and the number of shards to release. */
interface ShardMove {
  readonly claim: number;
  readonly handBack: number;
}

/**
 * Shards that wait longer than this, milliseconds, are claimed beyond the equal share, because a listed node may be
 * unable to claim them. The lock of a killed node expires earlier than its registration.
 */
const LEFT_OVER_MS = 4_000;
/** A node holds such extra shards for this time before it releases them, unless nodes join or leave, milliseconds. */
const KEEP_LEFT_OVER_MS = 30_000;

/**
 * A node that alone does not reach the registry releases its shards after this time, milliseconds. Nodes notice a fault
 * of PostgreSQL, and its end, within a few seconds of each other, and no shard moves because of that.
 */
const MAX_CUT_OFF_MS = 8_000;

/** The equal share of a node among `nodes`. */
export function fairShare(nodes: number): number {
  return Math.ceil(SHARDS / Math.max(1, nodes));
}

/** Creates the rule. It remembers since when shards have been waiting, and since when this node has been cut off. */
export function createShardBalance(clock: Clock): (situation: ShardSituation) => ShardMove {
  let knownNodes = 0;
  let waitingSince: number | null = null;
  let handBackFrom = Number.NEGATIVE_INFINITY;
  let cutOffSince: number | null = null;
  return ({ held, nodes, isHolder, reachesRegistry, waiting }) => {
    const now = clock.monotonic();
    cutOffSince = isHolder ? null : (cutOffSince ?? now);
    if (cutOffSince !== null) return { claim: 0, handBack: now - cutOffSince >= MAX_CUT_OFF_MS ? held : 0 };
    if (nodes !== knownNodes) handBackFrom = now;
    knownNodes = nodes;
    waitingSince = waiting === 0 ? null : (waitingSince ?? now);
    const share = fairShare(nodes);
    if (waitingSince !== null && now - waitingSince >= LEFT_OVER_MS) {
      if (waiting > share - held) handBackFrom = now + KEEP_LEFT_OVER_MS;
      return { claim: waiting, handBack: 0 };
    }
    // No node reaches the registry, so none could load the services of shards that this one releases.
    const mayHandBack = reachesRegistry && now >= handBackFrom;
    return {
      claim: Math.max(0, Math.min(waiting, share - held)),
      handBack: mayHandBack ? Math.max(0, held - share) : 0,
    };
  };
}
