import fc from 'fast-check';
import t from 'tap';
import type { FeedEntry, FeedIncident, FeedMaintenance } from '../../src/domain/incident/feed-entry.ts';
import { collectEntries } from '../../src/feeds/build-entry.ts';

const NOW = Date.UTC(2026, 8, 20, 12);
const DAY = 86_400_000;

function incident(key: string, startedAt: number | null, more: Partial<FeedIncident> = {}): FeedIncident {
  return {
    kind: 'incident',
    key,
    title: key,
    sourceUrl: 'https://status.example.com',
    components: null,
    updates: [],
    severity: 'minor',
    status: 'investigating',
    startedAt,
    resolvedAt: null,
    ...more,
  };
}

function maintenance(key: string, startsAt: number): FeedMaintenance {
  const { severity, status, startedAt, resolvedAt, ...base } = incident(key, null);
  return { ...base, kind: 'maintenance', startsAt, endsAt: null, state: 'planned' };
}

function keysOf(entries: readonly FeedEntry[]): string[] {
  return entries.map(({ key }) => key);
}

t.test('it puts the newest start first; one without a start counts from now', async (t) => {
  const entries = [
    incident('old', NOW - DAY),
    maintenance('planned', NOW + DAY),
    incident('b', NOW - 5),
    incident('a', NOW - 5),
    incident('unknown', null),
  ];
  t.same(keysOf(collectEntries(entries, NOW)), ['planned', 'unknown', 'a', 'b', 'old']);
});

t.test('it leaves out what started over 400 days ago', async (t) => {
  const entries = [
    incident('kept', NOW - 400 * DAY),
    incident('old', NOW - 400 * DAY - 1),
    maintenance('old too', NOW - 401 * DAY),
  ];
  t.same(keysOf(collectEntries(entries, NOW)), ['kept']);
});

t.test(
  'it reads times of an incident that lie ahead as missing, and those of a maintenance as they are',
  async (t) => {
    const ahead = NOW + DAY + 1;
    const update = { status: 'investigating', text: '' } as const;
    const updates = [
      { ...update, at: NOW },
      { ...update, at: ahead },
    ];
    const entry = incident('i', ahead, { status: 'resolved', resolvedAt: ahead, updates });
    t.same(collectEntries([entry], NOW), [
      { ...entry, startedAt: null, resolvedAt: null, updates: [{ ...update, at: NOW }] },
    ]);
    const near = incident('i', NOW + DAY);
    t.same(collectEntries([near], NOW), [near]);
    t.same(collectEntries([maintenance('m', ahead)], NOW), [maintenance('m', ahead)]);
  },
);

t.test('of two with the same key the newer counts, wherever it stands', async (t) => {
  const update = (at: number) => ({ updates: [{ at, status: 'identified', text: '' }] }) as const;
  for (const [newer, older] of [
    [incident('k', NOW - 9, update(NOW)), incident('k', NOW, update(NOW - 1))],
    [incident('k', NOW), incident('k', NOW - 1)],
    [incident('k', NOW, update(NOW)), incident('k', NOW)],
  ] as const) {
    t.same(collectEntries([newer, older], NOW), [newer]);
    t.same(collectEntries([older, newer], NOW), [newer]);
  }
  const first = incident('k', NOW, { title: 'first' });
  t.same(collectEntries([first, incident('k', NOW, { title: 'second' })], NOW), [first]);
});

t.test('it keeps at most the 2,000 newest', async () => {
  const offsets = fc.array(fc.nat(300 * 24), { minLength: 2_500, maxLength: 2_600 });
  fc.assert(
    fc.property(offsets, (hours) => {
      const entries = hours.map((hour, index) => incident(`${index}`, NOW - hour * 3_600_000));
      const kept = collectEntries(entries, NOW).map(({ key }) => hours[Number(key)] ?? 0);
      const newest = hours.toSorted((a, b) => a - b).slice(0, 2_000);
      return kept.length === 2_000 && kept.every((hour, index) => hour === newest[index]);
    }),
    { numRuns: 5 },
  );
});
