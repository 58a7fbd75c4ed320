/** `GET /api/v1/status/:slug` (contract 2.1, 2.2, 4.1; decisions, Services). */
import { Ajv } from 'ajv';
import t from 'tap';
import { StatusSchema } from '../../src/api/services.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import { check, current, inRegion, NOW, service, startApi } from '../site/site-world.ts';
import { at } from '../support/json.ts';

const INTERVAL_MS = 300_000;
const isStatus = new Ajv({ allErrors: true, strict: false }).compile(StatusSchema);

t.test('it shows a service with its latest check, and nothing of its making', async (t) => {
  const world = await startApi({
    services: [service(1, 'github', { name: 'GitHub', domain: 'github.com' })],
  });
  t.teardown(world.close);
  await world.status.put([
    current(
      1,
      check(NOW - 60_000, {
        timing: { dnsMs: 1.26, connectMs: 10, tlsMs: null, firstByteMs: 100.04, totalMs: 123.4 },
        certificateExpiresAt: NOW + 86_400_000,
      }),
      { since: NOW - 3_600_000 },
    ),
  ]);
  const answer = await world.get('/api/v1/status/github');
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  t.strictSame(answer.json, {
    slug: 'github',
    name: 'GitHub',
    domain: 'github.com',
    category: 'developer',
    status: 'up',
    response_time: 123,
    last_checked: '2026-11-20T09:59:00.000Z',
    stale: false,
    since: '2026-11-20T09:00:00.000Z',
    self_reported: false,
    latest_check: {
      status: 'up',
      response_time: 123,
      status_code: 200,
      checked_at: '2026-11-20T09:59:00.000Z',
      source: 'root',
      blocked: false,
      reported: null,
      failure: null,
      timing: { dns_ms: 1.3, connect_ms: 10, tls_ms: null, first_byte_ms: 100, total_ms: 123.4 },
      certificate_expires_at: '2026-11-21T10:00:00.000Z',
    },
    vendor: null,
  });
  t.ok(isStatus(answer.json), JSON.stringify(isStatus.errors));
});

t.test('where several regions check, it shows each of them and the scope', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const failure = {
    class: 'status',
    phase: 'first_byte',
    cause: { code: 'status', statusCode: 503 },
  } as const;
  const partial = current(1, check(NOW - 20_000, { responseTimeMs: 300 }), {
    regions: [
      inRegion('ap', 20_000, { responseTimeMs: 300 }),
      inRegion('eu', 40_000, { status: 'down', responseTimeMs: 55, statusCode: 503, failure }),
      inRegion('us', 60_000, { responseTimeMs: 100 }),
    ],
    scope: 'partial',
  });
  await world.status.put([partial]);
  const answer = await world.get('/api/v1/status/shop');
  t.match(answer.json, {
    status: 'up',
    response_time: 200,
    last_checked: '2026-11-20T09:59:40.000Z',
    latest_check: { status: 'up', response_time: 300 },
  });
  t.strictSame(at(answer.json, 'scope'), 'partial');
  t.strictSame(at(answer.json, 'regions'), [
    { region: 'ap', status: 'up', response_time: 300, checked_at: '2026-11-20T09:59:40.000Z', failure: null },
    {
      region: 'eu',
      status: 'down',
      response_time: 55,
      checked_at: '2026-11-20T09:59:20.000Z',
      failure: { class: 'status', phase: 'first_byte', detail: 'answered with status 503' },
    },
    { region: 'us', status: 'up', response_time: 100, checked_at: '2026-11-20T09:59:00.000Z', failure: null },
  ]);
  t.ok(isStatus(answer.json), JSON.stringify(isStatus.errors));
  const list = await world.get('/api/v1/services');
  t.strictSame(Object.keys(at(list.json, 'services', 0) as object).includes('regions'), false);
  t.match(at(list.json, 'services', 0), { response_time: 200 });
  await world.status.put([{ ...partial, seq: partial.seq + 1, scope: null }]);
  t.strictSame(at((await world.get('/api/v1/status/shop')).json, 'scope'), null);
});

t.test('it says which checks take any certificate', async (t) => {
  const http = (settings: Record<string, string>) =>
    ({ check: { ...DEFAULT_CHECK, kind: 'http', settings } }) as const;
  const world = await startApi({
    services: [service(1, 'nas', http({ certificate: 'ignore' })), service(2, 'shop', http({}))],
  });
  t.teardown(world.close);
  await world.status.put([1, 2].map((id) => current(id, check(NOW - 20_000, { source: 'http' }))));
  const ignores = async (slug: string) => {
    const { json } = await world.get(`/api/v1/status/${slug}`);
    t.ok(isStatus(json), JSON.stringify(isStatus.errors));
    return Object.entries(at(json, 'latest_check') as object).find(
      ([name]) => name === 'certificate_ignored',
    );
  };
  t.same(await ignores('nas'), ['certificate_ignored', true]);
  t.equal(await ignores('shop'), undefined);
});

t.test('it shows null where nothing was measured', async (t) => {
  const world = await startApi({ services: [service(1, 'new'), service(2, 'gone')] });
  t.teardown(world.close);
  await world.status.put([unknownStatus(1)]);
  const fresh = await world.get('/api/v1/status/new');
  t.match(fresh.json, {
    status: 'unknown',
    response_time: null,
    last_checked: null,
    since: null,
    stale: false,
    latest_check: null,
  });
  t.ok(isStatus(fresh.json), JSON.stringify(isStatus.errors));
  t.match((await world.get('/api/v1/status/gone')).json, { status: 'unknown', latest_check: null });

  const failure = {
    class: 'refused',
    phase: 'connect',
    cause: { code: 'connection_refused' },
  } as const;
  await world.status.put([
    current(2, check(NOW, { status: 'down', responseTimeMs: null, statusCode: 0, failure })),
  ]);
  const down = await world.get('/api/v1/status/gone');
  t.match(down.json, {
    status: 'down',
    response_time: null,
    latest_check: {
      status: 'down',
      response_time: null,
      status_code: 0,
      failure: { class: 'refused', phase: 'connect', detail: 'the connection was refused' },
    },
  });
  t.ok(isStatus(down.json), JSON.stringify(isStatus.errors));
});

t.test('it marks a status stale when its check is older than two intervals, and no earlier', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW))]);
  const stale = async () => at((await world.get('/api/v1/status/shop')).json, 'stale');
  t.equal(await stale(), false);
  await world.clock.advance(2 * INTERVAL_MS);
  t.equal(await stale(), false, 'exactly two intervals');
  await world.clock.advance(1);
  t.equal(await stale(), true);
  t.equal(
    at((await world.get('/api/v1/services')).json, 'services', 0, 'stale'),
    true,
    'the list says the same',
  );
  await world.status.put([current(1, check(NOW + 2 * INTERVAL_MS))]);
  t.equal(await stale(), false, 'until the next check');
});

t.test('a service with an interval of its own is stale after two of these', async (t) => {
  const own = (intervalMs: number) => ({ check: { ...DEFAULT_CHECK, intervalMs } });
  const world = await startApi({
    services: [
      service(1, 'hasty', own(30_000)),
      service(2, 'daily', own(86_400_000)),
      // An interval from before it sent heartbeats does not count.
      service(3, 'beating', { check: { ...own(30_000).check, kind: 'heartbeat' } }),
    ],
  });
  t.teardown(world.close);
  await world.status.put([1, 2, 3].map((id) => current(id, check(NOW))));
  const stale = () =>
    Promise.all(
      ['hasty', 'daily', 'beating'].map(async (slug) =>
        at((await world.get(`/api/v1/status/${slug}`)).json, 'stale'),
      ),
    );
  await world.clock.advance(60_000);
  t.same(await stale(), [false, false, false]);
  await world.clock.advance(1);
  t.same(await stale(), [true, false, false]);
  await world.clock.advance(2 * INTERVAL_MS - 60_000);
  t.same(await stale(), [true, false, true]);
});

t.test('it answers the newest record and definition, whatever it has kept', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const read = async () => (await world.get('/api/v1/status/shop')).json;
  t.match(await read(), { name: 'SHOP', status: 'unknown' });
  await world.status.put([current(1, check(NOW))]);
  t.match(await read(), { name: 'SHOP', status: 'up', response_time: 123 });
  await world.status.put([current(1, check(NOW + 1, { responseTimeMs: 7 }), { observedAt: NOW + 1 })]);
  t.match(await read(), { status: 'up', response_time: 7 });
  world.directory.apply({
    seq: 1,
    serviceId: 1,
    slug: 'shop',
    service: service(1, 'shop', { name: 'The Shop', revision: 2 }),
  });
  t.match(await read(), { name: 'The Shop', response_time: 7 });
  world.directory.apply({ seq: 2, serviceId: 1, slug: 'shop', service: null });
  t.equal((await world.get('/api/v1/status/shop')).status, 404);
});

t.test('it finds a service by its slug in any case, and no other', async (t) => {
  const world = await startApi({ services: [service(1, 'my-shop', { verified: false, origin: 'owner' })] });
  t.teardown(world.close);
  const lower = await world.get('/api/v1/status/my-shop');
  t.equal(at(lower.json, 'self_reported'), true);
  for (const path of ['/api/v1/status/MY-SHOP', '/api/v1/status/My-Shop?x=1', '/api/v1/status/my%2Dshop']) {
    t.strictSame((await world.get(path)).json, lower.json, path);
  }
  for (const name of [
    'my',
    'my-shop-2',
    'my-shop.example',
    '__proto__',
    'constructor',
    '%00',
    '%E0%A4%A',
    '..%2f',
  ]) {
    const answer = await world.get(`/api/v1/status/${name}`);
    t.match(answer, { status: 404, json: { code: 'service_not_found', status: 404 } }, name);
    t.equal(answer.headers.get('content-type'), 'application/problem+json');
  }
});
