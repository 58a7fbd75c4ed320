/** Entries of vendors' feeds as incidents and maintenances. */
import type { Test } from 'tap';
import type { FeedEntry, FeedIncident, FeedMaintenance } from '../../../../src/domain/incident/feed-entry.ts';
import type { Registry } from '../../../../src/store/ports/registry.ts';
import { MAX_ADVANCED_MAINTENANCES, type VendorReading } from '../../../../src/store/ports/vendors.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, NOON } from '../../registry-fixtures.ts';

const MINUTE = 60_000;

const HOUR = 60 * MINUTE;

const INCIDENT: FeedIncident = {
  kind: 'incident',
  key: 'k1',
  title: 'API errors',
  sourceUrl: 'https://status.example/incidents/k1',
  components: null,
  severity: 'major',
  status: 'investigating',
  startedAt: NOON,
  resolvedAt: null,
  updates: [{ at: NOON + MINUTE, status: 'investigating', text: 'We look into it.' }],
};

const MAINTENANCE: FeedMaintenance = {
  kind: 'maintenance',
  key: 'm1',
  title: 'Database upgrade',
  sourceUrl: 'https://status.example/maintenances/m1',
  components: null,
  updates: [{ at: NOON, status: 'identified', text: 'We will upgrade.' }],
  startsAt: NOON + HOUR,
  endsAt: NOON + 2 * HOUR,
  state: 'planned',
};

function reading(entries: readonly FeedEntry[], change: Partial<VendorReading> = {}): VendorReading {
  return {
    serviceId: 1,
    slug: 'a',
    feed: 'statuspage https://status.example',
    kind: 'statuspage',
    document: 'incidents',
    listsOnlyOpen: false,
    readAt: NOON + 5 * MINUTE,
    entries,
    ...change,
  };
}

const all = (registry: Registry) => registry.listIncidents({ limit: 50, offset: 0 });

overBoth(async (t, open) => {
  const filled = async (t: Test) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    return registry;
  };

  t.test('it makes one incident of an outage that a state reports first and an entry later', async (t) => {
    const continues = ['state major', 'state minor'];
    const state: FeedIncident = {
      ...INCIDENT,
      key: 'state minor',
      title: 'Degraded performance',
      severity: 'minor',
      startedAt: null,
      updates: [],
      continues,
    };
    const grown: FeedIncident = { ...state, key: 'state major', title: 'Downtime', severity: 'major' };
    const report: FeedIncident = { ...INCIDENT, startedAt: NOON - MINUTE, continues };
    const over: FeedIncident = { ...report, status: 'resolved', resolvedAt: NOON + 4 * MINUTE };
    const registry = await filled(t);
    const put = async (readAt: number, ...entries: readonly FeedEntry[]) => {
      await registry.putVendorReadings([reading(entries, { readAt })]);
      return all(registry);
    };
    const [first] = await put(NOON + MINUTE, state);
    t.match(first, { title: 'Degraded performance', startedAt: NOON + MINUTE, resolvedAt: null });
    const id = first?.id ?? '';
    t.match(await put(NOON + 2 * MINUTE, grown), [{ id, title: 'Downtime', severity: 'major' }]);
    t.match(await put(NOON + 3 * MINUTE, report), [{ id, title: 'API errors', startedAt: NOON - MINUTE }]);
    t.equal((await put(NOON + 3 * MINUTE, report)).length, 1);
    t.match(await put(NOON + 5 * MINUTE, over), [{ id, status: 'resolved', resolvedAt: NOON + 4 * MINUTE }]);

    // A later outage is another one, and the report of the first stays what it is.
    const later = await put(NOON + HOUR, grown, over);
    t.match(later, [
      { title: 'Downtime', startedAt: NOON + HOUR },
      { id, status: 'resolved' },
    ]);
    t.not(later[0]?.id, id);
    // It ended before its report was written.
    await put(NOON + HOUR + MINUTE, over);
    const told = {
      ...over,
      key: 'k2',
      startedAt: NOON + HOUR - MINUTE,
      resolvedAt: NOON + HOUR + 30_000,
      updates: [{ at: NOON + HOUR + 30_000, status: 'resolved', text: 'Mended.' }],
    } as const;
    t.match(await put(NOON + HOUR + 2 * MINUTE, told, over), [
      { id: later[0]?.id, title: 'API errors', description: 'Mended.', startedAt: NOON + HOUR - MINUTE },
      { id },
    ]);
    // One that does not overlap continues nothing.
    await put(NOON + 2 * HOUR, state, told, over);
    await put(NOON + 2 * HOUR + MINUTE, told, over);
    const other = { ...report, key: 'k3', startedAt: NOON + 3 * HOUR };
    t.equal((await put(NOON + 3 * HOUR, other, told, over)).length, 4);
  });

  t.test('it makes one incident of an entry, for each service that it concerns', async (t) => {
    const registry = await filled(t);
    const states = await registry.putVendorReadings([
      reading([INCIDENT]),
      reading([INCIDENT], { serviceId: 2, slug: 'b' }),
    ]);
    const found = await all(registry);
    const [first, second] = found;
    t.equal(found.length, 2);
    t.match(first?.id, /^statuspage-[0-9a-f]{16}-a$/);
    t.match(second?.id, /^statuspage-[0-9a-f]{16}-b$/);
    t.strictSame(first, {
      id: first?.id,
      serviceId: 1,
      source: 'vendor',
      title: 'API errors',
      description: 'We look into it.',
      severity: 'major',
      status: 'investigating',
      startedAt: NOON,
      resolvedAt: null,
      sourceUrl: 'https://status.example/incidents/k1',
      goodChecks: 0,
      updates: [{ at: NOON + MINUTE, status: 'investigating', text: 'We look into it.' }],
    });
    t.strictSame(states[0], {
      serviceId: 1,
      open: [{ id: first?.id, severity: 'major', startedAt: NOON }],
      lastResolvedAt: null,
      maintenances: [],
    });
    t.strictSame(await registry.loadVendorStates(), states);
    t.strictSame(await registry.findIncident(first?.id ?? ''), first);
    t.equal(await registry.findIncident('statuspage-0000000000000000-a'), null);
    t.strictSame(await registry.incidentsSince(1, NOON), [first]);
    t.strictSame(await registry.incidentsSince(1, NOON + 1), []);
  });

  t.test('it changes nothing when the same entry is read again', async (t) => {
    const registry = await filled(t);
    await registry.putVendorReadings([reading([INCIDENT, MAINTENANCE])]);
    const before = await all(registry);
    t.strictSame(
      await registry.putVendorReadings([reading([INCIDENT, MAINTENANCE], { readAt: NOON + HOUR / 2 })]),
      [],
    );
    t.strictSame(await all(registry), before);
  });

  t.test('it follows an entry to its end and keeps every update', async (t) => {
    const registry = await filled(t);
    await registry.putVendorReadings([reading([INCIDENT])]);
    const moved: FeedIncident = {
      ...INCIDENT,
      title: 'API errors in Europe',
      severity: 'critical',
      status: 'resolved',
      resolvedAt: NOON + 30 * MINUTE,
      updates: [
        { at: NOON + 20 * MINUTE, status: 'monitoring', text: 'A fix is out.' },
        { at: NOON + 30 * MINUTE, status: 'resolved', text: 'It is over.' },
      ],
    };
    const [state] = await registry.putVendorReadings([reading([moved], { readAt: NOON + HOUR })]);
    t.strictSame(state, { serviceId: 1, open: [], lastResolvedAt: NOON + 30 * MINUTE, maintenances: [] });
    t.match(await all(registry), [
      {
        title: 'API errors in Europe',
        severity: 'critical',
        status: 'resolved',
        description: 'It is over.',
        resolvedAt: NOON + 30 * MINUTE,
        updates: [{ text: 'We look into it.' }, { text: 'A fix is out.' }, { text: 'It is over.' }],
      },
    ]);
  });

  t.test(
    'it ends what the page no longer lists, at the read that misses it, and opens it again',
    async (t) => {
      const registry = await filled(t);
      await registry.putVendorReadings([reading([INCIDENT])]);
      await registry.putVendorReadings([reading([], { document: 'another' })]);
      t.match(await all(registry), [{ status: 'investigating' }], 'another document says nothing of it');
      const readAt = NOON + HOUR;
      t.match(await registry.putVendorReadings([reading([], { readAt })]), [
        { open: [], lastResolvedAt: readAt },
      ]);
      t.match(await all(registry), [
        {
          status: 'resolved',
          resolvedAt: readAt,
          updates: [{}, { at: readAt, status: 'resolved', text: 'The status page no longer lists it.' }],
        },
      ]);
      t.strictSame(await registry.putVendorReadings([reading([], { readAt: readAt + 1 })]), []);
      await registry.putVendorReadings([reading([INCIDENT], { readAt: readAt + MINUTE })]);
      const [again, ...others] = await all(registry);
      t.match(again, { status: 'investigating', resolvedAt: null });
      t.same(others, []);
    },
  );

  t.test('it leaves open what a long list of newer entries may have pushed out', async (t) => {
    const registry = await filled(t);
    await registry.putVendorReadings([reading([INCIDENT])]);
    const newer = Array.from({ length: 12 }, (_, index) => ({
      ...INCIDENT,
      key: `n${index}`,
      startedAt: NOON + (index + 1) * MINUTE,
    }));
    await registry.putVendorReadings([reading(newer)]);
    t.equal((await registry.listIncidents({ status: 'investigating', limit: 50, offset: 0 })).length, 13);
    await registry.putVendorReadings([reading(newer.slice(0, 3))]);
    t.equal((await registry.listIncidents({ status: 'investigating', limit: 50, offset: 0 })).length, 3);
  });

  t.test('it knows an entry again whose identifier has changed', async (t) => {
    const registry = await filled(t);
    await registry.putVendorReadings([reading([INCIDENT])]);
    const before = await all(registry);
    await registry.putVendorReadings([reading([{ ...INCIDENT, key: 'k2' }], { readAt: NOON + HOUR })]);
    t.strictSame(await all(registry), before);
    await registry.putVendorReadings([
      reading([
        { ...INCIDENT, key: 'k2' },
        { ...INCIDENT, key: 'k3' },
      ]),
    ]);
    t.equal((await all(registry)).length, 2, 'two entries that are both listed are two');
  });

  t.test('it makes another incident of an entry without a start that comes back', async (t) => {
    const registry = await filled(t);
    const bare: FeedIncident = { ...INCIDENT, startedAt: null, updates: [] };
    await registry.putVendorReadings([reading([bare])]);
    await registry.putVendorReadings([reading([], { readAt: NOON + HOUR })]);
    await registry.putVendorReadings([reading([bare], { readAt: NOON + 5 * HOUR })]);
    const found = await all(registry);
    t.match(found, [
      { status: 'investigating', startedAt: NOON + 5 * HOUR },
      { status: 'resolved', startedAt: NOON + 5 * MINUTE, resolvedAt: NOON + HOUR },
    ]);
    t.strictSame(await registry.putVendorReadings([reading([bare], { readAt: NOON + 6 * HOUR })]), []);
  });

  t.test('it keeps a maintenance out of the lists until it starts, and resolves it at its end', async (t) => {
    const registry = await filled(t);
    const [state] = await registry.putVendorReadings([reading([MAINTENANCE], { document: 'maintenance' })]);
    t.match(state, { open: [], maintenances: [{ phase: 'planned', startsAt: NOON + HOUR }] });
    t.same(await all(registry), []);
    t.match(await registry.listMaintenances({ limit: 9, offset: 0 }), [
      { title: 'Database upgrade', phase: 'planned', endsAt: NOON + 2 * HOUR },
    ]);
    t.strictSame(await registry.advanceMaintenances(NOON + HOUR - 1), { states: [], nextAt: NOON + HOUR });
    const started = await registry.advanceMaintenances(NOON + HOUR);
    t.equal(started.nextAt, NOON + 2 * HOUR);
    const [incident] = await all(registry);
    t.match(incident, {
      title: 'Database upgrade',
      severity: 'maintenance',
      status: 'identified',
      startedAt: NOON + HOUR,
      resolvedAt: null,
      updates: [{ text: 'We will upgrade.' }, { at: NOON + HOUR, text: 'The maintenance has started.' }],
    });
    t.match(started.states, [{ open: [{ id: incident?.id, severity: 'maintenance' }] }]);
    t.match(await registry.listMaintenances({ serviceId: 1, limit: 9, offset: 0 }), [{ phase: 'running' }]);
    t.same(await registry.listMaintenances({ serviceId: 2, limit: 9, offset: 0 }), []);
    const counts = [
      { phase: 'planned' },
      { phase: 'running' },
      { phase: 'running', verifiedOnly: true },
    ] as const;
    t.same(await Promise.all(counts.map((query) => registry.countMaintenances(query))), [0, 1, 1]);
    t.match(await registry.listIncidents({ maintenanceOnly: true, limit: 9, offset: 0 }), [
      { id: incident?.id },
    ]);
    const id = incident?.id ?? '';
    for (const [place, count] of [
      [{ startsAt: NOON + HOUR - 1, id: 'z' }, 1],
      [{ startsAt: NOON + HOUR, id: '' }, 1],
      [{ startsAt: NOON + HOUR, id }, 0],
      [{ startsAt: NOON + HOUR + 1, id: '' }, 0],
    ] as const) {
      const found = await registry.listMaintenances({ after: place, limit: 9, offset: 0 });
      t.equal(found.length, count, JSON.stringify(place));
    }
    t.same(
      [await registry.countMaintenances({}), await registry.countMaintenances({ serviceId: 2 })],
      [1, 0],
    );
    const over = await registry.advanceMaintenances(NOON + 2 * HOUR + 7);
    t.match(over, { states: [{ open: [], maintenances: [] }], nextAt: null });
    t.match(await all(registry), [{ id: incident?.id, status: 'resolved', resolvedAt: NOON + 2 * HOUR }]);
    t.same(await registry.listMaintenances({ limit: 9, offset: 0 }), []);
    t.equal(await registry.countMaintenances({}), 0);
  });

  t.test('it moves many maintenances in several calls, so that others are served in between', async (t) => {
    const registry = await filled(t);
    const works = Array.from({ length: MAX_ADVANCED_MAINTENANCES + 1 }, (_, n) => ({
      ...MAINTENANCE,
      key: `many-${n}`,
    }));
    await registry.putVendorReadings([reading(works, { document: 'maintenance' })]);
    const now = NOON + HOUR + 7;
    const running = () => registry.countMaintenances({ phase: 'running' });
    t.match(await registry.advanceMaintenances(now), { nextAt: NOON + HOUR }, 'the rest is due already');
    t.equal(await running(), MAX_ADVANCED_MAINTENANCES);
    t.match(await registry.advanceMaintenances(now), { nextAt: NOON + 2 * HOUR });
    t.equal(await running(), MAX_ADVANCED_MAINTENANCES + 1);
  });

  t.test('it follows the word of the vendor about a maintenance', async (t) => {
    const registry = await filled(t);
    const document = 'maintenance';
    const running: FeedMaintenance = { ...MAINTENANCE, state: 'running' };
    await registry.putVendorReadings([reading([running], { document, readAt: NOON + 50 * MINUTE })]);
    t.match(await all(registry), [{ status: 'identified', startedAt: NOON + 50 * MINUTE }], 'it began early');
    await registry.advanceMaintenances(NOON + 2 * HOUR);
    t.match(await all(registry), [{ status: 'identified' }], 'it takes longer than planned');
    const done: FeedMaintenance = { ...MAINTENANCE, state: 'done', endsAt: NOON + 2.5 * HOUR };
    await registry.putVendorReadings([reading([done], { document, readAt: NOON + 3 * HOUR })]);
    t.match(await all(registry), [{ status: 'resolved', resolvedAt: NOON + 2.5 * HOUR }]);
  });

  t.test('it never lists a maintenance that was called off', async (t) => {
    const registry = await filled(t);
    const document = 'maintenance';
    await registry.putVendorReadings([reading([MAINTENANCE], { document })]);
    await registry.putVendorReadings([reading([], { document })]);
    t.strictSame(await registry.advanceMaintenances(NOON + 90 * MINUTE), { states: [], nextAt: null });
    t.same(await all(registry), []);
    t.same(await registry.listMaintenances({ limit: 9, offset: 0 }), []);
  });

  t.test('it ends what other feeds have open where a service has another page now', async (t) => {
    const registry = await filled(t);
    await registry.putVendorReadings([reading([INCIDENT, MAINTENANCE])]);
    const feed = reading([]).feed;
    t.equal(await registry.endOtherFeeds(1, feed, NOON + HOUR), null);
    t.match(await registry.endOtherFeeds(1, 'rss https://other.example', NOON + HOUR), {
      serviceId: 1,
      open: [],
      maintenances: [],
    });
    t.match(await all(registry), [{ status: 'resolved', resolvedAt: NOON + HOUR }]);
    t.equal(await registry.endOtherFeeds(1, null, NOON + HOUR), null);
  });

  t.test('it hides the entries of a removed service and takes none in for an unknown one', async (t) => {
    const registry = await filled(t);
    await registry.putVendorReadings([reading([INCIDENT])]);
    const [incident] = await all(registry);
    await registry.putCatalogue([entry('b')]);
    t.equal(await registry.findIncident(incident?.id ?? ''), null);
    t.same(await all(registry), []);
    t.same(await registry.putVendorReadings([reading([INCIDENT], { serviceId: 77, slug: 'x' })]), []);
  });

  t.test('it keeps the times in which pages could not be read', async (t) => {
    const registry = await filled(t);
    const DAY = 24 * HOUR;
    await registry.putUnreadTime({ feed: 'f', from: NOON, to: null });
    t.same(await registry.unreadTimesSince(NOON + DAY), [{ feed: 'f', from: NOON, to: null }]);
    await registry.putUnreadTime({ feed: 'f', from: NOON, to: NOON + HOUR });
    await registry.putUnreadTime({ feed: 'g', from: NOON, to: null });
    t.same(await registry.unreadTimesSince(NOON + HOUR), [{ feed: 'g', from: NOON, to: null }]);
    t.equal((await registry.unreadTimesSince(NOON)).length, 2);
    await registry.putUnreadTime({ feed: 'f', from: NOON + 900 * DAY, to: null });
    t.equal((await registry.unreadTimesSince(NOON)).length, 2, 'that out of retention is forgotten');
  });
});
