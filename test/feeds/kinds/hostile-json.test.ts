/** Every reader of JSON against documents that mean harm: it says what is wrong, or reads what is right, and ends. */

import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { type FeedReading, readFeedDocument } from '../../../src/feeds/build-entry.ts';
import { type FeedAddress, FeedFormatError, type FeedKindName } from '../../../src/feeds/feed-kind.ts';
import { FEED_KINDS } from '../../../src/feeds/kinds-table.ts';
import { SAMPLE_FEED_URLS } from '../../support/feed-urls.ts';
import { everyNth, propertyRuns, sizeOf } from '../../support/property-runs.ts';
import { checkReading } from './check-reading.ts';
import { fixture, NOW } from './read-document.ts';

const KINDS = [
  'statuspage',
  'incidentio',
  'instatus',
  'betterstack',
  'statusio',
  'gcp',
  'aws',
  'slack',
  'heroku',
  'salesforce',
  'microsoft365',
  'azuredevops',
  'apple',
  'meta',
  'uptimerobot',
  'sorry',
  'pagerduty',
  'statuspal',
  'cachet',
  'cstate',
  'uptimekuma',
  'upbeat',
  'firehydrant',
  'nintendo',
  'zscaler',
] as const satisfies readonly FeedKindName[];

const FIXTURES = readdirSync(new URL('../fixtures/', import.meta.url))
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length));

/** The documents of a kind with the fixture of each, which is named by it. */
function documentsOf(kind: FeedKindName): readonly (readonly [FeedAddress, Buffer])[] {
  const pageUrl = 'https://status.example.com';
  const feedUrl = SAMPLE_FEED_URLS[kind] ?? null;
  return FEED_KINDS[kind]
    .addresses({ pageUrl, feedUrl })
    .map((address) => [address, fixture(`${kind}-${address.name}`)]);
}

/** The reading; null: the document is refused. Any other error is the test's. */
function tryRead(address: FeedAddress, body: Uint8Array): FeedReading | null {
  try {
    return readFeedDocument(address, body, NOW);
  } catch (error) {
    if (error instanceof FeedFormatError) return null;
    throw error;
  }
}

/** Where a value stands in a document: names of members and numbers of items. */
type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const names = Array.isArray(value) ? value.keys() : Object.keys(value);
  return [path, ...[...names].flatMap((name) => pathsOf(Reflect.get(value, name), [...path, name]))];
}

/** The document with another value at the path; undefined takes it away. */
function replaceAt(document: unknown, path: Path, value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const copy = structuredClone(document) as object;
  const owner = rest.slice(0, -1);
  const last = rest.at(-1) ?? name;
  let target: object = copy;
  if (rest.length > 0) for (const step of [name, ...owner]) target = Reflect.get(target, step) as object;
  if (value === undefined) Reflect.deleteProperty(target, last);
  else Reflect.set(target, last, value);
  return copy;
}

const ODD_VALUES: readonly unknown[] = [
  undefined,
  null,
  '',
  0,
  -1,
  1e300,
  true,
  [],
  {},
  [[]],
  [null],
  [{}],
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)',
  '&lt;b&gt;&amp;lt;i&amp;gt;',
  'javascript:alert(1)',
  'http://user:password@example.com/',
  '\u202Eevil\0\n\r\t',
  '\uD800',
  '__proto__',
  'resolved',
  'maintenance',
  'investigating',
  '2026-09-19T00:00:00Z',
  1_700_000_000,
  '2099-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '9999-12-31T23:59:59Z',
  '2026-02-30T00:00:00Z',
  '2026-09-20T10:00:00+99:99',
  'x'.repeat(20_000),
];

for (const kind of KINDS)
  t.test(`${kind}: it keeps to the bounds of entries whatever a document holds`, async (t) => {
    for (const [address, body] of documentsOf(kind)) {
      const name = `${kind}-${address.name}`;
      t.ok(FIXTURES.includes(name));
      const recorded: unknown = JSON.parse(body.toString());
      const read = (document: unknown) => {
        const reading = tryRead(address, Buffer.from(JSON.stringify(document) ?? ''));
        if (reading !== null) checkReading(t, reading, NOW);
      };
      const count = tryRead(address, body)?.entries.length;
      t.equal(count !== undefined && count > 0, address.isReference !== true, `${name} is read`);
      for (const [index, path] of pathsOf(recorded).entries())
        for (const value of everyNth(ODD_VALUES, 4, index)) read(replaceAt(recorded, path, value));
      const paths = fc.constantFrom(...pathsOf(recorded));
      fc.assert(
        fc.property(fc.array(fc.tuple(paths, fc.jsonValue()), { maxLength: 4 }), (changes) => {
          read(
            changes.reduce<unknown>((document, [path, value]) => {
              try {
                return replaceAt(document, path, value);
              } catch {
                // An earlier change took the place away.
                return document;
              }
            }, recorded),
          );
        }),
        { numRuns: propertyRuns(20) },
      );
    }
  });

/** A reader that takes the square of the size takes minutes for the smaller one too, where seconds are allowed. */
const MOST = sizeOf(256, 2_048) * 1024;

/** So many of an item as a document of this size can hold. */
function full<T>(item: (index: number) => T): T[] {
  const size = JSON.stringify(item(123_456)).length + 1;
  return Array.from({ length: Math.floor((MOST - 2_000) / size) }, (_, index) => item(index));
}

const SLASHES = `https://status.example.com${'/'.repeat(1_900)}x`;
const TIME = '2026-09-20T10:00:00Z';
const page = { id: 'p', name: 'P', status: 'UP', url: SLASHES };

/** Documents that would take a careless reader hours, or make it give back more than it was given. */
const HUGE: readonly (readonly [FeedKindName, string, unknown])[] = [
  ['statuspage', 'incidents', { page, incidents: full((id) => ({ id })) }],
  ['statuspage', 'incidents', { page, incidents: full((id) => ({ id, shortlink: '///' })) }],
  [
    'statuspage',
    'incidents',
    {
      page,
      incidents: [{ id: 1, incident_updates: full(() => ({ created_at: TIME, body: '<b>' })) }],
    },
  ],
  ['statuspage', 'incidents', { page, incidents: [{ id: 1, name: '<'.repeat(MOST) }] }],
  ['statuspage', 'incidents', { page, incidents: [{ id: 'k'.repeat(MOST), name: 'n'.repeat(9) }] }],
  ['statuspage', 'incidents', { page, incidents: [{ id: 1, components: full((id) => ({ id })) }] }],
  ['instatus', 'summary', { page, activeIncidents: [{ url: `https://x${'/'.repeat(MOST)}x`, name: 'n' }] }],
  ['instatus', 'summary', { page, activeIncidents: full((id) => ({ id, url: SLASHES })) }],
  [
    'betterstack',
    'index',
    {
      data: { type: 'status_page' },
      included: [
        {
          type: 'status_update',
          id: 'u',
          attributes: {
            message: '<p>'.repeat(100_000),
            published_at: TIME,
            affected_resources: full(() => ({ status_page_resource_id: 'p' })).slice(0, 15_000),
          },
        },
        { type: 'status_page_resource', id: 'p', attributes: { public_name: '<i>'.repeat(100_000) } },
        ...full((id) => ({
          type: 'status_report',
          id,
          attributes: { starts_at: TIME, affected_resources: [{ status_page_resource_id: 'p' }] },
          relationships: { status_updates: { data: [{ id: 'u' }, { id: 'u' }] } },
        })).slice(0, 4_000),
      ],
    },
  ],
  [
    'statusio',
    'status',
    { result: { status_overall: {}, incidents: [{ _id: 1, messages: full(() => ({ state: 100 })) }] } },
  ],
  ['gcp', 'incidents', [{ id: 1, begin: TIME, external_desc: '\n'.repeat(MOST / 2) }]],
  ['gcp', 'incidents', [{ id: 1, begin: TIME, external_desc: 'title '.repeat(MOST / 6) }]],
  ['gcp', 'incidents', [{ id: 1, begin: TIME, updates: full((n) => ({ when: 1_789_000_000 + n })) }]],
  ['aws', 'currentevents', [{ arn: 'a', event_log: full(() => ({})) }]],
  ['aws', 'currentevents', [{ arn: 'a', summary: '[resolved] '.repeat(MOST / 11) }]],
  [
    'aws',
    'currentevents',
    [{ arn: 'arn:aws:health:x:', impacted_services: Object.fromEntries(full((n) => `${n}`).entries()) }],
  ],
  ['slack', 'history', [{ id: 1, services: full(() => 's') }]],
  ['heroku', 'incidents', [{ id: 1, systems: full(() => ({})), updates: [] }]],
  [
    'salesforce',
    'instances',
    [
      {
        key: 'a',
        status: 'OK',
        Incidents: [{ id: 1, IncidentImpacts: full(() => ({})).slice(0, 300_000) }],
        Maintenances: full(() => ({ id: 1 })).slice(0, 100_000),
      },
    ],
  ],
  ['salesforce', 'instances', full((key) => ({ key, status: 'MAJOR_INCIDENT' }))],
  ['microsoft365', 'posts', full((n) => ({ Status: 'x', LastUpdatedTime: TIME, Title: n }))],
  [
    'microsoft365',
    'posts',
    [{ Status: 'x', LastUpdatedTime: TIME, Title: 't', Message: 'Start time: '.repeat(MOST / 12) }],
  ],
  [
    'azuredevops',
    'health',
    {
      status: { health: 'unhealthy' },
      services: [
        { id: 's'.repeat(MOST / 4), geographies: full((id) => ({ id, health: 'degraded' })).slice(0, 9_000) },
      ],
    },
  ],
  [
    'meta',
    'orgs',
    [{ id: 'a', name: 'n'.repeat(9), services: full((id) => ({ id, status: 'Major outage' })) }],
  ],
  ['apple', 'system-status', { services: [{ events: full((n) => ({ messageId: n, message: '<' })) }] }],
  [
    'apple',
    'system-status',
    { services: [{ events: [{ messageId: 1, affectedServices: full(() => 's') }] }] },
  ],
  ['uptimerobot', 'monitors', { data: full((monitorId) => ({ monitorId, statusClass: 'danger' })) }],
  ['pagerduty', 'posts', { posts: [{ id: 'p', updates: full((id) => ({ id, reported_at: TIME })) }] }],
  [
    'statuspal',
    'summary',
    {
      status_page: { subdomain: 's' },
      services: full((id) => ({ id, name: 'n'.repeat(200), current_incident_type: 'major' })).slice(0, 400),
      incidents: full((id) => ({ id, service_ids: [1, 2, 3, 4, 5, 6, 7, 8, 9] })).slice(0, 400),
    },
  ],
  [
    'cstate',
    'index',
    {
      cStateVersion: '6',
      systems: full((name) => ({ name, unresolvedIssues: [{ filename: 'f' }] })),
    },
  ],
  ['cachet', 'incidents', { data: [{ id: 1, updates: full(() => ({ created_at: TIME, message: '**' })) }] }],
  ['uptimekuma', 'heartbeats', { heartbeatList: { 1: full(() => ({ status: 0, time: TIME })) } }],
  [
    'uptimekuma',
    'heartbeats',
    { heartbeatList: Object.fromEntries(full((n) => [[n, [{ status: 0 }]]]).flat()) },
  ],
  ['sorry', 'notices', { notices: full((id) => ({ id, type: 'unplanned' })) }],
  ['upbeat', 'page', { page: { slug: 's' }, incidents: full((id) => ({ id })) }],
];

t.test('it ends, and gives back no more than it was given', async (t) => {
  for (const [kind, name, document] of HUGE) {
    const address = documentsOf(kind).find(([one]) => one.name === name)?.[0];
    if (address === undefined) throw new Error(`no document ${name}`);
    const body = Buffer.from(JSON.stringify(document));
    const before = performance.now();
    const reading = tryRead(address, body);
    const ms = performance.now() - before;
    const start = body.subarray(0, 60).toString();
    if (reading !== null) checkReading(t, reading, NOW);
    t.ok(reading !== null && JSON.stringify(reading).length < 2 * MOST, `${kind}: ${start}`);
    t.ok(ms < 20_000, `${kind}: ${Math.round(ms)} ms for ${start}`);
  }
});

t.test('it cuts a name that many entries share before each of them reads it', async (t) => {
  const name = '&lt;'.repeat(250);
  const rows = [
    ['apple', 'system-status', { services: [{ serviceName: name, events: [{ messageId: 'm' }] }] }],
    [
      'cstate',
      'index',
      { cStateVersion: '6', systems: [{ name, status: 'down', unresolvedIssues: [{ filename: 'f' }] }] },
    ],
  ] as const;
  for (const [kind, document, content] of rows) {
    const address = documentsOf(kind).find(([one]) => one.name === document)?.[0];
    const reading = address === undefined ? null : tryRead(address, Buffer.from(JSON.stringify(content)));
    const entries = reading?.entries.filter(({ key }) => key === 'm' || key === 'f') ?? [];
    t.same(
      entries.map(({ components }) => components),
      [['<'.repeat(25)]],
      kind,
    );
  }
});
