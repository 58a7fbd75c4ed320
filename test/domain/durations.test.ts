/** Durations and times in texts. */
import fc from 'fast-check';
import t from 'tap';
import {
  DAY_MS,
  formatDuration,
  formatTime,
  formatTimeOrNull,
  HOUR_MS,
  inSeconds,
  nextRetentionTime,
  parseDuration,
  readTime,
} from '../../src/domain/durations.ts';
import { propertyRuns } from '../support/property-runs.ts';

t.test('it reads a number with a unit, and nothing else', async (t) => {
  const table: readonly (readonly [string, number | null])[] = [
    ['250ms', 250],
    ['1.5s', 1_500],
    [' 5m ', 300_000],
    ['2h', 7_200_000],
    ['90d', 90 * DAY_MS],
    ['1w', 7 * DAY_MS],
    ['2y', 730 * DAY_MS],
    ['0s', 0],
    ['1.5ms', null],
    ['5', null],
    ['m', null],
    ['-5m', null],
    ['5 m', null],
    ['1h30m', null],
    ['5M', null],
    ['9007199254740993ms', null],
  ];
  for (const [text, ms] of table) t.equal(parseDuration(text), ms, text);
});

t.test('it writes the largest unit that divides a duration, which is read back as it was', async (t) => {
  for (const [ms, text] of [
    [0, '0ms'],
    [999, '999ms'],
    [90_000, '90s'],
    [120_000, '2m'],
    [DAY_MS, '1d'],
    [14 * DAY_MS, '2w'],
    [365 * DAY_MS, '1y'],
  ] as const)
    t.equal(formatDuration(ms), text);
  fc.assert(fc.property(fc.nat(), (ms) => parseDuration(formatDuration(ms)) === ms));
  t.same([inSeconds(999), inSeconds(1_000), inSeconds(2_500)], ['999 ms', '1 s', '2.5 s']);
});

t.test('it reads times of RFC 3339 as Date does, and refuses those that no calendar has', async (t) => {
  for (const text of [
    '2026-11-20T10:00:00Z',
    '2026-11-20t10:00:00.5z',
    '2026-11-20T10:00:00.123+05:30',
    '2024-02-29T23:59:59-11:00',
  ])
    t.equal(readTime(text), Date.parse(text.toUpperCase()), text);
  t.equal(
    readTime('2026-11-20T10:00:00.123999Z'),
    Date.parse('2026-11-20T10:00:00.123Z'),
    'cut, not rounded',
  );
  t.equal(new Date(readTime('0099-01-01T00:00:00Z') ?? 0).getUTCFullYear(), 99, 'not 1999');
  for (const text of [
    '2026-02-29T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-11-00T10:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T10:60:00Z',
    '2026-11-20T10:00:60Z',
    '2026-11-20T10:00:00+24:00',
    '2026-11-20T10:00:00',
    '2026-11-20 10:00:00Z',
    '2026-11-20T10:00:00.Z',
    '20 November 2026',
  ])
    t.equal(readTime(text), null, text);
  t.same([formatTime(0), formatTimeOrNull(null)], ['1970-01-01T00:00:00.000Z', null]);
});

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
