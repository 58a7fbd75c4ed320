/** Prints the data of commands: a table, or JSON with `--json`. Control characters are escaped for terminals. */
import { printable, printableJson, printableLines } from '../domain/printable-text.ts';

/** Values of a row by the name of their column; null is printed as `-`. */
export type OutputRow = Readonly<Record<string, string | number | boolean | null>>;

/** A table with the columns in the order of `columns`. */
function formatTable(columns: readonly string[], rows: readonly OutputRow[]): string {
  const cells = rows.map((row) => columns.map((column) => printable(String(row[column] ?? '-'))));
  const widths = columns.map((column, index) =>
    cells.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), column.length),
  );
  const line = (values: readonly string[]) =>
    values
      .map((value, index) => value.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(columns.map((column) => column.toUpperCase())), ...cells.map(line)].join('\n');
}

/**
 * Prints rows on standard output as JSON or as a table; without rows, prints `empty` on standard error. `columns`: those of
 * the table in their order; default: the members of the first row.
 */
export function printRows(
  rows: readonly OutputRow[],
  json: boolean,
  empty: string,
  columns: readonly string[] = Object.keys(rows[0] ?? {}),
): void {
  if (json) printJson(rows);
  else if (rows.length === 0) console.error(empty);
  else console.log(formatTable(columns, rows));
}

/** Prints a value as JSON on standard output. */
export function printJson(value: unknown): void {
  console.log(formatJson(value));
}

/** A value as JSON of several lines. */
export function formatJson(value: unknown): string {
  return printableJson(JSON.stringify(value, null, 2));
}

/** Prints one or more lines on standard output. */
export function printText(text: string): void {
  console.log(printableLines(text));
}

/** Prints one line on standard error. Line breaks are escaped. */
export function printNote(text: string): void {
  console.error(printable(text));
}
