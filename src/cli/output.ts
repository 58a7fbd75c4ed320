/** Prints the data of commands: a table, or JSON with `--json`. Control characters are escaped for terminals. */
import { printable, printableJson, printableLines } from '../domain/printable-text.ts';
import { type CellStyle, formatTable, type OutputRow, styleOfWord, tableOf, widthOf } from './table.ts';

interface TableLook {
  /** The columns in their order; absent: the members of the first row. */
  readonly columns?: readonly string[];
  readonly style?: CellStyle;
  /** The text of a row where the terminal is too narrow for the table; absent: the table is made narrower. */
  readonly paragraphOf?: (row: OutputRow) => string;
}

/**
 * Prints rows on standard output as JSON or as a table; without rows, prints `empty` on standard error.
 */
export function printRows(
  rows: readonly OutputRow[],
  json: boolean,
  empty: string,
  { columns = Object.keys(rows[0] ?? {}), style = styleOfWord, paragraphOf }: TableLook = {},
): void {
  if (json) printJson(rows);
  else if (rows.length === 0) console.error(empty);
  else {
    const table = tableOf(columns, rows);
    const { isTTY, columns: width } = process.stdout;
    const maxWidth = isTTY && width > 0 ? width : Number.POSITIVE_INFINITY;
    const isNarrow = paragraphOf !== undefined && widthOf(table) > maxWidth;
    console.log(isNarrow ? rows.map(paragraphOf).join('\n') : formatTable(table, maxWidth, style));
  }
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
