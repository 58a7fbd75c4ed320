/** Documents as Statuspage has them, over HTTP: what they show, to whom, and that our own reader of Statuspage takes them. */
import t from 'tap';
import type { OwnerIncident } from '../../src/domain/incident/owner-incident.ts';
import { statuspage } from '../../src/feeds/kinds/statuspage.ts';
import { readDocuments } from '../feeds/kinds/read-document.ts';
import { start } from '../site/posting-account.ts';
import { requestAt } from '../site/request-at.ts';
import { check, current, incident, NOW, service, startApi } from '../site/site-world.ts';

const HOUR = 3_600_000;
const DOCUMENTS = [
  'summary',
  'status',
  'components',
  'incidents',
  'incidents/unresolved',
  'scheduled-maintenances',
  'scheduled-maintenances/upcoming',
  'scheduled-maintenances/active',
] as const;
const PREFIXES = ['/p/acme', '/pages/acme', '/status/shop'];

const at = (ms: number) => new Date(ms).toISOString();

/** A document as a client takes it. */
interface Read {
  readonly page: object;
  readonly components: readonly object[];
  readonly incidents: readonly {
    readonly id: string;
    readonly name: string;
    readonly components: object[];
  }[];
  readonly scheduled_maintenances: readonly { readonly id: string }[];
}

t.test('a page and a service without news have every document, with empty lists', async (t) => {
  const { world } = await start(t);
  await world.status.put([1, 2].map((id) => current(id, check(NOW))));
  const members: Record<(typeof DOCUMENTS)[number], readonly string[]> = {
    summary: ['components', 'incidents', 'page', 'scheduled_maintenances', 'status'],
    status: ['page', 'status'],
    components: ['components', 'page'],
    incidents: ['incidents', 'page'],
    'incidents/unresolved': ['incidents', 'page'],
    'scheduled-maintenances': ['page', 'scheduled_maintenances'],
    'scheduled-maintenances/upcoming': ['page', 'scheduled_maintenances'],
    'scheduled-maintenances/active': ['page', 'scheduled_maintenances'],
  };
  for (const prefix of PREFIXES)
    for (const name of DOCUMENTS) {
      const path = `${prefix}/api/v2/${name}.json`;
      const { status, headers, json } = await world.get(path);
      t.match([status, headers.get('content-type')], [200, 'application/json; charset=utf-8'], path);
      t.equal(headers.get('access-control-allow-origin'), '*', path);
      const { incidents = [], scheduled_maintenances: maintenances = [] } = json as Partial<Read>;
      t.strictSame(Object.keys(json as Read).sort(), members[name], path);
      t.strictSame([incidents, maintenances], [[], []], path);
      const etag = headers.get('etag') ?? '';
      t.equal((await world.get(path, { 'if-none-match': etag })).status, 304, path);
      const head = await world.get(path, {}, 'HEAD');
      t.match([head.status, head.text, head.headers.get('etag')], [200, '', etag], path);
    }
  t.match((await world.get('/p/acme/api/v2/summary.json')).json, {
    page: {
      id: 'acme',
      name: 'Acme',
      url: 'https://upbeat.test/p/acme',
      time_zone: 'Etc/UTC',
      updated_at: at(NOW),
    },
    status: { indicator: 'none', description: 'All Systems Operational' },
    components: [
      { id: 'shop', name: 'Shop', description: 'shop.example', status: 'operational', page_id: 'acme' },
      { id: 'public', name: 'PUBLIC', description: 'public.example', status: 'operational' },
    ],
  });
  t.match((await world.get('/status/shop/api/v2/summary.json')).json, {
    page: { id: 'shop', name: 'Shop (shop.example)', url: 'https://upbeat.test/status/shop' },
    components: [{ id: 'shop', name: 'Shop' }],
  });
});

t.test('no time is before the page or, of what was never checked, before the program', async (t) => {
  const { world } = await start(t);
  await world.status.put([current(1, check(NOW), { since: NOW - 9 * HOUR })]);
  const times = { created_at: at(NOW), updated_at: at(NOW) };
  t.match((await world.get('/p/acme/api/v2/components.json')).json, {
    page: { updated_at: at(NOW) },
    components: [times, times],
  });
  t.match((await world.get('/status/public/api/v2/components.json')).json, {
    page: { updated_at: at(NOW) },
    components: [times],
  });
});

t.test('our own reader finds the incidents and maintenance of checks, vendors and owners', async (t) => {
  const { world, ada, send } = await start(t);
  await world.status.put([
    current(1, check(NOW, { status: 'down' }), { status: 'down' }),
    current(2, check(NOW, { status: 'slow' }), { status: 'slow' }),
  ]);
  const texts = (from: number, statuses: readonly ('investigating' | 'resolved')[]) =>
    statuses.map((status, index) => ({
      at: from + index * 1_000,
      status,
      text: `Line ${index}\n<b> & more`,
    }));
  await world.putIncidents(
    incident('own-1', 1, { startedAt: NOW - HOUR, updates: texts(NOW - HOUR, ['investigating']) }),
    incident('vendor-1', 2, {
      ...{ source: 'vendor', severity: 'minor', title: 'Slow queries', status: 'resolved' },
      ...{ startedAt: NOW - 9 * HOUR, resolvedAt: NOW - 9 * HOUR + 3_000 },
      updates: texts(NOW - 9 * HOUR, ['investigating', 'investigating', 'investigating', 'resolved']),
    }),
    incident('vendor-work', 2, {
      ...{ source: 'vendor', severity: 'maintenance', title: 'Was upgraded', status: 'resolved' },
      ...{ startedAt: NOW - 30 * HOUR, resolvedAt: NOW - 29 * HOUR, updates: [] },
    }),
  );
  const said = { title: 'Orders are late', severity: 'critical', text: 'We **look** into it.' };
  const post = { ...said, services: ['shop'], pages: ['acme'] };
  const { id } = (await send('POST', '/api/v1/incidents', post, ada)).json;
  const statuses = ['identified', 'identified', 'monitoring', 'resolved'];
  for (const status of statuses)
    await send('POST', `/api/v1/incidents/${id}/updates`, { status, text: 'x'.repeat(3_000) }, ada);
  const weekly = { starts_at: at(NOW + 24 * HOUR), duration: '2h', recurrence: 'FREQ=WEEKLY;COUNT=9' };
  const work = { title: 'Disks', text: 'All of *them*.', ...weekly, services: ['shop'] };
  const planned = (await send('POST', '/api/v1/maintenances', work, ada)).json.id;
  const present = { title: 'Cables', text: 'At once.', duration: '1h', pages: ['acme'] };
  const running = (await send('POST', '/api/v1/maintenances', present, ada)).json.id;

  for (const prefix of ['/p/acme', '/status/shop']) {
    const read = async (name: string) => (await world.get(`${prefix}/api/v2/${name}.json`)).json as Read;
    const found = readDocuments(
      statuspage,
      { incidents: await read('incidents'), 'scheduled-maintenances': await read('scheduled-maintenances') },
      { pageUrl: `https://upbeat.test${prefix}`, feedUrl: null },
      NOW,
    );
    const byKey = new Map(found.map((entry) => [entry.key, entry]));
    const shop = ['Shop', 'shop'];
    t.match(byKey.get('own-1'), {
      ...{ kind: 'incident', title: 'Shop is not reachable', severity: 'major', status: 'investigating' },
      ...{ startedAt: NOW - HOUR, resolvedAt: null, components: shop },
      sourceUrl: 'https://upbeat.test/status/shop/incidents/own-1',
      updates: [{ at: NOW - HOUR, status: 'investigating', text: 'Line 0\n‹b› & more' }],
    });
    t.match(byKey.get(id), {
      ...{ kind: 'incident', title: 'Orders are late', severity: 'critical', status: 'resolved' },
      ...{ startedAt: NOW, resolvedAt: NOW, components: shop },
    });
    t.strictSame(
      byKey.get(id)?.updates.map(({ status, text }) => [status, text.length]),
      [['investigating', 'We look into it.'.length], ...statuses.map((status) => [status, 3_000])],
      'every update of the owner, whole',
    );
    const first = Math.round(NOW / 1_000) + 86_400;
    for (const week of [0, 1])
      t.match(byKey.get(`owner-${planned}-${first + week * 604_800}`), {
        ...{ kind: 'maintenance', title: 'Disks', state: 'planned', components: shop },
        ...{ startsAt: NOW + (24 + week * 168) * HOUR, endsAt: NOW + (26 + week * 168) * HOUR },
        updates: [{ status: 'identified', text: 'All of them.' }],
      });
    t.match(byKey.get(`owner-${running}-${NOW / 1_000}`), {
      ...{ kind: 'maintenance', title: 'Cables', state: 'running', components: shop },
      ...{ startsAt: NOW, endsAt: NOW + HOUR },
    });
    const ofVendor = prefix === '/p/acme' ? 1 : 0;
    t.equal(byKey.has('vendor-1'), ofVendor === 1);
    t.equal(byKey.has('vendor-work'), ofVendor === 1);
    t.equal(found.length, 5 + 2 * ofVendor, 'each once');

    const ids = async (name: string, list: 'incidents' | 'scheduled_maintenances') =>
      (await read(name))[list].map((one) => one.id);
    t.strictSame(await ids('incidents/unresolved', 'incidents'), ['own-1']);
    t.strictSame(await ids('scheduled-maintenances/upcoming', 'scheduled_maintenances'), [
      `owner-${planned}-${first}`,
      `owner-${planned}-${first + 604_800}`,
    ]);
    t.strictSame(await ids('scheduled-maintenances/active', 'scheduled_maintenances'), [
      `owner-${running}-${NOW / 1_000}`,
    ]);
    const summary = await read('summary');
    t.equal(summary.incidents.length, 1);
    t.equal(summary.scheduled_maintenances.length, 3);
  }
  const { json } = await world.get('/p/acme/api/v2/summary.json');
  t.match(json, { status: { indicator: 'major', description: 'Partial System Outage' } });
});

t.test('what an owner says of several services is one incident, whenever it was', async (t) => {
  const services = [1, 2].map((id) => service(id, `s${id}`, { origin: 'owner', accountId: 1 }));
  const world = await startApi({ services });
  t.teardown(world.close);
  await world.putPage('acme', { groups: [{ name: '', services: [1, 2] }] });
  const said = (startedAt: number) => ({
    ...({
      accountId: 1,
      title: 'Late',
      severity: 'minor',
      status: 'resolved',
      startedAt,
      resolvedAt: startedAt,
    } as const),
    ...{ services: [1, 2], pages: [], siteUrl: 'https://upbeat.test', now: NOW },
    updates: [
      { at: startedAt, status: 'resolved', markdown: 'Over.', plain: 'Over.' },
    ] as OwnerIncident['updates'],
  });
  // The page itself reads twenty of them.
  for (let number = 0; number < 23; number++)
    await world.registry.addOwnerIncident(said(NOW - number * HOUR));
  const { incidents } = (await world.get('/p/acme/api/v2/incidents.json')).json as Read;
  t.equal(incidents.length, 23);
  for (const one of incidents)
    t.match(one, {
      id: /^owner-\d+$/,
      components: [{ id: 's1' }, { id: 's2' }],
      incident_updates: [{ body: 'Over.' }],
    });
});

t.test('a private service has its name on the page and what checks saw, and nothing else', async (t) => {
  const vault = service(1, 'vault', { origin: 'owner', accountId: 1, visibility: 'private', name: 'Vault' });
  const world = await startApi({ services: [vault, service(2, 'public')] });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW, { status: 'down' }), { status: 'down' })]);
  const groups = [{ name: 'Home', services: [1, 2], names: { 1: 'Photos' } }];
  await world.putPage('acme', { groups });
  const [page] = await world.registry.pagesOf(1);
  await world.putIncidents(
    incident('own-vault-1', 1, { title: 'Vault is down', description: 'vault.example' }),
  );
  await world.registry.addOwnerIncident({
    ...{
      accountId: 1,
      title: 'Shown',
      severity: 'minor',
      status: 'identified',
      startedAt: NOW,
      resolvedAt: null,
    },
    ...{ services: [1], pages: [page?.id ?? 0], siteUrl: 'https://upbeat.test', now: NOW },
    updates: [{ at: NOW, status: 'identified', markdown: 'x', plain: 'x' }],
  });
  for (const name of DOCUMENTS)
    t.notMatch((await world.get(`/p/acme/api/v2/${name}.json`)).text, /vault/i, name);
  const { json } = await world.get('/p/acme/api/v2/summary.json');
  t.match(json, {
    components: [
      { name: 'Home', group: true },
      { name: 'Photos', status: 'major_outage', description: null },
      {},
    ],
    incidents: { length: 2 },
  });
  const components = Object.fromEntries(
    (json as Read).incidents.map((one) => [one.name, one.components.length]),
  );
  t.strictSame(
    components,
    { 'Photos is down': 1, Shown: 0 },
    'the post does not say which service it is about',
  );
  t.equal((await world.get('/status/vault/api/v2/summary.json')).status, 404);
  const key = world.makeKey({ scopes: ['read'] });
  const own = await world.get('/status/vault/api/v2/summary.json', key);
  t.match([own.status, own.headers.get('cache-control')], [200, 'private, no-store']);
});

t.test('who sees a page sees its documents', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  await world.putPage('inside', { access: 'members' });
  await world.putPage('locked', { access: 'password', passwordHash: 'x' });
  const key = world.makeKey({ scopes: ['read'] });
  for (const prefix of ['/p', '/pages'])
    for (const name of DOCUMENTS) {
      const read = (slug: string, headers = {}) =>
        world.get(`${prefix}/${slug}/api/v2/${name}.json`, headers);
      t.match(await read('nothing'), { status: 404, json: { code: 'page_not_found' } });
      t.match(await read('inside'), { status: 404, json: { code: 'page_not_found' } });
      t.match(await read('locked'), { status: 401, json: { code: 'page_password_required' } });
      for (const slug of ['inside', 'locked']) {
        const { status, headers } = await read(slug, key);
        t.match([status, headers.get('cache-control')], [200, 'private, no-store']);
      }
    }
  t.match(await world.get('/status/nothing/api/v2/summary.json'), {
    status: 404,
    json: { code: 'service_not_found' },
  });
  t.equal((await world.get('/p/inside/api/v2/subscribers.json')).status, 404);
});

t.test('a page at its domain has its documents there and on this site, which may have a path', async (t) => {
  const domain = 'status.acme.example';
  const world = await startApi({ services: [service(1, 'shop')], siteUrl: 'https://upbeat.test/up' });
  t.teardown(world.close);
  await world.putPage('acme', { groups: [{ name: '', services: [1] }], domain });
  await world.registry.provePageDomain(1, 'acme', domain, NOW);
  await world.pageDomains.refresh();
  await world.putIncidents(incident('own-1', 1));
  const ask = requestAt(world.port);
  for (const name of DOCUMENTS) {
    const there = await ask(domain, `/api/v2/${name}.json`);
    t.match(there, { status: 200, headers: { 'access-control-allow-origin': '*' } }, name);
    t.equal((await world.get(`/up/p/acme/api/v2/${name}.json`)).text, there.text, name);
    t.equal((await world.get(`/up/pages/ACME/api/v2/${name}.json`)).text, there.text, name);
  }
  const summary = JSON.parse((await ask(domain, '/api/v2/summary.json')).text);
  t.match(summary, {
    page: { url: `https://${domain}` },
    incidents: [{ shortlink: 'https://upbeat.test/up/status/shop-example/incidents/own-1' }],
  });
  t.equal((await ask(domain, '/api/v2/nothing.json')).status, 404);
  t.match((await world.get('/up/status/shop-example/api/v2/status.json')).json, {
    page: { url: 'https://upbeat.test/up/status/shop-example' },
  });
});

/** The requests of two clients of Statuspage as they send them, and the members that they read. */
const CLIENTS = [
  {
    // npm: statuspage.io 3.3.8, whose list of running maintenance is at the address of those ahead.
    headers: {
      ...{ accept: 'application/json, text/plain, */*', 'user-agent': 'axios/1.12.2' },
      ...{ 'accept-encoding': 'gzip, compress, deflate, br', connection: 'keep-alive' },
    },
    documents: [
      'summary',
      'status',
      'components',
      'incidents',
      'incidents/unresolved',
      'scheduled-maintenances/upcoming',
    ],
  },
  {
    // PyPI: statuspage-prometheus-exporter 2.6.0.
    headers: {
      ...{ accept: '*/*', 'user-agent': 'AtlassianStatusPageExporter/1.0' },
      ...{ 'accept-encoding': 'gzip, deflate, zstd', connection: 'keep-alive' },
    },
    documents: ['summary'],
  },
];

t.test('clients of Statuspage get what they ask for', async (t) => {
  const { world } = await start(t);
  await world.putIncidents(incident('own-1', 1));
  for (const { headers, documents } of CLIENTS)
    for (const prefix of PREFIXES)
      for (const name of documents) {
        const response = await fetch(`${world.origin}${prefix}/api/v2/${name}.json`, { headers });
        t.match([response.status, response.headers.get('content-type')], [200, /^application\/json/], name);
        t.match(await response.json(), { page: { id: /^(?:acme|shop)$/ } }, name);
      }
});
