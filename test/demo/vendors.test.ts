/** The simulated vendors: their script, each format by its description, and their servers. */
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { isCutOff } from './script.ts';
import { DEMO_SCRIPT } from './services.ts';
import { DEMO_VENDORS } from './vendor-cast.ts';
import { concernsService, incidentsOf, knownBy, servedServices } from './vendor-expectation.ts';
import {
  faultAt,
  type Vendor,
  vendorIncidentsAt,
  vendorMaintenancesAt,
  vendorStateAt,
} from './vendors/script.ts';
import { VENDOR_KINDS } from './vendors/vendor-kinds.ts';
import { startVendors } from './vendors/vendor-server.ts';

const SECOND = 1_000;
const START = Date.UTC(2026, 8, 20, 10, 0, 0);
const BASE = 'http://127.0.0.1:20000';

/** Investigating from 20 s, identified from 40 s, resolved from 60 s; a maintenance from 30 s to 90 s. */
function vendorOf(kind: Vendor['kind'], details: Partial<Vendor> = {}): Vendor {
  return {
    slug: 'shop',
    name: 'Shop & Co',
    kind,
    components: ['Web', 'Apps'],
    periodMs: 100 * SECOND,
    incidents: [
      {
        key: 'errors',
        title: 'Errors & more',
        severity: 'major',
        components: ['Web'],
        startsAt: 15 * SECOND,
        updates: [
          { at: 20 * SECOND, status: 'investigating', text: 'Looking <into> it.' },
          { at: 40 * SECOND, status: 'identified', text: 'Found it.' },
          { at: 60 * SECOND, status: 'resolved', text: 'Over.' },
        ],
      },
    ],
    maintenances: [
      {
        key: 'work',
        title: 'Work',
        text: 'We work.',
        components: ['Apps'],
        announcedAt: 10 * SECOND,
        startsAt: 30 * SECOND,
        endsAt: 90 * SECOND,
      },
    ],
    faults: [],
    ...details,
  };
}

/** The document at a path, as text, `seconds` after the beginning. */
function textAt(vendor: Vendor, seconds: number, path: string): string {
  const now = START + seconds * SECOND;
  const documents = VENDOR_KINDS[vendor.kind].render(vendor, vendorStateAt(vendor, START, now), now, BASE);
  return documents.get(path)?.body.toString() ?? `no ${path}`;
}

const jsonAt = (vendor: Vendor, seconds: number, path: string): unknown =>
  JSON.parse(textAt(vendor, seconds, path));

const idAt = (vendor: Vendor, seconds: number) => vendorIncidentsAt(vendor, seconds * SECOND)[0]?.id ?? '';

t.test('it tells an incident update by update, and anew in each period', async (t) => {
  const vendor = vendorOf('statuspage');
  const at = (seconds: number) =>
    vendorIncidentsAt(vendor, seconds * SECOND).map(({ startedAt, resolvedAt, updates }) => [
      startedAt / SECOND,
      resolvedAt,
      updates.map(({ at, status }) => [at / SECOND, status]),
    ]);
  const first = [
    [20, 'investigating'],
    [40, 'identified'],
    [60, 'resolved'],
  ];
  t.same(at(-1), []);
  t.same(at(Number.NEGATIVE_INFINITY), [], 'before the play has a beginning');
  t.same(at(19.999), []);
  t.same(at(20), [[15, null, first.slice(0, 1)]]);
  t.same(at(59), [[15, null, first.slice(0, 2)]]);
  t.same(at(60), [[15, 60_000, first]]);
  t.same(at(121), [
    [115, null, [[120, 'investigating']]],
    [15, 60_000, first],
  ]);
  t.not(idAt(vendor, 121), idAt(vendor, 60));
  t.equal(idAt(vendor, 121), idAt(vendor, 170));
  const maintenances = (seconds: number) =>
    vendorMaintenancesAt(vendor, seconds * SECOND).map(({ state }) => state);
  t.same([9, 10, 30, 90, 110].map(maintenances), [
    [],
    ['planned'],
    ['running'],
    ['done'],
    ['planned', 'done'],
  ]);
});

t.test('it never takes back what it has told, and never has two of one identifier', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...DEMO_VENDORS),
      fc.integer({ min: 0, max: 3_000_000 }),
      fc.integer({ min: 0, max: 300_000 }),
      (vendor, elapsedMs, laterMs) => {
        const before = vendorIncidentsAt(vendor, elapsedMs);
        const after = new Map(vendorIncidentsAt(vendor, elapsedMs + laterMs).map((each) => [each.id, each]));
        const numbers = vendorIncidentsAt(vendor, elapsedMs).map(({ number }) => number);
        return (
          new Set(before.map(({ id }) => id)).size === before.length &&
          new Set(numbers).size === numbers.length &&
          before.every(({ id, updates, startedAt }) => {
            const later = after.get(id);
            return (
              later === undefined ||
              (later.startedAt === startedAt &&
                JSON.stringify(later.updates.slice(0, updates.length)) === JSON.stringify(updates))
            );
          })
        );
      },
    ),
  );
});

t.test('its cast has every kind, and each incident is over before the prober is cut off', async (t) => {
  t.same([...new Set(DEMO_VENDORS.map(({ kind }) => kind))].sort(), Object.keys(VENDOR_KINDS).sort());
  t.equal(new Set(DEMO_VENDORS.map(({ slug }) => slug)).size, DEMO_VENDORS.length);
  const timing = {
    intervalMs: 5_000,
    timeoutMs: 2_500,
    slowOverMs: 800,
    confirmAfterMs: [500, 1_000],
    firstSpreadMs: 5_000,
    slackMs: 3_000,
    feedIntervalMs: 3_000,
  };
  const served = servedServices(DEMO_SCRIPT);
  t.same(
    DEMO_SCRIPT.services.filter(({ statusPage }) => statusPage !== undefined).map(({ slug }) => slug),
    served.map(({ service }) => service.slug),
    'every page that a service names exists',
  );
  for (const one of served) {
    const { slug, periodMs, incidents, maintenances, components } = one.vendor;
    t.equal(periodMs, DEMO_SCRIPT.periodMs, slug);
    for (const name of one.service.statusPage?.components ?? [])
      t.ok(components.includes(name), `${slug}: ${name}`);
    for (const { title, updates, startsAt } of incidents) {
      t.equal(updates.at(-1)?.status, 'resolved', title);
      t.ok(startsAt <= (updates[0]?.at ?? 0), `${title} does not begin after it is told of`);
      for (const [index, { at }] of updates.entries()) {
        const due = knownBy(DEMO_SCRIPT, one, at, timing);
        t.ok(
          due < (updates[index + 1]?.at ?? 245 * SECOND),
          `${title}: what is told at ${at} is known in time`,
        );
        t.notOk(isCutOff(DEMO_SCRIPT, at));
      }
    }
    for (const { title, announcedAt, startsAt, endsAt } of maintenances) {
      t.ok(knownBy(DEMO_SCRIPT, one, announcedAt, timing) < startsAt, `${title} is known ahead`);
      t.ok(endsAt < 245 * SECOND, title);
    }
  }
  const storage = served.find(({ service }) => service.slug === 'nimbus-storage');
  t.same(
    storage && incidentsOf(storage, 240 * SECOND).map(({ title }) => title),
    ['Delayed invoices', 'Errors when reading & writing objects'],
    'a service hears of its own parts and of the whole page',
  );
  t.notOk(storage === undefined || concernsService(storage, ['Console']));
});

t.test('Statuspage: incidents, updates newest first, maintenances beside them', async (t) => {
  const vendor = vendorOf('statuspage');
  t.match(jsonAt(vendor, 45, '/api/v2/incidents.json'), {
    page: { name: 'Shop & Co', url: BASE },
    incidents: [
      {
        id: idAt(vendor, 45),
        name: 'Errors & more',
        status: 'identified',
        impact: 'major',
        created_at: '2026-09-20T10:00:20.000Z',
        started_at: '2026-09-20T10:00:15.000Z',
        resolved_at: null,
        incident_updates: [
          {
            status: 'identified',
            display_at: '2026-09-20T10:00:40.000Z',
            body: /^<p><strong>Found<\/strong> it/,
          },
          { status: 'investigating', body: /<strong>Looking<\/strong> &lt;into&gt; it/ },
        ],
        components: [{ name: 'Web', status: 'partial_outage' }],
      },
    ],
  });
  t.match(jsonAt(vendor, 45, '/api/v2/scheduled-maintenances.json'), {
    scheduled_maintenances: [
      {
        status: 'in_progress',
        impact: 'maintenance',
        scheduled_for: '2026-09-20T10:00:30.000Z',
        scheduled_until: '2026-09-20T10:01:30.000Z',
      },
    ],
  });
  t.match(jsonAt(vendor, 45, '/api/v2/summary.json'), {
    status: { indicator: 'major' },
    components: [
      { name: 'Web', status: 'partial_outage' },
      { name: 'Apps', status: 'operational' },
    ],
    incidents: [{ status: 'identified' }],
    scheduled_maintenances: [{ status: 'in_progress' }],
  });
  t.match(jsonAt(vendor, 95, '/api/v2/summary.json'), {
    status: { indicator: 'none' },
    incidents: [],
    scheduled_maintenances: [],
  });
  const busy = vendorOf('statuspage', {
    incidents: Array.from({ length: 20 }, (_, index) => ({
      ...vendor.incidents[0],
      key: String(index),
    })) as Vendor['incidents'],
  });
  const { incidents } = jsonAt(busy, 399, '/api/v2/incidents.json') as { incidents: unknown[] };
  t.equal(incidents.length, 50, 'the fifty newest alone');
});

t.test('incident.io: null for empty lists and for links', async (t) => {
  const vendor = vendorOf('incidentio');
  t.match(jsonAt(vendor, 5, '/api/v2/incidents.json'), { incidents: null });
  t.match(jsonAt(vendor, 45, '/api/v2/incidents.json'), {
    incidents: [
      {
        id: /^01[0-9A-F]{24}$/,
        status: 'identified',
        impact: 'major',
        shortlink: null,
        components: undefined,
      },
    ],
  });
});

t.test('Instatus: lists are absent where they are empty, words in capitals, minutes as text', async (t) => {
  const vendor = vendorOf('instatus');
  t.same(jsonAt(vendor, 5, '/summary.json'), { page: { name: 'Shop & Co', url: BASE, status: 'UP' } });
  t.match(jsonAt(vendor, 45, '/v3/summary.json'), {
    page: { status: 'HASISSUES' },
    activeIncidents: [{ status: 'IDENTIFIED', impact: 'MAJOROUTAGE', started: '2026-09-20T10:00:15.000Z' }],
    activeMaintenances: [{ status: 'INPROGRESS', duration: '1', start: '2026-09-20T10:00:30.000Z' }],
  });
  t.match(jsonAt(vendor, 70, '/summary.json'), {
    page: { status: 'UNDERMAINTENANCE' },
    activeIncidents: undefined,
  });
});

t.test('Better Stack: reports and their updates in JSON:API', async (t) => {
  const vendor = vendorOf('betterstack');
  const { included } = jsonAt(vendor, 70, '/index.json') as { included: { type: string; id: string }[] };
  const ofType = (type: string) => included.filter((each) => each.type === type);
  t.match(ofType('status_report'), [
    {
      attributes: {
        title: 'Errors & more',
        report_type: 'manual',
        aggregate_state: 'resolved',
        affected_resources: [{ status_page_resource_id: '900' }],
      },
      relationships: {
        status_updates: {
          data: ofType('status_update')
            .slice(0, 3)
            .map(({ id }) => ({ id })),
        },
      },
    },
    { attributes: { report_type: 'maintenance', ends_at: '2026-09-20T10:01:30.000Z' } },
  ]);
  t.match(ofType('status_resource'), []);
  t.match(ofType('status_page_resource')[0], { attributes: { public_name: 'Web', status: 'operational' } });
  t.equal(new Set(included.map(({ type, id }) => `${type} ${id}`)).size, included.length);
});

t.test('Status.io: what is active alone, in codes', async (t) => {
  const vendor = vendorOf('statusio');
  const path = VENDOR_KINDS.statusio.feedPath?.(vendor) ?? '';
  t.match(path, /^\/1\.0\/status\/[0-9a-f]{24}$/);
  t.match(jsonAt(vendor, 45, path), {
    result: {
      status_overall: { status_code: 400, status: 'Partial Service Disruption' },
      status: [
        { name: 'Web', status_code: 400 },
        { name: 'Apps', status_code: 200 },
      ],
      incidents: [
        {
          name: 'Errors & more',
          messages: [
            { state: 100, status: 400, datetime: '2026-09-20T10:00:20.000Z', details: 'Looking <into> it.' },
            { state: 200 },
          ],
          components_affected: [{ name: 'Web' }],
        },
      ],
      maintenance: {
        active: [{ name: 'Work', datetime_planned_end: '2026-09-20T10:01:30.000Z' }],
        upcoming: [],
      },
    },
  });
  t.match(jsonAt(vendor, 60, path), { result: { incidents: [] } });
});

t.test('Google: an archive with Markdown', async (t) => {
  const vendor = vendorOf('gcp');
  t.match(jsonAt(vendor, 45, '/incidents.json'), [
    {
      begin: '2026-09-20T10:00:15+00:00',
      created: '2026-09-20T10:00:20+00:00',
      end: undefined,
      external_desc: /^\*\*Title:\*\*\nErrors & more\n/,
      most_recent_update: { text: '**Found** it.', status: 'SERVICE_OUTAGE' },
      severity: 'medium',
      affected_products: [{ title: 'Web' }],
      uri: `incidents/${idAt(vendor, 45)}`,
    },
  ]);
  t.match(jsonAt(vendor, 60, '/incidents.json'), [
    { end: '2026-09-20T10:01:00+00:00', most_recent_update: { status: 'AVAILABLE' } },
  ]);
});

t.test('AWS: UTF-16 with a byte order mark, epoch seconds as text', async (t) => {
  const vendor = vendorOf('aws');
  const at = (seconds: number) => {
    const now = START + seconds * SECOND;
    const state = vendorStateAt(vendor, START, now);
    const body = VENDOR_KINDS.aws.render(vendor, state, now, BASE).get('/public/currentevents')?.body;
    t.same([...(body ?? [])].slice(0, 4), [0xfe, 0xff, 0, 0x5b], 'a big-endian [');
    return JSON.parse(
      Buffer.from(body ?? [])
        .swap16()
        .toString('utf16le')
        .slice(1),
    ) as unknown;
  };
  t.same(at(5), []);
  t.match(at(45), [
    {
      date: String(START / 1_000 + 15),
      status: '2',
      service: 'web-eu-west-1',
      summary: 'Errors & more',
      event_log: [{ status: 2, timestamp: START / 1_000 + 20 }, { message: 'Found it.' }],
      end_time: undefined,
    },
  ]);
  t.match(at(70), [
    { status: '0', summary: '[RESOLVED] Errors & more', end_time: String(START / 1_000 + 60) },
  ]);
  t.same(at(95), []);
});

t.test('Azure: items that leave the feed', async (t) => {
  const vendor = vendorOf('azure');
  const text = textAt(vendor, 45, '/en-us/status/feed/');
  t.match(text, '<title>Errors &amp; more - Identified</title>');
  t.match(text, '<pubDate>Sun, 20 Sep 2026 10:00:15 Z</pubDate>');
  t.match(text, '&lt;p&gt;&lt;strong&gt;Found&lt;/strong&gt; it.');
  t.notMatch(textAt(vendor, 60, '/en-us/status/feed/'), '<item>');
});

t.test('Slack: times of the west coast', async (t) => {
  const vendor = vendorOf('slack');
  t.match(jsonAt(vendor, 5, '/api/v2.0.0/current'), { status: 'ok', active_incidents: [] });
  t.match(jsonAt(vendor, 45, '/api/v2.0.0/current'), {
    status: 'active',
    active_incidents: [
      {
        date_created: '2026-09-20T03:00:15-07:00',
        date_updated: '2026-09-20T03:00:40-07:00',
        type: 'outage',
        status: 'active',
        services: ['Web'],
        notes: [{ date_created: '2026-09-20T03:00:40-07:00', body: /<strong>Found/ }, {}],
      },
    ],
  });
  t.match(jsonAt(vendor, 60, '/api/v2.0.0/history'), [{ status: 'resolved' }]);
});

t.test('Heroku: never resolved by the word, only by the state', async (t) => {
  const vendor = vendorOf('heroku', { components: ['Apps', 'Web'] });
  t.match(jsonAt(vendor, 45, '/api/v4/current-status'), {
    status: [{ system: 'Apps', status: 'green' }, { system: 'Data' }, { system: 'Tools' }],
    incidents: [
      {
        id: 1_000,
        state: 'identified',
        resolved: false,
        updates: [{ contents: 'Found it.' }, { update_type: 'issue' }],
      },
    ],
    scheduled: [],
  });
  t.match(jsonAt(vendor, 60, '/api/v4/incidents'), [{ state: 'resolved', resolved: false }]);
});

t.test('Salesforce: a word for each instance', async (t) => {
  const vendor = vendorOf('salesforce');
  const words = (seconds: number) =>
    (jsonAt(vendor, seconds, '/v1/instances') as { key: string; status: string }[]).map(({ key, status }) => [
      key,
      status,
    ]);
  t.same(words(45), [
    ['Web', 'MAJOR_INCIDENT_CORE'],
    ['Apps', 'MAINTENANCE_CORE'],
  ]);
  t.same(words(95), [
    ['Web', 'OK'],
    ['Apps', 'OK'],
  ]);
});

t.test('RSS and Atom: an item for each update, an entry for each incident', async (t) => {
  const rss = textAt(vendorOf('rss'), 60, '/feed.rss');
  t.same(rss.match(/<pubDate>[^<]*/g), [
    '<pubDate>Sun, 20 Sep 2026 10:01:00 GMT',
    '<pubDate>Sun, 20 Sep 2026 10:00:40 GMT',
    '<pubDate>Sun, 20 Sep 2026 10:00:20 GMT',
  ]);
  t.equal(new Set(rss.match(/<guid>[^<]*/g)).size, 3);
  t.equal(new Set(rss.match(/<link>[^<]*\/incident[^<]*/g)).size, 1);
  const atom = textAt(vendorOf('atom'), 60, '/history.atom');
  t.equal(atom.split('<entry>').length, 2);
  t.match(atom, '<title>Errors &amp; more</title>');
  t.match(atom, '<updated>2026-09-20T10:01:00.000Z</updated>');
  t.match(atom, '&lt;b&gt;Status: Resolved&lt;/b&gt;');
});

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

function ask(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function serve(t: Test, vendors: readonly Vendor[], isCutOffNow = () => false) {
  const servers = await startVendors(vendors, isCutOffNow);
  t.teardown(() => servers.close());
  return { servers, url: (slug: string) => servers.pages.get(slug)?.url ?? '' };
}

t.test('its servers tag, date and zip their documents', async (t) => {
  const { servers, url } = await serve(t, [
    vendorOf('statuspage', { slug: 'tagged' }),
    vendorOf('rss', { slug: 'dated' }),
  ]);
  const page = `${url('tagged')}/api/v2/incidents.json`;
  const first = await ask(page);
  t.match(first, {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', etag: /^W\// },
  });
  const etag = String(first.headers.etag);
  const zipped = await ask(page, { 'accept-encoding': 'gzip, br' });
  t.same(
    [zipped.headers['content-encoding'], gunzipSync(zipped.body).subarray(0, 8)],
    ['gzip', first.body.subarray(0, 8)],
  );
  // The documents are built anew now and then: the tag of one answer holds for the next, but for that moment.
  let again = await ask(page, { 'if-none-match': etag });
  if (again.status === 200) again = await ask(page, { 'if-none-match': String(again.headers.etag) });
  t.same([again.status, again.body.length], [304, 0]);
  t.equal((await ask(page, { 'if-none-match': '"another"' })).status, 200);
  t.match(await ask(url('tagged')), { status: 200, headers: { 'content-type': /html/ } });
  t.equal((await ask(`${url('tagged')}/nothing`)).status, 404);

  const feed = servers.pages.get('dated')?.feedUrl ?? '';
  t.match(feed, /\/feed\.rss$/);
  let modified: string | undefined;
  for (let tries = 0; modified === undefined && tries < 50; tries++) {
    modified = (await ask(feed)).headers['last-modified'] as string | undefined;
    if (modified === undefined) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.match(modified, / GMT$/, 'once the second of the change is over');
  t.equal((await ask(feed, { 'if-modified-since': 'Sun, 20 Sep 2026 10:00:00 GMT' })).status, 200);
  const unchanged = await ask(feed, { 'if-modified-since': new Date(Date.now() + 60_000).toUTCString() });
  t.ok(unchanged.status === 304 || unchanged.headers['last-modified'] === undefined);
});

t.test('its servers break as the script wants', async (t) => {
  const vendor = vendorOf('statuspage', {
    faults: [
      { from: 10 * SECOND, to: 20 * SECOND, fault: { kind: 'unavailable', retryAfterSeconds: 7 } },
      { from: 20 * SECOND, to: 30 * SECOND, fault: { kind: 'html' } },
      { from: 30 * SECOND, to: 40 * SECOND, fault: { kind: 'cut' } },
    ],
  });
  let cutOff = false;
  const { servers, url } = await serve(t, [vendor], () => cutOff);
  const page = `${url('shop')}/api/v2/incidents.json`;
  const at = async (seconds: number) => {
    servers.begin(Date.now() - seconds * SECOND);
    return await ask(page).then(
      ({ status, headers }) => [status, headers['content-type'], headers['retry-after']],
      ({ code }) => code,
    );
  };
  t.same(await at(-5), [200, 'application/json; charset=utf-8', undefined]);
  t.same(await at(12), [503, undefined, '7']);
  t.same(await at(22), [200, 'text/html; charset=utf-8', undefined]);
  t.equal(await at(32), 'ECONNRESET');
  t.same(await at(45), [200, 'application/json; charset=utf-8', undefined]);
  t.equal((await at(112))[0], 503, 'in each period');
  cutOff = true;
  t.equal(await at(45), 'ECONNRESET');
  t.equal(servers.answers.get(503), 2);
  t.equal(faultAt(vendor, -1), null);
});
