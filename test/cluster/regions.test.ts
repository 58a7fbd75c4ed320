/** Three regions over real processes, PostgreSQL and Redis: a service that fails from one place, from two, and recovers. */
import t from 'tap';
import type { NodeRole } from '../../src/domain/node.ts';
import { lacksOfCluster } from '../grafana/cluster-panels.ts';
import { createCluster } from '../support/cluster.ts';
import { CONTROL_PATH, startCountedSite } from '../support/counted-site.ts';
import { hasProgram } from '../support/install-servers.ts';
import { at, listAt } from '../support/json.ts';
import { NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS, until } from '../support/redis-server.ts';

const NEEDS = { ...NEEDS_POSTGRES, ...NEEDS_REDIS };
const REGIONS = ['ap', 'eu', 'us'];
const INTERVAL_MS = 9_000;
/** The turns of the regions are this far apart. */
const TURN_MS = INTERVAL_MS / REGIONS.length;
/** How often a failure is tried until a region answers a question clearly before its turn: the machine may be busy. */
const TRIES = 4;
/** A question to another region is answered within this time (design, Places). */
const ASKED_MS = 5_000;

t.setTimeout(300_000);

t.test('a service is down where the quorum of the regions says so', NEEDS, async (t) => {
  const from = Date.now();
  const site = await startCountedSite(t);
  const isShown = hasProgram('influxd') && hasProgram('victoria-metrics');
  const cluster = await createCluster(t, {
    influx: isShown,
    entries: [
      { slug: 'shop', check: { url: `${site.url}/shop`, method: 'GET' } },
      // Checked from one of the three regions, and from one that has no node.
      { slug: 'near', check: { url: `${site.url}/near`, method: 'GET', regions: ['us', 'mars'] } },
    ],
    settings: {
      checks: {
        interval: `${INTERVAL_MS}ms`,
        confirmAfter: ['200ms'],
        firstSpread: '1s',
        controlTargets: [site.url + CONTROL_PATH],
      },
    },
  });
  site.attribute(cluster);
  const start = async (region: string, roles: readonly NodeRole[]) =>
    (await cluster.start({ name: `node-${region}`, region, roles })).program;
  const judge = await start('eu', ['judge', 'probe', 'serve']);
  await Promise.all([start('ap', ['probe']), start('us', ['probe'])]);

  const events: string[] = [];
  const stream = new AbortController();
  t.teardown(() => stream.abort());
  void follow(`${judge.siteUrl}/api/v1/events?slug=shop&last_event_id=0`, stream.signal, (text) =>
    events.push(text),
  );
  const path = '/api/v1/status/shop';
  const failingIn = (body: unknown) =>
    listAt(body, 'regions').flatMap((one) => (at(one, 'status') === 'down' ? [at(one, 'region')] : []));
  const untilScope = async (scope: string | null, regions: readonly string[]) => {
    const body = await judge.until<unknown>(
      path,
      (one) =>
        at(one, 'scope') === scope &&
        listAt(one, 'regions').length === REGIONS.length &&
        JSON.stringify(failingIn(one)) === JSON.stringify(regions),
    );
    t.comment(`${scope} of ${regions.join(', ')}`);
    return body;
  };

  const fresh = await untilScope(null, []);
  t.match(fresh, { status: 'up', regions: REGIONS.map((region) => ({ region, status: 'up' })) });

  const askedAfterMs: number[] = [];
  do {
    if (askedAfterMs.length > 0) {
      site.recover('/shop');
      await untilScope(null, []);
    }
    const failsFromMs = performance.now();
    site.fail('/shop');
    const down = await untilScope('global', REGIONS);
    t.match(down, { status: 'down', latest_check: { failure: { class: 'status' } } });
    const firstRefusals = REGIONS.map(
      (region) =>
        site.requests.find(
          ({ path: requested, node, atMs }) =>
            requested === '/shop' && atMs > failsFromMs && node.region === region,
        )?.atMs ?? 0,
    );
    const [first = 0, second = 0] = firstRefusals.toSorted((a, b) => a - b);
    t.ok(second - first < ASKED_MS, `another region was checked after ${Math.round(second - first)} ms`);
    askedAfterMs.push(second - first);
  } while (Math.min(...askedAfterMs) > TURN_MS / 2 && askedAfterMs.length < TRIES);
  t.ok(Math.min(...askedAfterMs) <= TURN_MS / 2, 'since it was asked, before its turn');
  t.match((await judge.get('/api/v1/incidents')).body, { incidents: [{ status: 'investigating' }] });

  site.fail('/near', ['us']);
  site.fail('/shop', ['us']);
  const partial = await untilScope('partial', ['us']);
  t.match(partial, { status: 'up', latest_check: { status: 'up' } });
  const page = await (await fetch(`${judge.siteUrl}/status/shop`)).text();
  t.match(page, 'Fails from us.');
  const near = await judge.until<unknown>('/api/v1/status/near', (one) => at(one, 'status') === 'down');
  t.equal(at(near, 'regions'), undefined, 'the one region that checks it decides alone');
  const nearPage = await (await fetch(`${judge.siteUrl}/status/near`)).text();
  t.match(nearPage, 'Not checked from mars: no node in that region makes checks.');
  const nearFrom = site.requests.flatMap(({ path: requested, node }) =>
    requested === '/near' ? [node.region] : [],
  );
  t.same([...new Set(nearFrom)], ['us'], 'no other node has requested it');
  const siteUrls = cluster.nodes.map(({ siteUrl }) => siteUrl);
  if (cluster.influx !== null)
    t.same(
      await lacksOfCluster(t, { siteUrls, influx: cluster.influx }),
      [],
      'the dashboard of the cluster has data in each panel',
    );

  site.recover('/shop');
  t.match(await untilScope(null, []), { status: 'up' });

  // Results of the last seconds may still be on their way, but not for long.
  const to = Date.now();
  const countOf = async (query: string) => {
    const { body } = await judge.get(`/api/v1/services/shop/history?from=${from}&to=${to}&step=1h${query}`);
    return listAt(body, 'buckets').reduce<number>((sum, bucket) => sum + Number(at(bucket, 'count')), 0);
  };
  await until(async () => {
    const counts = await Promise.all(REGIONS.map((region) => countOf(`&region=${region}`)));
    const all = await countOf('');
    t.comment(`checks of ${REGIONS.join(', ')}: ${counts.join(', ')}, of all: ${all}`);
    return counts.every((count) => count >= 3) && counts.reduce((sum, count) => sum + count) === all;
  }, 'each region has a history of its own, and each check counts once over all regions');
  t.match(await judge.get('/api/v1/services/shop/history?region=sa'), {
    status: 400,
    body: { parameter: 'region', allowed: REGIONS },
  });
  const ofUs = await (await fetch(`${judge.siteUrl}/status/shop?region=us`)).text();
  t.same(
    [...ofUs.matchAll(/&amp;region=(\w+)"/g)].map(([, region]) => region),
    REGIONS,
    'the page lets a reader choose the region',
  );

  // With its line break: the stream may have delivered a part of the last event.
  const received = () =>
    [...events.join('').matchAll(/^event: (\w+)\ndata: (.*)\n/gm)].map(([, event, data = '']) => {
      const { from, to } = JSON.parse(data);
      return `${event} ${from} to ${to}`;
    });
  const expected = [
    'status unknown to up',
    ...askedAfterMs.flatMap(() => [
      'scope null to partial',
      'status up to down',
      'status down to up',
      'scope partial to null',
    ]),
  ];
  await until(() => received().length >= expected.length, 'the stream has every event');
  t.same(received(), expected);
});

async function follow(url: string, signal: AbortSignal, onText: (text: string) => void): Promise<void> {
  try {
    const { body } = await fetch(url, { signal });
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) onText(text);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
