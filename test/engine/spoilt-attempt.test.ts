import t from 'tap';
import { FAILURE_CLASSES } from '../../src/domain/failure.ts';
import type { Attempt } from '../../src/domain/result.ts';
import { isSpoilt } from '../../src/engine/host/loop-delay.ts';
import { goodAttempt } from '../support/attempts.ts';
import { refusedAttempt, timedOutAttempt } from './attempt.ts';

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
