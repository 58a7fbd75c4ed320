/**
 * What hands out shards to the nodes of a region: BullMQ on Redis, as a cluster uses it, beside the same on PostgreSQL:
 * `node bench/handout.ts`. With 64 shards and locks of 6 s: the time to claim all, the time until another node has the shards
 * of one that died, and what the renewals of a node cost the server. Starts Debian's Redis and PostgreSQL on free ports of
 * loopback (docs/adr/0019).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPostgresBackend, Queue, Worker, withBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { SHARDS } from '../src/domain/node.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../test/support/postgres-server.ts';
import { NEEDS_REDIS, startRedis } from '../test/support/redis-server.ts';
import { cpuOfPostgres, cpuOfRedis } from './process-cpu.ts';
import { absent, atMost, type BenchRow, floor, printRows } from './row.ts';

const LOCK_MS = 6_000;
const EXPIRY_PERIOD_MS = 1_000;
/** Longest time until the shards of a node that died are another node's: no service waits 20 s longer than an interval. */
const MAX_TAKE_OVER_S = 10;
const RENEWALS = 100;

interface Claim {
  readonly id: string;
  readonly token: string;
}

/** What is used of BullMQ's classes, whatever their backend. */
interface ShardNode {
  waitUntilReady(): Promise<unknown>;
  startStalledCheckTimer(): Promise<void>;
  getNextJob(
    token: string,
    options: { block: boolean },
  ): Promise<{ readonly id?: string | undefined } | undefined>;
  extendJobLocks(ids: string[], tokens: string[], durationMs: number): Promise<string[]>;
  close(): Promise<void>;
}

interface ShardQueue {
  waitUntilReady(): Promise<unknown>;
  addBulk(jobs: { name: string; data: object; opts: { jobId: string } }[]): Promise<unknown>;
  close(): Promise<void>;
}

/** A queue and the workers of two nodes. */
interface Engine {
  readonly name: string;
  readonly queue: ShardQueue;
  readonly nodes: readonly [ShardNode, ShardNode];
  /** CPU time of the server so far, seconds. */
  cpuSeconds(): Promise<number>;
  close(): Promise<void>;
}

/** Runs the benchmark, prints its table and returns its lines. Takes under a minute. */
export async function run(): Promise<BenchRow[]> {
  if ('skip' in NEEDS_REDIS) return [absent('hand-out of shards', NEEDS_REDIS.skip)];
  if ('skip' in NEEDS_POSTGRES) return [absent('hand-out of shards', NEEDS_POSTGRES.skip)];
  const ends: (() => unknown)[] = [];
  const scope = { teardown: (end: () => unknown) => void ends.unshift(end) };
  try {
    const rows: BenchRow[] = [];
    for (const open of [openRedis, openPostgres]) {
      const engine = await open(scope);
      rows.push(...(await measure(engine)));
      await engine.close();
    }
    printRows(rows);
    return rows;
  } finally {
    for (const end of ends) await end();
  }
}

async function measure({ name, queue, nodes, cpuSeconds }: Engine): Promise<BenchRow[]> {
  const [first, second] = nodes;
  await Promise.all([queue, first, second].map((part) => part.waitUntilReady()));
  await queue.addBulk(
    Array.from({ length: SHARDS }, (_, shard) => ({
      name: 'shard',
      data: { shard },
      opts: { jobId: `shard-${shard}` },
    })),
  );
  for (const node of nodes) await node.startStalledCheckTimer();

  const claimedMs = performance.now();
  const claims = await claimAll(first);
  const claimMs = performance.now() - claimedMs;

  const cpuBefore = await cpuSeconds();
  const renewedMs = performance.now();
  for (let renewal = 0; renewal < RENEWALS; renewal++) await renew(first, claims);
  const renewMs = (performance.now() - renewedMs) / RENEWALS;
  const cpuMs = ((await cpuSeconds()) - cpuBefore) * 1_000;

  // From the last renewal on, as when the node is killed.
  const diedMs = performance.now();
  let taken = 0;
  while (taken < SHARDS) {
    taken += (await claimAll(second)).length;
    await sleep(100);
  }
  const takeOverS = (performance.now() - diedMs) / 1_000;
  return [
    floor(`${name}: claim of ${SHARDS} shards`, claimMs, 'ms'),
    floor(`${name}: renewal of ${SHARDS} shards`, renewMs, 'ms'),
    floor(`${name}: CPU time of the server for a renewal`, cpuMs / RENEWALS, 'ms'),
    atMost(`${name}: shards of a dead node are another's`, takeOverS, 's', MAX_TAKE_OVER_S),
  ];
}

async function claimAll(node: ShardNode): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (;;) {
    const token = randomUUID();
    const job = await node.getNextJob(token, { block: false });
    if (job?.id === undefined) return claims;
    claims.push({ id: job.id, token });
  }
}

async function renew(node: ShardNode, claims: readonly Claim[]): Promise<void> {
  const ids = claims.map(({ id }) => id);
  const tokens = claims.map(({ token }) => token);
  const failed = await node.extendJobLocks(ids, tokens, LOCK_MS);
  if (failed.length > 0) throw new Error(`${failed.length} shards were lost`);
}

const WORKER = {
  lockDuration: LOCK_MS,
  stalledInterval: EXPIRY_PERIOD_MS,
  maxStalledCount: 1_000_000,
};

async function openRedis(scope: { teardown(end: () => unknown): void }): Promise<Engine> {
  const { port, client } = await startRedis(scope);
  const connection = new Redis({ port, maxRetriesPerRequest: null });
  const queue = new Queue('eu', { connection });
  const nodes = [
    new Worker('eu', null, { connection, ...WORKER }),
    new Worker('eu', null, { connection, ...WORKER }),
  ] as const;
  return {
    name: 'BullMQ on Redis',
    queue,
    nodes,
    cpuSeconds: () => cpuOfRedis(client),
    async close() {
      await Promise.all([queue, ...nodes].map((part) => part.close()));
      connection.disconnect();
    },
  };
}

async function openPostgres(scope: { teardown(end: () => unknown): void }): Promise<Engine> {
  const server = await startPostgres(scope, { durable: true });
  await createDatabase(server.url('postgres'), 'upbeat');
  const connection = { connectionString: server.url('upbeat'), migrate: true };
  const onPostgres = withBackend(createPostgresBackend);
  const queue = new onPostgres.Queue('eu', { connection });
  const nodes = [
    new onPostgres.Worker('eu', null, { connection, ...WORKER }),
    new onPostgres.Worker('eu', null, { connection, ...WORKER }),
  ] as const;
  return {
    name: 'BullMQ on PostgreSQL',
    queue,
    nodes,
    cpuSeconds: async () => cpuOfPostgres(server),
    async close() {
      await Promise.all([queue, ...nodes].map((part) => part.close()));
    },
  };
}

if (import.meta.main) await run();
