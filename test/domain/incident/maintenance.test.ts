/** The phases of maintenance by the clock, by what its vendor says, and as an incident. */
import t from 'tap';
import {
  isWithin,
  type Maintenance,
  maintenanceIncident,
  nextPhaseAt,
  phaseAt,
} from '../../../src/domain/incident/maintenance.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 20, 12);
const END = START + HOUR;
const DAY = 24 * HOUR;

const maintenance = (change: Partial<Maintenance> = {}): Maintenance => ({
  ...{ id: 'm1', serviceId: 7, title: 'Move', description: '', startsAt: START, endsAt: END },
  ...{ reportedState: 'planned', phase: 'planned', sourceUrl: 'https://status.example', updates: [] },
  ...change,
});

t.test(
  'it starts by the clock, or before where the vendor says so, and may be extended by a day',
  async (t) => {
    const table: readonly (readonly [Partial<Maintenance>, number, string])[] = [
      [{}, START - 1, 'planned'],
      [{}, START, 'running'],
      [{}, END - 1, 'running'],
      [{}, END, 'ended'],
      [{ endsAt: null }, START + DAY - 1, 'running'],
      [{ endsAt: null }, START + DAY, 'ended'],
      [{ reportedState: 'running' }, START - HOUR, 'running'],
      [{ reportedState: 'running' }, END + DAY - 1, 'running'],
      [{ reportedState: 'running' }, END + DAY, 'ended'],
      [{ reportedState: 'done' }, START + 1, 'ended'],
    ];
    for (const [change, at, phase] of table)
      t.equal(phaseAt(maintenance(change), at), phase, `${JSON.stringify(change)} ${at - START}`);
  },
);

t.test('it knows when its phase changes by the clock alone', async (t) => {
  t.equal(nextPhaseAt(maintenance(), START - HOUR), START);
  t.equal(nextPhaseAt(maintenance(), START), END);
  t.equal(nextPhaseAt(maintenance(), END), null);
  t.equal(nextPhaseAt(maintenance({ endsAt: null }), START), START + DAY);
});

t.test('failures are expected from its start on, or once it is known to have begun early', async (t) => {
  const early = { reportedState: 'running' } as const;
  t.notOk(isWithin(maintenance(early), START - 1));
  t.ok(isWithin(maintenance({ ...early, phase: 'running' }), START - 1));
  t.ok(isWithin(maintenance(), START));
  t.notOk(isWithin(maintenance(), END));
});

t.test(
  'it is an incident while it lasts, with notes of its start and end where the vendor wrote none',
  async (t) => {
    t.equal(maintenanceIncident(maintenance(), null, START - 1), null, 'not before');
    const cancelled = maintenance({ reportedState: 'done', endsAt: START - HOUR });
    t.equal(maintenanceIncident(cancelled, null, START + 1), null, 'nor where it was called off');
    const begun = maintenanceIncident(maintenance(), null, START + 1);
    t.match(begun, {
      ...{ id: 'm1', severity: 'maintenance', status: 'identified', source: 'vendor' },
      ...{ startedAt: START, resolvedAt: null, updates: [{ at: START, status: 'identified' }] },
    });
    t.match(maintenanceIncident(maintenance(), begun, END + HOUR), {
      ...{ status: 'resolved', startedAt: START, resolvedAt: END },
      updates: [{ status: 'identified' }, { at: END, status: 'resolved' }],
    });
    t.match(maintenanceIncident(maintenance({ ownerId: 3 }), null, START), { source: 'owner' });
    const written = { at: START, status: 'identified', text: 'We begin.' } as const;
    const { updates } = maintenanceIncident(maintenance({ updates: [written] }), null, START) ?? {};
    t.match(updates, [written]);
    t.equal(updates?.length, 1, 'no note beside the words of the vendor');
  },
);
