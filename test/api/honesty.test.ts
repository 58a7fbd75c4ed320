/** How long vendors take to report outages: endpoint and page over the registry. */
import { Ajv } from 'ajv';
import t, { type Test } from 'tap';
import { HonestySchema } from '../../src/api/honesty.ts';
import type { ServiceVendorStatus } from '../../src/domain/incident/vendor-incident.ts';
import type { StatusPage } from '../../src/domain/service.ts';
import { incident, NOW, service, startApi } from '../site/site-world.ts';
import { at } from '../support/json.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const page = (host: string): StatusPage => ({
  url: `https://${host}`,
  kind: 'statuspage',
  feedUrl: null,
  components: null,
});
const read = (host: string, more: Partial<ServiceVendorStatus> = {}): ServiceVendorStatus => ({
  url: `https://${host}`,
  kind: 'statuspage',
  status: 'operational',
  since: null,
  incidentId: null,
  readAt: NOW - MINUTE,
  stale: false,
  ...more,
});

/** An outage of an hour, and the vendor's entry that came `lag` later; null: none came. */
function outage(serviceId: number, id: string, from: number, lag: number | null) {
  const entry = incident(`v-${id}`, serviceId, {
    source: 'vendor',
    status: 'resolved',
    startedAt: from,
    resolvedAt: from + HOUR,
    updates: [{ at: from + (lag ?? 0), status: 'investigating', text: '' }],
  });
  const own = incident(`own-${id}`, serviceId, {
    status: 'resolved',
    startedAt: from,
    resolvedAt: from + HOUR,
  });
  return lag === null ? [own] : [own, entry];
}

async function start(t: Test) {
  const world = await startApi({
    services: [
      service(1, 'hub', { name: 'Hub', statusPage: page('status.hub.example') }),
      service(2, 'hub-pages', { name: 'Hub Pages', statusPage: page('status.hub.example') }),
      service(3, 'mail', { name: 'Mail', statusPage: page('status.mail.example') }),
      service(4, 'unread', { name: 'Unread', statusPage: page('status.unread.example') }),
      service(5, 'plain', { name: 'Plain' }),
    ],
  });
  t.teardown(world.close);
  for (const id of [1, 2]) world.vendorStatuses.set(id, read('status.hub.example'));
  world.vendorStatuses.set(3, read('status.mail.example'));
  world.vendorStatuses.set(4, read('status.unread.example', { stale: true, readAt: NOW - 2 * DAY }));
  await world.putIncidents(
    ...[1, 2, 3, 4, 5].flatMap((days) => outage(1, `h${days}`, NOW - days * DAY, days * MINUTE)),
    ...outage(2, 'p1', NOW - DAY + 10 * MINUTE, null),
    ...outage(3, 'm1', NOW - DAY, null),
    ...outage(3, 'm2', NOW - 100 * DAY, 2 * MINUTE),
    ...outage(4, 'u1', NOW - DAY, null),
    ...outage(4, 'u2', NOW - 3 * DAY, 4 * MINUTE),
    ...outage(4, 'u3', NOW - 9 * DAY, null),
    ...outage(4, 'u4', NOW - 100 * DAY, null),
    ...outage(5, 'x1', NOW - DAY, null),
  );
  const unread = `statuspage https://status.unread.example`;
  await world.registry.putUnreadTime({ feed: unread, from: NOW - 10 * DAY, to: NOW - 8 * DAY });
  await world.registry.putUnreadTime({ feed: unread, from: NOW - 95 * DAY, to: NOW - 85 * DAY });
  return world;
}

t.test('it compares the vendors whose pages are read', async (t) => {
  const world = await start(t);
  const answer = await world.get('/api/v1/honesty');
  t.ok(ajv.validate(HonestySchema, answer.json), ajv.errorsText());
  t.match(answer.json, {
    window: '90d',
    from: new Date(NOW - 90 * DAY).toISOString(),
    to: new Date(NOW).toISOString(),
    all: { outages: 7, acknowledged: 6, never_acknowledged: 1, median_seconds: 240, worst_seconds: 300 },
    min_ranked_outages: 5,
    total: 3,
  });
  t.match(at(answer.json, 'vendors', 0), {
    rank: 1,
    name: 'Hub',
    url: 'https://status.hub.example',
    outages: 5,
    acknowledged: 5,
    never_acknowledged: 0,
    median_seconds: 180,
    worst_seconds: 300,
    unread_seconds: 0,
    unread_since: null,
  });
  t.match(at(answer.json, 'vendors', 0, 'entries', 0), {
    incident_id: 'own-h1',
    service: { slug: 'hub' },
    started_at: new Date(NOW - DAY).toISOString(),
    acknowledged_at: new Date(NOW - DAY + MINUTE).toISOString(),
    lag_seconds: 60,
  });
  t.match(at(answer.json, 'vendors', 2), { rank: null, name: 'Mail', outages: 1, median_seconds: null });
});

t.test('a vendor whose page cannot be read stays, without the outages of that time', async (t) => {
  const world = await start(t);
  const answer = await world.get('/api/v1/honesty');
  t.match(at(answer.json, 'vendors', 1), {
    name: 'Unread',
    outages: 1,
    acknowledged: 1,
    unread_seconds: (9 * DAY) / 1_000,
    unread_since: new Date(NOW - 2 * DAY).toISOString(),
    entries: [{ incident_id: 'own-u2', lag_seconds: 240 }],
  });
  const { text } = await world.get('/honesty', { accept: 'text/html' });
  t.match(
    text,
    /Its status page cannot be read at the moment \([\d\w ]+ in all\)\. Outages from that time are left out\./,
  );
});

t.test('it looks back a year and gives a part of the list', async (t) => {
  const world = await start(t);
  const year = await world.get('/api/v1/honesty?window=1y&offset=1&limit=1');
  t.match(year.json, { window: '1y', total: 3, limit: 1, offset: 1 });
  t.match(at(year.json, 'vendors'), [{ name: 'Mail', outages: 2, acknowledged: 1, median_seconds: 120 }]);
  t.equal((await world.get('/api/v1/honesty?window=7d')).status, 400);
});

t.test('the page has a row for each vendor with the outages behind it, in both languages', async (t) => {
  const world = await start(t);
  const { status, text } = await world.get('/honesty', { accept: 'text/html' });
  t.equal(status, 200);
  t.match(text, 'Our checks saw 7 outages at 3 vendors. 6 of 7 were reported, half of all within 4 min.');
  t.match(text, /<td class="rank">1<\/td>.*<a href="\/status\/hub-example">Hub<\/a>/s);
  t.match(text, '<a href="/status/hub-example/incidents/own-h1">');
  t.match(text, ': reported after 1 min<');
  t.match(text, ': never reported<');
  t.notMatch(text, 'Plain');
  const german = await world.get('/honesty?lang=de&window=1y', { accept: 'text/html' });
  t.match(german.text, 'Wie lange Anbieter brauchen, um Ausfälle zu melden');
  t.match(german.text, 'nach 2 Min. gemeldet');
  t.equal((await world.get('/honesty?window=2y', { accept: 'text/html' })).status, 400);
});

t.test('the page says that nothing has been seen yet', async (t) => {
  const world = await startApi({ services: [service(1, 'a')] });
  t.teardown(world.close);
  const { text } = await world.get('/honesty', { accept: 'text/html' });
  t.match(text, 'Our checks have not seen an outage that counts yet.');
  t.notMatch(text, '<table');
});

t.test(
  'a service leaves out outages of times in which its page could not be read, as the comparison does',
  async (t) => {
    const world = await start(t);
    const { json } = await world.get('/api/v1/services/unread/vendor');
    // Those of one, nine and a hundred days ago fall in such times or in none that is known.
    t.match(at(json, 'acknowledgement'), { outages: 2, acknowledged: 1, median_seconds: 240 });
    const { text } = await world.get('/status/unread-example');
    t.match(text, /1 of the 2 outages/);
  },
);

t.test('times that were recorded before the clock was set back are no negative ones', async (t) => {
  const world = await start(t);
  const feed = 'statuspage https://status.hub.example';
  await world.registry.putUnreadTime({ feed, from: NOW + DAY, to: null });
  await world.registry.putUnreadTime({ feed, from: NOW + 2 * DAY, to: NOW - DAY });
  world.vendorStatuses.set(1, read('status.hub.example', { stale: true, readAt: NOW + HOUR }));
  t.match(at((await world.get('/api/v1/honesty')).json, 'vendors', 0), {
    name: 'Hub',
    outages: 5,
    unread_seconds: 0,
    unread_since: null,
  });
});
