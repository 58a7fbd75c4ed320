/**
 * Sends the results of a node to the judge, through a stream in Redis. While Redis is unavailable, or the stream is
 * full, the newest results wait in this process, up to a bound.
 */
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Cancel } from '../../clock.ts';
import type { RuledResult } from '../../domain/result.ts';
import { type ShardFence, shardOf } from '../../domain/shard.ts';
import { type RedisClient, runScript } from '../../store/status/redis-client.ts';
import {
  openRedisConnection,
  type RedisConnectionState,
  type RedisContext,
} from '../../store/status/redis-connection.ts';
import { decodeResults, type EncodedResults, encodeResults } from './result-codec.ts';
import { APPEND, FULL, resultKeys } from './result-stream.ts';

/** Options of the sender. */
export interface ResultSenderOptions extends RedisContext {
  /** Name of this node. */
  readonly node: string;
  readonly region: string;
  /** The wall clock of this machine minus the common clock of all nodes, milliseconds. */
  readonly clockOffsetMs: () => number;
}

/** Figures of the sender. */
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

/** The sender. */
export interface ResultSender {
  /** Notes that this node has claimed the shard. Results of the shard carry the fence of the claim from now on. */
  claim(shard: number, fence: ShardFence): void;
  /** Takes results, in the order in which they were made. */
  send(results: readonly RuledResult[]): void;
  stats(): ResultSenderStats;
  state(): RedisConnectionState;
  /** Sends the waiting results, within at most 2 s, and stops. */
  stop(): Promise<void>;
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
const DROPPING = 'results cannot be sent to the judge; the oldest are dropped';

/** Results that are ready to be sent. */
interface Batch {
  readonly encoded: EncodedResults;
  readonly count: number;
  readonly fences: ReadonlyMap<number, ShardFence>;
}

/** Creates the sender. Redis may be unavailable. */
export function createResultSender(options: ResultSenderOptions): ResultSender {
  const { address, node, region, clockOffsetMs, clock, log } = options;
  const { stream, state, claims: claimsKey } = resultKeys(address.prefix);
  const keys = [stream, state, claimsKey];
  /** The newest claim of each shard. */
  const claims = new Map<number, ShardFence>();
  /** Shards whose claims have not been written to Redis. */
  const unsaid = new Set<number>();
  let gathering: RuledResult[] = [];
  let gatheredMs = 0;
  let batches: Batch[] = [];
  let inFlight: Batch | null = null;
  let waiting = 0;
  let dropped = 0;
  let refused = 0;
  let counts = { backlog: 0, takeovers: 0 };
  let isFull = false;
  let isDropping = false;
  let isStopping = false;
  let cancelTimer: Cancel | null = null;
  const sending = createCoalescingLoop(sendAll);

  const connection = openRedisConnection({
    address,
    purpose: 'results',
    timeoutMs: TIMEOUT_MS,
    prepare: (client) => announce(client, [...claims.keys()]),
    async probe(client) {
      const [backlog, takeovers] = await client.hmget(state, 'waiting', 'takeovers');
      counts = { backlog: Number(backlog ?? 0), takeovers: Number(takeovers ?? 0) };
      // A new judge has cleared the claims, or Redis was emptied.
      if (claims.size > 0 && (await client.exists(claimsKey)) === 0)
        await announce(client, [...claims.keys()]);
    },
    clock,
    log,
  });
  connection.watchReady(() => void sending.run());

  const fieldOf = (shard: number) => `${region}/${shard}`;
  const argsOf = (fences: Iterable<readonly [number, ShardFence]>) =>
    [...fences].flatMap(([shard, { generation, claim }]) => [fieldOf(shard), generation, claim]);

  /** Writes claims to Redis, so that results of earlier claims are refused from now on. */
  async function announce(client: RedisClient, shards: readonly number[]): Promise<void> {
    const fences = shards.flatMap((shard) => {
      const fence = claims.get(shard);
      return fence === undefined ? [] : [[shard, fence] as const];
    });
    await runScript(client, APPEND, keys, [node, '', '', 0, ...argsOf(fences)]);
    for (const [shard, fence] of fences) if (claims.get(shard) === fence) unsaid.delete(shard);
  }

  async function sendAll(): Promise<void> {
    try {
      while (connection.ready) {
        if (unsaid.size > 0) await connection.run((client) => announce(client, [...unsaid]));
        if (batches.length === 0 && isDue()) closeBatch();
        const [next] = batches;
        if (next === undefined || (await append(next)) === FULL) break;
      }
    } catch {
      // The connection logs it; it goes on when Redis is available again.
    }
    inFlight = null;
    planNext();
  }

  /** Sends the oldest batch, or drops its refused results. */
  async function append(batch: Batch): Promise<unknown> {
    inFlight = batch;
    const { head, numbers } = batch.encoded;
    const args = [node, head, numbers, batch.count, ...argsOf(batch.fences)];
    const answer = await connection.run((client) => runScript(client, APPEND, keys, args));
    inFlight = null;
    if (answer === FULL) return noteFull();
    const fields = new Set(Array.isArray(answer) ? answer : []);
    const left = fields.size === 0 ? null : withoutShards(batch, fields);
    batches = left === null ? batches.slice(1) : [left, ...batches.slice(1)];
    waiting -= batch.count - (left?.count ?? 0);
    if (isFull || isDropping) log.info({ dropped }, 'results are sent to the judge again');
    isFull = false;
    isDropping = false;
    return answer;
  }

  function problem(): string | null {
    if (isDropping) return DROPPING;
    return isFull ? BEHIND : null;
  }

  function noteFull(): number {
    if (!isFull) log.warn({ waiting }, BEHIND);
    isFull = true;
    return FULL;
  }

  /** The remaining results of a batch, some of whose shards belong to another node now; null: none remain. */
  function withoutShards({ encoded, fences }: Batch, fields: ReadonlySet<unknown>): Batch | null {
    const all = decodeResults(encoded.head, encoded.numbers);
    if (all === null) return null;
    const isOurs = (shard: number) => !fields.has(fieldOf(shard));
    const results = all.results.filter(({ result }) => isOurs(shardOf(result.serviceId)));
    refused += all.results.length - results.length;
    log.info(
      { shards: [...fields], refused },
      'results of shards that another node has taken over are dropped',
    );
    if (results.length === 0) return null;
    return {
      encoded: encodeResults({ ...all, results }),
      count: results.length,
      fences: new Map([...fences].filter(([shard]) => isOurs(shard))),
    };
  }

  function isDue(): boolean {
    return gathering.length > 0 && (isStopping || clock.monotonic() >= gatheredMs + GATHER_MS);
  }

  function planNext(): void {
    cancelTimer?.();
    cancelTimer = null;
    if (!connection.ready || (batches.length === 0 && gathering.length === 0)) return;
    const dueMs = Math.max(0, gatheredMs + GATHER_MS - clock.monotonic());
    const pauseMs = isFull ? FULL_RETRY_MS : batches.length > 0 || isStopping ? 0 : dueMs;
    cancelTimer = clock.after(pauseMs, () => void sending.run());
  }

  /** Creates a batch of the collected results. */
  function closeBatch(): void {
    const fences = new Map<number, ShardFence>();
    const results = gathering.filter(({ result }) => {
      const shard = shardOf(result.serviceId);
      const fence = claims.get(shard);
      if (fence !== undefined) fences.set(shard, fence);
      return fence !== undefined;
    });
    const others = gathering.length - results.length;
    waiting -= others;
    refused += others;
    gathering = [];
    if (results.length === 0) return;
    const encoded = encodeResults({ node, clockOffsetMs: Math.round(clockOffsetMs()), region, results });
    batches.push({ encoded, count: results.length, fences });
  }

  function dropOldest(): void {
    while (waiting > MAX_WAITING) {
      const at = batches[0] === inFlight ? 1 : 0;
      const [oldest] = batches.splice(at, 1);
      if (oldest === undefined) return;
      waiting -= oldest.count;
      dropped += oldest.count;
      if (!isDropping) log.error({ waiting }, DROPPING);
      isDropping = true;
    }
  }

  return {
    claim(shard, fence) {
      // The collected results were made under the previous claim.
      if (claims.has(shard)) closeBatch();
      claims.set(shard, fence);
      unsaid.add(shard);
      if (connection.ready) void sending.run();
    },
    send(results) {
      if (gathering.length === 0) gatheredMs = clock.monotonic();
      for (const one of results) {
        gathering.push(one);
        waiting += 1;
        if (gathering.length >= MAX_BATCH) closeBatch();
      }
      dropOldest();
      if (cancelTimer === null && !sending.isRunning) planNext();
      else if (batches.length > 0 && !isFull && connection.ready && !sending.isRunning) void sending.run();
    },
    stats: () => ({ problem: problem(), waiting, dropped, refused, ...counts }),
    state: connection.state,
    async stop() {
      isStopping = true;
      const end = new Promise<void>((resolve) => clock.after(STOP_TIMEOUT_MS, resolve));
      await Promise.race([end, sending.run()]);
      cancelTimer?.();
      if (waiting > 0) log.warn({ results: waiting }, 'results were dropped at stop');
      connection.close();
    },
  };
}
