/**
 * Results of nodes on their way to the judge: `node bench/results.ts`. The nodes of three regions have filled the stream in
 * a real Redis; the judge takes it in, with the registry in a real PostgreSQL and statuses in Redis. Then
 * the cost of a check through the cluster beside that of the single process: engine, station, sender, Redis' client,
 * reader and record on one side, engine and record on the other. Starts Debian's servers on free ports of loopback.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/clock.ts';
import { ResultReader } from '../src/cluster/results/result-reader.ts';
import { ResultSender } from '../src/cluster/results/result-sender.ts';
import { createStation } from '../src/cluster/station.ts';
import { SHARDS } from '../src/domain/node.ts';
import type { Sample } from '../src/domain/sample.ts';
import { type RedisAddress, readRedisAddress } from '../src/domain/store-address.ts';
import { silentLog } from '../src/log.ts';
import { ResultRecord } from '../src/record/record.ts';
import { openRegistry } from '../src/store/registry/open-registry.ts';
import { packSamples } from '../src/store/samples/encoding.ts';
import { RedisStatusStore } from '../src/store/status/redis-status-store.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../test/support/postgres-server.ts';
import { NEEDS_REDIS, startRedis } from '../test/support/redis-server.ts';
import { createLoopbackProber, targetsOf } from './check-ways.ts';
import { startHelper } from './child.ts';
import { openEngine } from './engine-run.ts';
import { absent, atLeast, type BenchRow, floor, median, printRows, ratioAtMost } from './row.ts';
import { makeServices, NO_HEARTBEATS, RECORD_OPTIONS } from './services.ts';

const SERVICES = 20_000;
/** Results of each service: they are a few seconds apart, so that almost each has a commit of its own. */
const RESULTS_EACH = 8;
const LISTENERS = 64;
const OPEN = 32;
const CHECKS = 3_000;
const ROUNDS = 5;

type Scope = Parameters<typeof startRedis>[0];

/** Measures both. Takes about a minute. */
export async function run(): Promise<readonly BenchRow[]> {
  if ('skip' in NEEDS_POSTGRES) return [absent('results through the cluster', NEEDS_POSTGRES.skip)];
  if ('skip' in NEEDS_REDIS) return [absent('results through the cluster', NEEDS_REDIS.skip)];
  const ends: (() => unknown)[] = [];
  const scope: Scope = { teardown: (end) => void ends.unshift(end) };
  try {
    const redis = await startRedis(scope);
    const url = `redis://127.0.0.1:${redis.port}`;
    return printRows([...(await measureJudge(scope, url)), ...(await measureCheck(`${url}?prefix=check`))]);
  } finally {
    for (const end of ends) await end();
  }
}

async function measureJudge(scope: Scope, url: string): Promise<BenchRow[]> {
  const server = await startPostgres(scope, { durable: true });
  await createDatabase(server.url('postgres'), 'upbeat');
  const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  scope.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const common = { clock: systemClock, log: silentLog };
  const postgresUrl = server.url('upbeat');
  const registry = await openRegistry({ ...common, dataDir, postgresUrl, domainsPerAccount: 1 });
  await registry.putCatalogue(makeServices(SERVICES));
  const address = addressOf(url);
  const status = new RedisStatusStore({ ...common, address });
  // As they cross to the thread of their store, which bench/samples.ts and bench/influx.ts measure.
  const samples = { append: async (batch: readonly Sample[]) => void packSamples(batch) };
  const record = new ResultRecord({
    registry,
    status,
    samples,
    heartbeats: NO_HEARTBEATS,
    ...RECORD_OPTIONS,
  });
  await record.load(await registry.loadServices());
  let isReading = true;
  const reader = new ResultReader({ ...common, address, take: record.takeRuled, isFresh: () => isReading });
  /** The nodes' CPU time to send some results of every service; the judge has taken them in then. */
  const send = async (each: number): Promise<number> => {
    const nodes = await startHelper<{ cpuUs: number }>('result-nodes.ts', [url, SERVICES, each]);
    nodes.stop();
    return nodes.line.cpuUs;
  };
  const drain = async (taken: number): Promise<void> => {
    while (reader.stats().taken < taken || reader.stats().backlog > 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  // Every service has come up before.
  await send(1);
  await drain(SERVICES);
  isReading = false;
  const sendingUs = await send(RESULTS_EACH);

  const results = SERVICES * RESULTS_EACH;
  const before = process.cpuUsage();
  const startedMs = performance.now();
  isReading = true;
  await drain(SERVICES + results);
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(before);
  await reader.stop();
  await record.stop();
  await status.close();
  await registry.close();
  return [
    floor('cluster: CPU of a node to send a result', sendingUs / results, 'µs CPU a result'),
    floor(
      'cluster: CPU of the judge for a result, all threads',
      (user + system) / results,
      'µs CPU a result',
    ),
    atLeast(
      'cluster: results the judge takes in, Redis and PostgreSQL',
      results / seconds,
      'results/s',
      20_000,
    ),
  ];
}

/** The cost of a check, both ways in turn. */
async function measureCheck(url: string): Promise<BenchRow[]> {
  const server = await startHelper<{ http: number[] }>('check-server.ts', [LISTENERS]);
  const prober = createLoopbackProber(OPEN);
  const targets = targetsOf('http', server.line.http, CHECKS);
  const road = openRoad(addressOf(url));
  const engines = {
    single: await openEngine(targets, prober.runAttempt, OPEN),
    cluster: await openEngine(targets, prober.runAttempt, OPEN, { road: road.through }),
  };
  const costs = { single: [] as number[], cluster: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const way of ['single', 'cluster'] as const) {
      const before = process.cpuUsage();
      await engines[way].checkAll();
      const { user, system } = process.cpuUsage(before);
      if (round > 0) costs[way].push((user + system) / CHECKS);
    }
  }
  await Promise.all([engines.single.close(), engines.cluster.close()]);
  await road.close();
  await prober.close();
  server.stop();
  const [single, cluster] = [median(costs.single), median(costs.cluster)];
  return [
    floor('HTTP check in the single process', single, 'µs CPU a check'),
    ratioAtMost('HTTP check through the cluster', cluster, 'µs CPU a check', cluster / single, 1.3),
  ];
}

/** A node and a judge in this process, with Redis between them. */
function openRoad(address: RedisAddress) {
  const common = { address, clock: systemClock, log: silentLog };
  let record: ResultRecord | null = null;
  const sender = new ResultSender({ ...common, node: 'eu-1', region: 'eu', clockOffsetMs: () => 0 });
  for (let shard = 0; shard < SHARDS; shard++) sender.claim(shard, { generation: 1, claim: 1 });
  const reader = new ResultReader({
    ...common,
    take: async (results, at) => (await record?.takeRuled(results, at)) ?? true,
    isFresh: () => true,
  });
  const station = createStation({
    ...{ region: 'eu', slowOverMs: () => 3_000, firstSpreadMs: 0, controlTargets: 1 },
    ...{ clock: systemClock, log: silentLog, queryControlTargets: async () => true, fleetSize: () => CHECKS },
    onRuled: (results) => sender.send(results),
    onRecheck() {},
  });
  return {
    /** Takes the results of one run to `judge`. */
    through(judge: ResultRecord) {
      record = judge;
      const from = reader.stats().taken;
      return { take: station.takeResults, taken: () => reader.stats().taken - from };
    },
    async close() {
      station.stop();
      await sender.stop();
      await reader.stop();
    },
  };
}

function addressOf(url: string): RedisAddress {
  const address = readRedisAddress(url);
  if (address === null) throw new Error(`cannot be read: ${url}`);
  return address;
}

if (import.meta.main) await run();
