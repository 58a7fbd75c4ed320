import t from 'tap';
import { STATE_KEYS } from '../../../src/feeds/build-entry.ts';
import { instatus } from '../../../src/feeds/kinds/instatus.ts';
import { at, fixture, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const page = { name: 'Example', url: 'https://status.example.com', status: 'UP' };

function read(more: object) {
  return readDocument(instatus, 'summary', { page, ...more }).entries;
}

function incident(more: object) {
  return { id: 'i', name: 'A fault', started: '2026-09-20T10:00:00Z', url: '/incident/i', ...more };
}

t.test('it asks for the summary', async (t) => {
  for (const [pageUrl, feedUrl] of [
    ['https://status.example.com/', null],
    ['https://example.com/status', 'https://status.example.com'],
    ['https://example.com/status', 'https://status.example.com/v3/summary.json'],
  ] as const)
    t.same(
      instatus.addresses({ pageUrl, feedUrl }).map(({ url }) => url),
      ['https://status.example.com/summary.json'],
    );
});

t.test('it reads a recorded summary', async (t) => {
  t.same(readDocument(instatus, 'summary', fixture('instatus-summary')), {
    listsOnlyOpen: true,
    entries: [
      {
        kind: 'maintenance',
        key: 'ckf02',
        title: 'Database upgrade',
        sourceUrl: 'https://status.example.com/maintenance/ckf02',
        components: null,
        updates: [],
        startsAt: at('2026-09-22T02:00:00Z'),
        endsAt: at('2026-09-22T03:30:00Z'),
        state: 'planned',
      },
      {
        kind: 'incident',
        key: 'cl9n09y834453sfhkpdxhl5hd',
        title: 'Slow dashboard',
        sourceUrl: 'https://status.example.com/incident/cl9n09y834453sfhkpdxhl5hd',
        components: null,
        updates: [{ at: at('10:10'), status: 'identified', text: '' }],
        severity: 'major',
        status: 'identified',
        startedAt: at('09:55'),
        resolvedAt: null,
        continues: STATE_KEYS,
      },
      {
        kind: 'incident',
        key: 'ckf01fvnxywz60a35kb4nu3wt',
        title: 'Late e-mail',
        sourceUrl: 'https://status.example.com/ckf01fvnxywz60a35kb4nu3wt',
        components: null,
        updates: [],
        severity: 'minor',
        status: 'investigating',
        startedAt: at('09:10'),
        resolvedAt: null,
        continues: STATE_KEYS,
      },
    ],
  });
});

t.test('it takes missing and null lists for empty ones, whatever the word of the page', async (t) => {
  for (const status of ['UP', 'HASISSUES', 'UNDERMAINTENANCE'])
    for (const lists of [{}, { activeIncidents: null, activeMaintenances: null }, { activeIncidents: [] }])
      t.same(readDocument(instatus, 'summary', { page: { ...page, status }, ...lists }), {
        listsOnlyOpen: true,
        entries: [],
      });
  t.match(read({ activeIncidents: [incident({})] }), [{ key: 'i' }], 'UP while an incident is open');
});

t.test('it maps every status', async (t) => {
  for (const [word, status, resolvedAt] of [
    ['INVESTIGATING', 'investigating', null],
    ['IDENTIFIED', 'identified', null],
    ['MONITORING', 'monitoring', null],
    ['RESOLVED', 'resolved', at('11:00')],
    ['PONDERING', 'investigating', null],
    [undefined, 'investigating', null],
  ] as const)
    t.match(
      read({ activeIncidents: [incident({ status: word, updatedAt: '2026-09-20T11:00:00Z' })] }),
      [{ status, resolvedAt, updates: [{ at: at('11:00'), status, text: '' }] }],
      String(word),
    );
});

t.test('it maps every impact', async (t) => {
  for (const [impact, severity] of [
    ['OPERATIONAL', 'minor'],
    ['DEGRADEDPERFORMANCE', 'minor'],
    ['DEGRADED_PERFORMANCE', 'minor'],
    ['PARTIALOUTAGE', 'minor'],
    ['MINOROUTAGE', 'minor'],
    ['MAJOROUTAGE', 'major'],
    ['MAJOR OUTAGE', 'major'],
    ['DOOM', 'minor'],
    [null, 'minor'],
  ] as const)
    t.match(read({ activeIncidents: [incident({ impact })] }), [{ severity }], String(impact));
});

t.test('it maps every state of maintenances', async (t) => {
  for (const [status, duration, state, endsAt] of [
    ['NOTSTARTEDYET', '60', 'planned', at('11:00')],
    ['INPROGRESS', 60, 'running', at('11:00')],
    ['COMPLETED', '60', 'done', at('11:00')],
    ['?', '60', 'planned', at('11:00')],
    ['INPROGRESS', '0', 'running', null],
    ['INPROGRESS', '-5', 'running', null],
    ['INPROGRESS', '1e9', 'running', null],
    ['INPROGRESS', '99999999', 'running', null],
    ['INPROGRESS', 'an hour', 'running', null],
    ['INPROGRESS', undefined, 'running', null],
  ] as const) {
    const one = { id: 'm', name: 'M', start: '2026-09-20T10:00:00Z', status, duration };
    t.match(
      read({ activeMaintenances: [one] }),
      [{ kind: 'maintenance', key: 'm', startsAt: at('10:00'), endsAt, state }],
      `${status} ${duration}`,
    );
  }
});

t.test('it knows an entry by its identifier, its address, or its name and start', async (t) => {
  for (const [more, key] of [
    [{}, 'i'],
    [{ id: 7 }, '7'],
    [{ id: null, url: 'https://status.example.com/incident/abc/?x=1#y' }, 'abc'],
    [{ id: null, url: '/abc' }, 'abc'],
    [{ id: null, url: 'https://status.example.com/' }, `A fault ${at('10:00')}`],
    [{ id: null, url: null }, `A fault ${at('10:00')}`],
  ] as const)
    t.match(read({ activeIncidents: [incident(more)] }), [{ key }], JSON.stringify(more));
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = read({
    activeIncidents: [
      null,
      'text',
      {},
      { name: 'nothing else' },
      incident({ id: 'x', started: 'soon', url: 'data:text/html,x', components: [{ id: 'c', name: 'API' }] }),
    ],
    activeMaintenances: [{ id: 'm', name: 'without a start', status: 'INPROGRESS' }, 5],
  });
  t.match(withoutUpdates(entries), [
    { key: 'x', startedAt: null, sourceUrl: 'https://status.example.com', components: ['API', 'c'] },
  ]);
  t.equal(entries.length, 1);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /names no page/],
    [{ page: { name: 'Example' }, activeIncidents: [] }, /names no page/],
    [{ page: { status: 'UP' } }, /names no page/],
    [{ page, activeIncidents: 'none' }, /not a list/],
    [{ page, activeMaintenances: {} }, /not a list/],
  ] as const)
    t.throws(() => readDocument(instatus, 'summary', document), { name: 'FeedFormatError', message });
});

t.test('a component in trouble is an outage until an incident explains it', async (t) => {
  const component = (id: string, status: string, more = {}) => ({
    id,
    name: id.toUpperCase(),
    status,
    isParent: false,
    ...more,
  });
  const components = [
    component('api', 'MAJOROUTAGE'),
    component('web', 'OPERATIONAL'),
    component('jobs', 'UNDERMAINTENANCE'),
    component('all', 'PARTIALOUTAGE', { isParent: true, children: [component('mail', 'PARTIAL_OUTAGE')] }),
  ];
  t.match(read({ components }), [
    { severity: 'major', status: 'investigating', components: ['API', 'api'] },
    { severity: 'minor', components: ['MAIL', 'mail'] },
  ]);
  t.match(read({ components, activeIncidents: [incident({})] }), [{ key: 'i' }], 'it names no components');
  for (const [word, severity] of [
    ['ONEMAJOROUTAGE', 'major'],
    ['SOMEDEGRADEDPERFORMANCE', 'minor'],
  ] as const)
    t.match(read({ page: { ...page, status: word } }), [{ severity, isOfWholePage: true }], word);
  for (const word of ['UP', 'HASISSUES', 'UNDERMAINTENANCE', 'SOMETHING'])
    t.equal(read({ page: { ...page, status: word } }).length, 0, word);
});
