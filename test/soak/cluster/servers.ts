/**
 * `npm run soak -- cluster servers [--away SECONDS] [--only WORLD]`: a cluster of three regions while PostgreSQL, Redis
 * and InfluxDB are stopped, suspended, emptied and failed over, each for 12 s by default. It prints what clients saw of
 * each fault, and how long after its end everything was right. Ends with status 1 if a promise was broken: a response
 * other than those that docs/cluster.md names, a service called down, or more than 10 s until everything was right.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import type { ClusterNode, NodeOptions } from '../../support/cluster.ts';
import type { CountedSite } from '../../support/counted-site.ts';
import { ask, startInflux } from '../../support/influx-server.ts';
import { at } from '../../support/json.ts';
import { createDatabase, startPostgres } from '../../support/postgres-server.ts';
import {
  type RedisServer,
  startRedis,
  startRedisCluster,
  startSentinelSet,
  until,
} from '../../support/redis-server.ts';
import type { Scope } from '../../support/run-servers.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import {
  INTERVAL_MS,
  type Sightings,
  startWatchedCluster,
  TURNING,
  type WatchedCluster,
} from '../../support/watched-cluster.ts';

/** A fault, and what it does to clients. */
interface Fault {
  readonly what: string;
  /** Begins the fault. */
  leave(): Promise<void>;
  /** Ends it; everything is right within 10 s from then on. */
  back(): Promise<void>;
  /** How long it lasts, milliseconds. Default: `--away`. */
  readonly awayMs?: number;
  /** Checks go on meanwhile. */
  readonly keepsChecks: boolean;
  /** Heartbeats are confirmed meanwhile. */
  readonly keepsHeartbeats: boolean;
}

/** Servers, the cluster over them, and the faults to try. */
interface World {
  readonly watched: WatchedCluster;
  readonly faults: readonly Fault[];
  /** Lines about what is wrong at the end. */
  judge(): Promise<string[]>;
}

const SERVICES = 20;
/** Everything is right within this after the end of a fault. */
const RIGHT_WITHIN_MS = 10_000;
/** How long the trial waits for it, to say what is not right. */
const PATIENCE_MS = 60_000;
/** Checks in flight when Redis goes, and those until the claims expire, take this long, milliseconds. */
const CLAIM_MS = 6_000;
/** Part of the due checks that must be made during a fault that does not concern them; the rest is measuring error. */
const MIN_CHECKS = 0.8;
/** A revoked key is refused by a process that is cut off within this time. */
const REVOKED_WITHIN_MS = 10_000;

const NODES: readonly NodeOptions[] = [
  { name: 'eu-1', region: 'eu', roles: ['judge', 'probe', 'serve'] },
  { name: 'eu-2', region: 'eu', roles: ['probe', 'serve'] },
  { name: 'us-1', region: 'us', roles: ['judge', 'probe', 'serve'] },
  { name: 'us-2', region: 'us', roles: ['probe'] },
  { name: 'ap-1', region: 'ap', roles: ['probe'] },
  { name: 'ap-2', region: 'ap', roles: ['serve'] },
];
const REGIONS = new Set(NODES.map(({ region }) => region));

const { values } = parseArgs({
  options: { away: { type: 'string', default: '12' }, only: { type: 'string' } },
});
const defaultAwayMs = Number(values.away) * 1_000;
const WORLDS: Readonly<Record<string, (scope: Scope) => Promise<World>>> = {
  single: startSingleServers,
  sentinel: startSentinelWorld,
  'redis-cluster': startRedisClusterWorld,
};
const startedMs = performance.now();
const problems: string[] = [];
for (const [name, start] of Object.entries(WORLDS))
  if (values.only === undefined || values.only === name) await runWorld(name, start);
for (const problem of problems) console.log(`WRONG  ${problem}`);
console.log(problems.length === 0 ? 'every fault was as documented' : 'NOT as it must be');
process.exitCode = problems.length === 0 ? 0 : 1;

function tell(line: string): void {
  console.log(`${((performance.now() - startedMs) / 60_000).toFixed(1)} min  ${line}`);
}

async function runWorld(name: string, start: (scope: Scope) => Promise<World>): Promise<void> {
  const ends: (() => unknown)[] = [];
  try {
    const world = await start({ teardown: (task) => void ends.unshift(task) });
    tell(`${name}: ${NODES.length} nodes, ${REGIONS.size} regions, ${SERVICES} services`);
    for (const fault of world.faults) await tryFault(name, world.watched, fault);
    for (const line of await world.judge()) problems.push(`${name}: ${line}`);
  } catch (error) {
    problems.push(`${name}: ${error instanceof Error ? error.stack : error}`);
  }
  for (const end of ends) await end();
}

async function tryFault(world: string, watched: WatchedCluster, fault: Fault): Promise<void> {
  const { awayMs = defaultAwayMs, keepsChecks, keepsHeartbeats } = fault;
  const what = `${world}: ${fault.what}`;
  const { site } = watched;
  let made: CountedSite['requests'] = [];
  let rightMs = Number.NaN;
  const seen = await watched.watch(async () => {
    await fault.leave();
    const leftMs = performance.now();
    await sleep(awayMs);
    made = site.requests.filter(({ atMs }) => atMs > leftMs + CLAIM_MS);
    await fault.back();
    const recovery = await watched.untilRight(PATIENCE_MS).catch(({ message }: Error) => {
      problems.push(`${what}: ${message}`);
      return { tookMs: Number.NaN, steps: [] };
    });
    rightMs = recovery.tookMs;
    if (rightMs > RIGHT_WITHIN_MS) for (const step of recovery.steps) tell(`  until ${step}`);
  });
  // A service is checked by each region once an interval.
  const due = (Math.max(0, awayMs - CLAIM_MS) / INTERVAL_MS) * (SERVICES + 1) * REGIONS.size;
  tell(describe(fault.what, seen, rightMs, due === 0 ? null : made.length / due));
  if (rightMs > RIGHT_WITHIN_MS) problems.push(`${what}: right only after ${Math.round(rightMs)} ms`);
  for (const line of new Set(seen.wrong.map((one) => one.slice(0, 200)))) problems.push(`${what}: ${line}`);
  if (keepsHeartbeats && seen.refused > 0) problems.push(`${what}: ${seen.refused} heartbeats were refused`);
  if (!keepsChecks || made.length >= due * MIN_CHECKS) return;
  const byNode = Map.groupBy(made, ({ node }) => node.name);
  const counts = [...byNode].map(([name, { length }]) => `${name} ${length}`).join(', ');
  problems.push(`${what}: ${made.length} checks of ${Math.round(due)}: ${counts}`);
}

function describe(what: string, seen: Sightings, rightMs: number, part: number | null): string {
  const { reads, maxAge, kept, refused, retryAfter, degraded } = seen;
  return [
    what.padEnd(44),
    `right after ${(rightMs / 1_000).toFixed(1)} s`,
    part === null ? 'checks -' : `checks ${Math.round(part * 100)} %`,
    `${reads} reads, Age up to ${maxAge}`,
    `heartbeats ${kept} kept, ${refused} refused${refused > 0 ? ` (Retry-After ${retryAfter.join(', ')})` : ''}`,
    `degraded ${degraded.join(', ') || '-'}`,
  ].join(' | ');
}

/** PostgreSQL with a synchronous standby, one Redis and InfluxDB 1.6; one node reaches PostgreSQL by a way of its own. */
async function startSingleServers(scope: Scope): Promise<World> {
  const first = await startPostgres(scope, { settings: { synchronous_commit: 'remote_apply' } });
  await createDatabase(first.url('postgres'), 'upbeat');
  const second = await startPostgres(scope, {
    standbyOf: first,
    settings: { synchronous_commit: 'on', wal_retrieve_retry_interval: '500ms' },
  });
  await execute(first.url('postgres'), "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await execute(first.url('postgres'), 'SELECT pg_reload_conf()');
  const redis = await startRedis(scope);
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-servers-influx-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  let influx = await startInflux(scope, { folder });
  await ask(influx.url, 'CREATE DATABASE upbeat');
  const ways = await Promise.all(
    [first, second].map(({ port }) => startTcpProxy(scope, `http://127.0.0.1:${port}`)),
  );
  const urlOver = (ports: readonly number[]) =>
    first.url('upbeat').replace(/127[^/]*/, ports.map((port) => `127.0.0.1:${port}`).join(','));
  const storage = {
    postgres: { url: urlOver([first.port, second.port]) },
    redis: { url: `redis://127.0.0.1:${redis.port}` },
    influx: { url: influx.url, api: 'v1', bucket: 'upbeat' },
  };
  const ownWay = urlOver(ways.map(({ url }) => Number(new URL(url).port)));
  const nodes = NODES.map((node) =>
    node.name === 'eu-2' ? { ...node, settings: { storage: { postgres: { url: ownWay } } } } : node,
  );
  const watched = await startWatchedCluster(scope, { storage, nodes, services: SERVICES });
  const { cluster, site } = watched;
  const cutOff = cluster.nodes.find(({ name }) => name === 'eu-2');
  if (cutOff === undefined) throw new Error('no node is cut off');
  const judges = cluster.nodes.filter(({ roles }) => roles.includes('judge'));
  const nothing = async () => {};
  const ofPostgres = { keepsChecks: true, keepsHeartbeats: false };
  const ofRedis = { keepsChecks: false, keepsHeartbeats: true };
  const setCut = (isCut: boolean) => {
    for (const way of ways) way.isCut = isCut;
  };

  const faults: readonly Fault[] = [
    { what: 'PostgreSQL stopped', leave: first.stop, back: first.start, ...ofPostgres },
    {
      what: 'PostgreSQL crashed and restarted',
      ...{ leave: first.crash, back: first.start, awayMs: 0, ...ofPostgres },
    },
    {
      what: 'PostgreSQL suspended',
      leave: async () => first.signal('SIGSTOP'),
      back: async () => first.signal('SIGCONT'),
      ...ofPostgres,
    },
    {
      what: 'PostgreSQL cut off from one node',
      async leave() {
        const revoked = await tryRevocation(cutOff, cluster.nodes[0], () => setCut(true));
        tell(`a revoked key was refused by the node that is cut off after ${(revoked / 1_000).toFixed(1)} s`);
        if (revoked > REVOKED_WITHIN_MS) problems.push(`a key was refused only ${revoked} ms after its end`);
      },
      async back() {
        const recent = site.requests.filter(({ atMs }) => atMs > performance.now() - INTERVAL_MS);
        const its = recent.filter(({ node }) => node === cutOff).length;
        if (its > 0) problems.push(`the node that is cut off from PostgreSQL still made ${its} checks`);
        setCut(false);
      },
      ...{ awayMs: Math.max(defaultAwayMs, 14_000), ...ofPostgres },
    },
    { what: 'Redis stopped', leave: redis.stop, back: redis.start, ...ofRedis },
    {
      what: 'Redis restarted',
      ...{ leave: () => redis.stop('SIGKILL'), back: redis.start, awayMs: 0, ...ofRedis },
    },
    {
      what: 'Redis suspended',
      leave: async () => redis.signal('SIGSTOP'),
      back: async () => redis.signal('SIGCONT'),
      ...ofRedis,
    },
    {
      what: 'Redis emptied',
      ...{ leave: async () => void (await redis.client.flushall()), back: nothing, awayMs: 0, ...ofRedis },
    },
    {
      what: 'Redis emptied while a judge starts',
      async leave() {
        // It fails in one region of three: a judge that knew only that region would call it down.
        site.fail('/steady-0', ['us']);
        await cluster.nodes[1]?.program.until('/api/v1/status/steady-0', isPartial, PATIENCE_MS);
        await Promise.all(judges.map((judge) => judge.kill()));
        await Promise.all([judges[1]?.start(), emptyFor(redis, 3_000)]);
      },
      async back() {
        site.recover('/steady-0');
        await judges[0]?.start();
      },
      ...{ awayMs: 6_000, keepsChecks: false, keepsHeartbeats: false },
    },
    {
      what: 'PostgreSQL and Redis stopped',
      leave: async () => void (await Promise.all([first.stop(), redis.stop()])),
      back: async () => void (await Promise.all([first.start(), redis.start()])),
      ...{ keepsChecks: false, keepsHeartbeats: false },
    },
    {
      what: 'InfluxDB stopped',
      leave: () => influx.stop(),
      async back() {
        influx = await startInflux(scope, { folder, port: Number(new URL(influx.url).port) });
      },
      ...{ keepsChecks: true, keepsHeartbeats: true },
    },
    {
      what: 'PostgreSQL failed over after 3 s',
      async leave() {
        await first.crash();
      },
      back: async () => second.promote(),
      ...{ awayMs: 3_000, ...ofPostgres },
    },
  ];
  return { watched, faults, judge: () => judgeRegistry(second.url('upbeat')) };
}

/** A Redis master with a replica and a Sentinel. */
async function startSentinelWorld(scope: Scope): Promise<World> {
  const set = await startSentinelSet(scope);
  const { watched, url } = await startOver(scope, set.url);
  const fault = { keepsChecks: false, keepsHeartbeats: true };
  const faults: readonly Fault[] = [
    {
      what: 'Redis failed over by Sentinel',
      leave: () => set.master.stop('SIGKILL'),
      // Counted from the moment at which the new master takes writes.
      back: () => until(async () => (await set.replica.client.info('replication')).includes('role:master')),
      ...{ awayMs: 0, ...fault },
    },
    {
      what: 'the former master returns as a replica',
      ...{ leave: () => set.master.start(), back: async () => {}, awayMs: 3_000, ...fault },
    },
  ];
  return { watched, faults, judge: () => judgeRegistry(url) };
}

/** A Redis Cluster of three masters. */
async function startRedisClusterWorld(scope: Scope): Promise<World> {
  const redis = await startRedisCluster(scope);
  const { watched, url } = await startOver(scope, redis.url);
  const fault = { keepsChecks: false, keepsHeartbeats: true };
  const faults: readonly Fault[] = [
    ...redis.nodes.map((node, number) => ({
      what: `node ${number + 1} of Redis Cluster stopped`,
      ...{ leave: () => node.stop('SIGKILL'), back: node.start, awayMs: 6_000, ...fault },
    })),
    {
      what: 'Redis Cluster emptied',
      leave: async () => void (await Promise.all(redis.nodes.map(({ client }) => client.flushall()))),
      ...{ back: async () => {}, awayMs: 0, ...fault },
    },
  ];
  return { watched, faults, judge: () => judgeRegistry(url) };
}

async function startOver(scope: Scope, redisUrl: string): Promise<{ watched: WatchedCluster; url: string }> {
  const postgres = await startPostgres(scope);
  await createDatabase(postgres.url('postgres'), 'upbeat');
  const url = postgres.url('upbeat');
  const storage = { postgres: { url }, redis: { url: redisUrl } };
  return { watched: await startWatchedCluster(scope, { storage, nodes: NODES, services: SERVICES }), url };
}

/**
 * Revokes a key while a node is cut off that has just accepted it. Returns for how long the node accepted it afterwards,
 * milliseconds.
 */
async function tryRevocation(
  { siteUrl }: ClusterNode,
  commands: ClusterNode | undefined,
  cut: () => void,
): Promise<number> {
  const run = async (...args: readonly string[]) =>
    (await commands?.installation.runHere('keys', ...args))?.stdout ?? '';
  const made: unknown = JSON.parse(await run('create', '--account', 'bob', '--name', 'lost', '--json'));
  const headers = { authorization: `Bearer ${at(made, 'key')}` };
  const use = async () => (await fetch(`${siteUrl}/api/v1/services?limit=1`, { headers })).status;
  if ((await use()) !== 200) throw new Error('the key is not accepted');
  cut();
  await run('revoke', String(at(made, 'id')));
  const revokedMs = performance.now();
  while ((await use()) !== 401 && performance.now() < revokedMs + PATIENCE_MS) await sleep(100);
  return performance.now() - revokedMs;
}

/** Empties a Redis again and again. */
async function emptyFor(redis: RedisServer, ms: number): Promise<void> {
  for (const endMs = performance.now() + ms; performance.now() < endMs; await sleep(200))
    await redis.client.flushall();
}

function isPartial(body: unknown): boolean {
  return at(body, 'scope') === 'partial';
}

/** What is wrong in the registry after all faults: positions with gaps, or a service that was called down. */
async function judgeRegistry(url: string): Promise<string[]> {
  const rows = await execute(
    url,
    `SELECT position, to_status, from_status, slug FROM transitions
     JOIN services ON services.id = service_id ORDER BY position`,
  );
  tell(`${rows.length} transitions in the registry`);
  const gaps = rows.flatMap(({ position }, index) =>
    Number(position) === index + 1 ? [] : [`transition ${index + 1} has the position ${position}`],
  );
  const calledDown = rows.filter(({ slug, to_status: to }) => slug !== TURNING && to !== 'up');
  return [...gaps.slice(0, 1), ...calledDown.map(({ slug, to_status: to }) => `${slug} was called ${to}`)];
}

async function execute(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
