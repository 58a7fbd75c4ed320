/**
 * What a check costs each part of a cluster: `node bench/cluster.ts`. Real processes on loopback: a judge, and eight, four,
 * two and one nodes of one region that check 100 services a second each, with the registry in PostgreSQL and statuses,
 * shards and results in Redis; beside them, at the same time, the single process with as many services as one node. CPU
 * times of whole processes. Starts Debian's servers on free ports.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createCluster } from '../test/support/cluster.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../test/support/postgres-server.ts';
import { type CatalogueEntry, install, type RunningProgram } from '../test/support/program.ts';
import { NEEDS_REDIS, startRedis } from '../test/support/redis-server.ts';
import type { Scope } from '../test/support/run-servers.ts';
import { startHelper } from './child.ts';
import { cpuOf, cpuOfPostgres, cpuOfRedis } from './process-cpu.ts';
import { absent, type BenchRow, floor, median, printRows, ratioAtMost } from './row.ts';

/** Services of each node, and of the single process. Each is checked once a second. */
const SERVICES_EACH = 100;
/** All are started first, and stopped one after the other, so that none is measured while it compiles its code. */
const NODES = [8, 4, 2, 1] as const;
const LISTENERS = 16;
const MEASURED_MS = 8_000;
/** The first seconds of a process are spent on compiling it. */
const WARM_UP_MS = 15_000;
const SETTLE_MS = 2_000;
/** With fewer of the expected checks, the processes could not keep up. */
const MIN_RATE = 0.8;
/** How much more a check may cost a node of eight than the only one. */
const MAX_GROWTH = 1.2;

/** CPU time for a check, microseconds. */
interface Costs {
  readonly node: number;
  readonly judge: number;
  readonly redis: number;
  readonly postgres: number;
  /** Of the single process, measured at the same time. */
  readonly single: number;
}

/** Measures all. Takes one and a half minutes. */
export async function run(): Promise<readonly BenchRow[]> {
  if (process.platform !== 'linux') return printRows([absent('cluster: CPU', 'measured on Linux alone')]);
  if ('skip' in NEEDS_POSTGRES) return printRows([absent('cluster: CPU', NEEDS_POSTGRES.skip)]);
  if ('skip' in NEEDS_REDIS) return printRows([absent('cluster: CPU', NEEDS_REDIS.skip)]);
  const ends: (() => unknown)[] = [];
  const scope: Scope = { teardown: (end) => void ends.unshift(end) };
  try {
    const site = await startHelper<{ http: number[] }>('check-server.ts', [LISTENERS]);
    scope.teardown(site.stop);
    const entriesOf = (count: number) => makeEntries(count, site.line.http);
    const single = await install(entriesOf(SERVICES_EACH));
    scope.teardown(single.remove);
    const program = await single.start();
    scope.teardown(() => program.stop());
    return printRows(toRows(await measureCluster(scope, program, entriesOf)));
  } finally {
    for (const end of ends) await end();
  }
}

function makeEntries(count: number, ports: readonly number[]): CatalogueEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    slug: `service-${index}`,
    check: { kind: 'root', url: `http://127.0.0.1:${ports[index % ports.length]}/` },
  }));
}

async function measureCluster(
  scope: Scope,
  single: RunningProgram,
  entriesOf: (count: number) => CatalogueEntry[],
): Promise<Map<number, Costs>> {
  const [most] = NODES;
  const postgres = await startPostgres(scope, { durable: true });
  await createDatabase(postgres.url('postgres'), 'upbeat');
  const redis = await startRedis(scope);
  const cluster = await createCluster(scope, {
    entries: entriesOf(most * SERVICES_EACH),
    storage: { postgres: { url: postgres.url('upbeat') }, redis: { url: `redis://127.0.0.1:${redis.port}` } },
  });
  const judge = await cluster.start({ name: 'judge', region: 'eu', roles: ['judge'] });
  const names = Array.from({ length: most }, (_, index) => `eu-${index}`);
  const nodes = await Promise.all(
    names.map((name) => cluster.start({ name, region: 'eu', roles: ['probe'] })),
  );
  await sleep(WARM_UP_MS);
  const costs = new Map<number, Costs>();
  for (const count of NODES) {
    judge.installation.writeCatalogue(entriesOf(count * SERVICES_EACH));
    await Promise.all(nodes.splice(count).map((node) => node.stop()));
    const programs = nodes.map(({ program }) => program);
    await Promise.all(programs.map((program) => untilShared(program, count)));
    await sleep(SETTLE_MS);
    const readCpu = async () => [
      programs.reduce((sum, program) => sum + cpuOfProgram(program), 0),
      cpuOfProgram(judge.program),
      await cpuOfRedis(redis.client),
      cpuOfPostgres(postgres),
      cpuOfProgram(single),
    ];
    const checksBefore = await countChecks(programs);
    const before = await readCpu();
    const startedMs = performance.now();
    await sleep(MEASURED_MS);
    const after = await readCpu();
    // Threads tell their counts once a second, so the interval says more exactly how many checks were made.
    const seconds = (performance.now() - startedMs) / 1_000;
    const checks = count * SERVICES_EACH * seconds;
    const told = (await countChecks(programs)) - checksBefore;
    if (told < checks * MIN_RATE) throw new Error(`${told} checks were made instead of ${checks}`);
    const cost = (index: number, of = checks) => (((after[index] ?? 0) - (before[index] ?? 0)) / of) * 1e6;
    costs.set(count, {
      node: cost(0),
      judge: cost(1),
      redis: cost(2),
      postgres: cost(3),
      single: cost(4, SERVICES_EACH * seconds),
    });
  }
  return costs;
}

/** Waits until the node checks about its part of the services. */
async function untilShared(program: RunningProgram, count: number): Promise<void> {
  const total = count * SERVICES_EACH;
  // 64 shards are not divided by every number of nodes, nor services by shards.
  const [least, most] = [Math.floor((total / count) * 0.8), Math.ceil((total / count) * 1.2)];
  for (;;) {
    const services = await readMetric(program, 'upbeat_services_probed');
    if (services >= least && services <= most) return;
    await sleep(500);
  }
}

async function countChecks(programs: readonly RunningProgram[]): Promise<number> {
  const counts = await Promise.all(programs.map((program) => readMetric(program, 'upbeat_checks_total')));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function readMetric({ get }: RunningProgram, name: string): Promise<number> {
  const { body } = await get('/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(String(body))?.[1] ?? Number.NaN);
}

function cpuOfProgram({ process: { pid } }: RunningProgram): number {
  return cpuOf(pid ?? 0);
}

function toRows(costs: ReadonlyMap<number, Costs>): BenchRow[] {
  const [many, one] = [costs.get(8), costs.get(1)];
  if (many === undefined || one === undefined) throw new Error('nothing was measured');
  const unit = 'µs CPU a check';
  const own = many.node + many.judge;
  const all = own + many.redis + many.postgres;
  const single = median([...costs.values()].map((cost) => cost.single));
  return [
    floor('cluster: the single process, 100 checks/s', single, unit),
    ...[...costs].flatMap(([count, { node, judge, redis, postgres }]) => [
      floor(`cluster of ${count}: a node, 100 checks/s`, node, unit),
      floor(`cluster of ${count}: the judge`, judge, unit),
      floor(`cluster of ${count}: Redis`, redis, unit),
      floor(`cluster of ${count}: PostgreSQL`, postgres, unit),
    ]),
    ratioAtMost('cluster of 8: node and judge beside the single process', own, unit, own / single, 1.3),
    ratioAtMost('cluster of 8: the same with Redis and PostgreSQL', all, unit, all / single, null),
    ratioAtMost(
      'cluster: a node of 8 beside the only one',
      many.node,
      unit,
      many.node / one.node,
      MAX_GROWTH,
    ),
  ];
}

if (import.meta.main) await run();
