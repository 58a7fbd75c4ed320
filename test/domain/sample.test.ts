/** What a bucket of samples says of its time. */

import fc from 'fast-check';
import t from 'tap';
import {
  dayKindOf,
  percentileOf,
  SLOW_DAY_SHARE,
  uptimeOf,
  weightedPercentileOf,
} from '../../src/domain/sample.ts';

const bucket = (count: number, downCount = 0, slowCount = 0, suspectCount = 0) => ({
  ...{ count, downCount, slowCount, suspectCount },
});

t.test('a day is down by one check, slow by more than a share, and nothing without checks', async (t) => {
  t.equal(dayKindOf(bucket(0)), 'none');
  t.equal(dayKindOf(bucket(0, 0, 0, 3)), 'suspect');
  t.equal(dayKindOf(bucket(1_000, 1, 900)), 'down');
  t.equal(dayKindOf(bucket(100, 0, 100 * SLOW_DAY_SHARE)), 'up');
  t.equal(dayKindOf(bucket(100, 0, 100 * SLOW_DAY_SHARE + 1)), 'slow');
  t.equal(dayKindOf(bucket(1, 0, 0, 99)), 'up', 'suspect checks count for nothing beside others');
});

t.test('uptime is that of all checks, whatever their buckets', async (t) => {
  t.equal(uptimeOf([]), null);
  t.equal(uptimeOf([bucket(0, 0, 0, 5)]), null);
  t.equal(uptimeOf([bucket(1, 1), bucket(3)]), 0.75);
});

t.test('it is the value at the nearest rank', async (t) => {
  const sorted = [10, 20, 30, 40];
  t.same(
    [0, 0.25, 0.26, 0.5, 0.75, 0.99, 1].map((ratio) => percentileOf(sorted, ratio)),
    [10, 10, 20, 20, 30, 40, 40],
  );
  t.same([percentileOf([], 0.5), weightedPercentileOf([], 0, 0.5)], [null, null]);
});

t.test('it is equal for values and for their counts', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 }),
      fc.float({ min: 0, max: 1, noNaN: true }),
      (values, ratio) => {
        const sorted = values.toSorted((a, b) => a - b);
        const counts = [...new Set(sorted)].map(
          (value) => [value, sorted.filter((one) => one === value).length] as const,
        );
        return percentileOf(sorted, ratio) === weightedPercentileOf(counts, sorted.length, ratio);
      },
    ),
  );
});
