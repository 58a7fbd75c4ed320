/**
 * `npm run soak -- cluster cuts [--only NAME]`: six nodes in three regions, each in a network namespace of its own, as are
 * PostgreSQL, Redis and the checked sites. Ways between them are cut and mended. No cut may make a service down, one that
 * fails everywhere must be down within 10 s, and everything must be right within 10 s of the mending. Ends with status 1
 * otherwise.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type CutCluster, failingIn, isGoodSince, startCutCluster } from '../../support/cut-cluster.ts';
import { at, listAt } from '../../support/json.ts';
import { INTERNET } from '../../support/places.ts';
import type { Scope } from '../../support/run-servers.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });

const REGIONS = ['ap', 'eu', 'us'];
const INTERVAL_MS = 4_000;
/** A cut after which no check from before it is fresh any more (two intervals and the longest check). */
const LONG_CUT_MS = 25_000;
const CUT_MS = 12_000;
const DOWN_WITHIN_MS = 10_000;
const RIGHT_WITHIN_MS = 10_000;
/** A monitor is replaced within this time: 6 s until it is not registered any more, 4 s of proof, and its start. */
const REPLACED_WITHIN_MS = 20_000;
const PATIENCE_MS = 60_000;
const READ_EVERY_MS = 500;

const ALL = ['judge', 'probe', 'serve'] as const;
const ends: (() => unknown)[] = [];
const scope: Scope = { teardown: (end) => void ends.unshift(end) };
const wrong: string[] = [];
/** Changes of statuses that outages have made, by slug. */
const outages = new Map<string, number>();
let current = 'start';
let reads = 0;
let unanswered = 0;

const tell = (line: string) => console.log(`${current.padEnd(28)} ${line}`);
const complain = (line: string) => {
  wrong.push(`${current}: ${line}`);
  tell(`WRONG  ${line}`);
};
const within = (what: string, tookMs: number, limitMs: number) => {
  tell(`${what}: ${(tookMs / 1_000).toFixed(1)} s`);
  if (tookMs > limitMs) complain(`${what} took longer than ${limitMs / 1_000} s`);
};

/** The cuts, in their order. Each one ends with everything mended. */
const SCENARIOS: Readonly<Record<string, (world: CutCluster) => Promise<void>>> = {
  async 'half-of-the-services'(world) {
    world.cut('ap', 'east');
    const isPartial = (body: unknown) => at(body, 'scope') === 'partial' && failingIn(body) === 'ap';
    await world.until(witness(world), world.slugs.east, isPartial, PATIENCE_MS);
    await expectWhole(world, world.slugs.west, ['ap', 'eu', 'us']);
  },
  async 'one-region-fails'(world) {
    world.sites.west.fail('/west3', ['us']);
    const isPartial = (body: unknown) => at(body, 'scope') === 'partial' && failingIn(body) === 'us';
    await world.until(witness(world), ['west3'], isPartial, PATIENCE_MS);
    world.sites.west.recover('/west3');
  },
  async internet(world) {
    world.cut('ap', ...INTERNET);
    await untilOffline(world, 'ap');
    await outage(world, 'west1');
  },
  async 'uplink-by-majority'(world) {
    world.cut('us', 'west', 'east');
    await untilOffline(world, 'us');
    await outage(world, 'east1');
  },
  async 'region-from-redis'(world) {
    world.sites.west.fail('/west4', ['us']);
    world.cut('us', 'redis');
    await sleep(LONG_CUT_MS / 2);
    world.sites.west.recover('/west4');
    await sleep(LONG_CUT_MS / 2);
    await expectWhole(world, world.slugs.east, ['ap', 'eu']);
  },
  async 'region-from-postgres'(world) {
    world.cut('us', 'postgres');
    await sleep(CUT_MS);
    await expectWhole(world, world.slugs.east, REGIONS);
  },
  async 'region-from-both'(world) {
    world.cut('us', 'redis', 'postgres');
    await sleep(CUT_MS);
    await outage(world, 'west2');
  },
  'monitor-from-redis': (world) => cutMonitor(world, 'redis'),
  'monitor-from-postgres': (world) => cutMonitor(world, 'postgres'),
  'monitor-from-both': (world) => cutMonitor(world, 'redis', 'postgres'),
  async 'node-from-internet'(world) {
    const all = [...world.slugs.west, ...world.slugs.east].length;
    world.cut('ap-2', ...INTERNET);
    const beganMs = performance.now();
    await untilChecks(world, 'ap-1', all);
    within('the other node checks everything', performance.now() - beganMs, 30_000);
    await expectWhole(world, world.slugs.west, REGIONS);
  },
  async 'node-from-all'(world) {
    const all = [...world.slugs.west, ...world.slugs.east].length;
    world.cut('us-2', 'redis', 'postgres', ...INTERNET);
    const beganMs = performance.now();
    await untilChecks(world, 'us-1', all);
    within('the other node checks everything', performance.now() - beganMs, 30_000);
    await expectWhole(world, world.slugs.west, REGIONS);
  },
  async 'slow-ways'(world) {
    const roads = world.placesOf('us').flatMap(({ roads: { postgres, redis } }) => [postgres, redis]);
    for (const road of roads) road.delayMs = 150;
    await sleep(CUT_MS);
    await outage(world, 'east2');
    for (const road of roads) road.delayMs = 0;
  },
};

try {
  const world = await start();
  void readOn(world);
  for (const [name, play] of Object.entries(SCENARIOS)) {
    if (!name.startsWith(values.only)) continue;
    current = name;
    try {
      await play(world);
      await mend(world);
    } catch (error) {
      complain(String(error instanceof Error ? error.message : error).slice(0, 500));
      world.restore();
    }
  }
  current = 'registry';
  await judgeTransitions(world);
} finally {
  current = 'end';
  for (const end of ends) await end();
}
console.log(
  `${reads} reads of statuses at the serving nodes, ${unanswered} while their process was replaced`,
);
for (const line of wrong) console.log(`WRONG  ${line}`);
console.log(wrong.length === 0 ? 'every cut was seen as what it is' : 'NOT as it must be');
process.exit(wrong.length === 0 ? 0 : 1);

async function start(): Promise<CutCluster> {
  const world = await startCutCluster(scope, {
    nodes: [
      { name: 'eu-1', region: 'eu', roles: ALL },
      { name: 'eu-2', region: 'eu', roles: ['probe'] },
      { name: 'ap-1', region: 'ap', roles: ALL },
      { name: 'ap-2', region: 'ap', roles: ['probe'] },
      // Without control targets, the majority of its services tells whether a node is online.
      { name: 'us-1', region: 'us', roles: ALL, settings: { checks: { controlTargets: [] } } },
      { name: 'us-2', region: 'us', roles: ['probe'], settings: { checks: { controlTargets: [] } } },
    ],
    services: 15,
    intervalMs: INTERVAL_MS,
    checks: { timeout: '1s', slowOver: '900ms', confirmAfter: ['100ms'] },
  });
  tell(world.places.areNamespaces ? 'each node in a namespace of its own' : 'plain processes behind proxies');
  await world.until(
    world.node('eu-1'),
    allSlugs(world),
    (body) => isGoodSince(0, REGIONS, body),
    PATIENCE_MS,
  );
  return world;
}

function allSlugs({ slugs }: CutCluster): readonly string[] {
  return [...slugs.west, ...slugs.east];
}

/** A node that is asked while another region is cut. */
function witness(world: CutCluster) {
  return world.node('eu-1');
}

/** All of these are up, in the regions that are not cut off, and fail nowhere. */
async function expectWhole(world: CutCluster, slugs: readonly string[], regions: readonly string[]) {
  const isWhole = (body: unknown) =>
    at(body, 'status') === 'up' &&
    at(body, 'scope') === null &&
    isGoodSince(Date.now() - 4 * INTERVAL_MS, regions, body);
  await world.until(witness(world), slugs, isWhole, PATIENCE_MS);
}

async function untilOffline(world: CutCluster, region: string): Promise<void> {
  await witness(world).program.until(
    '/api/v1/regions',
    (body) =>
      listAt(body, 'regions').some((one) => at(one, 'region') === region && at(one, 'online') === false),
    PATIENCE_MS,
  );
}

async function untilChecks(world: CutCluster, name: string, services: number): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const { body } = await world.node(name).program.get('/metrics');
    if (Number(/^upbeat_services_probed (\d+)$/m.exec(String(body))?.[1]) === services) return;
    if (performance.now() > endMs) throw new Error(`${name} does not check all services`);
    await sleep(250);
  }
}

/** A service fails everywhere, and recovers. */
async function outage(world: CutCluster, slug: string, node = witness(world)): Promise<void> {
  const site = slug.startsWith('west') ? world.sites.west : world.sites.east;
  const before = site.requests.length;
  site.fail(`/${slug}`);
  await world.until(node, [slug], (body) => at(body, 'status') === 'down', PATIENCE_MS);
  const failed = site.requests.slice(before).find((one) => one.failed)?.atMs ?? 0;
  within('down after the first failure', performance.now() - failed, DOWN_WITHIN_MS);
  site.recover(`/${slug}`);
  await world.until(node, [slug], (body) => at(body, 'status') === 'up', PATIENCE_MS);
  outages.set(slug, (outages.get(slug) ?? 0) + 1);
}

/** Cuts the region of the monitor off; another judge takes over, and sees an outage. */
async function cutMonitor(world: CutCluster, ...ends: readonly ('redis' | 'postgres')[]): Promise<void> {
  const roleOf = async (name: string) => at((await world.node(name).program.get('/readyz')).body, 'role');
  const judges = ['eu-1', 'ap-1', 'us-1'];
  const roles = await Promise.all(judges.map(roleOf));
  const former = judges[roles.indexOf('monitor')] ?? 'eu-1';
  const others = judges.filter((name) => name !== former);
  const beganMs = performance.now();
  world.cut(former.slice(0, 2), ...ends);
  let next: string | undefined;
  while (next === undefined && performance.now() < beganMs + PATIENCE_MS) {
    const theirs = await Promise.all(others.map(roleOf));
    next = others[theirs.indexOf('monitor')];
    await sleep(100);
  }
  if (next === undefined) throw new Error('no other judge took over');
  within(`${next} replaces ${former}`, performance.now() - beganMs, REPLACED_WITHIN_MS);
  await outage(world, ends.length === 1 ? 'west5' : 'east5', world.node(next));
}

/** Mends everything, and waits until all serving nodes tell that all regions see every service up. */
async function mend(world: CutCluster): Promise<void> {
  const mendedAt = Date.now();
  const mendedMs = performance.now();
  world.restore();
  const isWhole = (body: unknown) =>
    at(body, 'status') === 'up' && at(body, 'scope') === null && isGoodSince(mendedAt, REGIONS, body);
  for (const name of ['eu-1', 'ap-1', 'us-1'])
    await world.until(world.node(name), allSlugs(world), isWhole, PATIENCE_MS);
  within('right after the mending', performance.now() - mendedMs, RIGHT_WITHIN_MS);
}

/** Reads statuses from every serving node until the trial ends. */
async function readOn(world: CutCluster): Promise<void> {
  for (let index = 0; current !== 'end'; index++) {
    const slug = allSlugs(world)[index % allSlugs(world).length];
    for (const name of ['eu-1', 'ap-1', 'us-1']) {
      try {
        const { status } = await world.node(name).program.get(`/api/v1/status/${slug}`);
        reads += 1;
        if (status !== 200 && current !== 'end') complain(`${name} answered ${status}`);
      } catch {
        unanswered += 1;
      }
    }
    await sleep(READ_EVERY_MS);
  }
}

/** Every status has changed as the outages say, and the scope as the cuts say. */
async function judgeTransitions(world: CutCluster): Promise<void> {
  const transitions = await world.transitions();
  for (const slug of allSlugs(world)) {
    const changes = transitions.filter((one) => one.slug === slug).map(({ change }) => change);
    const statuses = changes.filter((change) => !change.startsWith('scope'));
    const expected = Array.from({ length: outages.get(slug) ?? 0 }, () => [
      'up to down',
      'down to up',
    ]).flat();
    if (statuses.join() !== ['unknown to up', ...expected].join())
      complain(`${slug}: ${statuses.join(', ')}`);
    const mayBePartial = slug.startsWith('east') || slug === 'west3' || outages.has(slug);
    if (!mayBePartial && changes.length > statuses.length) complain(`${slug}: ${changes.join(', ')}`);
  }
  tell(`${transitions.length} transitions of ${allSlugs(world).length} services`);
}
