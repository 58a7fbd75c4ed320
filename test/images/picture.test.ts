/** `GET /api/chart/:slug` and `GET /api/heatmap.png`. */
import t, { type Test } from 'tap';
import { CELL_LEVELS, describeWindow, type PictureSpan, spanOf, stepsOf } from '../../src/domain/picture.ts';
import { createPictureCache, PICTURE_TIMEOUT_MS } from '../../src/images/picture.ts';
import { drawChart } from '../../src/render/chart.ts';
import { drawHeatmap } from '../../src/render/heatmap.ts';
import type { RouteSources } from '../../src/site/routes.ts';
import { SAMPLE_READ_ERROR_CODES, type SampleQuery } from '../../src/store/ports/samples.ts';
import { createHeatmapReader } from '../../src/view/heatmap-cells.ts';
import { decodePng } from '../render/decode-png.ts';
import { check, current, from, NOW, service, startApi } from '../site/site-world.ts';
import { double } from '../support/double.ts';
import { type Outcome, openSampleStore, samplesOfSteps } from '../support/sample-store.ts';

const CACHED = 'public, s-maxage=300, stale-while-revalidate=60';
const DRAWN: RouteSources['pictures'] = {
  chart: async (picture) => drawChart(picture),
  heatmap: (picture) => drawHeatmap(picture),
};
const GOOD: Outcome = { status: 'up', latencyMs: 90 };
const BAD: Outcome = { status: 'down', latencyMs: null };
/** Four outcomes with a median of 90 ms, a 95th percentile of 200 ms, and one that is suspect. */
const MIXED: readonly Outcome[] = [
  { status: 'up', latencyMs: 80 },
  { status: 'up', latencyMs: 90 },
  { status: 'slow', latencyMs: 200 },
  { status: 'down', latencyMs: 100 },
  { status: 'down', latencyMs: 9_000, suspect: true },
];
const away = () => Object.assign(new Error('InfluxDB does not answer'), { code: 'samples_away' });

t.test('it sends the chart of the service in its window, theme and size', async (t) => {
  const world = await startApi({
    services: [
      service(1, 'github', { name: 'GitHub', domain: 'github.com' }),
      service(2, 'gitlab', { name: 'GitLab', domain: 'gitlab.com' }),
    ],
    siteUrl: 'https://status.example.org:8443',
    pictures: DRAWN,
  });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW)), current(2, check(NOW))]);
  const span = spanOf('24h', NOW);
  const month = spanOf('90d', NOW);
  await world.addSamples(samplesOfSteps({ serviceId: 1, ...span }, MIXED));
  await world.addSamples(samplesOfSteps({ serviceId: 2, ...month }, MIXED));
  const base = {
    name: 'GitHub',
    domain: 'github.com',
    status: 'up',
    ageText: null,
    asOf: NOW,
    missingSince: null,
    window: '24h',
    span,
    points: Array.from({ length: 96 }, () => ({ p50Ms: 90, p95Ms: 200, count: 4, downCount: 1 })),
    uptimeText: '75%',
    theme: 'light',
    size: 'embed',
    site: 'status.example.org:8443',
  };
  const table: readonly [string, object, readonly [number, number]][] = [
    ['/api/chart/github-com.png', base, [800, 300]],
    ['/api/chart/GitHub-Com.PNG?size=embed&x=1', base, [800, 300]],
    ['/api/chart/github', base, [800, 300]],
    ['/api/chart/github-com?theme=dark&size=card', { ...base, theme: 'dark', size: 'card' }, [1_200, 630]],
    [
      '/api/chart/gitlab-com.png?window=90d',
      {
        ...base,
        name: 'GitLab',
        domain: 'gitlab.com',
        window: '90d',
        span: month,
        points: base.points.slice(0, 90),
      },
      [800, 300],
    ],
  ];
  for (const [path, picture, size] of table) {
    const answer = await world.get(path);
    t.equal(answer.status, 200, path);
    const { width, height } = await decodePng(answer.bytes);
    t.same([width, height], size);
    t.strictSame(world.asked.charts.at(-1), picture);
    t.equal(answer.headers.get('content-type'), 'image/png');
    t.equal(answer.headers.get('cache-control'), CACHED);
    const head = await world.get(path, {}, 'HEAD');
    t.strictSame(
      [head.status, head.text, head.headers.get('content-length')],
      [200, '', String(answer.bytes.length)],
    );
    const known = await world.get(path, { 'if-none-match': answer.headers.get('etag') ?? '' });
    t.strictSame([known.status, known.text], [304, '']);
    if (path === '/api/chart/github') t.equal(world.asked.charts.length, 1, 'each picture is drawn once');
  }
  t.strictSame(world.asked.samples[0], { serviceId: 1, ...span });
});

t.test('it draws the checks of one region', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')], pictures: DRAWN });
  t.teardown(world.close);
  await world.registry.setFact('samples.regions', 'eu us');
  const span = spanOf('24h', NOW);
  const ofRegion = (region: string, outcomes: readonly Outcome[]) =>
    samplesOfSteps({ serviceId: 1, ...span }, outcomes).map((sample) => ({ ...sample, region }));
  await world.addSamples([...ofRegion('eu', [GOOD, GOOD, GOOD]), ...ofRegion('us', [BAD])]);
  const heatmaps = [
    ['', 'failing'],
    ['?region=eu', 'fast'],
    ['?region=us', 'down'],
  ] as const;
  for (const [query, level] of heatmaps) {
    t.equal((await world.get(`/api/heatmap.png${query}`)).status, 200);
    const { cells = [], region } = world.asked.heatmaps.at(-1) ?? {};
    t.same(
      [...new Set(cells)].map((cell) => CELL_LEVELS[cell]),
      [level],
      query,
    );
    t.equal(region, query === '' ? undefined : query.slice(-2));
  }
  for (const [query, uptimeText] of [
    ['', '75%'],
    ['?region=eu', '100%'],
    ['?region=us', '0%'],
  ] as const) {
    t.equal((await world.get(`/api/chart/shop-example${query}`)).status, 200);
    t.match(world.asked.charts.at(-1), { uptimeText });
  }
  for (const path of ['/api/heatmap.png', '/api/chart/shop-example'])
    t.match(await world.get(`${path}?region=mars`), {
      status: 400,
      json: { allowed: ['eu', 'local', 'us'] },
    });
  t.equal(describeWindow('24h', 'eu'), 'last 24 hours from eu');
});

t.test('it answers JSON where there is nothing to draw', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const table: readonly [string, number, string, string?][] = [
    ['/api/chart/nobody.png', 404, 'service_not_found'],
    ['/api/chart/shop.example', 404, 'service_not_found'],
    ['/api/chart/.png', 404, 'service_not_found'],
    ['/api/chart/shop-example?window=2d', 400, 'invalid_parameter', 'window'],
    ['/api/chart/shop-example?theme=', 400, 'invalid_parameter', 'theme'],
    ['/api/chart/shop-example?size=800x300', 400, 'invalid_parameter', 'size'],
    ['/api/chart/shop-example?size=card&size=card', 400, 'invalid_parameter', 'size'],
    ['/api/heatmap.png?category=cats', 400, 'invalid_parameter', 'category'],
    ['/api/heatmap.png?window=0d', 400, 'invalid_parameter', 'window'],
    ['/api/heatmap.png?theme=blue', 400, 'invalid_parameter', 'theme'],
    ['/api/heatmap', 404, 'route_not_found'],
  ];
  for (const [path, status, code, parameter] of table) {
    const answer = await world.get(path);
    t.match(answer, { status, json: { code, ...(parameter === undefined ? {} : { parameter }) } }, path);
    t.equal(answer.headers.get('cache-control'), 'no-store', 'and no cache keeps it');
  }
  t.strictSame([world.asked.charts, world.asked.heatmaps], [[], []]);
});

t.test('it counts pictures by themselves, and a 304 not at all', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')], anonymousPerMinute: 3 });
  t.teardown(world.close);
  const reader = from('203.0.113.1');
  const first = await world.get('/api/chart/shop-example.png', reader);
  t.equal(first.headers.get('x-ratelimit-remaining'), '2');
  for (let time = 0; time < 5; time++) {
    const etag = first.headers.get('etag') ?? '';
    t.equal(
      (await world.get('/api/chart/shop-example.png', { ...reader, 'if-none-match': etag })).status,
      304,
    );
  }
  t.equal((await world.get('/api/heatmap.png', reader)).status, 200);
  t.equal((await world.get('/api/badge/shop-example', reader)).status, 200);
  t.match(await world.get('/api/heatmap.png', reader), { status: 429, json: { code: 'rate_limited' } });
  t.equal((await world.get('/api/v1/status/shop', reader)).status, 200, 'the API has its own');
});

t.test('it draws a chart anew where the status or the service changes, else once a minute', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const read = async () => {
    await world.get('/api/chart/shop-example.png');
    const { status, ageText, name, asOf } = world.asked.charts.at(-1) ?? {};
    return [world.asked.charts.length, status, ageText, name, asOf];
  };
  t.same(await read(), [1, 'unknown', null, 'SHOP', null]);
  await world.status.put([current(1, check(NOW))]);
  t.same(await read(), [2, 'up', null, 'SHOP', NOW]);
  await world.status.put([current(1, check(NOW + 1))]);
  t.same(await read(), [2, 'up', null, 'SHOP', NOW], 'a good check more waits for the next minute');
  await world.clock.advance(60_000);
  t.same(await read(), [3, 'up', null, 'SHOP', NOW + 1]);
  world.directory.apply({
    seq: 1,
    serviceId: 1,
    slug: 'shop',
    service: service(1, 'shop', { name: 'New', revision: 2 }),
  });
  t.same(await read(), [4, 'up', null, 'New', NOW + 1]);
  await world.clock.advance(12 * 60_000);
  t.same(await read(), [5, 'up', 'as of 12 min ago', 'New', NOW + 1]);
});

t.test('it sends the heat map of all verified services, by category and slug', async (t) => {
  const world = await startApi({
    services: [
      service(4, 'zebra', { category: 'ai', name: 'Zebra' }),
      service(2, 'shop', { name: 'Shop' }),
      service(3, 'liar', { origin: 'owner', verified: false }),
      service(1, 'apple', { category: 'ai', name: 'Apple' }),
    ],
    pictures: DRAWN,
  });
  t.teardown(world.close);
  const span = spanOf('24h', NOW);
  for (const serviceId of [1, 2, 4])
    await world.addSamples(samplesOfSteps({ serviceId, ...span }, serviceId === 2 ? [BAD] : [GOOD, BAD]));
  const answer = await world.get('/api/heatmap.png');
  t.equal(answer.status, 200);
  const { width } = await decodePng(answer.bytes);
  t.equal(width, 180 + 960 + 24);
  t.equal(answer.headers.get('cache-control'), CACHED);
  t.strictSame(world.asked.heatmaps, [
    {
      window: '24h',
      span,
      groups: [
        {
          title: 'AI',
          rows: [
            { name: 'Apple', domain: 'apple.example' },
            { name: 'Zebra', domain: 'zebra.example' },
          ],
        },
        { title: 'Developer', rows: [{ name: 'Shop', domain: 'shop.example' }] },
      ],
      cells: Uint8Array.from({ length: 3 * 96 }, () => 6),
      total: 3,
      asOf: NOW,
      missingSince: null,
      theme: 'light',
    },
  ]);
  const again = await world.get('/api/heatmap.png', { 'if-none-match': answer.headers.get('etag') ?? '' });
  t.equal(again.status, 304);
  await world.get('/api/heatmap.png?category=ai&theme=dark&window=1y');
  t.match(world.asked.heatmaps.at(-1), { window: '1y', theme: 'dark', total: 2, groups: { length: 1 } });
  t.equal(world.asked.heatmaps.length, 2, 'each picture is drawn once');
});

t.test('it shows 1,200 services at most, and says how many there are', async (t) => {
  const services = Array.from({ length: 1_203 }, (_, index) => service(index + 1, `s${1_000 + index}`));
  const world = await startApi({ services });
  t.teardown(world.close);
  t.equal((await world.get('/api/heatmap.png?window=90d')).status, 200);
  const [picture] = world.asked.heatmaps;
  t.same(
    [picture?.total, picture?.groups[0]?.rows.length, picture?.cells.length],
    [1_203, 1_200, 1_200 * 90],
  );
});

t.test('it asks a client that would wait long to retry, and then has the picture', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  let open = () => {};
  world.gate.heatmaps = new Promise<void>((resolve) => {
    open = resolve;
  });
  const asking = world.get('/api/heatmap.png');
  while (world.asked.heatmaps.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await world.clock.advance(PICTURE_TIMEOUT_MS);
  const answer = await asking;
  t.match(answer, { status: 503, json: { code: 'history_unavailable' } });
  t.equal(answer.headers.get('retry-after'), '10');
  open();
  t.equal((await world.get('/api/heatmap.png')).status, 200);
  t.equal(world.asked.heatmaps.length, 1, 'it was not begun again');
});

for (const code of SAMPLE_READ_ERROR_CODES) {
  t.test(`it hides a fault of the store behind what was drawn before, else says so (${code})`, async (t) => {
    let now = NOW;
    const keep = createPictureCache(2, () => now);
    const body = async () => Uint8Array.of(1, 2, 3);
    const fail = async (): Promise<Uint8Array> => {
      throw Object.assign(new Error('it cannot be read'), { code });
    };
    await t.rejects(keep('a', '', fail), { code: 'history_unavailable', headers: { 'Retry-After': '60' } });
    await t.rejects(
      keep('a', '', body),
      { code: 'history_unavailable' },
      'a failed read is not tried each time',
    );
    now += 60_000;
    const good = await keep('a', '', body);
    now += 60_000;
    t.equal(await keep('a', '', fail), good);
    now += 60_000;
    t.equal(await keep('a', '', fail), good, 'however long the store is away');
    await t.rejects(
      keep('a', 'other', async () => {
        throw new Error('no ink');
      }),
      { message: 'no ink' },
    );
    t.same((await keep('a', 'other', body)).etag, good.etag, 'another fault is not kept');
    await keep('b', '', body);
    await keep('c', '', body);
    let made = 0;
    await keep('a', 'other', async () => {
      made++;
      return await body();
    });
    t.equal(made, 1, 'of more than it keeps it forgets the first');
  });
}

t.test('it draws once for many who ask at once', async (t) => {
  const keep = createPictureCache(9, () => NOW);
  let made = 0;
  const make = async () => Uint8Array.of(++made);
  const answers = await Promise.all(Array.from({ length: 20 }, () => keep('a', '', make)));
  t.same([made, new Set(answers).size], [1, 1]);
});

t.test('it reads only steps again that can have changed', async (t) => {
  const queries: SampleQuery[] = [];
  const span = spanOf('24h', NOW);
  const later = spanOf('24h', NOW + 2 * span.stepMs);
  const muchLater = spanOf('24h', NOW + 50 * 86_400_000);
  let level = 'up' as 'up' | 'down';
  const stores = await openUpAndDown(t, [7, 8], [span, later, muchLater]);
  const read = createHeatmapReader(
    double({
      async query(query) {
        queries.push(query);
        return await stores[level].query(query);
      },
    }),
  );
  const count = stepsOf(span);
  const asked = () =>
    queries.splice(0).map(({ serviceId, from, to }) => [serviceId, (to - from) / span.stepMs]);
  const cells = await read([7, 8], '24h', span);
  t.same([...cells], Array(2 * count).fill(1));
  t.same(asked(), [
    [7, count],
    [8, count],
  ]);
  level = 'down';
  t.same([...(await read([8], '24h', later))], [...Array(count - 5).fill(1), ...Array(5).fill(6)]);
  t.same(asked(), [[8, 5]]);
  t.same([...(await read([8], '24h', muchLater))], Array(count).fill(6));
  t.same(asked(), [[8, count]]);
  t.same([...(await read([8], '24h', span))], Array(count).fill(6), 'a clock that was set back');
  t.same(asked(), [[8, count]]);
  await read([8], '7d', spanOf('7d', NOW));
  t.same(asked(), [[8, 7 * count]], 'each window for itself');
});

t.test('it reads few services at a time, and tells the first fault when all have ended', async (t) => {
  const store = openSampleStore({ now: () => NOW });
  t.teardown(() => store.close());
  let open = 0;
  let most = 0;
  const read = createHeatmapReader(
    double({
      async query(query) {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        if (query.serviceId === 50) throw away();
        return await store.query(query);
      },
    }),
  );
  const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const span = spanOf('90d', NOW);
  await Promise.all([read(ids(40), '90d', span), read(ids(40), '1y', spanOf('1y', NOW))]);
  t.equal(most, 2, 'of all heat maps together');
  await t.rejects(read(ids(60), '90d', span), { code: 'samples_away' });
  t.equal(open, 0);
  t.equal((await read(ids(40), '90d', span)).length, 40 * 90, 'and goes on');
});

t.test('it does not let a short window wait for a long one', async (t) => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const store = openSampleStore({ now: () => NOW });
  t.teardown(() => store.close());
  const read = createHeatmapReader(
    double({
      async query(query) {
        if (query.stepMs === 86_400_000 && query.serviceId > 1) await gate;
        return await store.query(query);
      },
    }),
  );
  const year = read([1, 2], '1y', spanOf('1y', NOW));
  t.equal((await read([1, 2, 3], '24h', spanOf('24h', NOW))).length, 3 * 96);
  open();
  t.equal((await year).length, 2 * 365);
});

/** A store in which every step of the spans was up, and one in which it was down. */
async function openUpAndDown(t: Test, serviceIds: readonly number[], spans: readonly PictureSpan[]) {
  const open = async (outcome: Outcome) => {
    const store = openSampleStore({ now: () => NOW });
    t.teardown(() => store.close());
    for (const serviceId of serviceIds)
      for (const span of spans) await store.append(samplesOfSteps({ serviceId, ...span }, [outcome]));
    return store;
  };
  return { up: await open(GOOD), down: await open(BAD) };
}

t.test(
  'it marks pictures from which checks are missing, and draws them anew when all are stored',
  async (t) => {
    const world = await startApi({ services: [service(1, 'shop')] });
    t.teardown(world.close);
    await world.addSamples(samplesOfSteps({ serviceId: 1, ...spanOf('24h', NOW) }, [GOOD]));
    const read = async () => {
      await world.get('/api/chart/shop-example.png');
      await world.get('/api/heatmap.png');
      return [world.asked.charts, world.asked.heatmaps].map((asked) => [
        asked.length,
        asked.at(-1)?.missingSince,
      ]);
    };
    t.same(await read(), [
      [1, null],
      [1, null],
    ]);
    const since = NOW - 60_000;
    world.faults.missingSince = since;
    t.same(await read(), [
      [2, since],
      [2, since],
    ]);
    world.faults.missingSince = null;
    t.same(await read(), [
      [3, null],
      [3, null],
    ]);
  },
);

t.test('it reads the steps again that it read while checks were missing', async (t) => {
  const state = { since: null as number | null, level: 'up' as 'up' | 'down' };
  const span = spanOf('24h', NOW);
  const stores = await openUpAndDown(t, [1], [span]);
  const read = createHeatmapReader(
    double({
      query: (query) => stores[state.level].query(query),
      missingSince: () => state.since,
    }),
  );
  const count = stepsOf(span);
  state.since = span.to - 10 * span.stepMs;
  await read([1], '24h', span);
  state.since = null;
  state.level = 'down';
  t.same([...(await read([1], '24h', span))], [...Array(count - 10).fill(1), ...Array(10).fill(6)]);
  state.level = 'up';
  t.same([...(await read([1], '24h', span))].slice(-11), [1, 6, 6, 6, 6, 6, 6, 6, 1, 1, 1], 'once');
});
