/** The lag between our first failed check and the vendor's first entry. */
import t from 'tap';
import {
  type Acknowledgement,
  acknowledgements,
  gatherTrouble,
  summarizeLags,
} from '../../../src/domain/incident/acknowledgement.ts';
import type { Incident } from '../../../src/domain/incident/incident.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function make(
  source: Incident['source'],
  id: string,
  startedAt: number,
  change: Partial<Incident> = {},
): Incident {
  return {
    id,
    serviceId: 1,
    source,
    title: id,
    description: '',
    severity: 'major',
    status: 'resolved',
    startedAt,
    resolvedAt: startedAt + 10 * MINUTE,
    sourceUrl: 'http://localhost/',
    goodChecks: 0,
    updates: [{ at: startedAt, status: 'investigating', text: '' }],
    ...change,
  };
}

t.test("it pairs an outage with the vendor's entry around it", async (t) => {
  const outage = make('own', 'own', START);
  const at = (published: number, change: Partial<Incident> = {}) =>
    make('vendor', 'vendor', START - 5 * MINUTE, {
      updates: [{ at: published, status: 'investigating', text: '' }],
      ...change,
    });
  const table: readonly [string, Incident, number | null][] = [
    ['after it began', at(START + 3 * MINUTE), 3 * MINUTE],
    ['before it was seen', at(START - 2 * MINUTE), -2 * MINUTE],
    ['an hour before', at(START - HOUR), -HOUR],
    ['more than an hour before', at(START - HOUR - 1), null],
    ['an hour after its end', at(START + 10 * MINUTE + HOUR), 10 * MINUTE + HOUR],
    ['more than an hour after its end', at(START + 10 * MINUTE + HOUR + 1), null],
    ['a maintenance', at(START, { severity: 'maintenance' }), null],
    ['over before it began', at(START - 30 * MINUTE, { resolvedAt: START - 1 }), null],
    ['over as it began', at(START - 30 * MINUTE, { resolvedAt: START }), -30 * MINUTE],
    ['without updates', make('vendor', 'vendor', START + MINUTE, { updates: [] }), MINUTE],
  ];
  for (const [name, vendor, lagMs] of table) {
    t.match(acknowledgements([vendor, outage], START + 9 * HOUR), [{ incidentId: 'own', lagMs }], name);
  }
  const late = at(START + 3 * MINUTE);
  for (const [from, to, isKnown] of [
    [-20, -5, true],
    [-20, 1, false],
    [1, 2, false],
    [4, 30, true],
  ] as const) {
    const unread = [{ from: START + from * MINUTE, to: START + to * MINUTE }];
    const found = acknowledgements([late, outage], START + 9 * HOUR, unread);
    t.equal(found.length, isKnown ? 1 : 0, `unread from ${from} to ${to}`);
  }
  const open = make('own', 'open', START, { resolvedAt: null, status: 'investigating' });
  t.match(acknowledgements([open, at(START + 5 * HOUR)], START + 5 * HOUR), [{ lagMs: 5 * HOUR }]);
  t.same(acknowledgements([make('own', 'm', START, { severity: 'maintenance' })], START), []);
});

t.test('it takes the first of several entries and lists the newest outage first', async (t) => {
  const list = acknowledgements(
    [
      make('vendor', 'second', START + 2 * MINUTE),
      make('vendor', 'first', START + MINUTE),
      make('own', 'old', START),
      make('own', 'new', START + 20 * HOUR),
    ],
    START + 30 * HOUR,
  );
  t.match(list, [
    { incidentId: 'new', vendorIncidentId: null, acknowledgedAt: null },
    { incidentId: 'old', vendorIncidentId: 'first', acknowledgedAt: START + MINUTE },
  ]);
});

t.test('it returns the median and the maximum of the known lags', async (t) => {
  const lags = (...values: readonly (number | null)[]): Acknowledgement[] =>
    values.map((lagMs) => ({
      incidentId: 'o',
      startedAt: 0,
      vendorIncidentId: null,
      acknowledgedAt: null,
      lagMs,
    }));
  const table: readonly [Acknowledgement[], object][] = [
    [lags(), { outages: 0, acknowledged: 0, medianMs: null, worstMs: null }],
    [lags(null), { outages: 1, acknowledged: 0, medianMs: null, worstMs: null }],
    [lags(5), { outages: 1, acknowledged: 1, medianMs: 5, worstMs: 5 }],
    [lags(9, null, -3), { outages: 3, acknowledged: 2, medianMs: 3, worstMs: 9 }],
    [lags(9, 1, 2), { outages: 3, acknowledged: 3, medianMs: 2, worstMs: 9 }],
  ];
  for (const [list, expected] of table) t.strictSame(summarizeLags(list), expected);
});

const NOW = Date.UTC(2026, 10, 20, 10);

function incident(id: string, source: Incident['source'], from: number, to: number | null): Incident {
  return {
    id,
    serviceId: 1,
    source,
    title: id,
    description: '',
    severity: 'major',
    status: to === null ? 'investigating' : 'resolved',
    startedAt: NOW + from,
    resolvedAt: to === null ? null : NOW + to,
    sourceUrl: '',
    goodChecks: 0,
    updates: [{ at: NOW + from, status: 'investigating', text: '' }],
  };
}

const ids = (all: readonly Incident[]) => all.map(({ id }) => id);

t.test(
  'it joins an outage with the entry of the vendor that acknowledges it, from either side',
  async (t) => {
    const ours = incident('ours', 'own', -3 * HOUR, -HOUR);
    const theirs = incident('theirs', 'vendor', -2 * HOUR, -30 * MINUTE);
    const others = [
      incident('before', 'vendor', -30 * HOUR, -29 * HOUR),
      incident('later', 'vendor', -10 * MINUTE, null),
      incident('again', 'own', -9 * MINUTE, null),
    ];
    const known = [...others, theirs, ours];
    for (const [shown, companion] of [
      [ours, 'theirs'],
      [theirs, 'ours'],
    ] as const) {
      const { companions, acknowledgement } = gatherTrouble(shown, known, NOW);
      t.same([ids(companions), acknowledgement?.lagMs], [[companion], HOUR], shown.id);
    }
  },
);

t.test('a vendor that acknowledges several outages answers the first of them', async (t) => {
  const theirs = incident('theirs', 'vendor', -2 * HOUR, null);
  const known = [
    incident('over an hour later', 'own', -30 * MINUTE, null),
    incident('first', 'own', -2 * HOUR - 7 * MINUTE, -100 * MINUTE),
    incident('second', 'own', -90 * MINUTE, -80 * MINUTE),
    theirs,
  ];
  const { companions, acknowledgement } = gatherTrouble(theirs, known, NOW);
  t.same([ids(companions), acknowledgement?.lagMs], [['first', 'second'], 7 * MINUTE]);
});

t.test('what an owner says, and maintenance, belong to the outages that they overlap', async (t) => {
  const during = incident('during', 'own', -50 * MINUTE, -40 * MINUTE);
  const known = [
    during,
    incident('before', 'own', -3 * HOUR, -2 * HOUR),
    incident('owner', 'owner', -HOUR, -30 * MINUTE),
    { ...incident('maintenance', 'vendor', -HOUR, null), severity: 'maintenance' } as const,
  ];
  t.same(ids(gatherTrouble(during, known, NOW).companions), ['owner', 'maintenance']);
  for (const shown of known.slice(2)) {
    const { companions, acknowledgement } = gatherTrouble(shown, known, NOW);
    t.same([ids(companions), acknowledgement], [['during'], null], shown.id);
  }
});

t.test('it gives the first ten of a service that flaps', async (t) => {
  const theirs = incident('theirs', 'vendor', -HOUR, null);
  const flaps = Array.from({ length: 30 }, (_, index) =>
    incident(`flap-${index}`, 'own', (index - 60) * MINUTE, (index - 60) * MINUTE + 1),
  );
  const { companions } = gatherTrouble(theirs, flaps, NOW);
  t.same([companions.length, companions[0]?.id], [10, 'flap-0']);
});
