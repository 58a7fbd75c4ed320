/** Pages of hosts and of programs that many vendors use, whose documents are read with each other or by their documentation. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { FeedKind } from '../../../src/feeds/feed-kind.ts';
import { cachet } from '../../../src/feeds/kinds/cachet.ts';
import { cstate } from '../../../src/feeds/kinds/cstate.ts';
import { pagerduty } from '../../../src/feeds/kinds/pagerduty.ts';
import { statuscast } from '../../../src/feeds/kinds/rss.ts';
import { sorry } from '../../../src/feeds/kinds/sorry.ts';
import { statuspal } from '../../../src/feeds/kinds/statuspal.ts';
import { upbeat } from '../../../src/feeds/kinds/upbeat.ts';
import { uptimekuma } from '../../../src/feeds/kinds/uptimekuma.ts';
import { uptimerobot } from '../../../src/feeds/kinds/uptimerobot.ts';
import { SAMPLE_FEED_URLS } from '../../support/feed-urls.ts';
import { at, fixture, PAGE, readDocument, readDocuments, WRONG_DOCUMENTS } from './read-document.ts';

const sourceOf = (kind: string) => ({ ...PAGE, feedUrl: SAMPLE_FEED_URLS[kind] ?? null });

/** The entries of all fixtures of a kind. */
const readAll = (kind: FeedKind, name: string, documents: readonly string[]) =>
  readDocuments(
    kind,
    Object.fromEntries(documents.map((document) => [document, fixture(`${name}-${document}`)])),
    sourceOf(name),
  );

t.test('it asks for the documents that follow from the page or the feed URL', async (t) => {
  const cases: readonly (readonly [FeedKind, string, string | null, readonly string[]])[] = [
    [
      uptimerobot,
      'https://stats.uptimerobot.com/89VnzSKAn',
      null,
      [
        'https://stats.uptimerobot.com/api/getEventFeed/89VnzSKAn',
        'https://stats.uptimerobot.com/api/getMonitorList/89VnzSKAn',
      ],
    ],
    [
      sorry,
      'https://status.example.com/',
      null,
      [
        'https://status.example.com/api/v1/status',
        'https://status.example.com/api/v1/notices?include=components,updates',
      ],
    ],
    [
      pagerduty,
      'https://status.example.com/posts/dashboard',
      null,
      [
        'https://status.example.com/api/post_enums',
        'https://status.example.com/api/services',
        'https://status.example.com/api/posts?is_featured=true&limit=500',
      ],
    ],
    [statuscast, 'https://status.example.com', null, ['https://status.example.com/rss/']],
    [
      statuspal,
      'https://example.statuspal.eu',
      null,
      ['https://statuspal.eu/api/v2/status_pages/example/summary'],
    ],
    [
      cachet,
      'https://status.example.com',
      'https://status.example.com/api',
      [
        'https://status.example.com/api/components?per_page=100',
        'https://status.example.com/api/incidents?sort=-id&per_page=50',
        'https://status.example.com/api/schedules?per_page=50',
      ],
    ],
    [cstate, 'https://status.example.com/', null, ['https://status.example.com/index.json']],
    [
      uptimekuma,
      'https://kuma.example.com/status/main',
      null,
      [
        'https://kuma.example.com/api/status-page/main',
        'https://kuma.example.com/api/status-page/heartbeat/main',
      ],
    ],
    [upbeat, 'https://up.example.com/p/acme', null, ['https://up.example.com/p/acme.json']],
    [upbeat, 'https://status.example.com/', null, ['https://status.example.com/page.json']],
  ];
  for (const [kind, pageUrl, feedUrl, urls] of cases)
    t.same(
      kind.addresses({ pageUrl, feedUrl }).map(({ url }) => url),
      urls,
    );
  for (const kind of [uptimerobot, statuspal, uptimekuma])
    t.throws(() => kind.addresses(PAGE), { name: 'FeedFormatError', message: /needs a feedUrl/ });
});

t.test('UptimeRobot: monitors in trouble, unless people write of it', async (t) => {
  t.match(readAll(uptimerobot, 'uptimerobot', ['monitors']), [
    { key: 'state major', components: ['api', '2'] },
    { key: 'state minor', components: ['mail', '3'] },
  ]);
  const written = readAll(uptimerobot, 'uptimerobot', ['events', 'monitors']);
  t.match(written, [
    {
      key: '44350',
      title: 'We are experiencing an issue and are investigating',
      status: 'investigating',
      startedAt: 1_789_898_289_000,
    },
  ]);
  t.equal(written.length, 1, 'announcements that warn of nothing are left out');
  const event = { id: 1, title: 'T', timestamp: 1_789_898_289, icon: 'alert-triangle' };
  const results = [{ ...event, endDate: 'Sep 20, 2026', endDateGMT: 'Sep 20, 2026 11:00' }];
  const monitors = { psp: { monitors: [] } };
  t.match(readDocuments(uptimerobot, { events: { results }, monitors }, sourceOf('uptimerobot')), [
    { status: 'resolved', resolvedAt: at('11:00') },
  ]);
});

t.test('Sorry: notices with their updates; the state of the page where none is open', async (t) => {
  const entries = readAll(sorry, 'sorry', ['status', 'notices']);
  t.match(entries, [
    { kind: 'maintenance', key: 'n2', startsAt: at('2026-09-21T09:00:00Z'), state: 'planned' },
    {
      key: 'n1',
      title: 'Errors & more',
      sourceUrl: 'https://status.example.com/notices/n1',
      components: ['Web', '1'],
      status: 'monitoring',
      startedAt: at('09:00'),
      updates: [
        { at: at('09:05'), status: 'investigating', text: 'We are looking.' },
        { at: at('10:00'), status: 'monitoring', text: 'A fix is out.' },
      ],
    },
    { key: 'n3', status: 'resolved', resolvedAt: at('2026-09-18T09:30:00Z') },
  ]);
  t.equal(entries.length, 3, 'news is left out');
  const status = fixture('sorry-status');
  t.match(readDocuments(sorry, { status, notices: { data: [] } }), [
    { key: 'state minor', severity: 'minor', isOfWholePage: true },
  ]);
});

t.test('PagerDuty: posts with the names of states and services', async (t) => {
  t.match(readAll(pagerduty, 'pagerduty', ['post-enums', 'services', 'posts']), [
    {
      kind: 'maintenance',
      key: 'POST3',
      components: ['Web', 'SVC2'],
      startsAt: at('2026-09-21T09:00:00Z'),
      state: 'planned',
    },
    {
      key: 'POST1',
      sourceUrl: 'https://status.example.com/posts/details/POST1',
      components: ['REST API (US)', 'SVC1'],
      severity: 'major',
      status: 'investigating',
      startedAt: at('09:00'),
      updates: [
        { at: at('09:01'), text: 'Detected' },
        { at: at('09:30'), text: 'Investigating REST API errors' },
      ],
    },
    { key: 'POST2', status: 'resolved', severity: 'minor', resolvedAt: at('08:00') },
  ]);
});

t.test('StatusCast: posts of one incident are its updates', async (t) => {
  const body = readFileSync(new URL('../fixtures/statuscast-feed.xml', import.meta.url));
  t.match(readDocument(statuscast, 'feed', body).entries, [
    { key: '378901', title: 'Purging is slow', status: 'investigating', startedAt: at('11:00') },
    {
      title: 'Ashburn (IAD) elevated errors',
      status: 'resolved',
      startedAt: at('10:00'),
      resolvedAt: at('10:30'),
      updates: [{ status: 'investigating' }, { status: 'resolved' }],
    },
  ]);
  t.throws(() => readDocument(statuscast, 'feed', '<feed xmlns="http://www.w3.org/2005/Atom"/>'), /no RSS/);
});

t.test('Statuspal: incidents, maintenance, and services in trouble that none names', async (t) => {
  const { entries } = readDocument(statuspal, 'summary', fixture('statuspal-summary'), sourceOf('statuspal'));
  t.match(entries, [
    { key: '8', kind: 'maintenance', state: 'planned', startsAt: at('2026-09-22T07:00:00Z') },
    { key: 'state minor', components: ['Portal', '3'] },
    { key: '7', kind: 'maintenance', state: 'running', components: ['Zone B', '6'] },
    {
      key: '81315',
      components: ['Zone A', '4', 'API', '5'],
      severity: 'major',
      status: 'monitoring',
      startedAt: at('08:59'),
      updates: [{ status: 'investigating' }, { status: 'monitoring' }],
    },
  ]);
  t.equal(entries.length, 4);
});

t.test('Cachet: numbers of states in both versions', async (t) => {
  const entries = readAll(cachet, 'cachet', ['components', 'incidents', 'schedules']);
  t.match(
    entries.map(({ key }) => key),
    ['state minor', '2', '1', 'schedule 4'],
  );
  t.match(entries[1], {
    title: 'Errors',
    sourceUrl: 'https://status.example.com/incidents/2',
    components: ['API', '1'],
    status: 'identified',
    startedAt: at('09:00'),
    updates: [
      { at: at('09:00'), text: 'We look into it.' },
      { at: at('09:30'), status: 'identified' },
    ],
  });
  t.match(entries[2], { status: 'resolved', resolvedAt: at('2026-08-01T13:00:00Z') });
  t.match(entries[3], { startsAt: at('2026-09-22T12:00:00Z'), state: 'planned' });
  const attributes = {
    id: 7,
    name: 'Errors',
    message: 'M',
    status: { human: 'Watching', value: '3' },
    occurred: { human: 'an hour ago', string: '2026-09-20 09:00:00' },
  };
  t.match(readDocument(cachet, 'incidents', { data: [{ id: '7', type: 'incidents', attributes }] }).entries, [
    { key: '7', status: 'monitoring', startedAt: at('09:00') },
  ]);
});

t.test('cState: unresolved issues with the systems that list them', async (t) => {
  const body = fixture('cstate-index');
  const { entries } = readDocument(cstate, 'index', body);
  t.match(entries, [
    { key: 'state minor', components: ['Media', 'Edge'] },
    { key: 'one.md', components: ['API', 'Gateway'], severity: 'major', startedAt: at('09:00') },
  ]);
  t.equal(entries.length, 2, 'information is none');
  const raw = body.toString().replace('"Example"', '"Exam\nple"');
  t.equal(readDocument(cstate, 'index', raw).entries.length, 2, 'with a raw line break');
});

t.test('Uptime Kuma: the newest heartbeat, pinned incidents and maintenance', async (t) => {
  const entries = readAll(uptimekuma, 'uptimekuma', ['page', 'heartbeats']);
  t.match(entries, [
    { key: 'maintenance 1 2026-09-21T02:00:00.000Z', endsAt: at('2026-09-21T04:00:00Z'), state: 'planned' },
    {
      key: 'incident 1',
      severity: 'minor',
      startedAt: at('10:00'),
      updates: [{ text: 'We look into latency.' }],
    },
  ]);
  t.equal(entries.length, 2, 'the pinned incident explains what is down');
  const page = { publicGroupList: [{ name: 'Core', monitorList: [{ id: 2, name: 'DB' }] }], incident: null };
  t.match(
    readDocuments(uptimekuma, { page, heartbeats: fixture('uptimekuma-heartbeats') }, sourceOf('uptimekuma')),
    [{ key: 'state major', components: ['DB', 'Core', '2'] }],
  );
});

t.test('Upbeat: incidents of services and of the page', async (t) => {
  t.match(readDocument(upbeat, 'page', fixture('upbeat-page')).entries, [
    { key: 'maintenance m1', components: ['Shop', 'shop-example-com'], state: 'planned' },
    {
      key: 'check-1',
      components: ['Shop', 'shop.example.com'],
      severity: 'major',
      updates: [{ text: 'HTTP 500' }],
    },
    { key: 'owner-1', status: 'resolved', resolvedAt: at('09:00'), updates: [{}, { status: 'resolved' }] },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [kind, name] of [
    [uptimerobot, 'uptimerobot'],
    [sorry, 'sorry'],
    [pagerduty, 'pagerduty'],
    [statuspal, 'statuspal'],
    [cachet, 'cachet'],
    [cstate, 'cstate'],
    [uptimekuma, 'uptimekuma'],
    [upbeat, 'upbeat'],
  ] as const)
    for (const address of kind.addresses(sourceOf(name)))
      for (const document of [{}, { data: {} }, { status: 'ok' }, ...WRONG_DOCUMENTS.map(([wrong]) => wrong)])
        t.throws(
          () => readDocument(kind, address.name, document, sourceOf(name)),
          { name: 'FeedFormatError' },
          `${name} ${address.name} ${JSON.stringify(document).slice(0, 40)}`,
        );
});
