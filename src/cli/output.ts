/** How commands print data: a table for people, JSON with `--json`. */

/** Values of a row by the name of their column; null is printed as `-`. */
export type OutputRow = Readonly<Record<string, string | number | boolean | null>>;

/** The rows as text, columns in the order of `columns`, each as wide as its widest value. */
export function formatTable(columns: readonly string[], rows: readonly OutputRow[]): string {
  const cells = rows.map((row) => columns.map((column) => String(row[column] ?? '-')));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((line) => line[index]?.length ?? 0)),
  );
  const line = (values: readonly string[]) =>
    values
      .map((value, index) => value.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(columns.map((column) => column.toUpperCase())), ...cells.map(line)].join('\n');
}

/** Prints rows on standard output: JSON where it was asked for, else a table, or `empty` where there are none. */
export function printRows(
  columns: readonly string[],
  rows: readonly OutputRow[],
  json: boolean,
  empty: string,
): void {
  if (json) console.log(JSON.stringify(rows, null, 2));
  else if (rows.length === 0) console.error(empty);
  else console.log(formatTable(columns, rows));
}
