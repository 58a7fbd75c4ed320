/** Pages that show states more than incidents: Microsoft 365, Azure DevOps, Apple, Meta. */
import t from 'tap';
import type { FeedKind } from '../../../src/feeds/feed-kind.ts';
import { apple } from '../../../src/feeds/kinds/apple.ts';
import { azuredevops } from '../../../src/feeds/kinds/azuredevops.ts';
import { meta } from '../../../src/feeds/kinds/meta.ts';
import { microsoft365 } from '../../../src/feeds/kinds/microsoft365.ts';
import { at, fixture, readDocument, WRONG_DOCUMENTS } from './read-document.ts';

const source = (pageUrl: string, feedUrl: string | null = null) => ({ pageUrl, feedUrl });

t.test('it asks for the document that follows from the page', async (t) => {
  const cases: readonly (readonly [FeedKind, string, string])[] = [
    [microsoft365, 'https://status.cloud.microsoft/m365', '/api/posts/m365Consumer'],
    [azuredevops, 'https://status.dev.azure.com/', '/_apis/status/health?api-version=7.1-preview.1'],
    [meta, 'https://metastatus.com/whatsapp-business-api', '/data/orgs.json'],
  ];
  for (const [kind, pageUrl, path] of cases)
    t.match(kind.addresses(source(pageUrl)), [{ url: `${new URL(pageUrl).origin}${path}` }]);
  for (const [pageUrl, url] of [
    [
      'https://www.apple.com/support/systemstatus/',
      'https://www.apple.com/support/systemstatus/data/system_status_en_US.js',
    ],
    [
      'https://developer.apple.com/system-status/',
      'https://www.apple.com/support/systemstatus/data/developer/system_status_en_US.js',
    ],
  ] as const)
    t.match(apple.addresses(source(pageUrl)), [{ url }]);
  for (const kind of [microsoft365, azuredevops, meta, apple])
    t.match(kind.addresses(source('https://a.example', 'https://b.example/x')), [
      { url: 'https://b.example/x', listsOnlyOpen: true },
    ]);
});

t.test('Microsoft 365: a post is an incident of its service until it is restored', async (t) => {
  const { entries } = readDocument(microsoft365, 'posts', fixture('microsoft365-posts'));
  t.match(entries, [
    { key: 'OneDriveConsumer', status: 'investigating', severity: 'minor', startedAt: null },
    { key: 'state minor', components: ['Phone Link', 'YourPhone'], title: 'Degraded performance' },
    {
      key: 'CopilotConsumer 2026-09-20T08:57:00.000Z',
      title: 'Some users may be unable to access Microsoft Copilot chat',
      components: ['Microsoft Copilot', 'CopilotConsumer'],
      severity: 'major',
      status: 'investigating',
      startedAt: at('08:57'),
      continues: ['CopilotConsumer'],
      updates: [{ at: at('09:30'), status: 'investigating' }],
    },
  ]);
  t.equal(entries.length, 3);
  const post = (more: object) => ({
    ServiceDisplayName: 'Mail',
    ServiceWorkloadName: 'mail',
    LastUpdatedTime: '2026-09-20T10:00:00Z',
    Title: 'T',
    Message: '',
    Status: 'Investigating',
    ...more,
  });
  for (const [Status, status] of [
    ['Operational', null],
    ['Available', null],
    // Without a time, nothing is known of what is over.
    ['Service restored', null],
    ['False positive', null],
    ['Service degradation', 'investigating'],
    ['Restoring service', 'monitoring'],
    ['Extended recovery', 'monitoring'],
    ['Something new', 'investigating'],
  ] as const) {
    const found = readDocument(microsoft365, 'posts', [post({ Status })]).entries;
    t.match(found, status === null ? [] : [{ status }], Status);
    t.equal(found.length, status === null ? 0 : 1, Status);
  }
  t.same(readDocument(microsoft365, 'posts', [post({ Status: 'Something new', Title: '' })]).entries, []);
  const Message = 'Start time: Sunday, September 20, 2026, at 12:05 AM UTC\nEnd time: soon';
  t.match(readDocument(microsoft365, 'posts', [post({ Message })]).entries, [{ startedAt: at('00:05') }]);
  t.match(readDocument(microsoft365, 'posts', post({})).entries, [{ key: 'mail' }], 'a single post');
});

t.test('Azure DevOps: a service in trouble anywhere is an outage with its geographies', async (t) => {
  const { entries } = readDocument(azuredevops, 'health', fixture('azuredevops-health'));
  t.match(entries, [
    {
      key: 'state major',
      title: 'Pipelines are impacted in Europe',
      components: ['Pipelines', 'Europe', 'EU'],
      severity: 'major',
    },
    { key: 'state minor', components: ['Pipelines', 'United States', 'US'], severity: 'minor' },
  ]);
  t.equal(entries.length, 2, 'advisories are none');
});

t.test('Meta: services in trouble by product, or those of the product that the page is of', async (t) => {
  const whole = readDocument(meta, 'orgs', fixture('meta-orgs')).entries;
  t.match(whole, [
    { severity: 'major', components: ['Platform Status', 'Graph API', 'graph-api'] },
    {
      severity: 'minor',
      components: ['Embedded Signup', 'WhatsApp Business Platform', 'whatsapp-business-api'],
    },
  ]);
  const page = source('https://metastatus.com/whatsapp-business-api');
  t.match(
    readDocument(meta, 'orgs', fixture('meta-orgs'), page).entries.map(({ title }) => title),
    ['Degraded performance'],
  );
  for (const [status, severity] of [
    ['No known issues', null],
    ['Resolved', null],
    ['', null],
    ['Everything is fine', null],
    ['Low disruptions', 'minor'],
    ['Medium disruptions', 'minor'],
    ['High disruptions', 'major'],
    ['Major disruptions', 'major'],
  ] as const) {
    const orgs = [{ id: 'a', name: 'A', services: [{ id: 1, name: 'B', status }] }];
    t.same(
      readDocument(meta, 'orgs', orgs).entries.map((entry) => entry.kind === 'incident' && entry.severity),
      severity === null ? [] : [severity],
      status,
    );
  }
});

t.test('Apple: an event that several services list is one entry with all of them', async (t) => {
  const body = fixture('apple-system-status');
  const { entries } = readDocument(apple, 'system-status', body);
  t.match(entries, [
    {
      kind: 'maintenance',
      key: '2000005540',
      components: ['Apple Card'],
      startsAt: at('23:00'),
      endsAt: at('2026-09-21T02:45:00Z'),
      state: 'planned',
    },
    {
      kind: 'incident',
      key: '1000005806',
      title: 'Some users may be affected. Purchases may fail.',
      components: ['App Store', 'Mac App Store'],
      severity: 'major',
      status: 'investigating',
      startedAt: at('09:24'),
      updates: [{ at: at('10:20'), status: 'investigating' }],
    },
  ]);
  t.equal(entries.length, 2);
  const called = readDocument(apple, 'system-status', `jsonCallback(${body.toString()});`);
  t.same(called.entries, entries, 'in a call');
  const event = { messageId: 'm', message: 'M', statusType: 'Issue', usersAffected: 'All users' };
  const of = (more: object) =>
    readDocument(apple, 'system-status', {
      services: [{ serviceName: 'S', events: [{ ...event, ...more }] }],
    }).entries;
  t.match(
    of({ eventStatus: 'resolved', epochStartDate: 1_789_896_240_000, epochEndDate: 1_789_896_300_000 }),
    [{ severity: 'minor', status: 'resolved', startedAt: at('09:24'), resolvedAt: at('09:25') }],
  );
  t.match(of({ eventStatus: 'unheard of' }), [{ status: 'investigating', startedAt: null }]);
  t.same(of({ statusType: 'Maintenance' }), [], 'a maintenance without a start');
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [kind, name, others] of [
    [microsoft365, 'posts', [{}, [], [{ Status: 'Operational' }], { Services: [{}] }]],
    [azuredevops, 'health', [{}, { services: [] }, { status: { health: 'healthy' } }]],
    [meta, 'orgs', [{}, [{ id: 'a' }], [{ services: [] }]]],
    [apple, 'system-status', [{}, { services: {} }, 'jsonCallback(']],
  ] as const)
    for (const document of [...others, ...WRONG_DOCUMENTS.map(([wrong]) => wrong)])
      t.throws(
        () => readDocument(kind, name, document),
        { name: 'FeedFormatError' },
        JSON.stringify(document),
      );
});
