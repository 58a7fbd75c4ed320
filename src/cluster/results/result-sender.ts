/**
 * Sends the results of a node to the judge, through a stream in Redis. While Redis is unavailable, or the stream is
 * full, the newest results wait in this process, up to a bound.
 */
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Cancel } from '../../clock.ts';
import { type ShardFence, shardOf } from '../../domain/node.ts';
import type { RuledResult } from '../../domain/result.ts';
import { isFullRedis, type RedisClient, runScript } from '../../store/status/redis-client.ts';
import {
  openRedisConnection,
  type RedisConnection,
  type RedisConnectionState,
  type RedisContext,
} from '../../store/status/redis-connection.ts';
import {
  APPEND,
  decodeResults,
  type EncodedResults,
  encodeResults,
  FULL,
  resultKeys,
} from './result-stream.ts';

export interface ResultSenderOptions extends RedisContext {
  /** Name of this node. */
  readonly node: string;
  readonly region: string;
  /** The wall clock of this machine minus the common clock of all nodes, milliseconds. */
  readonly clockOffsetMs: () => number;
}

export interface ResultSenderStats {
  /** Why results wait or are dropped, although Redis may be available, in one line; null: they are sent. */
  readonly problem: string | null;
  /** Results that wait in this process. */
  readonly waiting: number;
  /** Results dropped since the start because too many were waiting. */
  readonly dropped: number;
  /** Results dropped since the start because another node had claimed their shard. */
  readonly refused: number;
  /** Results of all nodes that the judge has not acknowledged; at most a second old. */
  readonly backlog: number;
  /** Number of times that a shard has moved from one node to another since Redis was last empty. */
  readonly takeovers: number;
}

/** Results that are made within this time are sent together, milliseconds. */
const GATHER_MS = 100;
/** Maximum number of results in an entry, 76 kB. */
const MAX_BATCH = 500;
/** Maximum number of results that wait in a node, 15 MB. */
const MAX_WAITING = 100_000;
const TIMEOUT_MS = 2_000;
const FULL_RETRY_MS = 1_000;
const STOP_TIMEOUT_MS = 2_000;

const BEHIND = 'the judge is behind: results wait at this node';
const CHOKED = 'Redis is full: results wait at this node';
/** Redis has refused a batch for want of memory. */
const NO_MEMORY = Symbol('full');
const DROPPING = 'results cannot be sent to the judge; the oldest are dropped';

/** Results that are ready to be sent. */
interface Batch {
  readonly encoded: EncodedResults;
  readonly count: number;
  readonly fences: ReadonlyMap<number, ShardFence>;
}

/** Creates the sender. Redis may be unavailable. */
export class ResultSender {
  readonly #node: string;
  readonly #region: string;
  readonly #clockOffsetMs: () => number;
  readonly #clock: ResultSenderOptions['clock'];
  readonly #log: ResultSenderOptions['log'];
  readonly #keys: string[];
  /** The newest claim of each shard. */
  readonly #claims = new Map<number, ShardFence>();
  /** Shards whose claims have not been written to Redis. */
  readonly #unsaid = new Set<number>();
  #gathering: RuledResult[] = [];
  #gatheredMs = 0;
  #batches: Batch[] = [];
  #inFlight: Batch | null = null;
  #waiting = 0;
  #dropped = 0;
  #refused = 0;
  #counts = { backlog: 0, takeovers: 0 };
  /** Why Redis takes no results although it answers; null: it takes them. */
  #full: typeof BEHIND | typeof CHOKED | null = null;
  #isDropping = false;
  #isStopping = false;
  #cancelTimer: Cancel | null = null;
  readonly #sending: ReturnType<typeof createCoalescingLoop>;
  readonly #connection: RedisConnection;
  readonly state: () => RedisConnectionState;

  constructor(options: ResultSenderOptions) {
    const { address, clock, log } = options;
    this.#node = options.node;
    this.#region = options.region;
    this.#clockOffsetMs = options.clockOffsetMs;
    this.#clock = clock;
    this.#log = log;
    const { stream, state, claims: claimsKey } = resultKeys(address.prefix);
    this.#keys = [stream, state, claimsKey];
    this.#sending = createCoalescingLoop(() => this.#sendAll());
    this.#connection = openRedisConnection({
      address,
      purpose: 'results',
      timeoutMs: TIMEOUT_MS,
      prepare: (client) => this.#announce(client, [...this.#claims.keys()]),
      probe: async (client) => {
        const [backlog, takeovers] = await client.hmget(state, 'waiting', 'takeovers');
        this.#counts = { backlog: Number(backlog ?? 0), takeovers: Number(takeovers ?? 0) };
        // A new judge has cleared the claims, or Redis was emptied.
        if (this.#claims.size > 0 && (await client.exists(claimsKey)) === 0)
          await this.#announce(client, [...this.#claims.keys()]);
      },
      clock,
      log,
    });
    this.#connection.watchReady(() => void this.#sending.run());
    this.state = this.#connection.state;
  }

  /** Notes that this node has claimed the shard. Results of the shard carry the fence of the claim from now on. */
  claim(shard: number, fence: ShardFence): void {
    // The collected results were made under the previous claim.
    if (this.#claims.has(shard)) this.#closeBatch();
    this.#claims.set(shard, fence);
    this.#unsaid.add(shard);
    if (this.#connection.ready) void this.#sending.run();
  }

  /** Takes results, in the order in which they were made. */
  send(results: readonly RuledResult[]): void {
    if (this.#gathering.length === 0) this.#gatheredMs = this.#clock.monotonic();
    for (const one of results) {
      this.#gathering.push(one);
      this.#waiting += 1;
      if (this.#gathering.length >= MAX_BATCH) this.#closeBatch();
    }
    this.#dropOldest();
    if (this.#cancelTimer === null && !this.#sending.isRunning) this.#planNext();
    else if (
      this.#batches.length > 0 &&
      this.#full === null &&
      this.#connection.ready &&
      !this.#sending.isRunning
    )
      void this.#sending.run();
  }

  stats(): ResultSenderStats {
    return {
      problem: this.#problem(),
      waiting: this.#waiting,
      dropped: this.#dropped,
      refused: this.#refused,
      ...this.#counts,
    };
  }

  /** Sends the waiting results, within at most 2 s, and stops. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const end = new Promise<void>((resolve) => this.#clock.after(STOP_TIMEOUT_MS, resolve));
    await Promise.race([end, this.#sending.run()]);
    this.#cancelTimer?.();
    if (this.#waiting > 0) this.#log.warn({ results: this.#waiting }, 'results were dropped at stop');
    this.#connection.close();
  }

  #fieldOf(shard: number) {
    return `${this.#region}/${shard}`;
  }

  #argsOf(fences: Iterable<readonly [number, ShardFence]>) {
    return [...fences].flatMap(([shard, { generation, claim }]) => [this.#fieldOf(shard), generation, claim]);
  }

  /** Writes claims to Redis, so that results of earlier claims are refused from now on. */
  async #announce(client: RedisClient, shards: readonly number[]): Promise<void> {
    const fences = shards.flatMap((shard) => {
      const fence = this.#claims.get(shard);
      return fence === undefined ? [] : [[shard, fence] as const];
    });
    await runScript(client, APPEND, this.#keys, [this.#node, '', '', 0, ...this.#argsOf(fences)]);
    for (const [shard, fence] of fences) if (this.#claims.get(shard) === fence) this.#unsaid.delete(shard);
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#connection.ready) {
        if (this.#unsaid.size > 0)
          await this.#connection.run((client) => this.#announce(client, [...this.#unsaid]));
        if (this.#batches.length === 0 && this.#isDue()) this.#closeBatch();
        const [next] = this.#batches;
        if (next === undefined || (await this.#append(next)) === FULL) break;
      }
    } catch {
      // The connection logs it; it goes on when Redis is available again.
    }
    this.#inFlight = null;
    this.#planNext();
  }

  /** Sends the oldest batch, or drops its refused results. */
  async #append(batch: Batch): Promise<unknown> {
    this.#inFlight = batch;
    const { head, numbers } = batch.encoded;
    const args = [this.#node, head, numbers, batch.count, ...this.#argsOf(batch.fences)];
    const answer = await this.#connection.run((client) =>
      runScript(client, APPEND, this.#keys, args).catch((error: unknown) => {
        if (isFullRedis(error)) return NO_MEMORY;
        throw error;
      }),
    );
    this.#inFlight = null;
    if (answer === FULL || answer === NO_MEMORY) return this.#noteFull(answer === FULL ? BEHIND : CHOKED);
    const fields = new Set(Array.isArray(answer) ? answer : []);
    const left = fields.size === 0 ? null : this.#withoutShards(batch, fields);
    this.#batches = left === null ? this.#batches.slice(1) : [left, ...this.#batches.slice(1)];
    this.#waiting -= batch.count - (left?.count ?? 0);
    if (this.#full !== null || this.#isDropping)
      this.#log.info({ dropped: this.#dropped }, 'results are sent to the judge again');
    this.#full = null;
    this.#isDropping = false;
    return answer;
  }

  #problem(): string | null {
    if (this.#isDropping) return DROPPING;
    return this.#full;
  }

  #noteFull(why: typeof BEHIND | typeof CHOKED): number {
    const waiting = this.#waiting;
    if (this.#full !== why && why === BEHIND) this.#log.warn({ waiting }, BEHIND);
    if (this.#full !== why && why === CHOKED) this.#log.warn({ waiting }, CHOKED);
    this.#full = why;
    return FULL;
  }

  /** The remaining results of a batch, some of whose shards belong to another node now; null: none remain. */
  #withoutShards({ encoded, fences }: Batch, fields: ReadonlySet<unknown>): Batch | null {
    const all = decodeResults(encoded.head, encoded.numbers);
    if (all === null) return null;
    const isOurs = (shard: number) => !fields.has(this.#fieldOf(shard));
    const results = all.results.filter(({ result }) => isOurs(shardOf(result.serviceId)));
    this.#refused += all.results.length - results.length;
    this.#log.info(
      { shards: [...fields], refused: this.#refused },
      'results of shards that another node has taken over are dropped',
    );
    if (results.length === 0) return null;
    return {
      encoded: encodeResults({ ...all, results }),
      count: results.length,
      fences: new Map([...fences].filter(([shard]) => isOurs(shard))),
    };
  }

  #isDue(): boolean {
    return (
      this.#gathering.length > 0 &&
      (this.#isStopping || this.#clock.monotonic() >= this.#gatheredMs + GATHER_MS)
    );
  }

  #planNext(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (!this.#connection.ready || (this.#batches.length === 0 && this.#gathering.length === 0)) return;
    const dueMs = Math.max(0, this.#gatheredMs + GATHER_MS - this.#clock.monotonic());
    const pauseMs =
      this.#full !== null ? FULL_RETRY_MS : this.#batches.length > 0 || this.#isStopping ? 0 : dueMs;
    this.#cancelTimer = this.#clock.after(pauseMs, () => void this.#sending.run());
  }

  /** Creates a batch of the collected results. */
  #closeBatch(): void {
    const fences = new Map<number, ShardFence>();
    const results = this.#gathering.filter(({ result }) => {
      const shard = shardOf(result.serviceId);
      const fence = this.#claims.get(shard);
      if (fence !== undefined) fences.set(shard, fence);
      return fence !== undefined;
    });
    const others = this.#gathering.length - results.length;
    this.#waiting -= others;
    this.#refused += others;
    this.#gathering = [];
    if (results.length === 0) return;
    const encoded = encodeResults({
      node: this.#node,
      clockOffsetMs: Math.round(this.#clockOffsetMs()),
      region: this.#region,
      results,
    });
    this.#batches.push({ encoded, count: results.length, fences });
  }

  #dropOldest(): void {
    while (this.#waiting > MAX_WAITING) {
      const at = this.#batches[0] === this.#inFlight ? 1 : 0;
      const [oldest] = this.#batches.splice(at, 1);
      if (oldest === undefined) return;
      this.#waiting -= oldest.count;
      this.#dropped += oldest.count;
      if (!this.#isDropping) this.#log.error({ waiting: this.#waiting }, DROPPING);
      this.#isDropping = true;
    }
  }
}
