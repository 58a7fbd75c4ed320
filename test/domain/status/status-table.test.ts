import fc from 'fast-check';
import t from 'tap';
import { PROBED_KINDS } from '../../../src/domain/service.ts';
import type { CurrentStatus, LatestCheck, RegionStatus } from '../../../src/domain/status/current.ts';
import { headOf, isSameObservation } from '../../../src/domain/status/current.ts';
import { StatusTable } from '../../../src/domain/status/status-table.ts';
import { SERVICE_STATUSES } from '../../../src/domain/status.ts';
import { refusedAttempt } from '../../engine/attempt.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** Objects as the program makes them. */
const PLAIN = { noNullPrototype: true } as const;
const time = fc.integer({ min: 0, max: 2 ** 42 });
const duration = fc.option(fc.double({ min: 0, max: 60_000, noNaN: true }));
const verdict = fc.constantFrom('up' as const, 'slow' as const, 'down' as const);
const latest: fc.Arbitrary<LatestCheck> = fc.record(
  {
    status: verdict,
    responseTimeMs: fc.option(fc.oneof(fc.nat(60_000), fc.constantFrom(0.5, -1, 2 ** 32 - 1, 2 ** 33))),
    statusCode: fc.oneof(fc.constantFrom(0, 200, 599, 65_535, 65_536), fc.nat(999)),
    checkedAt: time,
    source: fc.constantFrom(...PROBED_KINDS, 'heartbeat' as const, 'silence' as const),
    reported: fc.option(fc.oneof(fc.constantFrom('ok', 'degraded', ''), fc.string())),
    failure: fc.option(fc.constant(refusedAttempt().failure), { freq: 4 }),
    blocked: fc.boolean(),
    timing: fc.record(
      {
        dnsMs: duration,
        connectMs: duration,
        tlsMs: duration,
        firstByteMs: duration,
        totalMs: duration,
      },
      PLAIN,
    ),
    certificateExpiresAt: fc.option(time),
  },
  PLAIN,
);
const named: fc.Arbitrary<Omit<RegionStatus, 'check'>> = fc.record(
  {
    region: fc.constantFrom('ap', 'eu', 'sa', 'us'),
    since: time,
    observedAt: time,
    votes: fc.boolean(),
  },
  PLAIN,
);
/** Regions by name, of which some have the latest check. */
const regionsOf = (newest: LatestCheck | null): fc.Arbitrary<RegionStatus[]> =>
  fc
    .uniqueArray(fc.tuple(named, latest, fc.boolean()), { selector: ([one]) => one.region, maxLength: 4 })
    .map((list) =>
      list
        .map(([{ region, ...rest }, check, isLatest]) => {
          return { region, check: isLatest && newest !== null ? newest : check, ...rest };
        })
        .sort((a, b) => (a.region < b.region ? -1 : 1)),
    );
const statusOf = (serviceId: number): fc.Arbitrary<CurrentStatus> =>
  fc
    .tuple(
      fc.record(
        {
          serviceId: fc.constant(serviceId),
          seq: fc.oneof(fc.nat(50), fc.constantFrom(2 ** 32 - 2, 2 ** 32 - 1, 2 ** 40)),
          observedAt: time,
          status: fc.constantFrom(...SERVICE_STATUSES),
          since: fc.option(time),
          latest: fc.option(latest),
        },
        PLAIN,
      ),
      fc.constantFrom('none' as const, 'absent' as const, null, 'global' as const, 'partial' as const),
    )
    .chain(([current, scope]) =>
      scope === 'none'
        ? fc.constant(current)
        : regionsOf(current.latest).map((regions) =>
            scope === 'absent' ? { ...current, regions } : { ...current, regions, scope },
          ),
    );
const serviceId = fc.oneof(fc.nat(20), fc.integer({ min: 510, max: 515 }), fc.nat(2 ** 40));
const step = serviceId.chain((id) =>
  fc.oneof(
    fc.tuple(fc.constant('delete' as const), fc.constant(id), fc.constant(null)),
    fc.tuple(fc.constant('set' as const), fc.constant(id), statusOf(id)),
    fc.tuple(fc.constant('set' as const), fc.constant(id), statusOf(id)),
  ),
);

t.test('it behaves as a map of statuses', async (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new StatusTable();
      const model = new Map<number, CurrentStatus>();
      for (const [name, id, status] of steps) {
        if (status !== null) {
          table.set(status);
          model.set(id, status);
        } else t.equal(table.delete(id), model.delete(id), name);
        t.strictSame(table.get(id), model.get(id));
      }
      t.equal(table.size, model.size);
      t.same(
        [...table.serviceIds()],
        [...model.keys()].sort((a, b) => a - b),
      );
      for (const [id, status] of model) {
        t.strictSame(table.get(id), status);
        t.equal(JSON.stringify(table.get(id)), JSON.stringify(status), 'with its members in their order');
        t.strictSame(table.headOf(id), headOf(status));
        t.match(table.shortOf(id), { seq: status.seq, observedAt: status.observedAt, status: status.status });
      }
    }),
    { numRuns: propertyRuns(150) },
  );
});

t.test(
  'it holds a status, and the equal one that it returns; a region shares the latest check',
  async (t) => {
    fc.assert(
      fc.property(fc.array(statusOf(7), { minLength: 2, maxLength: 12 }), (statuses) => {
        const table = new StatusTable();
        for (const [index, status] of statuses.entries()) {
          table.set(status);
          t.ok(table.holds(status));
          const read = table.get(7);
          t.ok(read !== undefined && table.holds(read) && isSameObservation(read, status));
          if ((status.regions ?? []).length > 0)
            t.notOk(isSameObservation({ ...status, regions: [] }, status), 'its regions were forgotten');
          const other = statuses[index - 1];
          if (other !== undefined && JSON.stringify(other) !== JSON.stringify(status))
            t.notOk(table.holds(other));
          for (const [at, region] of (status.regions ?? []).entries())
            if (region.check === status.latest) t.equal(read?.regions?.[at]?.check, read?.latest);
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  },
);

t.test('it takes the rows of regions again that a status has left', async (t) => {
  const table = new StatusTable();
  const [check] = fc.sample(latest, { numRuns: 1, seed: 3 });
  if (check === undefined) throw new Error('there is no sample');
  const good: LatestCheck = { ...check, statusCode: 200, responseTimeMs: 4, failure: null, reported: null };
  const regions = (names: readonly string[], at: number): RegionStatus[] =>
    names.map((region) => ({
      region,
      check: { ...good, checkedAt: at },
      since: 1,
      observedAt: at,
      votes: true,
    }));
  const base = { seq: 1, status: 'up' as const, since: 0, latest: good, scope: null };
  const lists = [['eu'], ['ap', 'eu', 'us'], [], ['eu', 'us']];
  for (let round = 0; round < 4; round++)
    for (let id = 0; id < 2_000; id++) {
      const list = regions(lists[(round + id) % 4] ?? [], id);
      table.set({ ...base, serviceId: id, observedAt: round, regions: list });
    }
  for (let id = 0; id < 2_000; id++)
    t.strictSame(table.get(id)?.regions, regions(lists[(3 + id) % 4] ?? [], id), `service ${id}`);
});

t.test('it keeps more words of health bodies than it numbers', async (t) => {
  const table = new StatusTable();
  const statuses = Array.from({ length: 300 }, (_, id): CurrentStatus => {
    const [sample] = fc.sample(latest, { numRuns: 1, seed: id });
    if (sample === undefined) throw new Error('there is no sample');
    const check: LatestCheck = { ...sample, statusCode: 200, responseTimeMs: 1, failure: null };
    return {
      ...{ serviceId: id, seq: 1, observedAt: id, status: 'up', since: 0 },
      latest: { ...check, reported: `word ${id}` },
    };
  });
  for (const status of statuses) table.set(status);
  t.strictSame(
    [...table.serviceIds()].map((id) => table.get(id)),
    statuses,
  );
});

t.test('services may be deleted while they are listed', async (t) => {
  const table = new StatusTable();
  const ids = [0, 3, 511, 512, 2_000];
  for (const id of ids)
    table.set({ serviceId: id, seq: 0, observedAt: 0, status: 'unknown', since: null, latest: null });
  const seen: number[] = [];
  for (const id of table.serviceIds()) {
    seen.push(id);
    table.delete(id);
  }
  t.same(seen, ids);
  t.equal(table.size, 0);
  t.equal(table.get(512), undefined);
});

t.test('it refuses what is no id', async (t) => {
  const table = new StatusTable();
  const status = { seq: 0, observedAt: 0, status: 'unknown' as const, since: null, latest: null };
  for (const id of [-1, 0.5, Number.NaN, 2 ** 53])
    t.throws(() => table.set({ ...status, serviceId: id }), RangeError);
  t.equal(table.get(0.5), undefined);
});
