import t from 'tap';
import { type CheckResult, NO_MEMORY } from '../../../src/domain/result.ts';
import { createAssignments } from '../../../src/engine/fleet/assignments.ts';
import { startWatchdog } from '../../../src/engine/fleet/host-child.ts';
import { goodResult, USUAL } from '../../support/attempts.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { targetOf } from '../attempt.ts';

const INTERVAL = 300_000;
const NOW = 1_800_000_000_000;
const memory = { needsGet: true, headSeen: false, healthSeen: true, askHealthAt: null };

function resultOf(serviceId: number, changes: Partial<CheckResult> = {}) {
  return goodResult(serviceId, NOW, { memory, endedAt: NOW + 9, ...changes });
}

t.test(
  'it accepts newer revisions only, and updates the probe memory from results of the current one',
  async (t) => {
    const assignments = createAssignments({ ...USUAL, intervalMs: INTERVAL });
    t.equal(assignments.put(targetOf(1)), true);
    t.equal(assignments.put(targetOf(1, { domain: 'x' })), false);
    assignments.take([resultOf(1), resultOf(2)]);
    t.same(assignments.get(1), targetOf(1, { memory, lastCheckedAt: NOW }));
    t.equal(assignments.put(targetOf(1, { revision: 2 })), true);
    t.same(
      assignments.get(1),
      targetOf(1, { revision: 2, memory, lastCheckedAt: NOW }),
      'a new name keeps what was learnt',
    );
    t.equal(assignments.put(targetOf(1, { revision: 3, domain: 'x' })), true);
    t.same(assignments.get(1), targetOf(1, { revision: 3, domain: 'x' }), 'another check begins anew');
    assignments.take([resultOf(1, { revision: 2 })]);
    t.same(assignments.get(1)?.memory, NO_MEMORY);
    t.same(
      [assignments.size, assignments.remove(1), assignments.remove(1), assignments.size],
      [1, true, false, 0],
    );
  },
);

t.test('it marks services for another check', async (t) => {
  const assignments = createAssignments({ ...USUAL, intervalMs: INTERVAL });
  assignments.put(targetOf(1, { lastCheckedAt: NOW, memory }));
  assignments.forgetChecks([1, 2]);
  t.same(assignments.get(1), targetOf(1, { lastCheckedAt: null, memory }));
});

t.test('it keeps the pause that a 429 asks for until the next result', async (t) => {
  const assignments = createAssignments({ ...USUAL, intervalMs: INTERVAL });
  assignments.put(targetOf(1));
  assignments.take([resultOf(1, { retryAfterMs: 60_000, blocked: true })]);
  t.same(assignments.notBefore([1, 2]), [[1, NOW + 60_009]]);
  assignments.take([resultOf(1)]);
  t.same(assignments.notBefore([1]), []);
});

t.test('it postpones services whose attempt crashed their thread, longer with each crash', async (t) => {
  const assignments = createAssignments({ ...USUAL, intervalMs: INTERVAL });
  assignments.put(targetOf(1));
  const waitOf = () => (assignments.notBefore([1])[0]?.[1] ?? 0) - NOW;
  for (const longest of [1, 2, 4, 8, 12, 12].map((times) => times * INTERVAL)) {
    assignments.postpone([1, 2], 5, NOW);
    t.ok(waitOf() >= longest / 2 && waitOf() <= longest, `${waitOf()} of ${longest}`);
  }
  assignments.take([resultOf(1)]);
  t.same(assignments.notBefore([1, 2]), [], 'a result ends it');
  assignments.postpone([1], 6, NOW);
  t.ok(waitOf() <= INTERVAL);
  assignments.remove(1);
  assignments.put(targetOf(1));
  t.same(assignments.notBefore([1]), [], 'so does its removal');
});

t.test('a watchdog reports a stopped thread only if it ran on time itself', async (t) => {
  const clock = createFakeClock();
  const loopTicks = new SharedArrayBuffer(4);
  let lateMs = 0;
  const timeouts: number[] = [];
  const cancel = startWatchdog({
    loopTicks,
    clock: { ...clock, monotonic: () => clock.monotonic() + lateMs },
    timeoutMs: () => 1_500,
    onTimeout: (ms) => timeouts.push(ms),
  });
  await clock.advance(1_499);
  t.same(timeouts, []);
  await clock.advance(1);
  t.same(timeouts, [1_500]);
  Atomics.add(new Int32Array(loopTicks), 0, 1);
  await clock.advance(1_500);
  t.same(timeouts, [1_500], 'the loop turned');
  lateMs = 60_000;
  await clock.advance(1_500);
  t.same(timeouts, [1_500], 'our own loop was held up for a minute');
  await clock.advance(500);
  t.same(timeouts, [1_500, 1_500]);
  Atomics.add(new Int32Array(loopTicks), 0, 1);
  await clock.advance(500);
  lateMs -= 2;
  await clock.advance(1_500);
  t.same(timeouts, [1_500, 1_500, 1_498], 'a look that is a moment late makes the next ones no period later');
  cancel();
  await clock.advance(5_000);
  t.equal(timeouts.length, 3);
});
