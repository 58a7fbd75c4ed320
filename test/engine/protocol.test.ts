/** Until when hosts may start attempts. */

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { FAILURE_CLASSES, PHASES } from '../../src/domain/failure.ts';
import { type CheckResult, SUSPECT_REASONS } from '../../src/domain/result.ts';
import { PROBED_KINDS } from '../../src/domain/service.ts';
import {
  createStartPermit,
  packResults,
  packTargets,
  readStartPermit,
  unpackResults,
  unpackTargets,
} from '../../src/engine/protocol.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { anyTarget } from './any-target.ts';
import { targetOf } from './attempt.ts';

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary);
const time = fc.integer({ min: 0, max: 4_102_444_800_000 });
const ms = fc.double({ min: 0, max: 60_000, noNaN: true }).map((value) => value + 0);

const result: fc.Arbitrary<CheckResult> = fc.record({
  serviceId: fc.nat(),
  revision: fc.nat(),
  attempts: fc.nat(9),
  startedAt: time,
  endedAt: time,
  firstFailedAt: nullable(time),
  loopDelayMs: ms,
  lostMs: ms,
  headUnproven: fc.boolean(),
  answered: fc.boolean(),
  statusCode: fc.nat(599),
  responseTimeMs: nullable(fc.nat(60_000)),
  timing: fc.record({
    dnsMs: nullable(ms),
    connectMs: nullable(ms),
    tlsMs: nullable(ms),
    firstByteMs: nullable(ms),
    totalMs: nullable(ms),
  }),
  failure: nullable(
    fc.record({
      class: fc.constantFrom(...FAILURE_CLASSES),
      phase: fc.constantFrom(...PHASES),
      cause: fc.oneof(
        fc.record({ code: fc.constant('text' as const), text: fc.string() }),
        fc.record({ code: fc.constant('status' as const), statusCode: fc.nat(999) }),
        fc.record({
          code: fc.constant('redirect_invalid' as const),
          problem: fc.record({ code: fc.constant('scheme' as const), scheme: fc.string() }),
        }),
      ),
    }),
  ),
  reported: fc.constantFrom(null, 'up' as const, 'slow' as const, 'down' as const),
  reportedWord: nullable(fc.string({ maxLength: 64 })),
  blocked: fc.boolean(),
  via: fc.constantFrom(...PROBED_KINDS),
  certificateExpiresAt: nullable(time),
  retryAfterMs: nullable(fc.nat(3_600_000)),
  suspect: fc.constantFrom(null, ...SUSPECT_REASONS),
  memory: fc.record({
    needsGet: fc.boolean(),
    headSeen: fc.boolean(),
    healthSeen: fc.boolean(),
    askHealthAt: nullable(time),
  }),
});

t.test('it unpacks every result unchanged after the message to another thread', async () => {
  fc.assert(
    fc.property(fc.array(result, { maxLength: 20 }), (results) => {
      const back = unpackResults(structuredClone(packResults(results)));
      // The clone of the expected ones has the prototypes that a thread sees.
      if (!isDeepStrictEqual(back, structuredClone(results))) throw new Error('changed on the way');
    }),
    { numRuns: 200 },
  );
});

t.test('targets arrive as they were sent, in their order', async (t) => {
  fc.assert(
    fc.property(fc.array(anyTarget(fc.nat(2 ** 40)), { maxLength: 20 }), (targets) => {
      t.strictSame([...unpackTargets(structuredClone(packTargets(targets)))], targets);
    }),
    { numRuns: propertyRuns(100) },
  );
});

t.test('services that share a check still share it in the thread', async (t) => {
  const [first, other, third] = [targetOf(1), targetOf(2), targetOf(3)];
  const own = { ...other, check: { ...other.check } };
  const shared = [first, own, { ...third, check: first.check }];
  const [a, b, c] = [...unpackTargets(structuredClone(packTargets(shared)))];
  t.equal(a?.check, c?.check);
  t.not(a?.check, b?.check, 'equal, but not shared before either');
});

t.test('a permit allows nothing before it is set, after its end, and once it is revoked', async (t) => {
  const permit = createStartPermit();
  let now = 5n;
  const mayStart = readStartPermit(permit.shared, () => now);
  t.notOk(mayStart());
  permit.set(10n);
  t.ok(mayStart());
  now = 10n;
  t.notOk(mayStart());
  permit.set(20n);
  t.ok(mayStart(), 'it is renewed');
  permit.revoke();
  t.notOk(mayStart());
});

t.test('without a permit, attempts are started always', async (t) => {
  t.ok(readStartPermit(undefined)());
});
