import t from 'tap';
import { heroku } from '../../../src/feeds/kinds/heroku.ts';
import { at, fixture, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const SOURCE = { pageUrl: 'https://status.heroku.com', feedUrl: null };

function read(...incidents: unknown[]) {
  return readDocument(heroku, 'incidents', incidents, SOURCE).entries;
}

function incident(more: object) {
  return { id: 1, title: 'A fault', state: 'issue', created_at: '2026-09-20T10:00:00Z', ...more };
}

t.test('it asks for what is open, then for the history', async (t) => {
  const urls = (feedUrl: string | null) =>
    heroku.addresses({ pageUrl: 'https://status.heroku.com/', feedUrl }).map(({ url }) => url);
  const base = 'https://status.heroku.com/api/v4';
  t.same(urls(null), [`${base}/current-status`, `${base}/incidents?limit=50`]);
  t.same(urls('https://example.com/x'), ['https://example.com/x', `${base}/incidents?limit=50`]);
});

t.test('it reads recorded documents, and nothing of what is scheduled', async (t) => {
  t.same(readDocument(heroku, 'current-status', fixture('heroku-current-status'), SOURCE), {
    listsOnlyOpen: true,
    entries: [
      {
        kind: 'incident',
        key: '3001',
        title: 'Routing errors',
        sourceUrl: 'https://status.heroku.com/incidents/3001',
        components: ['Apps', 'Routing', 'Private Spaces', 'EMEA'],
        updates: [
          { at: at('09:55'), status: 'investigating', text: 'Requests may fail.' },
          { at: at('10:00'), status: 'investigating', text: 'We are still investigating.' },
        ],
        severity: 'major',
        status: 'investigating',
        startedAt: at('09:55'),
        resolvedAt: null,
      },
    ],
  });
  t.same(readDocument(heroku, 'incidents', fixture('heroku-incidents'), SOURCE), {
    listsOnlyOpen: false,
    entries: [
      {
        kind: 'incident',
        key: '3000',
        title: 'Builds fail',
        sourceUrl: 'https://status.heroku.com/incidents/3000',
        components: ['Tools', 'Builds'],
        updates: [
          { at: at('2026-09-18T08:00:00Z'), status: 'investigating', text: 'Builds fail.' },
          { at: at('2026-09-18T09:30:00Z'), status: 'resolved', text: 'Builds succeed again.' },
        ],
        severity: 'minor',
        status: 'resolved',
        startedAt: at('2026-09-18T08:00:00Z'),
        resolvedAt: at('2026-09-18T09:30:00Z'),
      },
    ],
  });
});

t.test('it maps every state, and never by the member "resolved" next to one', async (t) => {
  const updated_at = '2026-09-20T11:00:00Z';
  for (const [state, expected] of [
    ['investigating', [{ status: 'investigating', resolvedAt: null }]],
    ['issue', [{ status: 'investigating', resolvedAt: null }]],
    ['identified', [{ status: 'identified', resolvedAt: null }]],
    ['monitoring', [{ status: 'monitoring', resolvedAt: null }]],
    ['resolved', [{ status: 'resolved', resolvedAt: at('11:00') }]],
    ['open', [{ status: 'investigating', resolvedAt: null }]],
    ['upcoming', []],
    ['scheduled', []],
  ] as const)
    for (const resolved of [false, true]) {
      const entries = read(incident({ state, resolved, updated_at }));
      t.match(entries, expected, String(state));
      t.equal(entries.length, expected.length);
    }
});

t.test('it goes by the member "resolved" where there is no state, as in 2019', async (t) => {
  const updated_at = '2026-09-20T11:00:00Z';
  for (const state of [null, undefined]) {
    t.match(read(incident({ state, resolved: true, updated_at })), [
      { status: 'resolved', resolvedAt: at('11:00') },
    ]);
    t.match(read(incident({ state, resolved: false, updated_at })), [
      { status: 'investigating', resolvedAt: null },
    ]);
  }
});

t.test('it leaves out what is only scheduled, whatever its state', async (t) => {
  const update = (update_type: string) => ({ update_type, created_at: '2026-09-20T10:30:00Z' });
  t.same(read(incident({ updates: [update('scheduled'), update('scheduled')] })), []);
  t.match(read(incident({ updates: [update('issue'), update('scheduled')] })), [{ key: '1' }]);
  t.same(read(incident({ updates: ['scheduled', 'maintenance', 'resolved'].map(update) })), []);
  t.match(read(incident({ updates: [update('resolved')] })), [{ key: '1' }]);
});

t.test('it maps colours of systems and types of updates', async (t) => {
  const colours = (...words: unknown[]) => ({ systems: words.map((status) => ({ name: 'Apps', status })) });
  for (const [systems, severity] of [
    [colours('yellow'), 'minor'],
    [colours('red'), 'major'],
    [colours('green', 'yellow', 'red'), 'major'],
    [colours('green'), 'minor'],
    [colours('blue', null), 'minor'],
    [{ systems: 'all' }, 'minor'],
    [{}, 'minor'],
  ] as const)
    t.match(read(incident(systems)), [{ severity }], JSON.stringify(systems));
  const updates = ['issue', 'identified', 'monitoring', 'resolved', 'else'].map((update_type, index) => ({
    update_type,
    created_at: `2026-09-20T10:0${index}:00Z`,
  }));
  t.same(
    read(incident({ updates }))[0]?.updates.map(({ status }) => status),
    ['investigating', 'identified', 'monitoring', 'resolved', 'investigating'],
  );
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = read(
    null,
    { title: 'without an identifier' },
    incident({ id: 2, created_at: null, full_url: 'ftp://x', tags: 'EMEA', updates: {} }),
    incident({
      id: 3,
      title: [],
      systems: [null, { services: [5, {}] }],
      updates: [{ contents: 'no time' }],
    }),
  );
  t.match(withoutUpdates(entries), [
    { key: '2', startedAt: null, sourceUrl: SOURCE.pageUrl, components: null },
    { key: '3', title: 'Incident', components: ['5'] },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /not a list/],
    [[{ a: 1 }], /no incident/],
  ] as const)
    t.throws(() => readDocument(heroku, 'incidents', document), { name: 'FeedFormatError', message });
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /no system/],
    [{ status: { indicator: 'none' }, incidents: [] }, /no system/],
    [{ status: [], incidents: [] }, /no system/],
    [{ status: [{ system: 'Apps', status: 'green' }] }, /no list/],
  ] as const)
    t.throws(() => readDocument(heroku, 'current-status', document), { name: 'FeedFormatError', message });
  const well = { status: [{ system: 'Apps', status: 'green' }], incidents: null };
  t.same(readDocument(heroku, 'current-status', well), { entries: [], listsOnlyOpen: true });
  t.same(read(), []);
});
