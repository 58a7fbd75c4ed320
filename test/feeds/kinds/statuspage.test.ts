import t from 'tap';
import { STATE_KEYS } from '../../../src/feeds/build-entry.ts';
import { FeedFormatError } from '../../../src/feeds/feed-kind.ts';
import { statuspage } from '../../../src/feeds/kinds/statuspage.ts';
import { at, fixture, NOW, PAGE, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const page = { id: 'p', name: 'Example', url: 'https://status.example.com' };

function readIncidents(...incidents: unknown[]) {
  return readDocument(statuspage, 'incidents', { page, incidents }).entries;
}

function readScheduled(...scheduled_maintenances: unknown[]) {
  return readDocument(statuspage, 'scheduled-maintenances', { page, scheduled_maintenances }).entries;
}

function incident(more: object) {
  return { id: 'i', name: 'A fault', status: 'investigating', started_at: '2026-09-20T10:00:00Z', ...more };
}

t.test('it asks the page itself, or the host that the feed address names', async (t) => {
  const urls = (pageUrl: string, feedUrl: string | null) =>
    statuspage.addresses({ pageUrl, feedUrl }).map(({ url }) => url);
  for (const [pageUrl, feedUrl] of [
    ['https://status.example.com', null],
    ['https://status.example.com/', null],
    ['https://www.example.com/status', 'https://status.example.com'],
    ['https://www.example.com/status', 'https://status.example.com/api/v2'],
    ['https://www.example.com/status', 'https://status.example.com/api/v2/incidents.json?x=1#y'],
  ] as const)
    t.same(urls(pageUrl, feedUrl), [
      'https://status.example.com/api/v2/incidents.json',
      'https://status.example.com/api/v2/scheduled-maintenances.json',
      'https://status.example.com/api/v2/summary.json',
    ]);
  t.same(urls('http://127.0.0.1:9001/vendor', null)[0], 'http://127.0.0.1:9001/vendor/api/v2/incidents.json');
});

t.test('it reads recorded incidents', async (t) => {
  t.same(readDocument(statuspage, 'incidents', fixture('statuspage-incidents')), {
    listsOnlyOpen: false,
    entries: [
      {
        kind: 'incident',
        key: 'k1a2b3c4d5e6',
        title: 'API errors & delays',
        sourceUrl: 'https://stspg.io/k1a2b3',
        components: ['API', 'c1', 'g1', 'Webhooks', 'c2'],
        updates: [
          { at: at('10:02'), status: 'investigating', text: 'We are looking into it.' },
          { at: at('10:15'), status: 'identified', text: 'The cause is found.' },
          { at: at('10:40'), status: 'monitoring', text: 'A fix is out.\nWe are watching.' },
        ],
        severity: 'major',
        status: 'monitoring',
        startedAt: at('09:55'),
        resolvedAt: null,
        continues: STATE_KEYS,
      },
      {
        kind: 'incident',
        key: 'p9o8i7u6y5t4',
        title: 'Login unavailable',
        sourceUrl: 'https://stspg.io/p9o8i7',
        components: null,
        updates: [
          { at: at('2026-09-10T08:00:00Z'), status: 'investigating', text: 'Nobody can log in.' },
          { at: at('2026-09-10T09:30:00Z'), status: 'resolved', text: 'Logins work again.' },
          {
            at: at('2026-09-12T09:00:00Z'),
            status: 'resolved',
            text: 'Summary\nA certificate had run out.',
          },
        ],
        severity: 'critical',
        status: 'resolved',
        startedAt: at('2026-09-10T08:00:00Z'),
        resolvedAt: at('2026-09-10T09:30:00Z'),
        continues: STATE_KEYS,
      },
    ],
  });
});

t.test('it reads recorded maintenances', async (t) => {
  const { entries, listsOnlyOpen } = readDocument(
    statuspage,
    'scheduled-maintenances',
    fixture('statuspage-scheduled-maintenances'),
  );
  t.equal(listsOnlyOpen, false);
  t.same(entries, [
    {
      kind: 'maintenance',
      key: 'm1',
      title: 'Database upgrade',
      sourceUrl: 'https://stspg.io/m1',
      components: ['API', 'c1'],
      updates: [
        { at: at('2026-09-18T10:00:00Z'), status: 'identified', text: 'We will upgrade the database.' },
      ],
      startsAt: at('2026-09-22T02:00:00Z'),
      endsAt: at('2026-09-22T04:00:00Z'),
      state: 'planned',
    },
    {
      kind: 'maintenance',
      key: 'm0',
      title: 'Router replacement',
      sourceUrl: 'https://stspg.io/m0',
      components: null,
      updates: [
        { at: at('2026-09-05T02:00:00Z'), status: 'identified', text: 'It has begun.' },
        { at: at('2026-09-05T03:10:00Z'), status: 'resolved', text: 'Done.' },
      ],
      startsAt: at('2026-09-05T02:00:00Z'),
      endsAt: at('2026-09-05T03:10:00Z'),
      state: 'done',
    },
  ]);
});

t.test('an incident starts at its earliest time, and not after its end', async (t) => {
  const update = (display_at: string, status = 'investigating') => ({ status, body: 'x', display_at });
  const iso = (time: string) => `2026-09-20T${time}:00Z`;
  for (const [times, startedAt, resolvedAt] of [
    [{ created_at: iso('10:05'), started_at: iso('09:55') }, at('09:55'), null],
    [{ created_at: iso('09:55'), started_at: iso('10:05') }, at('09:55'), null],
    // Published the day after, by updates that say when they were.
    [
      {
        created_at: '2026-09-21T08:00:00Z',
        started_at: '2026-09-21T08:00:00Z',
        resolved_at: iso('11:30'),
        status: 'resolved',
        incident_updates: [update(iso('11:30'), 'resolved'), update(iso('10:00'))],
      },
      at('10:00'),
      at('11:30'),
    ],
    // Without any earlier time it starts when it ends.
    [{ started_at: iso('12:00'), resolved_at: iso('11:30'), status: 'resolved' }, at('11:30'), at('11:30')],
    [{ started_at: null, incident_updates: [update(iso('10:00'))] }, at('10:00'), null],
  ] as const)
    t.match(readIncidents(incident(times)), [{ startedAt, resolvedAt }], JSON.stringify(times));
});

t.test(
  'a maintenance without a schedule starts at its earliest time, and ends when it is completed',
  async (t) => {
    const steps = [
      { status: 'resolved', body: 'Done.', display_at: '2026-09-20T01:37:00Z' },
      { status: 'monitoring', body: 'We work on it.', display_at: '2026-09-20T01:01:00Z' },
    ];
    const made = { created_at: '2026-09-20T01:37:14Z', started_at: '2026-09-20T01:37:14Z' };
    t.match(
      readIncidents(
        incident({ ...made, impact: 'maintenance', status: 'resolved', incident_updates: steps }),
      ),
      [{ kind: 'maintenance', state: 'done', startsAt: at('01:01'), endsAt: at('01:37') }],
    );
    const completed = { status: 'completed', body: 'Done.', display_at: '2026-09-20T03:00:00Z' };
    const scheduled = { scheduled_for: '2026-09-20T02:00:00Z', scheduled_until: '2026-09-20T04:00:00Z' };
    t.match(readScheduled(incident({ ...scheduled, status: 'completed', incident_updates: [completed] })), [
      { state: 'done', startsAt: at('02:00'), endsAt: at('03:00') },
    ]);
  },
);

const COMPONENTS = [
  { id: 'c1', name: 'claude.ai', status: 'operational', group: false, group_id: null },
  { id: 'c2', name: 'API', status: 'operational', group: false, group_id: 'g' },
  { id: 'g', name: 'Developers', status: 'operational', group: true, group_id: null },
];

/** A summary: the states of `claude.ai` and of `API`, the indicator of the page, and what it lists. */
function readSummary(states: readonly [string, string], indicator: string, more: object = {}) {
  const components = COMPONENTS.map((one, index) => ({ ...one, status: states[index] ?? states[1] }));
  const status = { indicator, description: 'Partial System Outage' };
  const lists = { incidents: [], scheduled_maintenances: [], ...more };
  return readDocument(statuspage, 'summary', { page, status, components, ...lists }).entries;
}

t.test('states that are not well make an incident while no incident says so', async (t) => {
  const well = 'operational';
  const shown = (severity: string, ...components: string[]) => ({
    key: `state ${severity}`,
    severity,
    components: components.length === 0 ? null : components,
    status: 'investigating',
    startedAt: null,
  });
  const open = (...components: object[]) => ({ incidents: [incident({ components })] });
  const maintained = (status: string) => ({
    scheduled_maintenances: [
      incident({ id: 'm', status, scheduled_for: '2026-09-20T11:00:00Z', components: [COMPONENTS[1]] }),
    ],
  });
  const api = ['API', 'c2', 'g', 'Developers'];
  for (const [states, indicator, more, expected] of [
    [[well, well], 'none', {}, []],
    [['major_outage', well], 'major', {}, [shown('major', 'claude.ai', 'c1')]],
    [['full_outage', well], 'none', {}, [shown('major', 'claude.ai', 'c1')]],
    [[well, 'degraded_performance'], 'minor', {}, [shown('minor', ...api)]],
    [[well, 'partial_outage'], 'none', {}, [shown('minor', ...api)]],
    // The worst part is as bad as the page.
    [[well, 'partial_outage'], 'major', {}, [shown('major', ...api)]],
    [
      ['major_outage', 'degraded_performance'],
      'critical',
      {},
      [shown('critical', 'claude.ai', 'c1'), shown('minor', ...api)],
    ],
    [['major_outage', well], 'minor', {}, [shown('major', 'claude.ai', 'c1')]],
    // The state of the page alone.
    [
      [well, well],
      'critical',
      {},
      [{ ...shown('critical'), isOfWholePage: true, title: 'Partial System Outage' }],
    ],
    [[well, well], 'maintenance', {}, []],
    [['under_maintenance', well], 'maintenance', {}, []],
    [['puzzling', well], 'puzzling', {}, []],
    // What an incident or a maintenance accounts for is told once.
    [['major_outage', well], 'major', open(COMPONENTS[0] ?? {}), [{ key: 'i' }]],
    [['major_outage', well], 'major', open(), [{ key: 'i' }]],
    [[well, well], 'major', open(COMPONENTS[0] ?? {}), [{ key: 'i' }]],
    [
      ['major_outage', 'partial_outage'],
      'major',
      open(COMPONENTS[0] ?? {}),
      [shown('minor', ...api), { key: 'i' }],
    ],
    [[well, 'partial_outage'], 'minor', maintained('in_progress'), []],
    [[well, 'partial_outage'], 'minor', maintained('scheduled'), []],
    [['major_outage', well], 'minor', maintained('in_progress'), [shown('major', 'claude.ai', 'c1')]],
  ] as const) {
    const entries = readSummary(states, indicator, more);
    t.match(entries, expected, JSON.stringify([states, indicator, more]));
    t.equal(entries.length, expected.length, JSON.stringify([states, indicator, more]));
  }
});

t.test('it maps every status of incidents', async (t) => {
  for (const [word, status] of [
    ['investigating', 'investigating'],
    ['identified', 'identified'],
    ['monitoring', 'monitoring'],
    ['resolved', 'resolved'],
    ['postmortem', 'resolved'],
    ['Resolved', 'resolved'],
    ['something new', 'investigating'],
    ['constructor', 'investigating'],
    [null, 'investigating'],
    [7, 'investigating'],
  ] as const)
    t.match(readIncidents(incident({ status: word })), [{ kind: 'incident', status }], String(word));
  const ended = incident({ status: 'something new', resolved_at: '2026-09-20T11:00:00Z' });
  t.match(readIncidents(ended), [{ status: 'resolved', resolvedAt: at('11:00') }]);
});

t.test('it maps every impact', async (t) => {
  for (const [word, severity] of [
    ['none', 'minor'],
    ['minor', 'minor'],
    ['major', 'major'],
    ['critical', 'critical'],
    ['dire', 'minor'],
    ['__proto__', 'minor'],
    [undefined, 'minor'],
  ] as const)
    t.match(readIncidents(incident({ impact: word })), [{ severity }], String(word));
});

t.test('it takes what a list of incidents calls maintenance for maintenance', async (t) => {
  for (const [more, state, endsAt] of [
    [{ impact: 'maintenance', status: 'investigating' }, 'running', null],
    [{ impact: 'maintenance', status: 'monitoring' }, 'running', null],
    [{ impact: 'maintenance', status: 'resolved', resolved_at: '2026-09-20T11:00:00Z' }, 'done', at('11:00')],
    [{ impact: 'maintenance', status: 'postmortem' }, 'done', null],
    [{ impact: 'maintenance', status: '?' }, 'planned', null],
    [{ impact: 'minor', status: 'in_progress' }, 'running', null],
  ] as const)
    t.match(readIncidents(incident(more)), [
      { kind: 'maintenance', key: 'i', startsAt: at('10:00'), endsAt, state },
    ]);
});

t.test('it maps every state of maintenances', async (t) => {
  const times = { scheduled_for: '2026-09-20T10:00:00Z', scheduled_until: '2026-09-20T14:00:00Z' };
  for (const [status, more, state, endsAt] of [
    ['scheduled', {}, 'planned', at('14:00')],
    ['in_progress', {}, 'running', at('14:00')],
    ['verifying', {}, 'running', at('14:00')],
    ['completed', {}, 'done', at('14:00')],
    ['completed', { resolved_at: '2026-09-20T11:00:00Z' }, 'done', at('11:00')],
    // Completed before it was to begin.
    ['completed', { resolved_at: '2026-09-20T09:00:00Z' }, 'done', at('09:00')],
    ['scheduled', { scheduled_until: '2026-09-20T09:00:00Z' }, 'planned', null],
    ['scheduled', { scheduled_until: null }, 'planned', null],
    ['something new', {}, 'planned', at('14:00')],
  ] as const)
    t.match(
      readScheduled({ id: 'm', name: 'M', status, impact: 'minor', ...times, ...more }),
      [{ kind: 'maintenance', startsAt: at('10:00'), endsAt, state }],
      `${status} ${JSON.stringify(more)}`,
    );
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = readIncidents(
    null,
    'text',
    [],
    {},
    { name: 'without an identifier' },
    incident({ id: { deep: true } }),
    incident({ id: 12, name: null }),
    incident({ id: 'times', started_at: 'yesterday', created_at: '2026-09-20T08:00:00+02:00' }),
    incident({ id: 'no time', started_at: null }),
    incident({ id: 'updates', incident_updates: 'none', components: { id: 1 } }),
    incident({ id: 'link', shortlink: 'javascript:alert(1)', name: '<b>Bold</b> <script>x()</script>' }),
  );
  t.match(withoutUpdates(entries), [
    { key: 'no time', startedAt: null, title: 'A fault' },
    { key: '12', title: 'Incident', startedAt: at('10:00') },
    { key: 'link', sourceUrl: 'https://status.example.com/incidents/link', title: 'Bold' },
    { key: 'updates', components: null },
    { key: 'times', startedAt: at('06:00') },
  ]);
  t.equal(entries.length, 5);
  t.same(
    readScheduled({ id: 'm', status: 'scheduled' }, { scheduled_for: '2026-09-21T00:00:00Z' }),
    [],
    'a maintenance without a start or an identifier tells nothing',
  );
});

t.test('it keeps updates that have a time', async (t) => {
  const [entry] = readIncidents(
    incident({
      updated_at: '2026-09-20T11:30:00Z',
      incident_updates: [
        { status: 'monitoring', body: 'newest, without a time' },
        { status: 'made up', body: 'another word', created_at: '2026-09-20T11:00:00Z' },
        { status: 'identified', body: 'odd zone', display_at: '2026-09-20T16:15:00+05:30' },
        { status: 'identified', body: 'no time' },
        { status: 'investigating', body: null, display_at: 'never', created_at: 1_789_898_400 },
        'text',
      ],
    }),
  );
  t.same(entry?.updates, [
    { at: at('10:00'), status: 'investigating', text: '' },
    { at: at('10:45'), status: 'identified', text: 'odd zone' },
    { at: at('11:00'), status: 'identified', text: 'another word' },
    { at: at('11:30'), status: 'monitoring', text: 'newest, without a time' },
  ]);
});

t.test('it takes the time of the end from the updates where the incident gives none', async (t) => {
  const updates = ['12:00 postmortem', '11:00 resolved', '10:30 monitoring', '10:10 resolved'].map((text) => {
    const [time, status] = text.split(' ');
    return { status, display_at: `2026-09-20T${time}:00Z`, body: '' };
  });
  const read = (more: object) => readIncidents(incident({ incident_updates: updates, ...more }))[0];
  t.match(read({ status: 'postmortem' }), { status: 'resolved', resolvedAt: at('11:00') });
  t.match(read({ status: 'investigating', resolved_at: '2026-09-20T11:00:00Z' }), { resolvedAt: null });
  t.match(readIncidents(incident({ status: 'resolved' })), [{ status: 'resolved', resolvedAt: null }]);
});

t.test('it keeps the bounds of entries', async (t) => {
  const day = (days: number) => new Date(NOW - days * 86_400_000).toISOString();
  const [long] = readIncidents(
    incident({
      id: 'x'.repeat(301),
      name: 'word '.repeat(1_000),
      incident_updates: Array.from({ length: 300 }, (_, index) => ({
        status: 'identified',
        body: 'y'.repeat(30_000),
        display_at: new Date(NOW - index * 1_000).toISOString(),
      })),
    }),
  );
  t.match(long, { key: /^[0-9a-f]{64}$/ });
  t.equal(long?.title.length, 300);
  t.equal(long?.updates.length, 100);
  t.equal(long?.updates.at(-1)?.at, NOW, 'the newest updates stay');
  t.equal(long?.updates[0]?.text.length, 10_000);
  const old = readIncidents(
    incident({ id: 'old', started_at: day(401) }),
    incident({ id: 'kept', started_at: day(399) }),
    incident({ id: 'ahead', started_at: day(-10), resolved_at: day(-9), status: 'resolved' }),
  );
  t.match(withoutUpdates(old), [
    { key: 'ahead', startedAt: null, resolvedAt: null },
    { key: 'kept', startedAt: NOW - 399 * 86_400_000 },
  ]);
  const many = readIncidents(
    ...Array.from({ length: 10_000 }, (_, index) =>
      incident({ id: `n${index}`, started_at: day(index / 100) }),
    ),
  );
  t.same([many.length, many[0]?.key, many.at(-1)?.key], [2_000, 'n0', 'n1999']);
});

t.test('it folds entries with the same identifier, the newer counts', async (t) => {
  const update = (time: string) => [
    { status: 'identified', body: time, display_at: `2026-09-20T${time}:00Z` },
  ];
  const entries = readIncidents(
    incident({ incident_updates: update('10:10') }),
    incident({ incident_updates: update('10:30'), name: 'Newer' }),
    incident({ incident_updates: update('10:20') }),
  );
  t.match(entries, [{ key: 'i', title: 'Newer' }]);
  t.equal(entries.length, 1);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const name of ['incidents', 'scheduled-maintenances']) {
    for (const [document, message] of WRONG_DOCUMENTS)
      t.throws(() => readDocument(statuspage, name, document), { name: 'FeedFormatError', message });
    for (const document of [
      [],
      {},
      { page },
      { incidents: [], scheduled_maintenances: [] },
      { page: {}, incidents: [], scheduled_maintenances: [] },
      { page: 'Example', incidents: [], scheduled_maintenances: [] },
      { page, incidents: 'none', scheduled_maintenances: {} },
      { error: 'Your page is inactive' },
    ])
      t.throws(() => readDocument(statuspage, name, document), FeedFormatError, JSON.stringify(document));
  }
  t.throws(() => readDocument(statuspage, 'incidents', { error: 'Your page is inactive' }), /inactive/);
});

t.test('it takes empty lists, and null in their place, for no entries', async (t) => {
  for (const list of [[], null]) {
    const document = { page, incidents: list, scheduled_maintenances: list };
    for (const name of ['incidents', 'scheduled-maintenances'])
      t.same(readDocument(statuspage, name, document), { entries: [], listsOnlyOpen: false });
  }
});

t.test('it links to the page where the entry has no address', async (t) => {
  const read = (home: unknown) =>
    readDocument(statuspage, 'incidents', { page: { id: 'p', url: home }, incidents: [incident({})] })
      .entries[0]?.sourceUrl;
  t.equal(read('https://other.example.com/'), 'https://other.example.com/incidents/i');
  t.equal(read('ftp://other.example.com'), `${PAGE.pageUrl}/incidents/i`);
  t.equal(read(null), `${PAGE.pageUrl}/incidents/i`);
});
