/** `GET /api/v1/services/:slug/history`: any window up to two years in at most 1,000 buckets. */
import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import { HistorySchema, readWindow } from '../../src/api/history.ts';
import { NOW, service, startApi } from '../site/site-world.ts';
import { at } from '../support/json.ts';
import { type Outcome, samplesOfSteps } from '../support/sample-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const isHistory = new Ajv({ allErrors: true, strict: false }).compile(HistorySchema);

t.test('it answers every bucket of the window', async (t) => {
  const world = await startApi({ services: [service(7, 'shop', { name: 'Shop' })] });
  t.teardown(world.close);
  const window = { serviceId: 7, from: NOW - 90 * 60_000, to: NOW, stepMs: HOUR_MS };
  const outcomes = [
    ...Array.from({ length: 40 }, (_, index): Outcome => {
      const status = index < 20 ? 'up' : index < 30 ? 'slow' : 'down';
      return { status, latencyMs: 10 * index + (index === 0 ? 11 : 10) };
    }),
    { status: 'up', latencyMs: 9_000, suspect: true } as const,
  ];
  await world.addSamples(samplesOfSteps(window, outcomes));
  const from = new Date(window.from).toISOString();
  const { status, json } = await world.get(`/api/v1/services/SHOP/history?from=${from}&to=${NOW}&step=1h`);
  t.equal(status, 200);
  t.strictSame(world.asked.samples, [window]);
  const figures = {
    count: 40,
    up: 20,
    slow: 10,
    down: 10,
    suspect: 1,
    uptime_ratio: 0.75,
    mean_ms: 205,
    p50_ms: 200,
    p95_ms: 380,
    p99_ms: 400,
  };
  t.strictSame(json, {
    service: { name: 'Shop', slug: 'shop' },
    from: '2026-11-20T08:30:00.000Z',
    to: '2026-11-20T10:00:00.000Z',
    step: '1h',
    incomplete: false,
    missing_since: null,
    buckets: [
      { start: '2026-11-20T08:30:00.000Z', end: '2026-11-20T09:30:00.000Z', ...figures },
      { start: '2026-11-20T09:30:00.000Z', end: '2026-11-20T10:00:00.000Z', ...figures },
    ],
  });
  t.ok(isHistory(json), JSON.stringify(isHistory.errors));
  t.match(await world.get('/api/v1/services/nobody/history'), {
    status: 404,
    json: { code: 'service_not_found' },
  });
});

t.test('it answers one region, and knows which there are', async (t) => {
  const world = await startApi({ services: [service(7, 'shop')] });
  t.teardown(world.close);
  const ask = (query: string) => world.get(`/api/v1/services/shop/history?${query}`);
  const sample = (minute: number, region: object = {}) => ({
    ...{ serviceId: 7, at: NOW - minute * 60_000, status: 'up' as const },
    ...{ latencyMs: minute, statusCode: 200, suspect: false },
    ...region,
  });
  await world.addSamples([sample(50), sample(40)]);
  const counts = async (query: string) => {
    const { json, status } = await ask(`${query}&step=24h`);
    t.ok(isHistory(json), JSON.stringify(isHistory.errors));
    return [
      status,
      at(json, 'region'),
      at(json, 'buckets', '0', 'count'),
      at(json, 'buckets', '0', 'p99_ms'),
    ];
  };
  t.same(await counts('region=local'), [200, 'local', 2, 50], 'one process is one region');
  t.match(await ask('region=eu'), {
    status: 400,
    json: { code: 'invalid_parameter', parameter: 'region', allowed: ['local'] },
  });

  await world.registry.setFact('samples.regions', 'us eu');
  await world.clock.advance(2_000);
  await world.addSamples([
    sample(30, { region: 'us' }),
    sample(30, { region: 'eu' }),
    sample(20, { region: 'eu' }),
  ]);
  t.same(await counts('x=1'), [200, undefined, 5, 50], 'without the parameter each check counts once');
  t.same(await counts('region=eu'), [200, 'eu', 2, 30]);
  t.same(await counts('region=us'), [200, 'us', 3, 50], 'with the checks of the time when it was alone');
  t.same(await counts('region=local'), [200, 'local', 0, null], 'its nodes have made no check');
  for (const query of ['region=', 'region=EU', 'region=mars', "region='"])
    t.match(await ask(query), {
      status: 400,
      json: {
        code: 'invalid_parameter',
        detail: 'Parameter "region" is not the name of a region. Allowed: eu, local, us.',
      },
    });
});

t.test('it says where checks are still on their way to the store', async (t) => {
  const since = NOW - 2 * HOUR_MS;
  const world = await startApi({
    services: [service(7, 'shop')],
  });
  t.teardown(world.close);
  world.faults.missingSince = since;
  const ask = async (from: number, to: number) =>
    (await world.get(`/api/v1/services/shop/history?from=${from}&to=${to}`)).json as object;
  const incomplete = await ask(NOW - 3 * HOUR_MS, NOW);
  t.match(incomplete, { incomplete: true, missing_since: new Date(since).toISOString() });
  t.ok(isHistory(incomplete), JSON.stringify(isHistory.errors));
  t.match(await ask(NOW - 3 * HOUR_MS, since), { incomplete: false, missing_since: null });
  t.match(await ask(since - HOUR_MS, since + 1), { incomplete: true });
});

t.test('it takes the last 24 hours where nothing is said', (t) => {
  const { from, to } = readWindow('', NOW);
  t.strictSame([from, to], [NOW - DAY_MS, NOW]);
  t.strictSame(readWindow(`to=${NOW - DAY_MS}`, NOW).from, NOW - 2 * DAY_MS);
  t.strictSame(readWindow('from=2026-11-20', NOW).from, NOW - 10 * HOUR_MS);
  t.strictSame(readWindow('from=2026-11-20T10:30:00%2B02:00', NOW).from, NOW - 1.5 * HOUR_MS);
  t.end();
});

t.test('it chooses a step that fits any window up to two years', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 731 * DAY_MS }), (length) => {
      const { from, to, stepMs } = readWindow(`from=${NOW - length}&to=${NOW}`, NOW);
      return to - from === length && Math.ceil(length / stepMs) <= 1_000 && stepMs >= 60_000;
    }),
  );
  t.end();
});

t.test('it answers at most 1,000 buckets and says which step would do', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const most = await world.get(
    `/api/v1/services/shop/history?from=${NOW - 1_000 * 60_000}&to=${NOW}&step=1m`,
  );
  t.equal(at(most.json, 'buckets', 'length'), 1_000);
  const over = await world.get(
    `/api/v1/services/shop/history?from=${NOW - 1_001 * 60_000}&to=${NOW}&step=1m`,
  );
  t.match(over.json, { code: 'invalid_parameter', parameter: 'step', detail: /1001 buckets.*at least 61s/ });
  fc.assert(
    fc.property(fc.integer({ min: 1_001_000, max: 731 * DAY_MS }), (length) => {
      const query = `from=${NOW - length}&to=${NOW}`;
      try {
        readWindow(`${query}&step=1s`, NOW);
        return false;
      } catch (error) {
        const step = /at least (\w+)/.exec((error as Error).message)?.[1];
        return Math.ceil(length / readWindow(`${query}&step=${step}`, NOW).stepMs) <= 1_000;
      }
    }),
  );
});

t.test('it refuses what is no window, and names the parameter', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const table: readonly [string, string][] = [
    ['from=yesterday', 'from'],
    ['from=2026-02-30T00:00:00Z', 'from'],
    ['from=2025-02-29&to=2025-03-02', 'from'],
    ['from=', 'from'],
    ['to=2026-13-01', 'to'],
    ['to=2026-11-20T10:00:00', 'to'],
    ['to=99999999999999999', 'to'],
    ['from=-1', 'from'],
    [`from=${NOW}&to=${NOW}`, 'from'],
    [`from=${NOW + 1}&to=${NOW}`, 'from'],
    [`from=${NOW - 800 * DAY_MS}`, 'from'],
    ['step=', 'step'],
    ['step=5', 'step'],
    ['step=0s', 'step'],
    ['step=500ms', 'step'],
    ['step=fortnight', 'step'],
    ['step=1h&step=1h', 'step'],
    ['from=1&from=2', 'from'],
  ];
  for (const [query, parameter] of table) {
    const answer = await world.get(`/api/v1/services/shop/history?${query}`);
    t.match(answer, { status: 400, json: { code: 'invalid_parameter', parameter } }, query);
  }
  t.strictSame(world.asked.samples, []);
});
