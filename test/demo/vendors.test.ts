/** Each format of the simulated vendors, held against its description. */
import t from 'tap';
import { type Vendor, vendorIncidentsAt, vendorStateAt } from '../../demo/vendors/script.ts';
import { VENDOR_KINDS } from '../../demo/vendors/vendor-kinds.ts';
import { sampleVendor } from './sample-vendor.ts';

const SECOND = 1_000;
const START = Date.UTC(2026, 8, 20, 10, 0, 0);
const BASE = 'http://127.0.0.1:20000';

/** The document at a path, as text, `seconds` after the beginning. */
function textAt(vendor: Vendor, seconds: number, path: string): string {
  const now = START + seconds * SECOND;
  const documents = VENDOR_KINDS[vendor.kind].render(vendor, vendorStateAt(vendor, START, now), now, BASE);
  return documents.get(path)?.body.toString() ?? `no ${path}`;
}

const jsonAt = (vendor: Vendor, seconds: number, path: string): unknown =>
  JSON.parse(textAt(vendor, seconds, path));

const idAt = (vendor: Vendor, seconds: number) => vendorIncidentsAt(vendor, seconds * SECOND)[0]?.id ?? '';

t.test('Statuspage: incidents, updates newest first, maintenances beside them', async (t) => {
  const vendor = sampleVendor('statuspage');
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
  const busy = sampleVendor('statuspage', {
    incidents: Array.from({ length: 20 }, (_, index) => ({
      ...vendor.incidents[0],
      key: String(index),
    })) as Vendor['incidents'],
  });
  const { incidents } = jsonAt(busy, 399, '/api/v2/incidents.json') as { incidents: unknown[] };
  t.equal(incidents.length, 50, 'the fifty newest alone');
});

t.test('incident.io: null for empty lists and for links', async (t) => {
  const vendor = sampleVendor('incidentio');
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
  const vendor = sampleVendor('instatus');
  t.same(jsonAt(vendor, 5, '/summary.json'), { page: { name: 'Shop & Co', url: BASE, status: 'UP' } });
  t.match(jsonAt(vendor, 45, '/v3/summary.json'), {
    page: { status: 'ONEMAJOROUTAGE' },
    activeIncidents: [{ status: 'IDENTIFIED', impact: 'MAJOROUTAGE', started: '2026-09-20T10:00:15.000Z' }],
    activeMaintenances: [{ status: 'INPROGRESS', duration: '1', start: '2026-09-20T10:00:30.000Z' }],
  });
  t.match(jsonAt(vendor, 70, '/summary.json'), {
    page: { status: 'UNDERMAINTENANCE' },
    activeIncidents: undefined,
  });
});

t.test('Better Stack: reports and their updates in JSON:API', async (t) => {
  const vendor = sampleVendor('betterstack');
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
    {
      attributes: {
        report_type: 'maintenance',
        aggregate_state: 'maintenance',
        ends_at: '2026-09-20T10:01:30.000Z',
      },
    },
  ]);
  const later = jsonAt(vendor, 95, '/index.json') as { included: { type: string }[] };
  t.match(
    later.included.findLast(({ type }) => type === 'status_report'),
    { attributes: { report_type: 'maintenance', aggregate_state: 'resolved' } },
  );
  t.match(JSON.stringify(later), 'Maintenance ended');
  t.match(ofType('status_resource'), []);
  t.match(ofType('status_page_resource')[0], { attributes: { public_name: 'Web', status: 'operational' } });
  t.equal(new Set(included.map(({ type, id }) => `${type} ${id}`)).size, included.length);
});

t.test('Status.io: what is active alone, in codes', async (t) => {
  const vendor = sampleVendor('statusio');
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
  const vendor = sampleVendor('gcp');
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
  const vendor = sampleVendor('aws');
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
  const vendor = sampleVendor('azure');
  const text = textAt(vendor, 45, '/en-us/status/feed/');
  t.match(text, '<guid isPermaLink="false">errors-more</guid>');
  t.match(text, '<title>Errors &amp; more </title>');
  t.match(text, '<category>Web</category>');
  t.notMatch(text, BASE);
  t.match(text, '<pubDate>Sun, 20 Sep 2026 10:00:15 Z</pubDate>');
  t.match(text, '&lt;p&gt;&lt;strong&gt;Found&lt;/strong&gt; it.');
  t.notMatch(textAt(vendor, 60, '/en-us/status/feed/'), '<item>');
});

t.test('Slack: times of the west coast', async (t) => {
  const vendor = sampleVendor('slack');
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
        notes: [{}, { date_created: '2026-09-20T03:00:40-07:00', body: /<strong>Found/ }],
      },
    ],
  });
  t.match(jsonAt(vendor, 60, '/api/v2.0.0/history'), [{ status: 'resolved' }]);
});

t.test('Heroku: never resolved by the word, only by the state', async (t) => {
  const vendor = sampleVendor('heroku', { components: ['Apps', 'Web'] });
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
  const vendor = sampleVendor('salesforce');
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
  const rss = textAt(sampleVendor('rss'), 60, '/feed.rss');
  t.same(rss.match(/<pubDate>[^<]*/g), [
    '<pubDate>Sun, 20 Sep 2026 10:01:00 GMT',
    '<pubDate>Sun, 20 Sep 2026 10:00:40 GMT',
    '<pubDate>Sun, 20 Sep 2026 10:00:20 GMT',
  ]);
  t.equal(new Set(rss.match(/<guid>[^<]*/g)).size, 3);
  t.equal(new Set(rss.match(/<link>[^<]*\/incident[^<]*/g)).size, 1);
  const atom = textAt(sampleVendor('atom'), 60, '/history.atom');
  t.equal(atom.split('<entry>').length, 2);
  t.match(atom, '<title>Errors &amp; more</title>');
  t.match(atom, '<updated>2026-09-20T10:01:00.000Z</updated>');
  t.match(atom, '&lt;b&gt;Status: Resolved&lt;/b&gt;');
});
