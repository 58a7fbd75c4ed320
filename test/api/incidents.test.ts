/** `GET /api/v1/incidents` and `/incidents/:slug` (contract 2.3, 4.3, 4.4; decisions, Incidents). */
import { Ajv } from 'ajv';
import t from 'tap';
import { IncidentsSchema, ServiceIncidentsSchema } from '../../src/api/incidents.ts';
import { incident, NOW, service, startApi } from '../site/site-world.ts';
import { at, listAt } from '../support/json.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
const isList = ajv.compile(IncidentsSchema);
const isServiceList = ajv.compile(ServiceIncidentsSchema);

const SHOWN = {
  id: 'own-1-1',
  title: 'Shop is not reachable',
  description: 'Our checks of shop.example fail.',
  severity: 'major',
  status: 'resolved',
  started_at: '2026-11-20T10:00:00.000Z',
  resolved_at: '2026-11-20T10:01:00.000Z',
  source_url: 'https://upbeat.test/status/shop-example',
};

t.test('it shows incidents with their service, or the service once', async (t) => {
  const world = await startApi({ services: [service(1, 'shop', { name: 'Shop' })] });
  t.teardown(world.close);
  await world.putIncidents(incident('own-1-1', 1, { status: 'resolved', resolvedAt: NOW + 60_000 }));
  const all = (await world.get('/api/v1/incidents')).json;
  t.strictSame(all, {
    incidents: [{ ...SHOWN, service: { name: 'Shop', slug: 'shop' } }],
    total: 1,
    limit: 50,
    offset: 0,
  });
  t.ok(isList(all), JSON.stringify(isList.errors));
  const one = (await world.get('/api/v1/incidents/SHOP')).json;
  t.strictSame(one, { service: { name: 'Shop', slug: 'shop' }, incidents: [SHOWN], total: 1 });
  t.ok(isServiceList(one), JSON.stringify(isServiceList.errors));
});

t.test('it asks the registry for what the client asked for', async (t) => {
  const world = await startApi({ services: [service(7, 'shop')] });
  t.teardown(world.close);
  const table: readonly [string, object][] = [
    ['/api/v1/incidents', { verifiedOnly: true, limit: 50, offset: 0 }],
    ['/api/v1/incidents?limit=101&offset=30', { verifiedOnly: true, limit: 100, offset: 30 }],
    [
      '/api/v1/incidents?status=monitoring',
      { status: 'monitoring', verifiedOnly: true, limit: 50, offset: 0 },
    ],
    ['/api/v1/incidents/shop', { serviceId: 7, limit: 20, offset: 0 }],
    ['/api/v1/incidents/shop?limit=51', { serviceId: 7, limit: 50, offset: 0 }],
    ['/api/v1/incidents/shop?limit=5&offset=10', { serviceId: 7, limit: 5, offset: 0 }],
    ['/api/v1/incidents/shop?offset=nonsense', { serviceId: 7, limit: 20, offset: 0 }],
  ];
  for (const [path, query] of table) {
    t.equal((await world.get(path)).status, 200, path);
    t.strictSame(world.asked.incidents.at(-1), query, path);
  }
});

t.test('it leaves self-reported services out of the list of all, not out of their own', async (t) => {
  const world = await startApi({
    services: [
      service(1, 'known'),
      service(2, 'anybody', { origin: 'owner', accountId: 1, verified: false }),
    ],
  });
  t.teardown(world.close);
  // What the directory does not know yet.
  await world.addServices([service(9, 'new')]);
  await world.putIncidents(incident('own-2-1', 2), incident('own-1-1', 1), incident('own-9-1', 9));
  const all = (await world.get('/api/v1/incidents')).json;
  t.strictSame(
    listAt(all, 'incidents').map((one) => at(one, 'id')),
    ['own-1-1'],
  );
  t.equal(at((await world.get('/api/v1/incidents/anybody')).json, 'incidents', 'length'), 1);
});

t.test('it answers 404 for a service that is not known', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  t.match(await world.get('/api/v1/incidents/nobody'), { status: 404, json: { code: 'service_not_found' } });
});
