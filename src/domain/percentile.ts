/** Percentiles by nearest rank, as InfluxQL's PERCENTILE: the smallest value that at least this share does not exceed. */

/** The percentile of values in ascending order; `ratio` from 0 to 1. Null: there are no values. */
export function percentileOf(sorted: ArrayLike<number>, ratio: number): number | null {
  return sorted[rankOf(sorted.length, ratio) - 1] ?? null;
}

/** The percentile of values with counts, ascending by value; `total` is the sum of the counts. */
export function weightedPercentileOf(
  sorted: readonly (readonly [value: number, count: number])[],
  total: number,
  ratio: number,
): number | null {
  let rank = rankOf(total, ratio);
  if (total === 0) return null;
  for (const [value, count] of sorted) {
    rank -= count;
    if (rank <= 0) return value;
  }
  return null;
}

/** The nearest rank of a percentile among `total` values, from 1. */
export function rankOf(total: number, ratio: number): number {
  return Math.max(1, Math.ceil(ratio * total));
}
