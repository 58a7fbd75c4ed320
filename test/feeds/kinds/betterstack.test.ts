import t from 'tap';
import { betterstack } from '../../../src/feeds/kinds/betterstack.ts';
import { at, fixture, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const data = { id: '1', type: 'status_page', attributes: { company_name: 'Example' } };

/** Keys of outages without a report, which a report may continue. */
const STATE_KEYS = ['state critical', 'state major', 'state minor'];

function read(...included: unknown[]) {
  return readDocument(betterstack, 'index', { data, included }).entries;
}

function report(attributes: object, updates: readonly unknown[] = []) {
  return {
    id: 'r',
    type: 'status_report',
    attributes: {
      title: 'A fault',
      report_type: 'manual',
      starts_at: '2026-09-20T10:00:00Z',
      ...attributes,
    },
    relationships: {
      status_updates: { data: updates.map((_, index) => ({ id: `u${index}`, type: 'status_update' })) },
    },
  };
}

/** A report with its updates, each given as `time status of the part`. */
function withUpdates(attributes: object, ...updates: string[]) {
  return [
    report(attributes, updates),
    ...updates.map((text, index) => {
      const [time, status] = text.split(' ');
      return {
        id: `u${index}`,
        type: 'status_update',
        attributes: {
          message: text,
          published_at: `2026-09-20T${time}:00Z`,
          affected_resources: status === undefined ? [] : [{ status_page_resource_id: 1, status }],
        },
      };
    }),
  ];
}

t.test('it asks for the index', async (t) => {
  for (const [pageUrl, feedUrl] of [
    ['https://status.example.com/', null],
    ['https://example.com', 'https://status.example.com'],
    ['https://example.com', 'https://status.example.com/index.json'],
  ] as const)
    t.same(
      betterstack.addresses({ pageUrl, feedUrl }).map(({ url }) => url),
      ['https://status.example.com/index.json'],
    );
});

t.test('it reads a recorded index', async (t) => {
  const common = { sourceUrl: 'https://status.example.com', components: ['Jobs', '9', 'Services'] };
  t.same(readDocument(betterstack, 'index', fixture('betterstack-index')), {
    listsOnlyOpen: false,
    entries: [
      {
        kind: 'maintenance',
        key: '80',
        title: 'New disks',
        ...common,
        updates: [{ at: at('2026-09-18T08:00:00Z'), status: 'identified', text: 'We change disks.' }],
        startsAt: at('2026-09-21T02:00:00Z'),
        endsAt: at('2026-09-21T03:00:00Z'),
        state: 'planned',
      },
      {
        kind: 'incident',
        key: '77',
        title: 'Delayed jobs',
        ...common,
        updates: [
          { at: at('09:56'), status: 'investigating', text: 'Jobs wait.' },
          { at: at('10:00'), status: 'investigating', text: 'Queue is draining.' },
        ],
        severity: 'major',
        status: 'investigating',
        startedAt: at('09:55'),
        resolvedAt: null,
        continues: STATE_KEYS,
      },
      {
        kind: 'incident',
        key: '70',
        title: 'API down',
        ...common,
        updates: [{ at: at('2026-09-19T09:20:00Z'), status: 'resolved', text: 'Recovered.' }],
        severity: 'minor',
        status: 'resolved',
        startedAt: at('2026-09-19T09:00:00Z'),
        resolvedAt: at('2026-09-19T09:20:00Z'),
        continues: STATE_KEYS,
      },
    ],
  });
});

t.test('it maps every state of reports', async (t) => {
  for (const [aggregate_state, severity, status] of [
    ['degraded', 'minor', 'investigating'],
    ['downtime', 'major', 'investigating'],
    ['resolved', 'minor', 'resolved'],
    ['operational', 'minor', 'resolved'],
    ['puzzling', 'minor', 'investigating'],
    [undefined, 'minor', 'investigating'],
  ] as const)
    t.match(read(report({ aggregate_state })), [{ severity, status }], String(aggregate_state));
});

t.test('it takes the worst that befell a part for the severity, also afterwards', async (t) => {
  for (const [words, severity] of [
    [['degraded'], 'minor'],
    [['degraded', 'downtime', 'resolved'], 'major'],
    [['not_monitored', 'operational'], 'minor'],
  ] as const) {
    const updates = words.map((word, index) => `10:0${index} ${word}`);
    t.match(read(...withUpdates({ aggregate_state: 'resolved' }, ...updates)), [{ severity }]);
  }
});

t.test('it knows the end by the state of the report, not by its time', async (t) => {
  const ends_at = '2026-09-20T11:00:00Z';
  for (const [attributes, resolvedAt] of [
    [{ aggregate_state: 'resolved', ends_at }, at('11:00')],
    [{ aggregate_state: 'resolved', ends_at: null }, at('10:30')],
    [{ aggregate_state: 'degraded', ends_at }, null],
  ] as const)
    t.match(read(...withUpdates(attributes, '10:30 resolved', '10:10 degraded')), [{ resolvedAt }]);
  t.match(read(report({ aggregate_state: 'resolved' })), [{ status: 'resolved', resolvedAt: null }]);
});

t.test('it orders updates and tells those in which the parts have recovered', async (t) => {
  const statuses = (state: string) =>
    read(...withUpdates({ aggregate_state: state }, '10:30', '10:20 resolved', '10:10 degraded'))[0]?.updates;
  const update = (time: string, status: string, text: string) => ({ at: at(time), status, text });
  const first = [
    update('10:10', 'investigating', '10:10 degraded'),
    update('10:20', 'resolved', '10:20 resolved'),
  ];
  t.same(statuses('resolved'), [...first, update('10:30', 'resolved', '10:30')]);
  t.same(statuses('degraded'), [...first, update('10:30', 'investigating', '10:30')]);
});

t.test('it maps every state of maintenances, of which the page tells only the end', async (t) => {
  const ends_at = '2026-09-20T11:00:00Z';
  for (const [attributes, state, endsAt] of [
    [{ report_type: 'maintenance', aggregate_state: 'maintenance', ends_at }, 'planned', at('11:00')],
    [{ report_type: 'manual', aggregate_state: 'maintenance', ends_at: null }, 'planned', null],
    [{ report_type: 'maintenance', aggregate_state: 'resolved', ends_at }, 'done', at('11:00')],
    [{ report_type: 'maintenance' }, 'planned', null],
  ] as const)
    t.match(read(report(attributes)), [{ kind: 'maintenance', startsAt: at('10:00'), endsAt, state }]);
  t.same(read(report({ report_type: 'maintenance', starts_at: null })), []);
});

t.test('parts that are not well make an incident while no report says so', async (t) => {
  const section = { id: '7', type: 'status_page_section', attributes: { name: 'Services' } };
  const part = (id: string, status: string) => ({
    id,
    type: 'status_page_resource',
    attributes: { public_name: `Part ${id}`, status, status_page_section_id: 7 },
  });
  const open = (state: string, ...ids: string[]) =>
    report({
      aggregate_state: state,
      affected_resources: ids.map((id) => ({ status_page_resource_id: id, status: state })),
    });
  const major = {
    key: 'state major',
    title: 'Downtime',
    severity: 'major',
    status: 'investigating',
    updates: [],
    continues: ['state critical', 'state minor'],
  };
  const minor = {
    ...major,
    key: 'state minor',
    continues: ['state critical', 'state major'],
    title: 'Degraded performance',
    severity: 'minor',
  };
  const maintained = { ...open('maintenance', '1'), id: 'm' };
  for (const [included, expected] of [
    [[part('1', 'operational'), part('2', 'maintenance'), part('3', 'not_monitored')], []],
    [[section, part('1', 'downtime')], [{ ...major, components: ['Part 1', '1', 'Services'] }]],
    [
      [part('1', 'downtime'), part('2', 'degraded'), part('3', 'downtime')],
      [
        { ...major, components: ['Part 1', '1', 'Part 3', '3'] },
        { ...minor, components: ['Part 2', '2'] },
      ],
    ],
    // What a report accounts for is told once, by the report; one without parts concerns them all.
    [[part('1', 'downtime'), open('downtime', '1')], [{ key: 'r' }]],
    [[part('1', 'downtime'), open('downtime')], [{ key: 'r' }]],
    [
      [part('1', 'downtime'), part('2', 'downtime'), open('downtime', '1')],
      [major, { key: 'r' }],
    ],
    [[part('1', 'downtime'), maintained], [{ key: 'm' }]],
    // A report that is over accounts for nothing.
    [
      [part('1', 'downtime'), open('resolved', '1')],
      [major, { key: 'r' }],
    ],
  ] as const)
    t.match(read(...included), expected, JSON.stringify(included));
});

t.test('the state of the page counts where no part and no report accounts for it', async (t) => {
  const readPage = (aggregate_state: unknown, ...included: unknown[]) =>
    readDocument(betterstack, 'index', { data: { ...data, attributes: { aggregate_state } }, included })
      .entries;
  for (const [state, expected] of [
    [
      'downtime',
      [{ key: 'state major', components: null, severity: 'major', startedAt: null, isOfWholePage: true }],
    ],
    ['degraded', [{ key: 'state minor', components: null, severity: 'minor' }]],
    ['operational', []],
    ['maintenance', []],
    ['puzzling', []],
    [null, []],
  ] as const) {
    t.match(readPage(state), expected, String(state));
    t.equal(readPage(state).length, expected.length);
  }
  t.match(readPage('downtime', report({ aggregate_state: 'downtime' })), [{ key: 'r' }]);
});

t.test('the newest update of a maintenance that is over tells its end', async (t) => {
  const statuses = (aggregate_state: string) =>
    read(...withUpdates({ report_type: 'maintenance', aggregate_state }, '10:10', '10:40'))[0]?.updates.map(
      ({ status }) => status,
    );
  t.same(statuses('resolved'), ['identified', 'resolved']);
  t.same(statuses('maintenance'), ['identified', 'identified']);
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = read(
    null,
    'text',
    { type: 'status_report' },
    { id: 'a', type: 'status_report' },
    { id: 'b', type: 'status_report', attributes: [], relationships: { status_updates: { data: null } } },
    {
      ...report({ affected_resources: [{ status_page_resource_id: 404 }, 3] }, [1, 2]),
      id: 'c',
    },
    { id: 'u0', type: 'status_update', attributes: { message: 'without a time' } },
  );
  const empty = { title: 'Incident', startedAt: null, components: null, status: 'investigating' };
  t.match(withoutUpdates(entries), [
    { key: 'a', ...empty },
    { key: 'b', ...empty },
    { key: 'c', title: 'A fault', components: ['404'] },
  ]);
  t.same(entries[2]?.updates, []);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /not of a status page/],
    [{ data: { type: 'monitor' }, included: [] }, /not of a status page/],
    [{ data }, /no list/],
    [{ data, included: {} }, /no list/],
  ] as const)
    t.throws(() => readDocument(betterstack, 'index', document), { name: 'FeedFormatError', message });
  t.same(read(), [], 'a page that monitors nothing');
});
