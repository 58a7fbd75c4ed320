/** What vendors say: timelines, words, lags and maintenances. */
import { Ajv } from 'ajv';
import t from 'tap';
import { IncidentDetailSchema } from '../../src/api/incidents.ts';
import { StatusSchema } from '../../src/api/services.ts';
import { MaintenancesSchema, VendorSchema } from '../../src/api/vendor.ts';
import type { Maintenance } from '../../src/domain/incident/maintenance.ts';
import type { ServiceVendorStatus } from '../../src/domain/incident/vendor-incident.ts';
import { incident, NOW, service, startApi } from '../site/site-world.ts';
import { at } from '../support/json.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
const MINUTE = 60_000;

const WORD: ServiceVendorStatus = {
  url: 'https://status.shop.example',
  kind: 'statuspage',
  status: 'major',
  since: NOW - 10 * MINUTE,
  incidentId: 'statuspage-1-shop',
  readAt: NOW - MINUTE,
  stale: false,
};

const SHOWN_WORD = {
  status: 'major',
  since: '2026-11-20T09:50:00.000Z',
  incident_id: 'statuspage-1-shop',
  read_at: '2026-11-20T09:59:00.000Z',
  stale: false,
  url: 'https://status.shop.example',
  kind: 'statuspage',
};

t.test('it shows the word of the vendor beside the own verdict, and its change at once', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const before = await world.get('/api/v1/status/shop');
  t.equal(at(before.json, 'vendor'), null);
  world.vendorStatuses.set(1, WORD);
  const after = await world.get('/api/v1/status/shop');
  t.strictSame(at(after.json, 'vendor'), SHOWN_WORD);
  t.ok(ajv.validate(StatusSchema, after.json), ajv.errorsText());
  t.not(after.headers.get('etag'), before.headers.get('etag'));
  const changes: readonly Partial<ServiceVendorStatus>[] = [
    { readAt: NOW },
    { status: 'operational', since: null, incidentId: null },
    { stale: true },
    { since: NOW },
  ];
  for (const change of changes) {
    const { etag } = Object.fromEntries((await world.get('/api/v1/status/shop')).headers);
    world.vendorStatuses.set(1, { ...(world.vendorStatuses.get(1) ?? WORD), ...change });
    t.not((await world.get('/api/v1/status/shop')).headers.get('etag'), etag, JSON.stringify(change));
  }
  world.vendorStatuses.delete(1);
  t.equal(at((await world.get('/api/v1/status/shop')).json, 'vendor'), null);
});

t.test('it gives one incident with its timeline, under its own service alone', async (t) => {
  const world = await startApi({ services: [service(1, 'shop', { name: 'Shop' }), service(2, 'other')] });
  t.teardown(world.close);
  const updates = [
    { at: NOW, status: 'investigating' as const, text: 'We look.' },
    { at: NOW + MINUTE, status: 'resolved' as const, text: '' },
  ];
  await world.putIncidents(incident('v-1-shop', 1, { source: 'vendor', updates }));
  const answer = await world.get('/api/v1/incidents/SHOP/v-1-shop');
  t.match(answer.json, {
    service: { name: 'Shop', slug: 'shop' },
    incident: { id: 'v-1-shop', source: 'vendor', started_at: '2026-11-20T10:00:00.000Z' },
  });
  t.strictSame(at(answer.json, 'incident', 'timeline'), [
    { at: '2026-11-20T10:00:00.000Z', status: 'investigating', text: 'We look.' },
    { at: '2026-11-20T10:01:00.000Z', status: 'resolved', text: '' },
  ]);
  t.ok(ajv.validate(IncidentDetailSchema, answer.json), ajv.errorsText());
  t.match(await world.get('/api/v1/incidents/other/v-1-shop'), {
    status: 404,
    json: { code: 'incident_not_found' },
  });
  t.match(await world.get('/api/v1/incidents/shop/none'), {
    status: 404,
    json: { code: 'incident_not_found' },
  });
  t.match(await world.get('/api/v1/incidents/none/v-1-shop'), {
    status: 404,
    json: { code: 'service_not_found' },
  });
});

t.test('it reports how long the vendor takes to say what our checks have seen', async (t) => {
  const world = await startApi({ services: [service(1, 'shop', { name: 'Shop' })] });
  t.teardown(world.close);
  world.vendorStatuses.set(1, WORD);
  const published = (at: number) => [{ at, status: 'investigating' as const, text: '' }];
  await world.putIncidents(
    incident('own-1-1', 1, { startedAt: NOW - 300 * MINUTE, resolvedAt: NOW - 290 * MINUTE }),
    incident('v-1', 1, { source: 'vendor', updates: published(NOW - 300 * MINUTE + 90_000) }),
    incident('own-1-3', 1, { startedAt: NOW - 5 * MINUTE }),
  );
  const answer = await world.get('/api/v1/services/shop/vendor');
  t.strictSame(answer.json, {
    service: { name: 'Shop', slug: 'shop' },
    vendor: SHOWN_WORD,
    acknowledgement: {
      from: '2025-11-20T10:00:00.000Z',
      outages: 2,
      acknowledged: 1,
      median_seconds: 90,
      worst_seconds: 90,
      entries: [
        {
          incident_id: 'own-1-3',
          vendor_incident_id: null,
          started_at: '2026-11-20T09:55:00.000Z',
          acknowledged_at: null,
          lag_seconds: null,
        },
        {
          incident_id: 'own-1-1',
          vendor_incident_id: 'v-1',
          started_at: '2026-11-20T05:00:00.000Z',
          acknowledged_at: '2026-11-20T05:01:30.000Z',
          lag_seconds: 90,
        },
      ],
    },
  });
  t.ok(ajv.validate(VendorSchema, answer.json), ajv.errorsText());
});

t.test('it lists maintenances, upcoming and running', async (t) => {
  const world = await startApi({ services: [service(1, 'shop', { name: 'Shop' })] });
  t.teardown(world.close);
  const maintenance: Maintenance = {
    id: 'm-1-shop',
    serviceId: 1,
    title: 'Upgrade',
    description: 'We upgrade.',
    startsAt: NOW + MINUTE,
    endsAt: null,
    reportedState: 'planned',
    phase: 'planned',
    sourceUrl: 'https://status.shop.example/m1',
    updates: [],
  };
  // What the directory does not know yet.
  await world.addServices([service(9, 'new')]);
  await world.putMaintenances(maintenance, { ...maintenance, id: 'm-9', serviceId: 9 });
  const answer = await world.get('/api/v1/maintenance');
  t.strictSame(answer.json, {
    maintenance: [
      {
        id: 'm-1-shop',
        title: 'Upgrade',
        description: 'We upgrade.',
        state: 'planned',
        starts_at: '2026-11-20T10:01:00.000Z',
        ends_at: null,
        source_url: 'https://status.shop.example/m1',
        service: { name: 'Shop', slug: 'shop' },
      },
    ],
    total: 2,
    limit: 50,
    offset: 0,
  });
  t.ok(ajv.validate(MaintenancesSchema, answer.json), ajv.errorsText());
  t.equal(at((await world.get('/api/v1/maintenance?limit=500')).json, 'limit'), 100);
  t.match(await world.get('/api/v1/maintenance?limit=0'), {
    status: 400,
    json: { code: 'invalid_parameter' },
  });
});
