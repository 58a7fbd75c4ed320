import t from 'tap';
import { STATE_KEYS } from '../../../src/feeds/build-entry.ts';
import { incidentio } from '../../../src/feeds/kinds/statuspage.ts';
import { at, fixture, PAGE, readDocument, WRONG_DOCUMENTS } from './read-document.ts';

const page = { id: '01JEXAMPLEPAGE000000000000', name: 'Example', url: 'https://status.example.com' };

t.test('it asks for incidents and for the summary, in this order', async (t) => {
  const urls = ['incidents', 'summary'].map((name) => [
    name,
    `https://status.example.com/api/v2/${name}.json`,
  ]);
  const listed = (feedUrl: string | null, pageUrl = 'https://status.example.com/') =>
    incidentio.addresses({ pageUrl, feedUrl }).map(({ name, url }) => [name, url]);
  t.same(listed(null), urls);
  t.same(listed('https://status.example.com', 'https://example.com/status'), urls);
});

t.test('it reads recorded incidents', async (t) => {
  t.same(readDocument(incidentio, 'incidents', fixture('incidentio-incidents')), {
    listsOnlyOpen: false,
    entries: [
      {
        kind: 'incident',
        key: '01K7ABCDEF0000000000000001',
        title: 'Elevated errors',
        sourceUrl: 'https://status.example.com/incidents/01K7ABCDEF0000000000000001',
        components: null,
        updates: [
          { at: at('09:13'), status: 'investigating', text: 'Requests fail.' },
          { at: at('09:54'), status: 'identified', text: 'A bad release is being rolled back.' },
        ],
        severity: 'major',
        status: 'identified',
        startedAt: at('09:13'),
        resolvedAt: null,
        continues: STATE_KEYS,
      },
      {
        kind: 'incident',
        key: '01K7ABCDEF0000000000000000',
        title: 'Slow answers',
        sourceUrl: 'https://status.example.com/incidents/01K7ABCDEF0000000000000000',
        components: null,
        updates: [{ at: at('2026-09-19T09:54:00Z'), status: 'resolved', text: 'Recovered.' }],
        severity: 'minor',
        status: 'resolved',
        startedAt: at('2026-09-19T09:13:00Z'),
        resolvedAt: at('2026-09-19T09:54:00Z'),
        continues: STATE_KEYS,
      },
    ],
  });
});

t.test('it reads only maintenances from the summary, which lists what is not over', async (t) => {
  t.same(readDocument(incidentio, 'summary', fixture('incidentio-summary')), {
    listsOnlyOpen: true,
    entries: [
      {
        kind: 'maintenance',
        key: '01K7MAINTENANCE00000000001',
        title: 'Move of a data centre',
        sourceUrl: 'https://status.example.com/incidents/01K7MAINTENANCE00000000001',
        components: null,
        updates: [{ at: at('08:00'), status: 'identified', text: 'The move has begun.' }],
        startsAt: at('08:00'),
        endsAt: at('16:00'),
        state: 'running',
      },
    ],
  });
});

t.test('it reads the states of components while no incident is open', async (t) => {
  const summary = (incidents: unknown, status: string) =>
    readDocument(incidentio, 'summary', {
      page,
      status: { indicator: 'major', description: 'Partial System Outage' },
      components: [{ id: '01K0C', name: 'API', status }],
      incidents,
    }).entries;
  const shown = {
    key: 'state major',
    title: 'Partial System Outage',
    components: ['API', '01K0C'],
    startedAt: null,
  };
  t.match(summary(null, 'full_outage'), [shown]);
  t.same(summary([{ id: 'i', name: 'A fault', status: 'investigating' }], 'full_outage'), []);
  t.match(summary([], 'operational'), [{ key: 'state major', components: null, isOfWholePage: true }]);
});

t.test('it takes an empty list, null, and a list that is left out for nothing to list', async (t) => {
  const status = { indicator: 'none', description: 'All Systems Operational' };
  for (const lists of [
    { incidents: [], scheduled_maintenances: [] },
    { incidents: null, scheduled_maintenances: null, components: null },
    { incidents: [] },
    { scheduled_maintenances: null },
    { components: [{ id: '01K0COMPONENT0000000000001', name: 'API', status: 'operational' }] },
    {},
  ]) {
    const document = { page, status, ...lists };
    t.same(readDocument(incidentio, 'incidents', document), { listsOnlyOpen: false, entries: [] });
    t.same(readDocument(incidentio, 'summary', document), { listsOnlyOpen: true, entries: [] });
  }
  t.same(readDocument(incidentio, 'incidents', { page }), { listsOnlyOpen: false, entries: [] });
});

t.test('a list of another type is not taken for an empty one', async (t) => {
  const status = { indicator: 'none', description: 'All Systems Operational' };
  for (const list of ['', 'none', 0, false, {}])
    for (const name of ['incidents', 'summary'])
      t.throws(
        () => readDocument(incidentio, name, { page, status, incidents: list, scheduled_maintenances: list }),
        /no list/,
      );
});

t.test('it reads entries whose own lists are null or missing', async (t) => {
  const bare = { id: 'i', name: 'A fault', status: 'monitoring', created_at: '2026-09-20T10:00:00Z' };
  for (const more of [{}, { incident_updates: null, components: null }, { incident_updates: [null] }])
    t.same(readDocument(incidentio, 'incidents', { page, incidents: [{ ...bare, ...more }] }).entries, [
      {
        kind: 'incident',
        key: 'i',
        title: 'A fault',
        sourceUrl: 'https://status.example.com/incidents/i',
        components: null,
        updates: [],
        severity: 'minor',
        status: 'monitoring',
        startedAt: at('10:00'),
        resolvedAt: null,
        continues: STATE_KEYS,
      },
    ]);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const name of ['incidents', 'summary'])
    for (const [document, message] of [
      ...WRONG_DOCUMENTS,
      [{ page, error: 'Your page is gone' }, /no list|no summary/],
      [{ incidents: null, scheduled_maintenances: null }, /names no page/],
      [{ page_title: 'Example', page_url: PAGE.pageUrl, ongoing_incidents: [] }, /names no page/],
    ] as const)
      t.throws(() => readDocument(incidentio, name, document), { name: 'FeedFormatError', message });
});

t.test(
  'a document without the status of the page is no summary: what it lacks would count as ended',
  async (t) => {
    for (const document of [
      { page },
      { page, components: [] },
      { page, status: null },
      { page, status: 'ok' },
    ])
      t.throws(() => readDocument(incidentio, 'summary', document), /no summary/);
  },
);
