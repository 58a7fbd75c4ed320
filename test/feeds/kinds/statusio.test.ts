import t from 'tap';
import { STATE_KEYS } from '../../../src/feeds/build-entry.ts';
import { statusio } from '../../../src/feeds/kinds/statusio.ts';
import { at, fixture, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const ID = '5b36dc6502d06804c08349f7';
const SOURCE = {
  pageUrl: 'https://status.example.com',
  feedUrl: `https://api.status.io/1.0/status/${ID}`,
};
const status_overall = { status: 'Operational', status_code: 100 };

function read(more: object) {
  return readDocument(statusio, 'status', { result: { status_overall, incidents: [], ...more } }, SOURCE)
    .entries;
}

function incident(more: object) {
  return { _id: 'i', name: 'A fault', datetime_open: '2026-09-20T10:00:00Z', ...more };
}

t.test(
  'it asks the address that the catalogue gives, or finds the identifier in that of the page',
  async (t) => {
    const urls = (pageUrl: string, feedUrl: string | null) =>
      statusio.addresses({ pageUrl, feedUrl }).map(({ url }) => url);
    t.same(urls(SOURCE.pageUrl, SOURCE.feedUrl), [SOURCE.feedUrl]);
    t.same(urls(`https://example.status.io/pages/${ID}`, null), [SOURCE.feedUrl]);
    t.same(urls(`https://example.status.io/pages/history/${ID}`, null), [SOURCE.feedUrl]);
    t.throws(() => urls(SOURCE.pageUrl, null), { name: 'FeedFormatError', message: /feedUrl/ });
  },
);

t.test('it reads a recorded status', async (t) => {
  t.same(readDocument(statusio, 'status', fixture('statusio-status'), SOURCE), {
    listsOnlyOpen: true,
    entries: [
      {
        kind: 'maintenance',
        key: '66ed4a0f5e8f3c05291e7b02',
        title: 'Database upgrade',
        sourceUrl: `https://status.example.com/pages/maintenance/${ID}/66ed4a0f5e8f3c05291e7b02`,
        components: ['Website', '5b36dc6502d06804c0834a01'],
        updates: [],
        startsAt: at('2026-09-25T02:00:00Z'),
        endsAt: at('2026-09-25T04:00:00Z'),
        state: 'planned',
      },
      {
        kind: 'incident',
        key: '66ed4a0f5e8f3c05291e7a01',
        title: 'Pages load slowly',
        sourceUrl: `https://status.example.com/pages/incident/${ID}/66ed4a0f5e8f3c05291e7a01`,
        components: ['Website', '5b36dc6502d06804c0834a01', 'US', '5b36dc6502d06804c0834a02'],
        updates: [
          { at: at('10:00'), status: 'investigating', text: 'We look into slow pages.' },
          { at: at('10:20'), status: 'identified', text: 'A fix is being prepared.' },
        ],
        severity: 'major',
        status: 'identified',
        startedAt: at('10:00'),
        resolvedAt: null,
        continues: STATE_KEYS,
      },
      {
        kind: 'maintenance',
        key: '66ed4a0f5e8f3c05291e7b01',
        title: 'Network works',
        sourceUrl: `https://status.example.com/pages/maintenance/${ID}/66ed4a0f5e8f3c05291e7b01`,
        components: null,
        updates: [{ at: at('2026-09-18T12:00:00Z'), status: 'identified', text: 'We replace a switch.' }],
        startsAt: at('09:00'),
        endsAt: at('13:00'),
        state: 'running',
      },
    ],
  });
});

t.test('it maps every state of incidents', async (t) => {
  const datetime = '2026-09-20T10:30:00Z';
  for (const [state, status, resolvedAt] of [
    [100, 'investigating', null],
    [200, 'identified', null],
    [300, 'monitoring', null],
    [400, 'resolved', at('10:30')],
    ['400', 'resolved', at('10:30')],
    [500, 'investigating', null],
    [null, 'investigating', null],
  ] as const)
    t.match(
      read({ incidents: [incident({ messages: [{ state, datetime, details: 'x' }] })] }),
      [{ status, resolvedAt, updates: [{ at: at('10:30'), status, text: 'x' }] }],
      String(state),
    );
  const resolved = incident({ datetime_resolved: '2026-09-20T11:00:00Z', messages: null });
  t.match(read({ incidents: [resolved] }), [{ status: 'resolved', resolvedAt: at('11:00') }]);
});

t.test('it maps every code of severity', async (t) => {
  for (const [codes, severity] of [
    [[300], 'minor'],
    [[400], 'major'],
    [[500], 'critical'],
    [[600], 'major'],
    [['500'], 'critical'],
    [[100], 'minor'],
    [[200], 'minor'],
    [[700], 'minor'],
    [[], 'minor'],
    // The newest word that weighs anything counts.
    [[500, 300, 100], 'minor'],
    [[300, 500, 100], 'critical'],
  ] as const) {
    const messages = codes.map((status, index) => ({ status, datetime: `2026-09-20T10:0${index}:00Z` }));
    t.match(read({ incidents: [incident({ messages })] }), [{ severity }], String(codes));
  }
  t.match(read({ incidents: [incident({ status_code: 500 })] }), [{ severity: 'critical' }]);
});

t.test('it maps maintenances by the list that they are in', async (t) => {
  const times = {
    datetime_open: '2026-09-20T08:00:00Z',
    datetime_planned_start: '2026-09-20T10:00:00Z',
    datetime_planned_end: '2026-09-20T11:00:00Z',
  };
  const messages = [{ state: 400, details: 'Done.', datetime: '2026-09-20T10:45:00Z' }];
  for (const [list, more, state, startsAt, endsAt] of [
    ['active', {}, 'running', at('10:00'), at('11:00')],
    ['upcoming', {}, 'planned', at('10:00'), at('11:00')],
    ['active', { messages }, 'done', at('10:00'), at('11:00')],
    ['active', { datetime_planned_start: null }, 'running', at('08:00'), at('11:00')],
    ['active', { datetime_planned_end: 'late' }, 'running', at('10:00'), null],
  ] as const)
    t.match(read({ maintenance: { [list]: [{ id: 'm', name: 'M', ...times, ...more }] } }), [
      { kind: 'maintenance', key: 'm', state, startsAt, endsAt },
    ]);
  t.same(
    read({ maintenance: { upcoming: [{ _id: 'm', ...times, datetime_planned_start: null }] } }),
    [],
    'one that is planned for no time tells nothing',
  );
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = read({
    incidents: [
      null,
      {},
      { name: 'without an identifier' },
      incident({ _id: 1, name: null, datetime_open: null, messages: [{ details: 'no time', state: 200 }] }),
      incident({ _id: '../../x?y', messages: [{ datetime: '2026-09-20T09:00:00Z' }], datetime_open: '' }),
    ],
    maintenance: { active: null, upcoming: 'none' },
  });
  t.match(withoutUpdates(entries), [
    { key: '1', title: 'Incident', startedAt: null, status: 'identified' },
    {
      key: '../../x?y',
      startedAt: at('09:00'),
      sourceUrl: `https://status.example.com/pages/incident/${ID}/..%2F..%2Fx%3Fy`,
    },
  ]);
  t.same(entries[0]?.updates, []);
  for (const maintenance of [null, [], 'none', undefined]) t.same(read({ maintenance }), []);
  t.same(read({ incidents: null }), []);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /no result/],
    [{ result: [] }, /no result/],
    [{ result: { incidents: [] } }, /no result/],
    [{ result: { status_overall } }, /no list/],
    [{ status: { error: 'yes', message: 'Page not found' }, result: null }, /no result/],
  ] as const)
    t.throws(() => readDocument(statusio, 'status', document, SOURCE), { name: 'FeedFormatError', message });
});

t.test('a component in trouble is an outage until an incident or a maintenance names it', async (t) => {
  const status = [
    {
      id: 'w',
      name: 'Website',
      status_code: 500,
      containers: [
        { id: 'us', name: 'US', status_code: 500 },
        { id: 'eu', name: 'EU', status_code: 100 },
      ],
    },
    { id: 'a', name: 'API', status_code: 200 },
    { id: 'm', name: 'Mail', status_code: 100 },
  ];
  const outage = { kind: 'incident', severity: 'critical', status: 'investigating', startedAt: null };
  t.match(read({ status }), [{ ...outage, components: ['Website', 'w', 'US', 'us'] }]);
  t.equal(read({ status: [status[1], status[2]] }).length, 0, 'maintenance is no trouble');
  const components_affected = [{ name: 'Website', _id: 'w' }];
  t.match(read({ status, incidents: [incident({ components_affected })] }), [{ key: 'i' }]);
  const works = {
    _id: 'm1',
    name: 'Works',
    datetime_planned_start: '2026-09-20T09:00:00Z',
    components_affected,
  };
  t.equal(read({ status, maintenance: { active: [works] } }).length, 1);
  const whole = { status_overall: { status: 'Degraded', status_code: 300 } };
  t.match(read(whole), [{ severity: 'minor', isOfWholePage: true }]);
});
