/** The time by which retention counts. */
import fc from 'fast-check';
import t from 'tap';
import { DAY_MS, HOUR_MS, nextRetentionTime } from '../../src/domain/durations.ts';
import { propertyRuns } from '../support/property-runs.ts';

const YEAR_MS = 365 * DAY_MS;

t.test('it follows a clock that is right', async (t) => {
  t.equal(nextRetentionTime(0, HOUR_MS, HOUR_MS), HOUR_MS);
});

t.test('a clock that is a year ahead for an hour makes nothing older by more than an hour', async (t) => {
  t.equal(nextRetentionTime(0, YEAR_MS + HOUR_MS, HOUR_MS), 2 * HOUR_MS);
});

t.test('a clock that is behind does not move it back', async (t) => {
  t.equal(nextRetentionTime(YEAR_MS, 0, HOUR_MS), YEAR_MS);
});

t.test('time in which the program did not run is made up for', async (t) => {
  let time = 0;
  let now = 10 * HOUR_MS;
  for (let hours = 0; hours < 10; hours++) {
    now += HOUR_MS;
    time = nextRetentionTime(time, now, HOUR_MS);
  }
  t.equal(time, now);
});

t.test('whatever a clock does, what counts as old is at most twice as old as it is', async () => {
  const step = fc.record({
    elapsedMs: fc.integer({ min: 0, max: DAY_MS }),
    wrongMs: fc.integer({ min: -YEAR_MS, max: YEAR_MS }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      let [time, trueTime] = [0, 0];
      return steps.every(({ elapsedMs, wrongMs }) => {
        trueTime += elapsedMs;
        const before = time;
        time = nextRetentionTime(time, trueTime + wrongMs, elapsedMs);
        return time >= before && time <= 2 * trueTime;
      });
    }),
    { numRuns: propertyRuns(200) },
  );
});
