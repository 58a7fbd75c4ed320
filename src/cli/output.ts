/** Prints the data of commands: a table, or JSON with `--json`. Control characters are escaped for terminals. */
import { printable, printableJson, printableLines } from '../domain/printable-text.ts';

/** Values of a row by the name of their column; null is printed as `-`. */
export type OutputRow = Readonly<Record<string, string | number | boolean | null>>;

/** Adds colour to the text of a cell, which may end with spaces; returns it unchanged where there is none. */
export type CellStyle = (column: string, text: string) => string;

/** A table with the columns in the order of `columns`. */
function formatTable(columns: readonly string[], rows: readonly OutputRow[], style: CellStyle): string {
  const cells = rows.map((row) => columns.map((column) => printable(String(row[column] ?? '-'))));
  const widths = columns.map((column, index) =>
    cells.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), column.length),
  );
  const line = (values: readonly string[], paint: CellStyle) =>
    values
      .map((value, index) => {
        const isLast = index === values.length - 1;
        return paint(columns[index] ?? '', isLast ? value : value.padEnd(widths[index] ?? 0));
      })
      .join('  ')
      .trimEnd();
  const head = line(
    columns.map((column) => column.toUpperCase()),
    unstyled,
  );
  return [head, ...cells.map((values) => line(values, style))].join('\n');
}

const unstyled: CellStyle = (_column, text) => text;

/**
 * Prints rows on standard output as JSON or as a table; without rows, prints `empty` on standard error. `columns`: those of
 * the table in their order; default: the members of the first row. `paragraphOf`: the text of a row where the terminal is
 * too narrow for the table; default: the table is printed nevertheless.
 */
export function printRows(
  rows: readonly OutputRow[],
  json: boolean,
  empty: string,
  columns: readonly string[] = Object.keys(rows[0] ?? {}),
  style: CellStyle = unstyled,
  paragraphOf: ((row: OutputRow) => string) | null = null,
): void {
  if (json) printJson(rows);
  else if (rows.length === 0) console.error(empty);
  else if (paragraphOf !== null && isTooWide(formatTable(columns, rows, unstyled)))
    console.log(rows.map(paragraphOf).join('\n'));
  else console.log(formatTable(columns, rows, style));
}

/** Whether standard output is a terminal that breaks lines of the text. */
function isTooWide(text: string): boolean {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 && text.split('\n').some(({ length }) => length > columns);
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

/** YAML, with quotation marks and the escapes of JSON if it contains control characters. */
export async function formatYaml(value: object): Promise<string> {
  const { stringify } = await import('yaml');
  const plain = stringify(value);
  if (printableJson(plain) === plain) return plain;
  return printableJson(
    stringify(value, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }),
  );
}
