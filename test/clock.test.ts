/** What of the clock is a decision: when what is kept becomes old. */
import t from 'tap';
import { createRetentionClock } from '../src/clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2026, 10, 3, 12);

/** A retention clock over a wall clock that a test steps. */
function createWorld() {
  let [elapsedMs, offset] = [0, NOON];
  const retentionNow = createRetentionClock({ now: () => offset + elapsedMs, monotonic: () => elapsedMs });
  return {
    retentionNow,
    step: (ms: number) => (offset += ms),
    /** Lets time pass; the clock is read every hour. */
    pass(ms: number) {
      for (const end = elapsedMs + ms; elapsedMs < end; ) {
        elapsedMs += Math.min(HOUR, end - elapsedMs);
        retentionNow();
      }
    },
  };
}

t.test('retention goes by the wall clock', async (t) => {
  const { retentionNow, pass } = createWorld();
  t.equal(retentionNow(), NOON);
  pass(40 * DAY);
  t.equal(retentionNow(), NOON + 40 * DAY);
});

for (const [name, ms] of [
  ['an hour', HOUR],
  ['a day', DAY],
  ['a year', 365 * DAY],
] as const)
  t.test(`retention does not follow a step of ${name} ahead that is taken back within a day`, async (t) => {
    const { retentionNow, pass, step } = createWorld();
    step(ms);
    t.equal(retentionNow(), NOON);
    pass(20 * HOUR);
    t.equal(retentionNow(), NOON + 20 * HOUR);
    step(-ms);
    pass(HOUR);
    t.equal(retentionNow(), NOON + 21 * HOUR);
    step(ms);
    pass(10 * HOUR);
    t.equal(retentionNow(), NOON + 31 * HOUR, 'the next step has a day of its own');
  });

t.test('retention follows a step ahead that has stood for a day', async (t) => {
  const { retentionNow, pass, step } = createWorld();
  step(365 * DAY);
  retentionNow();
  pass(DAY);
  t.equal(retentionNow(), NOON + 366 * DAY);
});

t.test('retention follows a step back at once, and a clock that is synchronized slowly', async (t) => {
  const { retentionNow, pass, step } = createWorld();
  step(-365 * DAY);
  t.equal(retentionNow(), NOON - 365 * DAY);
  step(30_000);
  t.equal(retentionNow(), NOON - 365 * DAY + 30_000);
  pass(HOUR);
  step(30_000);
  t.equal(retentionNow(), NOON - 365 * DAY + HOUR + 60_000);
});
