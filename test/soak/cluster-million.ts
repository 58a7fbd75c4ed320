/**
 * `npm run soak -- cluster-million [--services 1000000] [--rate 10000] [--minutes 3]`: a million services in three regions
 * at an interval of five minutes. PostgreSQL, Redis, the judge, a judge that stands by and serves, and a serving node are
 * real; the checks of the nodes are simulated (`cluster-million/simulated-node.ts`). Prints what starts, results and
 * readers cost, and what each process needs. Ends with status 1 where results were dropped, refused or late, a status is
 * wrong, or an outage is not in the registry once.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { cpuOf, cpuOfPostgres, cpuOfRedis } from '../../bench/process-cpu.ts';
import type { NodeRole } from '../../src/domain/node.ts';
import { type ClusterNode, createCluster } from '../support/cluster.ts';
import { createDatabase, startPostgres } from '../support/postgres-server.ts';
import type { RunningProgram } from '../support/program.ts';
import { startRedis } from '../support/redis-server.ts';
import type { Scope } from '../support/run-servers.ts';
import { fillRegistry } from './cluster-million/fill-registry.ts';
import { isFailing, REGIONS, type SimulatedReport } from './cluster-million/simulation.ts';
import { residentBytes } from './count/process-memory.ts';

const { values } = parseArgs({
  options: {
    services: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '3' },
  },
});
const services = Number(values.services);
/** Results a second of all regions. */
const rate = Number(values.rate);
const seconds = Number(values.minutes) * 60;

const REPORT_MS = 10_000;
/** Results that may wait: what arrives in ten seconds, as routine updates are committed once a second. */
const MAX_BACKLOG = rate * 10;
/** Maximum heap of each process, MB. */
const MAX_HEAP_MB = 8_000;
const START_TIMEOUT_MS = 600_000;
const DRAIN_TIMEOUT_MS = 120_000;
const READ_SERVICES = 200;
/** For so long results are sent while the judge is killed, seconds. */
const TAKEOVER_S = 60;
const KILL_AFTER_MS = 5_000;
/** What a judge logs while it takes over. */
const TAKEOVER_STEPS = [
  'the monitor has ended; this process takes over',
  'this process is the monitor',
  'the states of all services are loaded',
] as const;
/** A judge's death costs at most this much of judgement, seconds. */
const MAX_TAKEOVER_S = 5;
/** Whether a check of some services from after a moment is committed. */
const NEWER = 'SELECT 1 FROM current WHERE observed_at > $1 AND service_id BETWEEN $2 AND $3 LIMIT 1';
/** A process that is busy for seconds may close an idle connection at the moment at which it is used again. */
const NEW_CONNECTION = { connection: 'close' };

interface ServiceBody {
  readonly status: string;
  readonly regions?: readonly { readonly region: string; readonly checked_at: string }[];
}

const problems: string[] = [];
const ends: (() => unknown)[] = [];
const scope: Scope = { teardown: (end) => void ends.unshift(end) };
const started: ClusterNode[] = [];
/** What the logs of the nodes end with, shown where the trial itself fails, characters. */
const SHOWN_LOG = 4_000;
try {
  await runTrial();
} catch (error) {
  for (const { name, program } of started)
    console.log(
      `log of the node ${name}, exit ${program.process.exitCode}:\n${program.output().slice(-SHOWN_LOG)}`,
    );
  throw error;
} finally {
  for (const end of ends) await end();
}
for (const problem of problems) console.log(`NOT as it must be: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function runTrial(): Promise<void> {
  const postgres = await startPostgres(scope, {
    durable: true,
    settings: { shared_buffers: '1GB', max_wal_size: '8GB', checkpoint_timeout: '15min' },
  });
  await createDatabase(postgres.url('postgres'), 'upbeat');
  const redis = await startRedis(scope);
  const urls = {
    postgres: postgres.url('upbeat'),
    redis: `redis://127.0.0.1:${redis.port}`,
  };
  await timed(`filling PostgreSQL with ${services} services`, () => fillRegistry(urls.postgres, services));
  const client = new pg.Client({ connectionString: urls.postgres });
  await client.connect();
  scope.teardown(() => client.end());
  const readOne = async (sql: string): Promise<number> =>
    Number(Object.values((await client.query(sql)).rows[0] ?? {})[0]);
  console.log(`database: ${megabytes(await readOne("SELECT pg_database_size('upbeat')"))}`);

  const cluster = await createCluster(scope, {
    entries: [],
    readyWithinMs: START_TIMEOUT_MS,
    settings: { checks: { interval: '5m', timeout: '10s', confirmAfter: ['2s', '4s'] } },
    storage: { postgres: { url: urls.postgres }, redis: { url: urls.redis } },
  });
  // By default, Node.js takes no more than 4 GB.
  const environment = { NODE_OPTIONS: `--max-old-space-size=${MAX_HEAP_MB}` };
  const install = (name: string, region: string, roles: readonly NodeRole[]) =>
    cluster.install({ name, region, roles, environment });
  const judge = await install('judge', 'eu', ['judge']);
  const standby = await install('standby', 'us', ['judge', 'serve']);
  const serving = await install('serving', 'asia', ['serve']);
  const nodes = [judge, standby, serving];
  const start = (node: ClusterNode) =>
    timed(`start of the node ${node.name}`, async () => {
      await node.start();
      started.push(node);
      return describe(node);
    });
  await start(judge);
  await Promise.all([standby, serving].map(start));
  const filled = async () => (await redis.client.hlen('upbeat:{status}:records')) >= services;
  await timed('statuses of all services in Redis', () => until(filled, DRAIN_TIMEOUT_MS));
  const redisMemory = async () => Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1]);
  console.log(`Redis: ${megabytes(await redisMemory())}`);

  const simulated = await timed('simulated nodes load the services of their shards', () =>
    Promise.all(REGIONS.map((region) => startNode(region, urls))),
  );
  for (const { region, report } of simulated)
    console.log(
      `  ${region}: ${report.services} services in ${report.shards} shards after ${report.loadedS.toFixed(1)} s, ` +
        `${report.cpuS.toFixed(1)} s CPU, ${megabytes(report.memoryBytes)}`,
    );

  const readCpu = async () => ({
    judge: cpuOf(judge.program.process.pid ?? 0),
    standby: cpuOf(standby.program.process.pid ?? 0),
    serving: cpuOf(serving.program.process.pid ?? 0),
    nodes: simulated.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
    redis: await cpuOfRedis(redis.client),
    postgres: cpuOfPostgres(postgres),
  });
  const before = await readCpu();
  const beganMs = performance.now();
  for (const { send } of simulated) send({ rate: rate / REGIONS.length, seconds });
  let worstBacklog = 0;
  for (let at = 0; at < seconds; at += REPORT_MS / 1_000) {
    await sleep(REPORT_MS);
    const backlog = await readMetric(judge.program, 'upbeat_results_backlog');
    worstBacklog = Math.max(worstBacklog, backlog);
    const memory = nodes.map((node) => `${node.name} ${megabytes(memoryOf(node))}`).join(', ');
    console.log(
      `  ${at + REPORT_MS / 1_000} s: ${backlog} results wait; ${memory}; Redis ${megabytes(await redisMemory())}`,
    );
  }
  const sent = await Promise.all(simulated.map(({ ended }) => ended));
  const count = sent.reduce((sum, one) => sum + one.sent, 0);
  const drained = async () => (await readMetric(judge.program, 'upbeat_results_backlog')) === 0;
  await timed('the judge commits the last results', () => until(drained, DRAIN_TIMEOUT_MS));
  const wallS = (performance.now() - beganMs) / 1_000;
  const after = await readCpu();
  console.log(`${count} results in ${wallS.toFixed(0)} s; CPU time for a result:`);
  for (const [name, value] of Object.entries(before)) {
    const used = after[name as keyof typeof after] - value;
    console.log(
      `  ${name}: ${((used / count) * 1e6).toFixed(1)} µs, ${((used / wallS) * 100).toFixed(0)} % of a core`,
    );
  }
  expect(worstBacklog <= MAX_BACKLOG, `${worstBacklog} results waited`);
  const lost = sent.reduce((sum, one) => sum + one.dropped + one.refused, 0);
  expect(lost === 0, `${lost} results were dropped or refused`);

  // Every service that was checked in all regions is in the registry and on the serving nodes as its regions say.
  const checked = Math.min(services, Math.floor(count / REGIONS.length));
  const down = Array.from({ length: checked }, (_, index) => index + 1).filter(isFailing).length;
  const transitions = await readOne('SELECT count(*) FROM transitions WHERE seq = 2');
  const incidents = await readOne("SELECT count(*) FROM incidents WHERE source = 'own'");
  console.log(`${down} services failed; ${transitions} transitions, ${incidents} incidents`);
  expect(Math.abs(transitions - down) <= down * 0.01 + 3 && incidents === transitions, 'outages are missing');
  for (const node of [standby, serving]) await readStatuses(node, checked);

  // The judge is killed while results arrive.
  for (const { send } of simulated) send({ rate: rate / REGIONS.length, seconds: TAKEOVER_S });
  await sleep(KILL_AFTER_MS);
  const backlogThen = await readMetric(judge.program, 'upbeat_results_backlog');
  const killedAt = Date.now();
  await judge.kill();
  // The nodes have begun with the first service again; these are checked from a second before the kill on.
  const [from, to] = [KILL_AFTER_MS - 1_000, KILL_AFTER_MS + 15_000].map((ms) =>
    Math.round((ms / 1_000) * (rate / REGIONS.length)),
  );
  const isJudged = async () => (await client.query(NEWER, [killedAt, from, to])).rowCount === 1;
  await until(isJudged, START_TIMEOUT_MS);
  const tookS = (Date.now() - killedAt) / 1_000;
  console.log(
    `the judge was killed with ${backlogThen} results waiting; the other one committed after ${tookS} s`,
  );
  expect(tookS <= MAX_TAKEOVER_S, `the takeover took ${tookS} s`);
  let worstTakeover = 0;
  for (
    const startMs = performance.now();
    performance.now() - startMs < TAKEOVER_S * 1_000;
    await sleep(1_000)
  )
    worstTakeover = Math.max(worstTakeover, await readMetric(standby.program, 'upbeat_results_backlog'));
  await timed('all results are sent and committed', async () => {
    await Promise.all(simulated.map((node) => node.next()));
    const isDone = async () => (await readMetric(standby.program, 'upbeat_results_backlog')) === 0;
    await until(isDone, DRAIN_TIMEOUT_MS);
  });
  console.log(`  at most ${worstTakeover} results waited`);
  expect(worstTakeover <= MAX_BACKLOG, `${worstTakeover} results waited after the takeover`);
  await until(async () => loggedAt(standby, TAKEOVER_STEPS[2]) !== null, START_TIMEOUT_MS);
  for (const step of TAKEOVER_STEPS)
    console.log(
      `  after ${(((loggedAt(standby, step) ?? Number.NaN) - killedAt) / 1_000).toFixed(1)} s: ${step}`,
    );
  const again = await readOne('SELECT count(*) FROM transitions WHERE seq = 2');
  const gaps = await readOne('SELECT max(position) - count(*) FROM transitions');
  expect(again >= transitions && gaps === 0, 'transitions are missing');
  await readStatuses(standby, checked);
  console.log(`  ${describe(standby)}`);
}

/** When the node logged the message, epoch milliseconds; null: not yet. */
function loggedAt({ program }: ClusterNode, message: string): number | null {
  const line = program
    .output()
    .split('\n')
    .find((one) => one.includes(message));
  return line === undefined ? null : Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? '');
}

/** Reads services from a node, and compares them with what the regions have sent. */
async function readStatuses({ name, program }: ClusterNode, checked: number): Promise<void> {
  let wrong = 0;
  const startedMs = performance.now();
  for (let index = 0; index < READ_SERVICES; index++) {
    const id = 1 + Math.floor((index / READ_SERVICES) * checked);
    const { body } = await program.get(`/api/v1/status/service-${id}`, NEW_CONNECTION);
    const { status, regions = [] } = body as ServiceBody;
    if (status !== (isFailing(id) ? 'down' : 'up') || regions.length !== REGIONS.length) wrong++;
  }
  const ms = (performance.now() - startedMs) / READ_SERVICES;
  console.log(`${name}: ${READ_SERVICES} services read in ${ms.toFixed(1)} ms each, ${wrong} of them wrong`);
  expect(wrong === 0, `${wrong} statuses of ${name} are wrong`);
  await timed(`${name}: a page of the list, by category`, () =>
    program.get('/api/v1/services?category=ai&limit=100', NEW_CONNECTION),
  );
  await timed(`${name}: a search`, () => program.get('/api/v1/services?q=999&limit=100', NEW_CONNECTION));
}

interface StartedNode {
  readonly region: string;
  readonly pid: number;
  /** What it had loaded when it was ready. */
  readonly report: SimulatedReport;
  /** Sends results a second for some seconds. */
  send(order: { readonly rate: number; readonly seconds: number }): void;
  /** Resolves when all results of the first order are in Redis. */
  readonly ended: Promise<SimulatedReport>;
  /** Resolves when those of the next order are. */
  next(): Promise<SimulatedReport>;
}

async function startNode(
  region: string,
  urls: { readonly postgres: string; readonly redis: string },
): Promise<StartedNode> {
  const file = join(import.meta.dirname, 'cluster-million/simulated-node.ts');
  const child = spawn(process.execPath, [file, region, urls.postgres, urls.redis, String(services)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  scope.teardown(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextReport = async () => JSON.parse((await lines.next()).value ?? 'null') as SimulatedReport;
  const report = await nextReport();
  const ended = nextReport();
  return {
    region,
    pid: child.pid ?? 0,
    report,
    send: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    ended,
    next: nextReport,
  };
}

function describe(node: ClusterNode): string {
  return `${cpuOf(node.program.process.pid ?? 0).toFixed(1)} s CPU, ${megabytes(memoryOf(node))}`;
}

function memoryOf({ program }: ClusterNode): number {
  return residentBytes(program.process.pid ?? 0) ?? 0;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const value = await work();
  const told = typeof value === 'string' ? `; ${value}` : '';
  console.log(`${what}: ${((performance.now() - startedMs) / 1_000).toFixed(2)} s${told}`);
  return value;
}

async function until(accept: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await accept())) {
    if (performance.now() > deadlineMs) return expect(false, 'it took too long');
    await sleep(200);
  }
}

async function readMetric({ get }: RunningProgram, name: string): Promise<number> {
  const { body } = await get('/metrics', NEW_CONNECTION);
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(String(body))?.[1] ?? Number.NaN);
}

function expect(holds: boolean, problem: string): void {
  if (!holds) problems.push(problem);
}
