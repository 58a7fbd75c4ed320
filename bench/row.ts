/** A line of the benchmarks' table. */

/** One measured figure. */
export interface BenchRow {
  readonly name: string;
  /** Median; `unit` says of what. Null: it could not be measured, and `unit` says why. */
  readonly value: number | null;
  readonly unit: string;
  /** Beside the floor or the peer; null: the line is a floor, or stands alone. */
  readonly ratio: number | null;
  /** What must be reached, in words; null: nothing. */
  readonly target: string | null;
  readonly reached: boolean | null;
}

/** A line without a target. */
export function floor(name: string, value: number, unit: string): BenchRow {
  return { name, value, unit, ratio: null, target: null, reached: null };
}

/** A line of what could not be measured, and why. */
export function absent(name: string, why: string): BenchRow {
  return { name, value: null, unit: why, ratio: null, target: null, reached: null };
}

/** The middle of some figures; NaN of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Prints lines as a table. */
export function printRows(rows: readonly BenchRow[]): void {
  for (const { name, value, unit, ratio, target, reached } of rows) {
    const goal = target === null ? '' : `${target}: ${reached ? 'reached' : 'MISSED'}`;
    const figure = value?.toFixed(value < 10 ? 2 : value < 1_000 ? 1 : 0) ?? '-';
    console.log(
      `${name.padEnd(64)} ${figure.padStart(9)} ${unit.padEnd(22)} ${(ratio?.toFixed(2) ?? '').padStart(5)}  ${goal}`.trimEnd(),
    );
  }
}
