import t from 'tap';
import { slack } from '../../../src/feeds/kinds/slack.ts';
import { at, fixture, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const SOURCE = { pageUrl: 'https://slack-status.com', feedUrl: null };

function read(...events: unknown[]) {
  return readDocument(slack, 'history', events, SOURCE).entries;
}

function event(more: object) {
  return {
    id: 1,
    title: 'A fault',
    type: 'incident',
    status: 'active',
    date_created: '2026-09-20T03:00:00-07:00',
    date_updated: '2026-09-20T04:00:00-07:00',
    ...more,
  };
}

t.test('it asks for the history, then for what is open', async (t) => {
  const urls = (pageUrl: string, feedUrl: string | null) =>
    slack.addresses({ pageUrl, feedUrl }).map(({ url }) => url);
  const base = 'https://slack-status.com/api/v2.0.0';
  t.same(urls('https://slack-status.com/', null), [`${base}/history`, `${base}/current`]);
  t.same(urls('https://slack-status.com', 'https://example.com/x'), [
    'https://example.com/x',
    `${base}/current`,
  ]);
});

t.test('it reads recorded documents', async (t) => {
  const open = {
    kind: 'incident',
    key: '1700',
    title: 'Delayed notifications',
    sourceUrl: 'https://slack-status.com/2026-09/0f2a8d1c',
    components: ['Notifications', 'Messaging'],
    severity: 'minor',
    status: 'investigating',
    startedAt: at('09:55'),
    resolvedAt: null,
  };
  t.same(readDocument(slack, 'current', fixture('slack-current'), SOURCE), {
    listsOnlyOpen: true,
    entries: [
      {
        ...open,
        updates: [
          { at: at('09:55'), status: 'investigating', text: 'Some notifications are late.\nSorry!' },
          { at: at('10:10'), status: 'investigating', text: 'Still working on it. More' },
        ],
      },
    ],
  });
  t.same(readDocument(slack, 'history', fixture('slack-history'), SOURCE), {
    listsOnlyOpen: false,
    entries: [
      { ...open, updates: [] },
      {
        kind: 'incident',
        key: '1699',
        title: 'Nobody can connect',
        sourceUrl: 'https://slack-status.com/2026-09/77aa12bc',
        components: ['Login/SSO', 'Connections'],
        updates: [
          { at: at('2026-09-11T13:00:00Z'), status: 'investigating', text: 'We are looking into it.' },
          { at: at('2026-09-11T14:30:00Z'), status: 'resolved', text: 'All is well again.' },
        ],
        severity: 'major',
        status: 'resolved',
        startedAt: at('2026-09-11T13:00:00Z'),
        resolvedAt: at('2026-09-11T14:30:00Z'),
      },
    ],
  });
});

t.test('it maps every type and status of incidents', async (t) => {
  for (const [type, severity] of [
    ['outage', 'major'],
    ['incident', 'minor'],
    ['notice', 'minor'],
    ['surprise', 'minor'],
    [null, 'minor'],
  ] as const) {
    t.match(read(event({ type })), [{ severity, status: 'investigating', resolvedAt: null }], String(type));
    t.match(read(event({ type, status: 'resolved' })), [{ severity, resolvedAt: at('11:00') }]);
    t.match(read(event({ type, status: 'pondering' })), [{ status: 'investigating' }]);
  }
});

t.test('the note that says fixed is the end, not a look back of days later', async (t) => {
  const note = (time: string, body: string) => ({ date_created: `2026-09-${time}:00-07:00`, body });
  const ended = (...notes: object[]) =>
    read(event({ status: 'resolved', date_updated: '2026-09-18T03:00:00-07:00', notes }))[0];
  const first = note(
    '10T03:00',
    'We are looking into errors. We will write again once the issue is resolved.',
  );
  const fixed = note('10T04:00', '<p>This issue has been resolved. We apologize.</p>');
  const back = note('15T04:00', '<p>Issue summary: on September 10 messages failed.</p>');
  t.match(ended(first, fixed, back), {
    resolvedAt: at('2026-09-10T11:00:00Z'),
    updates: [{ status: 'investigating' }, { status: 'resolved' }, { status: 'resolved' }],
  });
  const resurfaced = note('10T06:00', 'The issue has resurfaced and we are investigating again.');
  const again = note('10T08:00', "We've resolved the issue, and messages are sent again.");
  t.match(ended(first, fixed, resurfaced, again, back), { resolvedAt: at('2026-09-10T15:00:00Z') });
  t.match(ended(first, note('10T05:00', 'Thank you for your patience.')), {
    resolvedAt: at('2026-09-10T12:00:00Z'),
  });
  t.match(ended(), { resolvedAt: at('2026-09-18T10:00:00Z') }, 'without notes');
});

t.test('it reports maintenances once they are at work', async (t) => {
  const running = { kind: 'maintenance', startsAt: at('10:00'), endsAt: null, state: 'running' };
  const done = { ...running, endsAt: at('11:00'), state: 'done' };
  for (const [type, status, expected] of [
    ['maintenance', 'scheduled', []],
    ['maintenance', 'active', [running]],
    ['maintenance', 'completed', [done]],
    ['maintenance', 'resolved', [done]],
    ['maintenance', 'cancelled', []],
    ['notice', 'scheduled', []],
    ['notice', 'completed', [done]],
    ['notice', 'cancelled', []],
  ] as const) {
    const entries = read(event({ type, status }));
    t.match(entries, expected, `${type} ${status}`);
    t.equal(entries.length, expected.length);
  }
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = read(
    null,
    'text',
    { title: 'without an identifier' },
    event({ id: 2, date_created: 'soon', services: 'all', notes: 'none', url: 'javascript:x' }),
    event({ id: 3, title: { a: 1 }, services: [1, null, 'API'], notes: [null, { body: 'no time' }] }),
  );
  t.match(withoutUpdates(entries), [
    { key: '2', startedAt: null, components: null, sourceUrl: 'https://slack-status.com' },
    { key: '3', title: 'Incident', components: ['1', 'API'] },
  ]);
  t.same(
    entries.map(({ updates }) => updates),
    [[], []],
  );
});

t.test('it takes a missing list for an empty one where all is well, and only there', async (t) => {
  const nothing = { listsOnlyOpen: true, entries: [] };
  for (const document of [
    { status: 'ok' },
    { status: 'ok', active_incidents: null },
    { status: 'ok', active_incidents: [] },
    { status: 'active', active_incidents: null },
  ])
    t.same(readDocument(slack, 'current', document, SOURCE), nothing, JSON.stringify(document));
  t.match(readDocument(slack, 'current', { status: 'ok', active_incidents: [event({})] }, SOURCE).entries, [
    { key: '1' },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /not a list/],
    [[{ a: 1 }], /no event/],
  ] as const)
    t.throws(() => readDocument(slack, 'history', document), { name: 'FeedFormatError', message });
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [[], /not an object/],
    [{}, /no status/],
    [{ status: { indicator: 'none' } }, /no status/],
    [{ status: 'active' }, /no list/],
    [{ status: 'ok', active_incidents: 'none' }, /no list/],
  ] as const)
    t.throws(() => readDocument(slack, 'current', document), { name: 'FeedFormatError', message });
  t.same(read(), []);
});
