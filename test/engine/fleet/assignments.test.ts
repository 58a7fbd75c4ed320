import fc from 'fast-check';
import t from 'tap';
import type { CheckTarget } from '../../../src/domain/check-target.ts';
import { type CheckResult, NO_MEMORY } from '../../../src/domain/result.ts';
import { createAssignFlow, createAssignments, TargetTable } from '../../../src/engine/fleet/assignments.ts';
import { startWatchdog } from '../../../src/engine/fleet/host-child.ts';
import { goodResult, USUAL } from '../../support/attempts.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { anyMemory, anyTarget, anyTime } from '../any-target.ts';
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

const serviceId = fc.oneof(fc.nat(5), fc.integer({ min: 508, max: 516 }), fc.nat(2 ** 40));
const target = anyTarget(serviceId);
const step = fc.oneof(
  fc.tuple(fc.constant('set' as const), target),
  fc.tuple(fc.constant('delete' as const), serviceId),
  fc.tuple(fc.constant('check' as const), serviceId, anyTime),
  fc.tuple(fc.constant('learn' as const), serviceId, anyMemory),
);

t.test('it behaves as a map of targets', async (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new TargetTable();
      const model = new Map<number, CheckTarget>();
      for (const [kind, first, second] of steps) {
        if (kind === 'set') {
          table.set(first);
          model.set(first.serviceId, first);
          continue;
        }
        const known = model.get(first);
        if (kind === 'delete') t.equal(table.delete(first), model.delete(first));
        else if (kind === 'check') {
          t.equal(table.setLastChecked(first, second), known !== undefined);
          if (known !== undefined) model.set(first, { ...known, lastCheckedAt: second });
        } else {
          t.equal(table.setMemory(first, second), known !== undefined);
          if (known !== undefined) model.set(first, { ...known, memory: second });
        }
        t.strictSame(table.get(first), model.get(first));
        t.equal(table.revisionOf(first), model.get(first)?.revision);
      }
      const sorted = [...model].sort(([a], [b]) => a - b);
      t.equal(table.size, model.size);
      t.strictSame(
        [...table.keys()].map((id) => [id, table.get(id)]),
        sorted,
      );
      t.strictSame(
        [...table.checks()],
        sorted.map(([, { check }]) => check),
      );
    }),
    { numRuns: propertyRuns(50) },
  );
});

t.test('it refuses numbers that are no ids', async (t) => {
  const [one] = fc.sample(target, 1);
  for (const wrong of [-1, 0.5, Number.NaN, 2 ** 53])
    t.throws(() => one && new TargetTable().set({ ...one, serviceId: wrong }), RangeError, `${wrong}`);
});

/** A flow, and what it has sent: the services, their spread, and the time until it begins. */
function observeFlow() {
  const sent: {
    readonly serviceIds: readonly number[];
    readonly spreadMs: number;
    readonly aheadMs: number;
  }[] = [];
  const flow = createAssignFlow(
    (serviceIds, spreadMs, aheadMs) => void sent.push({ serviceIds, spreadMs, aheadMs }),
  );
  return { ...flow, sent, sizes: () => sent.map(({ serviceIds }) => serviceIds.length) };
}

const idsTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

t.test('it sends a message when the thread has taken the one before', (t) => {
  const { assign, confirm, sent, sizes } = observeFlow();
  let isSent = false;
  assign(idsTo(1_700), 40, () => {
    isSent = true;
  });
  t.same(sizes(), [500]);
  confirm();
  t.same(sizes(), [500, 500]);
  confirm();
  t.same(sizes(), [500, 500, 500]);
  t.notOk(isSent, 'the last message has not been sent');
  confirm();
  t.same(sizes(), [500, 500, 500, 200]);
  t.ok(isSent);
  confirm();
  confirm();
  t.same(
    sent.flatMap(({ serviceIds }) => serviceIds),
    idsTo(1_700),
    'each service once, in order',
  );
  t.ok(sent.every(({ spreadMs }) => spreadMs === 40));
  const ahead = sent.map(({ aheadMs }) => aheadMs);
  t.same(ahead, [5, 3, 1, 0], 'first checks begin when all are assigned, which takes 4 µs each');
  t.end();
});

t.test('it sends later lists behind earlier ones', (t) => {
  const { assign, confirm, sent } = observeFlow();
  assign(idsTo(1_100), 40);
  assign([7], 5);
  assign([], 0);
  for (let turn = 0; turn < 5; turn++) confirm();
  t.same(
    sent.map(({ serviceIds, spreadMs }) => [serviceIds.length, serviceIds[0], spreadMs]),
    [
      [500, 1, 40],
      [500, 501, 40],
      [100, 1_001, 40],
      [1, 7, 5],
      [0, undefined, 0],
    ],
  );
  assign(idsTo(3_000), 1);
  t.equal(sent.length, 6, 'again one');
  t.end();
});
