/** Rows of the benchmarks' table. */

/** One measured figure. */
export interface BenchRow {
  readonly name: string;
  /** Median in `unit`. Null: it could not be measured, and `unit` tells why. */
  readonly value: number | null;
  readonly unit: string;
  /** Relative to the floor or the peer; null: the row is a floor, or has none. */
  readonly ratio: number | null;
  /** The target as text; null: none. */
  readonly target: string | null;
  readonly reached: boolean | null;
}

/** A row without a target. */
export function floor(name: string, value: number, unit: string): BenchRow {
  return { name, value, unit, ratio: null, target: null, reached: null };
}

/** A row of what could not be measured, and why. */
export function absent(name: string, why: string): BenchRow {
  return { name, value: null, unit: why, ratio: null, target: null, reached: null };
}

/** A row whose value must be at most `max`. */
export function atMost(
  name: string,
  value: number,
  unit: string,
  max: number,
  ratio: number | null = null,
): BenchRow {
  return { name, value, unit, ratio, target: `<= ${format(max)}`, reached: value <= max };
}

/** A row whose value must be at least `min`. */
export function atLeast(
  name: string,
  value: number,
  unit: string,
  min: number,
  ratio: number | null = null,
): BenchRow {
  return { name, value, unit, ratio, target: `>= ${format(min)}`, reached: value >= min };
}

/** A row whose ratio must be at most `max`; null: any ratio. */
export function ratioAtMost(
  name: string,
  value: number,
  unit: string,
  ratio: number,
  max: number | null,
): BenchRow {
  const target = max === null ? null : `<= ${format(max)}`;
  return { name, value, unit, ratio, target, reached: max === null ? null : ratio <= max };
}

/** A row whose ratio must be at least `min`; null: any ratio. */
export function ratioAtLeast(
  name: string,
  value: number,
  unit: string,
  ratio: number,
  min: number | null,
): BenchRow {
  const target = min === null ? null : `>= ${format(min)}`;
  return { name, value, unit, ratio, target, reached: min === null ? null : ratio >= min };
}

/** The median; NaN of no values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Prints rows as a table and returns them. */
export function printRows(rows: readonly BenchRow[]): readonly BenchRow[] {
  for (const { name, value, unit, ratio, target, reached } of rows) {
    const goal = target === null ? '' : `${target}: ${reached ? 'reached' : 'MISSED'}`;
    const figure = value?.toFixed(value < 10 ? 2 : value < 1_000 ? 1 : 0) ?? '-';
    console.log(
      `${name.padEnd(64)} ${figure.padStart(9)} ${unit.padEnd(22)} ${(ratio?.toFixed(2) ?? '').padStart(5)}  ${goal}`.trimEnd(),
    );
  }
  return rows;
}

function format(limit: number): string {
  return limit.toLocaleString('en', { maximumFractionDigits: 2 });
}
