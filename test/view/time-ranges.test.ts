/** Windows of equal buckets. */
import t from 'tap';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/durations.ts';
import type { Bucket } from '../../src/domain/sample.ts';
import {
  closeUp,
  daysUntil,
  hoursUntil,
  lastDay,
  RANGE_NAMES,
  stepFor,
  windowOf,
} from '../../src/view/time-ranges.ts';

const NOON = Date.UTC(2026, 10, 20, 12);

t.test('windows begin at multiples of their step, and are never empty', async (t) => {
  for (const now of [NOON, NOON + 1, NOON + DAY_MS - 1])
    for (const name of RANGE_NAMES) {
      const { from, to, stepMs } = windowOf(name, now);
      t.equal(from % stepMs, 0, name);
      t.ok(to >= now && to > from && to - from <= 184 * 2 * DAY_MS, name);
    }
  t.same(daysUntil(NOON, 2), { from: NOON - 1.5 * DAY_MS, to: NOON, stepMs: DAY_MS });
  t.same(hoursUntil(NOON, 1), { from: NOON, to: NOON + 1, stepMs: HOUR_MS }, 'at the start of an hour');
  t.same(lastDay(NOON), { from: NOON - DAY_MS, to: NOON, stepMs: DAY_MS });
});

t.test('steps are round, no finer than checks and no more than are drawn', async (t) => {
  t.equal(stepFor(HOUR_MS, 1_000, 180), 60_000);
  t.equal(stepFor(HOUR_MS, 5 * MINUTE_MS, 180), 5 * MINUTE_MS);
  t.equal(stepFor(365 * DAY_MS, MINUTE_MS, 180), 3 * DAY_MS, 'whole days beyond the list');
});

t.test('it closes up on what is known, unless that is all or nothing', async (t) => {
  const window = { from: NOON - DAY_MS, to: NOON, stepMs: HOUR_MS };
  const buckets = (first: number) =>
    Array.from({ length: 24 }, (_, hour) => ({
      ...{ startAt: window.from + hour * HOUR_MS, count: hour >= first ? 1 : 0 },
    })) as unknown as Bucket[];
  t.equal(closeUp(window, buckets(0), MINUTE_MS), null);
  t.equal(closeUp(window, buckets(24), MINUTE_MS), null);
  t.same(closeUp(window, buckets(22), MINUTE_MS), { from: NOON - 2 * HOUR_MS, to: NOON, stepMs: MINUTE_MS });
});
