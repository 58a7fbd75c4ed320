/**
 * Nodes of a region share its services: counted at the servers that are checked, while nodes join, leave, are killed and are
 * suspended.
 */
import t from 'tap';
import { type ClusterNode, createCluster } from '../support/cluster.ts';
import { CONTROL_PATH, type CountedSite, startCountedSite } from '../support/counted-site.ts';
import { listAt } from '../support/json.ts';
import { NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS } from '../support/redis-server.ts';

const NEEDS = { ...NEEDS_POSTGRES, ...NEEDS_REDIS };
const SERVICES = 24;
const INTERVAL_MS = 2_000;
/** No service waits longer for a check, whatever happens to a node. */
const MAX_GAP_MS = INTERVAL_MS + 20_000;

t.setTimeout(300_000);

interface Ready {
  readonly status: string;
  readonly nodes: Readonly<Record<string, number>>;
}

t.test('every service is checked once an interval, whatever happens to nodes', NEEDS, async (t) => {
  const site = await startCountedSite(t);
  const slugs = Array.from({ length: SERVICES }, (_, index) => `s${index + 1}`);
  const cluster = await createCluster(t, {
    entries: [...slugs, 'apart'].map((slug) => ({
      slug,
      check: { url: `${site.url}/${slug}`, method: 'GET', confirmAfter: ['200ms'] },
    })),
    settings: {
      checks: { interval: `${INTERVAL_MS}ms`, controlTargets: [site.url + CONTROL_PATH] },
    },
  });
  site.attribute(cluster);
  const { program: judge } = await cluster.start({ name: 'judge', region: 'eu', roles: ['judge', 'serve'] });
  const [one, two] = await Promise.all([
    cluster.start({ name: 'one', region: 'eu', roles: ['probe'] }),
    cluster.start({ name: 'two', region: 'eu', roles: ['probe'] }),
  ]);
  /** Waits until the nodes check as many services each as `accept` wants. */
  const untilShares = async (
    nodes: readonly ClusterNode[],
    accept: (...shares: number[]) => boolean,
  ): Promise<void> => {
    for (;;) {
      const shares = await Promise.all(
        nodes.map(async ({ program }) => {
          const { body } = await program.get('/metrics');
          return Number(/^upbeat_services_probed (\d+)$/m.exec(String(body))?.[1]);
        }),
      );
      if (accept(...shares)) return t.comment(`checked by each: ${shares}`);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  const isShared = (a = 0, b = 0) => a + b === SERVICES + 1 && a > 0 && b > 0;
  const isAll = (a = 0) => a === SERVICES + 1;
  await judge.until('/readyz', ({ nodes }: Ready) => nodes.eu === 3);
  await untilShares([one, two], isShared);
  for (const slug of slugs)
    await judge.until(`/api/v1/status/${slug}`, ({ status }: Ready) => status === 'up');

  // At rest: once an interval, not more and not less. The best of some windows, since the machine may be busy.
  let furthest = Number.POSITIVE_INFINITY;
  for (let window = 0; window < 4 && furthest > 1.5; window++) {
    const before = countsOf(site);
    const beganAt = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 4 * INTERVAL_MS));
    const intervals = (performance.now() - beganAt) / INTERVAL_MS;
    const after = countsOf(site);
    const checksOf = (slug: string) => (after.get(`/${slug}`) ?? 0) - (before.get(`/${slug}`) ?? 0);
    furthest = Math.max(...slugs.map((slug) => Math.abs(checksOf(slug) - intervals)));
  }
  t.ok(furthest <= 1.5, `the checks of a service are ${furthest} off`);

  // One node alone does not reach a service: the other one does, which counts. If both do not, the service is down.
  const holder = site.requests.findLast(({ path }) => path === '/apart')?.node;
  site.fail('/apart', [holder?.name ?? '']);
  const contradicted = /^upbeat_failures_contradicted_total [2-9]/m;
  await holder?.program.until('/metrics', (text: string) => contradicted.test(text));
  t.match((await judge.get('/api/v1/status/apart')).body, { status: 'up', stale: false });
  site.fail('/apart');
  await judge.until('/api/v1/status/apart', ({ status }: Ready) => status === 'down');
  site.recover('/apart');

  // Suspended: the other one takes over. The one that wakes starts nothing before it has claimed shards again.
  one.pause();
  t.comment('one node is suspended');
  await untilShares([two], isAll);
  one.wake();
  await untilShares([one, two], isShared);

  await two.kill();
  t.comment('the other one is killed');
  await untilShares([one], isAll);
  const end = performance.now();
  // After a check out of phase, the next one comes within one and a half intervals.
  await new Promise((resolve) => setTimeout(resolve, 2 * INTERVAL_MS));
  for (const [path, times] of timesOf(site)) {
    if (path === '/apart') continue;
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
    t.ok(Math.max(...gaps) < MAX_GAP_MS, `${path}: no gap of ${Math.round(Math.max(...gaps))} ms`);
    t.ok((times.at(-1) ?? 0) > end, `${path} is checked to the end`);
    // Twice within a third of an interval: what was in flight when a node went.
    const doubled = gaps.filter((gap) => gap < INTERVAL_MS / 3).length;
    t.ok(doubled <= 3, `${path}: ${doubled} checks too many`);
  }
  for (const path of ['/api/v1/incidents', '/api/v1/incidents/apart'])
    t.equal(listAt((await judge.get(path)).body, 'incidents').length, 1, 'nothing else was called down');
  t.equal(await one.stop(), 0);
});

/** When each path was requested, monotonic milliseconds. */
function timesOf({ requests }: CountedSite): Map<string, number[]> {
  const times = new Map<string, number[]>();
  for (const { path, atMs } of requests) times.set(path, [...(times.get(path) ?? []), atMs]);
  return times;
}

function countsOf(site: CountedSite): Map<string, number> {
  return new Map([...timesOf(site)].map(([path, times]) => [path, times.length]));
}
