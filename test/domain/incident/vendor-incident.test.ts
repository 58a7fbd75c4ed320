/** The life of a vendor's incident over many reads, and of a maintenance by the clock. */
import fc from 'fast-check';
import t from 'tap';
import type { FeedIncident, FeedMaintenance } from '../../../src/domain/incident/feed-entry.ts';
import { INCIDENT_STATUSES, type Incident } from '../../../src/domain/incident/incident.ts';
import {
  isWithin,
  type Maintenance,
  maintenanceIncident,
  maintenanceOf,
  nextPhaseAt,
  phaseAt,
} from '../../../src/domain/incident/maintenance.ts';
import {
  endVanished,
  hasEnded,
  vendorIncident,
  worstOf,
} from '../../../src/domain/incident/vendor-incident.ts';

const START = Date.UTC(2026, 0, 1);

const HOUR = 3_600_000;

const DAY = 24 * HOUR;

const CONTEXT = { id: 'i', serviceId: 1 };

const time = fc.integer({ min: START, max: START + DAY });

const update = fc.record({
  at: time,
  status: fc.constantFrom(...INCIDENT_STATUSES),
  text: fc.constantFrom('', 'We look.', 'A fix is out.'),
});

const entry: fc.Arbitrary<FeedIncident> = fc
  .record({
    status: fc.constantFrom(...INCIDENT_STATUSES),
    startedAt: fc.option(time),
    resolvedAt: fc.option(time),
    updates: fc.array(update, { maxLength: 6 }),
  })
  .map(({ status, startedAt, resolvedAt, updates }) => ({
    kind: 'incident',
    key: 'k',
    title: 'API errors',
    sourceUrl: 'https://status.example/k',
    components: null,
    severity: 'minor',
    status,
    startedAt,
    resolvedAt: status === 'resolved' ? resolvedAt : null,
    updates: updates.sort((a, b) => a.at - b.at),
  }));

/** What the same document leaves after several reads, and after each step. */
function read(entries: readonly FeedIncident[]): Incident[] {
  let stored: Incident | null = null;
  return entries.map((one, index) => {
    stored = vendorIncident(stored, one, { ...CONTEXT, readAt: START + 2 * DAY + index });
    return stored;
  });
}

t.test('any feed gives a consistent incident, and reading it again changes nothing', async () => {
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 5 }), (entries) => {
      const states = read(entries);
      for (const [index, state] of states.entries()) {
        const one = entries[index];
        if (one === undefined) return false;
        const ordered = state.updates.every(
          ({ at }, place) => place === 0 || at >= (state.updates[place - 1]?.at ?? 0),
        );
        const ends = (state.resolvedAt === null) === (state.status !== 'resolved');
        const forward = state.resolvedAt === null || state.resolvedAt >= state.startedAt;
        const speaks = state.updates.at(-1)?.status === state.status;
        const again = vendorIncident(state, one, { ...CONTEXT, readAt: START + 9 * DAY });
        if (!ordered || !ends || !forward || !speaks || JSON.stringify(again) !== JSON.stringify(state))
          return false;
      }
      return true;
    }),
  );
});

t.test('it keeps every update that was ever listed', async () => {
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 4 }), (entries) => {
      const last = read(entries).at(-1);
      const kept = new Set(last?.updates.map(({ at, status }) => `${at} ${status}`));
      // A lone newest state that says the same again may be stamped anew.
      return entries.every(
        ({ updates }) => updates.length < 2 || updates.every(({ at, status }) => kept.has(`${at} ${status}`)),
      );
    }),
  );
});

t.test('a feed with only the newest state gets no update from a new time', async (t) => {
  const told = { status: 'identified', text: 'A fix is on its way.' } as const;
  const stamped = (...updates: FeedIncident['updates']): FeedIncident => ({
    kind: 'incident',
    key: 'k',
    title: 'Slow',
    sourceUrl: 'https://status.example/k',
    components: null,
    severity: 'minor',
    status: updates.at(-1)?.status ?? 'investigating',
    startedAt: START,
    resolvedAt: null,
    updates,
  });
  const timesOf = (entries: readonly FeedIncident[]) =>
    read(entries)
      .at(-1)
      ?.updates.map(({ at }) => at);
  const first = stamped({ at: START, ...told });
  const again = [1, 2, 3].map((hours) => stamped({ at: START + hours * HOUR, ...told }));
  t.same(timesOf([first, ...again]), [START]);
  const other = { at: START + HOUR, status: 'identified', text: 'It takes longer.' } as const;
  t.same(timesOf([first, stamped(other), ...again]), [START, START + HOUR], 'another text is an update');
  const moved = { at: START + HOUR, status: 'monitoring', text: told.text } as const;
  t.same(timesOf([first, stamped(moved)]), [START, START + HOUR], 'another status is an update');
  const both = stamped({ at: START, ...told }, { at: START + HOUR, ...told });
  t.same(timesOf([first, both]), [START, START + HOUR], 'a list of several is a timeline');
  const maintenance = plan({ updates: [{ at: START, ...told }] });
  t.same(
    plan({ updates: [{ at: START + HOUR, ...told }] }, maintenance).updates.map(({ at }) => at),
    [START],
    'of a maintenance too',
  );
});

t.test('without a start in the feed, the incident starts at the first read', async (t) => {
  const bare: FeedIncident = {
    kind: 'incident',
    key: 'k',
    title: 'Slow',
    sourceUrl: 'https://status.example/',
    components: null,
    severity: 'minor',
    status: 'identified',
    startedAt: null,
    resolvedAt: null,
    updates: [],
  };
  const first = vendorIncident(null, bare, { ...CONTEXT, readAt: START });
  t.match(first, {
    startedAt: START,
    description: '',
    updates: [{ at: START, status: 'identified', text: '' }],
  });
  const moved = vendorIncident(
    first,
    { ...bare, status: 'monitoring' },
    { ...CONTEXT, readAt: START + HOUR },
  );
  t.match(moved, { startedAt: START, updates: [{}, { at: START + HOUR, status: 'monitoring' }] });
  const gone = endVanished(moved, START + 2 * HOUR);
  t.match(gone, { status: 'resolved', resolvedAt: START + 2 * HOUR });
  t.match(vendorIncident(gone, bare, { ...CONTEXT, readAt: START + 3 * HOUR }), {
    status: 'identified',
    resolvedAt: null,
    updates: [{}, {}, { status: 'resolved' }, { at: START + 3 * HOUR, status: 'identified' }],
  });
});

t.test("it takes the vendor's own word of an end that it had to infer before", async (t) => {
  const open: FeedIncident = {
    kind: 'incident',
    key: 'k',
    title: 'Errors',
    sourceUrl: 'https://status.example/',
    components: null,
    severity: 'major',
    status: 'monitoring',
    startedAt: START,
    resolvedAt: null,
    updates: [{ at: START, status: 'monitoring', text: 'A fix is out.' }],
  };
  const end = { at: START + HOUR, status: 'resolved', text: 'All is well.' } as const;
  const known = vendorIncident(null, open, { ...CONTEXT, readAt: START });
  const gone = endVanished(known, START + HOUR + 5_000);
  t.match(gone, {
    description: 'A fix is out.',
    updates: [{}, { text: 'The status page no longer lists it.' }],
  });
  const told: FeedIncident = { ...open, status: 'resolved', updates: [...open.updates, end] };
  const ended = vendorIncident(gone, told, { ...CONTEXT, readAt: START + HOUR + 6_000 });
  t.match(ended, { status: 'resolved', resolvedAt: end.at, description: 'All is well.' });
  t.same(ended.updates, [...open.updates, end]);
  t.same(vendorIncident(ended, told, { ...CONTEXT, readAt: START + DAY }), ended);
});

t.test('it bounds a timeline to the first and the newest 99 updates', async (t) => {
  const updates = Array.from({ length: 150 }, (_, index) => ({
    at: START + index,
    status: 'investigating' as const,
    text: `update ${index}`,
  }));
  const [state] = read([
    {
      kind: 'incident',
      key: 'k',
      title: 'Long',
      sourceUrl: 'https://status.example/',
      components: null,
      severity: 'minor',
      status: 'investigating',
      startedAt: START,
      resolvedAt: null,
      updates,
    },
  ]);
  t.equal(state?.updates.length, 100);
  t.match(state?.updates[0], { text: 'update 0' });
  t.match(state?.updates[1], { text: 'update 51' });
});

t.test('it ends missing entries, but not those that newer entries may have displaced', async (t) => {
  const newer = Array.from({ length: 10 }, (_, index) => START + index + 1);
  const table: readonly [Parameters<typeof hasEnded>[1], boolean][] = [
    [{ listsOnlyOpen: false, starts: [], readAt: START }, true],
    [{ listsOnlyOpen: false, starts: newer.slice(1), readAt: START }, true],
    [{ listsOnlyOpen: false, starts: newer, readAt: START }, false],
    [{ listsOnlyOpen: false, starts: newer, readAt: START + 31 * DAY }, true],
    [{ listsOnlyOpen: false, starts: [...newer, START - 1], readAt: START }, true],
    [{ listsOnlyOpen: true, starts: newer, readAt: START }, true],
  ];
  for (const [listed, ended] of table) t.equal(hasEnded(START, listed), ended, JSON.stringify(listed));
});

const PLAN: FeedMaintenance = {
  kind: 'maintenance',
  key: 'm',
  title: 'Upgrade',
  sourceUrl: 'https://status.example/m',
  components: null,
  updates: [],
  startsAt: START,
  endsAt: START + HOUR,
  state: 'planned',
};

function plan(change: Partial<FeedMaintenance> = {}, stored: Maintenance | null = null): Maintenance {
  return maintenanceOf(stored, { ...PLAN, ...change }, CONTEXT);
}

t.test('the phase of a maintenance follows the clock and its vendor', async (t) => {
  const table: readonly [Partial<FeedMaintenance>, number, string, number | null][] = [
    [{}, START - 1, 'planned', START],
    [{}, START, 'running', START + HOUR],
    [{}, START + HOUR - 1, 'running', START + HOUR],
    [{}, START + HOUR, 'ended', null],
    [{ endsAt: null }, START + DAY - 1, 'running', START + DAY],
    [{ endsAt: null }, START + DAY, 'ended', null],
    [{ state: 'running' }, START - HOUR, 'running', START + HOUR + DAY],
    [{ state: 'running' }, START + 2 * HOUR, 'running', START + HOUR + DAY],
    [{ state: 'running' }, START + HOUR + DAY, 'ended', null],
    [{ state: 'done' }, START - HOUR, 'ended', null],
    [{ state: 'done' }, START + 1, 'ended', null],
  ];
  for (const [change, at, phase, next] of table) {
    const name = `${JSON.stringify(change)} at ${at - START}`;
    t.equal(phaseAt(plan(change), at), phase, name);
    t.equal(nextPhaseAt(plan(change), at), next, name);
  }
  t.equal(isWithin(plan(), START - 1), false);
  t.equal(isWithin(plan(), START), true);
  t.equal(isWithin(plan(), START + HOUR), false);
  t.equal(isWithin(plan({ state: 'done' }), START + 1), false);
  t.equal(
    isWithin({ ...plan({ state: 'running' }), phase: 'running' }, START - HOUR),
    true,
    'it began early',
  );
});

t.test('a maintenance is an incident from its start to its end', async (t) => {
  t.equal(maintenanceIncident(plan(), null, START - 1), null);
  t.equal(maintenanceIncident(plan({ state: 'done' }), null, START - 1), null, 'called off');
  const early = plan({ state: 'done', endsAt: START - HOUR });
  t.equal(maintenanceIncident(early, null, START + HOUR), null, 'done before it was to begin');
  const running = maintenanceIncident(plan(), null, START + 7);
  t.match(running, {
    severity: 'maintenance',
    status: 'identified',
    startedAt: START,
    resolvedAt: null,
    updates: [{ at: START, status: 'identified', text: 'The maintenance has started.' }],
  });
  t.strictSame(maintenanceIncident(plan(), running, START + 9), running, 'a second look changes nothing');
  const over = maintenanceIncident(plan(), running, START + 2 * HOUR);
  t.match(over, { status: 'resolved', resolvedAt: START + HOUR, updates: [{}, { status: 'resolved' }] });
  t.strictSame(maintenanceIncident(plan(), over, START + 3 * HOUR), over);
  t.match(maintenanceIncident(plan({ state: 'done', endsAt: null }), null, START + HOUR), {
    status: 'resolved',
    startedAt: START,
    resolvedAt: START + HOUR,
  });
  const extended = plan({ endsAt: START + 5 * HOUR });
  t.match(maintenanceIncident(extended, over, START + 2 * HOUR), { status: 'identified', resolvedAt: null });
});

t.test('the most severe open incident counts, of equals the newest', async (t) => {
  const open = (id: string, severity: Incident['severity'], startedAt: number) => ({
    id,
    severity,
    startedAt,
  });
  t.equal(worstOf([]), null);
  t.match(worstOf([open('a', 'minor', 1), open('b', 'critical', 0), open('c', 'major', 9)]), { id: 'b' });
  t.match(worstOf([open('a', 'maintenance', 9), open('b', 'minor', 0)]), { id: 'b' });
  t.match(worstOf([open('a', 'major', 1), open('b', 'major', 2)]), { id: 'b' });
});

const open = (
  id: string,
  severity: Parameters<typeof worstOf>[0][number]['severity'],
  startedAt: number,
) => ({
  id,
  severity,
  startedAt,
});

t.test('the most severe counts, of these the newest, and of equal ones the first', async (t) => {
  t.equal(worstOf([]), null);
  const list = [
    open('a', 'maintenance', 9),
    open('b', 'major', 1),
    open('c', 'minor', 8),
    open('d', 'major', 3),
    open('e', 'major', 3),
  ];
  t.equal(worstOf(list)?.id, 'd');
  t.equal(worstOf([...list, open('f', 'critical', 0)])?.id, 'f');
  t.equal(worstOf(list.slice(0, 1))?.id, 'a');
});
