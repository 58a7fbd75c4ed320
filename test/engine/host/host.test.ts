/** One host in this thread, on a clock that stands still until it is told to move. */

import t from 'tap';
import type { CheckTarget, OwnTiming } from '../../../src/domain/check-target.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { dueAfterCheck, nextPhase } from '../../../src/engine/host/phase.ts';
import { readSlots } from '../../../src/engine/host/slots.ts';
import { createStartPermit } from '../../../src/engine/protocol.ts';
import { goodAttempt } from '../../support/attempts.ts';
import { refusedAttempt, targetOf, timedOutAttempt } from '../attempt.ts';
import { INTERVAL, startHost } from '../start-host.ts';

t.test('it confirms each message with services', async (t) => {
  const { heard, assign, stop } = startHost();
  const confirmed = () => heard.filter(({ type }) => type === 'assigned');
  await assign([targetOf(1), targetOf(2)]);
  t.same(confirmed(), [{ type: 'assigned', epoch: 3 }]);
  await assign([]);
  t.equal(confirmed().length, 2, 'one without services too');
  await stop();
});

t.test('it starts checks that are due in one tick in order, a few at a time with pauses', async (t) => {
  const { clock, attempts, assign, stop } = startHost({ concurrency: 600 });
  await assign(Array.from({ length: 500 }, (_, index) => targetOf(index + 1)));
  const perMoment = new Map<number, number>();
  for (let waitedMs = 0; attempts.length < 500 && waitedMs < 1_000; waitedMs++) await clock.advance(1);
  for (const { at } of attempts) perMoment.set(at, (perMoment.get(at) ?? 0) + 1);
  t.same(
    attempts.map(({ target }) => target.serviceId),
    Array.from({ length: 500 }, (_, index) => index + 1),
  );
  t.ok(Math.max(...perMoment.values()) <= 16, `at most a few at a time: ${Math.max(...perMoment.values())}`);
  const tookMs = (attempts.at(-1)?.at ?? 0) - (attempts[0]?.at ?? 0);
  t.ok(tookMs >= 60 && tookMs <= 200, `not at once, and soon: ${tookMs} ms`);
  await stop();
});

t.test('it starts no attempt without a permit, and what has become due meanwhile with it', async (t) => {
  const permit = createStartPermit();
  const { clock, attempts, assign, stop } = startHost({}, permit.shared);
  await assign([1, 2].map((id) => targetOf(id)));
  await clock.advance(1_000);
  t.equal(attempts.length, 0);
  permit.set(process.hrtime.bigint() + 3_600_000_000_000n);
  await clock.advance(20);
  t.equal(attempts.length, 2);
  attempts[0]?.end(refusedAttempt());
  permit.set(process.hrtime.bigint());
  await clock.advance(10_000);
  t.equal(attempts.length, 2, 'nor a re-check');
  permit.set(process.hrtime.bigint() + 3_600_000_000_000n);
  await clock.advance(20);
  t.equal(attempts.length, 3);
  permit.revoke();
  await clock.advance(INTERVAL * 2);
  t.equal(attempts.length, 3);
  await stop();
});

t.test('it shifts the phases of all services on request', async (t) => {
  const { clock, attempts, assign, tell, stop } = startHost();
  await assign([targetOf(1)]);
  await clock.advance(20);
  await tell({ type: 'shift', phaseShiftMs: 100_000 });
  attempts[0]?.end();
  while (attempts.length < 2) await clock.advance(1_000);
  attempts[1]?.end();
  const shifted = nextPhase(1, INTERVAL, (attempts[0]?.at ?? 0) + INTERVAL / 2, 100_000);
  t.ok(Math.abs((attempts[1]?.at ?? 0) - shifted) <= 20);
  await assign([targetOf(2, { lastCheckedAt: clock.now() - 1_000 })]);
  const due = nextPhase(2, INTERVAL, clock.now() - 1_000 + INTERVAL / 2, 100_000);
  const own = () => attempts.find(({ target }) => target.serviceId === 2);
  while (own() === undefined) {
    for (const each of attempts) each.end();
    await clock.advance(1_000);
  }
  t.ok(Math.abs((own()?.at ?? 0) - due) <= 20);
  await stop();
});

/** A target with times of its own. */
const timed = (serviceId: number, own: OwnTiming, more: Partial<CheckTarget> = {}) =>
  targetOf(serviceId, { ...more, check: { ...DEFAULT_CHECK, ...own } });

t.test('it checks each service at its own interval, from the first check on', async (t) => {
  const { clock, attempts, assign, stop } = startHost();
  const startedAt = clock.now();
  await assign([timed(1, { intervalMs: 1_000 }), timed(2, { intervalMs: 20_000 }), targetOf(3)], 240_000);
  const timesOf = (id: number) =>
    attempts.flatMap(({ target, at }) => (target.serviceId === id ? [at - startedAt] : []));
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    for (const each of attempts) each.end();
  }
  const firsts = [1, 2].map((id) => timesOf(id)[0] ?? Number.NaN);
  t.ok((firsts[0] ?? 0) <= 1_020 && (firsts[1] ?? 0) <= 20_020, `first checks: ${firsts.join(', ')} ms`);
  for (const [id, intervalMs] of [
    [1, 1_000],
    [2, 20_000],
  ] as const) {
    const gaps = timesOf(id).map((at, index, all) => at - (all[index - 1] ?? at));
    // The first gap reaches to the phase of the service.
    t.ok(gaps[1] !== undefined && gaps[1] <= intervalMs * 1.5 + 20, `service ${id}`);
    for (const gap of gaps.slice(2)) t.ok(Math.abs(gap - intervalMs) <= 20, `service ${id}: ${gap} ms`);
  }
  t.ok(timesOf(1).length >= 57);
  t.equal(timesOf(3).length, 0, 'the sweep of the others takes as long as ever');
  await stop();
});

t.test('a new interval counts at once, without a burst', async (t) => {
  const { clock, attempts, assign, stop } = startHost({ concurrency: 2_000 });
  const ids = Array.from({ length: 200 }, (_, index) => index + 1);
  const checkedAt = clock.now() - 3_600_000;
  const day = { intervalMs: 86_400_000 };
  await assign(ids.map((id) => timed(id, day, { lastCheckedAt: checkedAt })));
  await clock.advance(60_000);
  t.ok(attempts.length < 5, `hardly any is due within a minute of a day: ${attempts.length}`);
  for (const each of attempts) each.end();
  const before = attempts.length;
  const changedAt = clock.now();
  const halfMinute = { intervalMs: 30_000 };
  await assign(ids.map((id) => timed(id, halfMinute, { revision: 2, lastCheckedAt: checkedAt })));
  while (clock.now() < changedAt + 30_020) {
    await clock.advance(20);
    for (const each of attempts) each.end();
  }
  const since = attempts.slice(before);
  t.same(
    new Set(since.map(({ target }) => target.serviceId)).size,
    ids.length,
    'each within the new interval',
  );
  const perSecond = Map.groupBy(since, ({ at }) => Math.floor((at - changedAt) / 1_000));
  const most = Math.max(...[...perSecond.values()].map(({ length }) => length));
  t.ok(most <= 25, `spread over it: at most ${most} within a second`);
  await assign(ids.map((id) => timed(id, day, { revision: 3, lastCheckedAt: clock.now() })));
  const count = attempts.length;
  await clock.advance(60_000);
  t.ok(attempts.length - count < 5, 'and a longer one counts at once too');
  await stop();
});

t.test('timeout and slowness of an attempt are those of its service', async (t) => {
  const { clock, attempts, heard, assign, stop, ended } = startHost();
  await assign([timed(1, { timeoutMs: 60_000 }), timed(2, { timeoutMs: 500, slowOverMs: 90 }), targetOf(3)]);
  await clock.advance(20);
  t.same(
    attempts.map(({ target, timeoutMs }) => [target.serviceId, timeoutMs]),
    [
      [1, 60_000],
      [2, 500],
      [3, 10_000],
    ],
  );
  await clock.advance(20);
  t.equal(heard.filter(({ type }) => type === 'delay').length, 1, 'after a third of 90 ms');
  attempts[1]?.end();
  attempts[2]?.end();
  await clock.advance(40_000);
  attempts[0]?.end();
  await stop();
  t.equal(await ended, 'stopped', 'an attempt with a longer timeout is not taken for one that hangs');
});

t.test('it starts more at a time after a delay', async (t) => {
  const { clock, attempts, assign, stop } = startHost({ concurrency: 10_000 });
  await assign(Array.from({ length: 10_000 }, (_, index) => targetOf(index + 1)));
  await clock.advance(400);
  t.equal(attempts.length, 10_000, 'within 400 ms, where the pace of a small burst would take 2.5 s');
  await stop();
});

t.test('it never exceeds its slots; further due checks wait in order', async (t) => {
  const { clock, attempts, assign, stop, inFlight, reports } = startHost({ concurrency: 2 });
  await assign([1, 2, 3, 4].map((id) => targetOf(id)));
  await clock.advance(20);
  t.same(readSlots(inFlight).sort(), [1, 2]);
  t.same(
    attempts.map(({ slot }) => slot),
    [0, 1],
  );
  await clock.advance(1_000);
  t.match(reports().at(-1), { services: 4, openChecks: 2, checksDone: 0 });
  attempts[1]?.end();
  await clock.advance(10);
  t.match(attempts[2], { slot: 1, target: { serviceId: 3 } });
  attempts[0]?.end();
  await clock.advance(10);
  t.match(attempts[3], { slot: 0, target: { serviceId: 4 } });
  await clock.advance(1_000);
  const { startDelayMs } = reports().at(-1) ?? {};
  t.ok((startDelayMs?.max ?? 0) >= 1_000, 'the wait shows in the report');
  await stop();
});

t.test('it reports an attempt that may become slow while it waits for its response', async (t) => {
  for (const [slowOverMs, afterMs] of [
    [3_000, 1_000],
    [900, 300],
  ] as const) {
    const { clock, attempts, heard, assign, stop } = startHost({ slowOverMs });
    const delays = () => heard.filter(({ type }) => type === 'delay');
    await assign([targetOf(1), targetOf(2), targetOf(3)]);
    while (attempts.length < 3) await clock.advance(1);
    attempts[0]?.end();
    await clock.advance(afterMs - 20);
    t.same(delays(), []);
    await clock.advance(20);
    t.same(delays(), [{ type: 'delay', epoch: 3 }], 'once for both that wait');
    await stop();
  }
});

t.test('it sends results as a batch, with what happened before', async (t) => {
  const { clock, attempts, heard, results, assign, stop } = startHost();
  await assign([targetOf(1, { domain: 'a' }), targetOf(2)]);
  await clock.advance(20);
  const startedAt = clock.now();
  attempts[0]?.end(refusedAttempt({ startedAt }));
  attempts[1]?.end(goodAttempt({ startedAt }));
  await clock.advance(2_000);
  t.same(
    heard.filter(({ type }) => type === 'doubt'),
    [{ type: 'doubt', epoch: 3, failedAt: startedAt }],
  );
  attempts[2]?.end(refusedAttempt({ startedAt: clock.now() }));
  await clock.advance(3_990);
  t.equal(attempts.length, 3, 'the second re-check comes 4 s after the failure before, not earlier');
  await clock.advance(20);
  t.same([attempts[2]?.number, attempts[3]?.number], [1, 2]);
  attempts[3]?.end(refusedAttempt({ startedAt: clock.now() }));
  await clock.advance(200);
  t.match(results, [
    { serviceId: 2, attempts: 1, failure: null, firstFailedAt: null },
    { serviceId: 1, attempts: 3, failure: { class: 'refused' }, firstFailedAt: startedAt },
  ]);
  t.equal(heard.filter(({ type }) => type === 'results').length, 2);
  await stop();
});

t.test('good results wait for half a second at most, a failed one takes them along at once', async (t) => {
  const { clock, attempts, results, assign, stop } = startHost({ confirmAfterMs: [] });
  await assign([1, 2, 3].map((id) => targetOf(id)));
  await clock.advance(20);
  attempts[0]?.end();
  await clock.advance(100);
  t.same(results, []);
  attempts[1]?.end(refusedAttempt());
  await clock.advance(120);
  t.same(
    results.map(({ serviceId }) => serviceId),
    attempts.slice(0, 2).map(({ target }) => target.serviceId),
    'in their order',
  );
  attempts[2]?.end();
  await clock.advance(500);
  t.equal(results.length, 3);
  await stop();
});

t.test('it keeps the phase of a service over all checks', async (t) => {
  const { clock, attempts, assign, stop } = startHost();
  const lastCheckedAt = clock.now() - INTERVAL / 2;
  await assign([targetOf(5, { lastCheckedAt })]);
  const due = [nextPhase(5, INTERVAL, clock.now())];
  for (let round = 1; round < 3; round++) due.push((due[0] ?? 0) + round * INTERVAL);
  for (let round = 0; round < 3; round++) {
    await clock.advance((due[round] ?? 0) - clock.now() + 10);
    attempts[round]?.end();
  }
  t.same(
    attempts.map(({ at }) => Math.round((at - (due[0] ?? 0)) / 100) * 100),
    [0, INTERVAL, 2 * INTERVAL],
  );
  await stop();
});

t.test('it does not check a service before its earliest time', async (t) => {
  const { clock, attempts, assign, stop, tell } = startHost();
  const until = clock.now() + 5_000;
  await assign([targetOf(1), targetOf(2)], 0, [[2, until]]);
  await clock.advance(20);
  await tell({ type: 'recheck', serviceIds: [1, 2, 99], spreadMs: 0 });
  attempts[0]?.end();
  await clock.advance(4_900);
  t.same(
    attempts.map(({ target }) => target.serviceId),
    [1],
  );
  await clock.advance(200);
  t.match(attempts[1], { target: { serviceId: 2 } });
  await stop();
});

t.test('it ignores attempts from before a service was removed and added again', async (t) => {
  const { clock, attempts, results, assign, stop, tell } = startHost();
  await assign([targetOf(1, { domain: 'old' })]);
  await clock.advance(20);
  await tell({ type: 'remove', serviceIds: [1] });
  await assign([targetOf(1, { domain: 'new', revision: 3 })]);
  await clock.advance(20);
  t.same(
    attempts.map(({ target }) => target.domain),
    ['old', 'new'],
  );
  attempts[0]?.end(refusedAttempt());
  await clock.advance(200);
  t.same(results, []);
  attempts[1]?.end();
  await clock.advance(500);
  t.match(results, [{ serviceId: 1, revision: 3, attempts: 1, failure: null }]);
  await stop();
});

t.test('it stops when the attempts in flight have ended; unfinished checks give no verdict', async (t) => {
  const { clock, attempts, heard, results, assign, tell, ended } = startHost({ concurrency: 3 });
  await assign([1, 2, 3, 4].map((id) => targetOf(id)));
  await clock.advance(20);
  attempts[2]?.end(refusedAttempt());
  await clock.advance(10);
  await tell({ type: 'stop' });
  t.equal(attempts.length, 4, 'the slot was given to the fourth before the stop');
  attempts[0]?.end();
  attempts[1]?.end(refusedAttempt());
  await clock.advance(5_000);
  t.notOk(heard.some(({ type }) => type === 'stopped'));
  attempts[3]?.end();
  t.equal(await ended, 'stopped');
  while (!heard.some(({ type }) => type === 'stopped')) await new Promise((resolve) => setImmediate(resolve));
  t.same(results.map(({ serviceId }) => serviceId).sort(), [1, 4]);
  t.equal(attempts.length, 4, 'nothing is begun after it');
});

t.test('a busy thread that was told to stop looks for due checks no more', async (t) => {
  const { clock, attempts, loopTicks, assign, tell, ended, planned } = startHost({ intervalMs: 1_000 });
  const services = Array.from({ length: 1_000 }, (_, index) => targetOf(index + 1));
  await assign(services, 1_000);
  const ticks = new Int32Array(loopTicks);
  let done = 0;
  const pass = async () => {
    await clock.advance(1);
    for (; done < attempts.length; done++) attempts[done]?.end();
    await clock.advance(0);
  };
  while (attempts.length < 3_000) await pass();
  // A tick of a busy thread plans a second look half a tick later.
  for (const before = ticks[0]; ticks[0] === before; ) await pass();
  await tell({ type: 'stop' });
  t.equal(await ended, 'stopped');
  t.equal(planned(), 0);
});

t.test('it ends at its own fault, sends its results and starts nothing more', async (t) => {
  const { clock, attempts, results, assign, ended } = startHost({
    concurrency: 2,
    timeoutMs: 1_000,
  });
  await assign([1, 2, 3, 4].map((id) => targetOf(id)));
  await clock.advance(20);
  attempts[0]?.end();
  await clock.advance(0);
  await clock.advance(14_000);
  t.match(await ended, /service 2 did not end/);
  while (results.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.match(results, [{ serviceId: 1 }]);
  t.equal(attempts.length, 3);
  t.equal(attempts[2]?.signal.aborted, true);
});

t.test('it ends when an attempt exceeds its timeout, which would block its slot permanently', async (t) => {
  const { clock, assign, ended } = startHost({ timeoutMs: 1_000 });
  await assign([targetOf(1)]);
  await clock.advance(14_000);
  t.match(await ended, /service 1 did not end/);
});

t.test('it ticks while it has something to do, seldom otherwise, and reports once a second', async (t) => {
  const { clock, attempts, loopTicks, heard, reports, assign, stop } = startHost();
  const ticksIn = async (ms: number) => {
    const counter = new Int32Array(loopTicks);
    const before = counter[0] ?? 0;
    await clock.advance(ms);
    return (counter[0] ?? 0) - before;
  };
  t.equal(await ticksIn(2_000), 4, 'nothing to do');
  t.equal(reports().length, 2);
  t.match(heard[0], { type: 'ready', epoch: 3 });
  await assign([targetOf(1)]);
  await clock.advance(20);
  t.equal(attempts.length, 1, 'a message does not wait for the next planned tick');
  t.equal(await ticksIn(2_000), 200, 'an attempt is in flight');
  attempts[0]?.end();
  const due = dueAfterCheck(1, INTERVAL, attempts[0]?.at ?? 0, clock.now());
  await clock.advance(20);
  const ticks = await ticksIn(due - clock.now() + 20);
  t.ok(ticks < (INTERVAL / 10) * 0.2, `${ticks} ticks until the next check`);
  t.ok((attempts[1]?.at ?? Number.POSITIVE_INFINITY) - due <= 10, 'it starts within a tick of its time');
  await stop();
});

/** Starts checks of so many services, each once a second; the delays of the starts in the fourth second. */
async function delaysAt(perSecond: number) {
  const { clock, attempts, loopTicks, reports, assign, stop } = startHost({ intervalMs: 1_000 });
  await assign(
    Array.from({ length: perSecond }, (_, index) => targetOf(index + 1)),
    1_000,
  );
  let ended = 0;
  while (reports().length < 4) {
    await clock.advance(1);
    for (; ended < attempts.length; ended++) attempts[ended]?.end();
  }
  await stop();
  const { p50 = 0, max = 0 } = reports()[3]?.startDelayMs ?? {};
  return { p50, max, started: attempts.length, ticks: new Int32Array(loopTicks)[0] ?? 0 };
}

t.test('many checks start within half a tick of their time and a pause, few within a tick', async (t) => {
  const many = await delaysAt(1_000);
  t.ok(many.started > 3_000);
  t.ok(many.p50 <= 2.5 && many.max <= 7, `1,000 a second: ${many.p50} and up to ${many.max} ms`);
  t.ok(many.ticks <= 400, `${many.ticks} ticks in four seconds, which the second looks do not add to`);
  const few = await delaysAt(20);
  t.ok(few.max > 5 && few.max <= 10, `20 a second: up to ${few.max} ms`);
});

t.test('it does not check a service earlier for an interval beyond the reach of its wheel', async (t) => {
  const DAY = 86_400_000;
  const { clock, attempts, assign, stop, holdUp } = startHost({ intervalMs: DAY });
  const lastCheckedAt = clock.now();
  await assign([targetOf(1, { lastCheckedAt })]);
  const due = dueAfterCheck(1, DAY, lastCheckedAt, lastCheckedAt);
  t.ok(due - lastCheckedAt >= DAY / 2);
  holdUp(due - lastCheckedAt - 1_000);
  await clock.advance(990);
  t.equal(attempts.length, 0);
  await clock.advance(20);
  t.equal(attempts.length, 1);
  await stop();
});

t.test('it repeats attempts that its own late event loop can have spoilt, and no others', async (t) => {
  const { clock, attempts, results, assign, stop, holdUp } = startHost({ confirmAfterMs: [] });
  await assign([1, 2, 3].map((id) => targetOf(id)));
  await clock.advance(20);
  holdUp(5_200);
  t.ok((attempts[0]?.lateness?.() ?? 0) >= 5_190, 'an attempt can ask how late the turn is');
  t.ok((attempts[0]?.totalDelay?.() ?? 0) >= 5_190, 'and how late all turns were');
  attempts[0]?.end(refusedAttempt({ startedAt: attempts[0].at }));
  attempts[1]?.end(timedOutAttempt({ startedAt: attempts[1].at }));
  attempts[2]?.end(goodAttempt({ startedAt: attempts[2].at, responseTimeMs: 5_210, lostMs: 5_200 }));
  await clock.advance(150);
  t.match(results, [{ serviceId: 1, suspect: null, failure: { class: 'refused' } }]);
  t.ok((results[0]?.loopDelayMs ?? 0) >= 5_190);
  t.same(
    attempts.slice(3).map(({ target, number }) => [target.serviceId, number]),
    [
      [2, 0],
      [3, 0],
    ],
    'again, at once, and as the attempts that they were',
  );
  attempts[3]?.end(timedOutAttempt({ startedAt: attempts[3].at }));
  attempts[4]?.end(goodAttempt({ startedAt: attempts[4].at, responseTimeMs: 3_100, lostMs: 50 }));
  await clock.advance(150);
  t.match(results.slice(1), [
    { serviceId: 2, suspect: null, attempts: 1, failure: { class: 'timeout' } },
    { serviceId: 3, suspect: null, attempts: 1, responseTimeMs: 3_100, lostMs: 50 },
  ]);
  await stop();
});
