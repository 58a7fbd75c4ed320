/**
 * Three regions, each node in a network namespace of its own, while one of them is cut off from half of the services, from
 * the internet, and from Redis with the monitor in it: nothing is down but what fails everywhere.
 */
import t from 'tap';
import { failingIn, isGoodSince, startCutCluster } from '../support/cut-cluster.ts';
import { at, listAt } from '../support/json.ts';
import { INTERNET } from '../support/places.ts';
import { NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS } from '../support/redis-server.ts';

const REGIONS = ['ap', 'eu', 'us'];
/** A service that fails everywhere is down within this time of the first failure (design, What must hold 4). */
const DOWN_WITHIN_MS = 10_000;

t.setTimeout(300_000);

t.test('a cut between places is seen as what it is', { ...NEEDS_POSTGRES, ...NEEDS_REDIS }, async (t) => {
  const world = await startCutCluster(t, {
    nodes: [
      { name: 'eu', region: 'eu', roles: ['judge', 'probe', 'serve'] },
      { name: 'ap', region: 'ap', roles: ['judge', 'probe', 'serve'] },
      { name: 'us', region: 'us', roles: ['probe'] },
    ],
    services: 2,
    intervalMs: 3_000,
    checks: { timeout: '1s', slowOver: '900ms', confirmAfter: ['100ms'] },
  });
  const { slugs, sites } = world;
  const judge = world.node('eu');
  const all = [...slugs.west, ...slugs.east];
  const isWhole = (sinceAt: number) => (body: unknown) =>
    at(body, 'status') === 'up' && at(body, 'scope') === null && isGoodSince(sinceAt, REGIONS, body);
  const untilWhole = async (what: string) => {
    const mendedAt = Date.now();
    world.restore();
    t.comment(`${what}: everything is right after ${await world.until(judge, all, isWhole(mendedAt))} ms`);
  };
  await world.until(judge, all, isWhole(0));

  // Two of three regions have trouble, each of its own kind: neither makes a service down.
  world.cut('us', 'east');
  world.cut('ap', ...INTERNET);
  await world.until(judge, slugs.east, (body) => at(body, 'scope') === 'partial' && failingIn(body) === 'us');
  await judge.program.until('/api/v1/regions', (body) =>
    listAt(body, 'regions').some((one) => at(one, 'region') === 'ap' && at(one, 'online') === false),
  );
  sites.west.fail('/west1');
  await world.until(judge, ['west1'], (body) => at(body, 'status') === 'down');
  const firstMs = sites.west.requests.find(({ failed }) => failed)?.atMs ?? 0;
  t.ok(performance.now() - firstMs < DOWN_WITHIN_MS, 'a service that fails in the others is down in time');
  sites.west.recover('/west1');
  await untilWhole('regions cut off from the internet, and from half of the services');

  // The monitor still reaches PostgreSQL and renews its lease, but receives no results.
  const next = world.node('ap');
  world.cut('eu', 'redis');
  await next.program.until('/readyz', (body) => at(body, 'role') === 'monitor');
  sites.west.fail('/west2');
  await world.until(next, ['west2'], (body) => at(body, 'status') === 'down');
  sites.west.recover('/west2');
  await untilWhole('the region of the monitor cut off from Redis');

  const changes = await world.transitions();
  const ofSlug = (wanted: string) => changes.flatMap(({ slug, change }) => (slug === wanted ? [change] : []));
  const statusesOf = (wanted: string) => ofSlug(wanted).filter((change) => !change.startsWith('scope'));
  for (const slug of slugs.east) t.same(statusesOf(slug), ['unknown to up'], `${slug} was never down`);
  t.match(ofSlug('east1'), ['unknown to up', 'scope partial', 'scope null']);
  for (const slug of slugs.west)
    t.same(statusesOf(slug), ['unknown to up', 'up to down', 'down to up'], `${slug} was down once`);
});
