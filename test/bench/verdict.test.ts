/** What of two series of measurements is a difference, and what is noise. */
import t from 'tap';
import { type BenchRow, floor } from '../../bench/row.ts';
import { compareRounds, rankSumChance } from '../../bench/verdict.ts';

/** A round for each value of a row. */
function rounds(unit: string, values: readonly number[]): BenchRow[][] {
  return values.map((value) => [floor('a row', value, unit)]);
}

const STEADY = [100, 101, 99, 100.5, 99.5];

t.test('it knows the exact chance of an order', async (t) => {
  // Of the 252 orders of five and five values, two keep them apart.
  t.equal(rankSumChance([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 2 / 252);
  t.equal(rankSumChance([6, 7, 8, 9, 10], [1, 2, 3, 4, 5]), 2 / 252);
  t.equal(rankSumChance([1, 2, 3], [4, 5, 6]), 2 / 20);
  t.equal(rankSumChance([1, 2, 3, 5], [4, 6, 7, 8]), 4 / 70);
  t.equal(rankSumChance([1, 1, 1], [1, 1, 1]), 1);
  t.equal(rankSumChance([], []), 1);
});

t.test('a time that grew in every round is worse, and a rate that grew is better', async (t) => {
  const more = STEADY.map((value) => value * 1.1);
  const verdicts = (base: number[], here: number[], unit: string) =>
    compareRounds(rounds(unit, base), rounds(unit, here)).map(({ verdict }) => verdict);
  for (const unit of ['ms', 'µs CPU a check', 'bytes', '%']) {
    t.strictSame(verdicts(STEADY, more, unit), ['worse'], unit);
    t.strictSame(verdicts(more, STEADY, unit), ['better'], unit);
  }
  for (const unit of ['checks/s', 'pop and insert/s', 'changes a second']) {
    t.strictSame(verdicts(STEADY, more, unit), ['better'], unit);
    t.strictSame(verdicts(more, STEADY, unit), ['worse'], unit);
  }
});

t.test(
  'it takes neither one slow round, nor overlap, nor a change of a hundredth for a difference',
  async (t) => {
    for (const here of [
      [...STEADY.slice(0, 4), 900],
      [90, 95, 120, 130, 140],
      STEADY.map((value) => value + 3).toSpliced(0, 1, 98),
      [101.1, 101.2, 101.3, 101.4, 101.5],
    ]) {
      const [row] = compareRounds(rounds('ms', STEADY), rounds('ms', here));
      t.equal(row?.verdict, 'same', here.join(' '));
    }
  },
);

t.test('a change below the bound is the same', async (t) => {
  const verdict = (factor: number, bound: number) =>
    compareRounds(
      rounds('ms', STEADY),
      rounds(
        'ms',
        STEADY.map((value) => value * factor),
      ),
      bound,
    )[0]?.verdict;
  t.strictSame([verdict(1.1, 0.05), verdict(1.1, 0.15), verdict(1.2, 0.15)], ['worse', 'same', 'worse']);
});

t.test('it compares a row by its name and unit, without the figures that a unit shows', async (t) => {
  const base = STEADY.map((value) => [
    floor('status', value, `µs CPU (${value}/s)`),
    floor('gone', value, 'ms'),
  ]);
  const here = STEADY.map((value, round) => [
    floor('status', value * 2, `µs CPU (${value / 2}/s)`),
    floor('new', value, 'ms'),
    ...(round === 0 ? [] : [floor('gone', value, 'ms')]),
  ]);
  t.strictSame(compareRounds(base, here), [
    { name: 'status', unit: 'µs CPU', base: 100, here: 200, change: 1, verdict: 'worse' },
  ]);
});
