/** Whether figures of two trees, measured in turn, differ by more than noise. Pure functions. */
import { type BenchRow, median } from './row.ts';

/** What the comparison of a row says of this tree. */
export type Verdict = 'better' | 'worse' | 'same';

/** A row in both trees. */
export interface ComparedRow {
  readonly name: string;
  readonly unit: string;
  /** Medians of the rounds. */
  readonly base: number;
  readonly here: number;
  /** How much more than `base`, as a ratio: 0.1 is a tenth more. */
  readonly change: number;
  readonly verdict: Verdict;
}

/** Chance of a false "worse" or "better" up to which a difference counts: of five rounds each, none may overlap. */
const MAX_CHANCE = 0.01;
/** The bound by default: a smaller change of the median is called the same even if it is certain. */
export const MIN_CHANGE = 0.02;

/**
 * Compares the rows that every round of both trees measured, by name and unit without its figures. Rows of one tree alone are
 * left out. `bound`: the least change of a median that counts, as a ratio.
 */
export function compareRounds(
  base: readonly (readonly BenchRow[])[],
  here: readonly (readonly BenchRow[])[],
  bound = MIN_CHANGE,
): readonly ComparedRow[] {
  const [before, after] = [collectValues(base), collectValues(here)];
  return [...after].flatMap(([key, { name, unit, values }]) => {
    const known = before.get(key);
    return known === undefined ? [] : [compareRow({ name, unit }, known.values, values, bound)];
  });
}

function compareRow(
  { name, unit }: Pick<BenchRow, 'name' | 'unit'>,
  base: readonly number[],
  here: readonly number[],
  bound: number,
): ComparedRow {
  const [from, to] = [median(base), median(here)];
  const change = from === to ? 0 : (to - from) / Math.abs(from);
  const isNoise = rankSumChance(base, here) > MAX_CHANCE || Math.abs(change) < bound;
  const verdict = isNoise ? 'same' : change > 0 === isMoreBetter(unit) ? 'better' : 'worse';
  return { name, unit, base: from, here: to, change, verdict };
}

/** Figures a second are better the greater they are; times, bytes and shares the smaller they are. */
function isMoreBetter(unit: string): boolean {
  return /^[^(]*(\/s|a second)\b/.test(unit);
}

/** The values of each row that every round has. */
function collectValues(rounds: readonly (readonly BenchRow[])[]) {
  const rows = new Map<string, { name: string; unit: string; values: number[] }>();
  for (const round of rounds) {
    for (const { name, unit, value } of round) {
      if (value === null) continue;
      const plainUnit = unit.replace(/ \(.*\)$/, '');
      const key = `${name}\n${plainUnit}`;
      const row = rows.get(key) ?? { name, unit: plainUnit, values: [] };
      row.values.push(value);
      rows.set(key, row);
    }
  }
  return new Map([...rows].filter(([, { values }]) => values.length === rounds.length));
}

/**
 * The chance that values of one distribution are as far apart as these: the exact two-sided test of Mann and Whitney. Ties
 * count half, which makes the chance greater rather than less. 1 for no values.
 */
export function rankSumChance(a: readonly number[], b: readonly number[]): number {
  let wins = 0;
  for (const x of a) for (const y of b) wins += x < y ? 1 : x === y ? 0.5 : 0;
  const pairs = a.length * b.length;
  const extreme = Math.floor(Math.max(wins, pairs - wins));
  const ways = countWays(a.length, b.length);
  const total = ways.reduce((sum, count) => sum + count, 0);
  const beyond = ways.slice(extreme).reduce((sum, count) => sum + count, 0);
  return Math.min(1, (2 * beyond) / total);
}

/** How many orders of `n` and `m` different values have each number of pairs in which the first is less, from 0 to n·m. */
function countWays(n: number, m: number): readonly number[] {
  // The coefficients of the Gaussian binomial, a factor (1 - q^(m+i)) / (1 - q^i) after the other.
  const ways = new Array<number>(n * m + 1).fill(0);
  ways[0] = 1;
  for (let i = 1; i <= n; i++) {
    for (let at = n * m; at >= m + i; at--) ways[at] = (ways[at] ?? 0) - (ways[at - m - i] ?? 0);
    for (let at = i; at <= n * m; at++) ways[at] = (ways[at] ?? 0) + (ways[at - i] ?? 0);
  }
  return ways;
}
