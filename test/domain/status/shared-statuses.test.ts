import fc from 'fast-check';
import t from 'tap';
import { type CurrentStatus, headOf, unknownStatus } from '../../../src/domain/status/current.ts';
import { createSharedStatuses } from '../../../src/domain/status/shared-statuses.ts';
import { refusedAttempt } from '../../engine/attempt.ts';
import { record } from '../../store/registry-fixtures.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const at = 1_800_000_000_000;
const serviceId = fc.constantFrom(0, 1, 511, 512, 2 ** 40);
/** Statuses that fit a row and others, of which some are equal. */
const status: fc.Arbitrary<CurrentStatus> = fc
  .tuple(serviceId, fc.nat(2), fc.constantFrom('up' as const, 'down' as const), fc.nat(3))
  .map(([id, seq, word, kind]) => {
    const usual = record(id, seq, word, at);
    if (kind === 0) return unknownStatus(id);
    if (kind === 1 || usual.latest === null) return usual;
    if (kind === 2) return { ...usual, regions: [] };
    const { failure } = refusedAttempt();
    return { ...usual, latest: { ...usual.latest, failure } };
  });
const step = fc.oneof(
  fc.tuple(fc.constant('record' as const), status),
  fc.tuple(fc.constant('publish' as const), status),
  // The usual course: what is recorded is published.
  fc.tuple(fc.constant('both' as const), status),
  fc.tuple(fc.constant('forget' as const), serviceId),
  fc.tuple(fc.constant('withdraw' as const), serviceId),
);

t.test('it behaves as two maps of statuses', async (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { recorded, published } = createSharedStatuses();
      const record = new Map<number, CurrentStatus>();
      const store = new Map<number, CurrentStatus>();
      for (const [kind, value] of steps) {
        if (kind === 'forget') t.equal(recorded.delete(value), record.delete(value));
        else if (kind === 'withdraw') t.equal(published.delete(value), store.delete(value));
        else {
          if (kind !== 'publish') {
            recorded.set(value);
            record.set(value.serviceId, value);
          }
          if (kind !== 'record') {
            published.set(value);
            store.set(value.serviceId, value);
          }
        }
        for (const id of [0, 1, 511, 512, 2 ** 40]) {
          t.strictSame(recorded.get(id), record.get(id));
          const stored = store.get(id);
          t.strictSame(published.get(id), stored);
          t.strictSame(published.headOf(id), stored && headOf(stored));
          const short = published.shortOf(id);
          t.strictSame(short && 'latest' in short ? headOf(short) : short, stored && headOf(stored));
        }
        t.strictSame(
          [...published.serviceIds()].sort((a, b) => a - b),
          [...store.keys()].sort((a, b) => a - b),
        );
      }
    }),
    { numRuns: propertyRuns(30) },
  );
});

t.test('it holds once what is recorded and published', async (t) => {
  const statuses = createSharedStatuses();
  const { recorded, published } = statuses;
  const up = record(1, 3, 'up', at);
  const failure = refusedAttempt().failure;
  const down: CurrentStatus = {
    ...up,
    seq: 4,
    status: 'down',
    latest: up.latest && { ...up.latest, failure },
  };
  for (const one of [unknownStatus(1), up, down, up]) {
    recorded.set(one);
    t.equal(statuses.differing, 1, 'the former one is still published');
    published.set(one);
    t.equal(statuses.differing, 0);
  }
  published.set({ ...up, observedAt: at + 1 });
  t.equal(statuses.differing, 1, 'a preview');
  recorded.set({ ...up, observedAt: at + 1 });
  t.equal(statuses.differing, 0);
  recorded.delete(1);
  t.equal(statuses.differing, 1);
  published.delete(1);
  t.equal(statuses.differing, 0);
});
