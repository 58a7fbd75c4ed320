import t from 'tap';
import { FAILURE_CLASSES } from '../../../src/domain/failure.ts';
import type { Attempt } from '../../../src/domain/result.ts';
import { createLoopDelay, isSpoilt } from '../../../src/engine/host/loop-delay.ts';
import { createSlots, readSlots, shareSlots } from '../../../src/engine/host/slots.ts';
import { goodAttempt } from '../../support/attempts.ts';
import { refusedAttempt, timedOutAttempt } from '../attempt.ts';

t.test('it returns the longest delay within a span of time', async (t) => {
  const delay = createLoopDelay(10, 0);
  delay.note(10);
  delay.note(320);
  delay.note(330);
  delay.note(441);
  delay.note(452);
  for (const [since, now, worst] of [
    [0, 455, 300],
    [319, 455, 300],
    [320, 455, 101],
    [441, 455, 1],
    [455, 460, 0],
    [455, 962, 500],
  ] as const) {
    t.equal(delay.worst(since, now), worst, `${since} to ${now}`);
  }
});

t.test('it sums the delays, each as long as it can have been', async (t) => {
  const delay = createLoopDelay(10, 0);
  delay.note(10);
  t.equal(delay.total(25), 0, 'a short delay is normal');
  t.equal(delay.total(320), 310, 'the loop may have stood still since its last tick');
  delay.note(320);
  delay.note(331);
  t.equal(delay.total(335), 310);
  delay.note(400);
  t.equal(delay.total(405), 310 + 69);
});

t.test('it returns the delay of the current iteration, before and after its timer', async (t) => {
  const delay = createLoopDelay(10, 0);
  delay.note(10);
  t.equal(delay.present(19), 0, 'on time');
  t.equal(delay.present(370), 350, 'late, and the timer has not run yet');
  delay.note(370);
  t.equal(delay.present(372), 350, 'the timer has run, the sockets are read');
  delay.note(380);
  t.equal(delay.present(382), 0, 'a turn later');
});

t.test('it counts the slots, and shares the services that have them', async (t) => {
  const shared = shareSlots(3);
  const slots = createSlots(3, shared);
  t.same([slots.take(7, 2), slots.take(0, 2), slots.take(2 ** 40, 2)], [0, 1, 2]);
  t.throws(() => slots.take(8, 2), RangeError);
  t.same(readSlots(shared), [7, 0, 2 ** 40]);
  slots.free(1);
  t.same([slots.available, slots.busy, readSlots(shared)], [1, 2, [7, 2 ** 40]]);
  t.equal(slots.take(9, 2), 1);
});

t.test('it finds an attempt that is too old, but not one whose slot was taken again', async (t) => {
  const slots = createSlots(2);
  slots.take(5, 2);
  const slot = slots.take(6, 1);
  t.equal(slots.findOverdue(), null);
  t.equal(slots.findOverdue(), 6, 'each has a limit of its own');
  slots.free(slot);
  slots.take(6, 2);
  t.equal(slots.findOverdue(), 5);
});

const SLOW_OVER_MS = 3_000;

const failed = (kind: (typeof FAILURE_CLASSES)[number], changes: Partial<Attempt> = {}) =>
  refusedAttempt({
    failure: { class: kind, phase: 'first_byte', cause: { code: 'text', text: '' } },
    ...changes,
  });

const answered = (responseTimeMs: number, lostMs: number, changes: Partial<Attempt> = {}) =>
  goodAttempt({ responseTimeMs, lostMs, ...changes });

t.test('a late event loop spoils only outcomes that it can have caused', async (t) => {
  const minute = 60_000;
  for (const [name, attempt, loopDelayMs, spoilt] of [
    ['a time-out under a short stall, which cost it nothing', timedOutAttempt(), 350, false],
    ['a time-out that got back what it lost', timedOutAttempt({ lostMs: 4_900 }), 4_900, false],
    ['a time-out that lost more than it got back', timedOutAttempt({ lostMs: 5_100 }), 900, true],
    ['a time-out while the machine may have slept', timedOutAttempt(), minute, true],
    [
      'a body that did not end while the machine may have slept',
      failed('timeout', { statusCode: 200, responseTimeMs: 40 }),
      minute,
      true,
    ],
    ['a slow answer', answered(3_400, 0), 350, false],
    ['a slow answer that may have lain there', answered(3_400, 400), 400, true],
    ['a slow answer that was slow all the same', answered(3_400, 399), 399, false],
    ['a slow answer behind a bot wall', answered(3_400, 400, { blocked: true }), 400, true],
    ['a body that says slow', answered(3_400, 400, { reported: 'slow' }), 400, false],
    ['a body that says down', answered(3_400, 400, { reported: 'down' }), 400, false],
    ['a quick answer', answered(2_900, 2_800), minute, false],
  ] as const) {
    t.equal(isSpoilt(attempt, loopDelayMs, SLOW_OVER_MS), spoilt, name);
  }
  for (const kind of FAILURE_CLASSES) {
    const attempt = failed(kind, { lostMs: minute });
    t.equal(isSpoilt(attempt, minute, SLOW_OVER_MS), kind === 'timeout', kind);
  }
});
