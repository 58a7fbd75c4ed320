import t from 'tap';
import { honestyFigures, rankVendors, vendorOutages } from '../../../src/domain/incident/honesty.ts';
import type { Incident } from '../../../src/domain/incident/incident.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const INTERVAL = 5 * MINUTE;
/** Late enough for every outage of these tests. */
const NOW = 1_000 * HOUR;

function incident(id: string, more: Partial<Incident>): Incident {
  return {
    id,
    serviceId: 1,
    source: 'own',
    title: '',
    description: '',
    severity: 'major',
    status: 'resolved',
    startedAt: 0,
    resolvedAt: null,
    sourceUrl: '',
    goodChecks: 0,
    updates: [],
    ...more,
  };
}

/** An own outage from `from` to its first good check; null: it lasts. It is resolved some checks later. */
function outage(id: string, from: number, to: number | null, more: Partial<Incident> = {}): Incident {
  const monitoring = to === null ? [] : [{ at: to, status: 'monitoring' as const, text: '' }];
  return incident(id, {
    startedAt: from,
    resolvedAt: to === null ? null : to + 2 * INTERVAL,
    status: to === null ? 'investigating' : 'resolved',
    updates: [{ at: from, status: 'investigating', text: '' }, ...monitoring],
    ...more,
  });
}

const entry = (id: string, at: number): Incident =>
  incident(id, { source: 'vendor', startedAt: at, updates: [{ at, status: 'investigating', text: '' }] });

const past = (service: string, ...incidents: readonly Incident[]) => ({
  service,
  intervalMs: INTERVAL,
  incidents,
});

t.test('an outage counts that two checks in a row by schedule have seen', async (t) => {
  const lengths = [2, 5, 7, 8, 10].map((minutes) =>
    outage(`${minutes}`, minutes * 10 * HOUR, minutes * 10 * HOUR + minutes * MINUTE),
  );
  const found = vendorOutages([past('a', ...lengths)], NOW);
  t.same(
    found.map(({ incidentId }) => incidentId),
    ['10', '8'],
    'newest first',
  );
});

t.test('maintenance does not count', async (t) => {
  const list = [outage('work', 0, HOUR, { severity: 'maintenance' })];
  t.same(vendorOutages([past('a', ...list)], NOW), []);
});

t.test(
  'an outage does not count whose page could not be read until its entry, or an hour after its end',
  async (t) => {
    const list = [outage('silent', 0, HOUR), outage('told', 10 * HOUR, 12 * HOUR), entry('v', 10.5 * HOUR)];
    const counted = (from: number, to: number) =>
      vendorOutages([past('a', ...list)], NOW, [{ from, to }]).map(({ incidentId }) => incidentId);
    t.same(counted(1.9 * HOUR, 3 * HOUR), ['told']);
    t.same(counted(2.1 * HOUR, 9 * HOUR), ['told', 'silent']);
    t.same(counted(10.4 * HOUR, 10.6 * HOUR), ['silent']);
    t.same(counted(10.6 * HOUR, 20 * HOUR), ['told', 'silent']);
  },
);

t.test('an outage without an entry counts once the time for an entry is over', async (t) => {
  const ended = outage('own', 0, HOUR);
  const at = (now: number, ...more: readonly Incident[]) =>
    vendorOutages([past('a', ended, ...more)], now).map(({ lagMs }) => lagMs);
  t.same(at(2 * HOUR), []);
  t.same(at(2 * HOUR + 1), [null]);
  t.same(at(HOUR, entry('v', 20 * MINUTE)), [20 * MINUTE]);
  t.same(
    vendorOutages([past('a', outage('open', 0, null))], NOW),
    [],
    'one that lasts may still be reported',
  );
});

t.test('outages of one vendor at the same time are one, reported by its first entry', async (t) => {
  const found = vendorOutages(
    [
      past('mail', outage('m', 10 * MINUTE, 2 * HOUR), entry('v1', 50 * MINUTE)),
      past('chat', outage('c', 0, HOUR)),
      past('docs', outage('d', 3 * HOUR, 4 * HOUR)),
    ],
    NOW,
  );
  t.match(found, [
    { incidentId: 'd', service: 'docs', lagMs: null },
    { incidentId: 'c', service: 'chat', startedAt: 0, endedAt: 2 * HOUR, lagMs: 50 * MINUTE },
  ]);
});

t.test('an outage that lasts takes in what began with it, and no more', async (t) => {
  const others = [1, 2, 3].map((day) => outage(`later-${day}`, day * 24 * HOUR, (day * 24 + 1) * HOUR));
  const found = vendorOutages(
    [past('a', outage('open', 0, null), entry('v', HOUR)), past('b', ...others)],
    NOW,
  );
  t.same(
    found.map(({ incidentId }) => incidentId),
    ['later-3', 'later-2', 'later-1', 'open'],
  );
});

t.test('figures take an outage that was never reported for the longest', async (t) => {
  const of = (...lags: readonly (number | null)[]) => honestyFigures(lags.map((lagMs) => ({ lagMs })));
  t.same(of(), { outages: 0, acknowledged: 0, medianMs: null, worstMs: null });
  t.same(of(5, -1, 9), { outages: 3, acknowledged: 3, medianMs: 5, worstMs: 9 });
  t.same(of(5, null), { outages: 2, acknowledged: 1, medianMs: 5, worstMs: 5 });
  t.same(of(5, null, null), { outages: 3, acknowledged: 1, medianMs: null, worstMs: 5 });
});

t.test(
  'vendors of at least five outages are ranked by their medians, then by the part that they reported',
  async (t) => {
    const vendor = (name: string, outages: number, acknowledged: number, medianMs: number | null) => ({
      name,
      outages,
      acknowledged,
      medianMs,
      worstMs: medianMs,
    });
    const ranked = rankVendors([
      vendor('few', 4, 4, 1),
      vendor('silent', 10, 0, null),
      vendor('half', 10, 4, null),
      vendor('slow', 5, 5, 9),
      vendor('quick', 5, 5, 2),
      vendor('equal', 10, 10, 2),
      vendor('one', 1, 1, 1),
    ]);
    t.same(
      ranked.map(({ name, rank }) => [name, rank]),
      [
        ['quick', 1],
        ['equal', 1],
        ['slow', 3],
        ['half', 4],
        ['silent', 5],
        ['few', null],
        ['one', null],
      ],
    );
  },
);
