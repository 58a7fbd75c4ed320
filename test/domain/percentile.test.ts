import fc from 'fast-check';
import t from 'tap';
import { percentileOf, weightedPercentileOf } from '../../src/domain/percentile.ts';

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
