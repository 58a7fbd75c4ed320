/**
 * Prints the data of commands: a table that fits the terminal, or JSON with `--json`. Control characters are escaped. And their progress on
 * standard error: a bar on a terminal, lines elsewhere.
 */
import { styleText } from 'node:util';
import { type Clock, systemClock } from '../clock.ts';
import { printable, printableJson, printableLines } from '../domain/printable-text.ts';

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

export function printJson(value: unknown): void {
  console.log(formatJson(value));
}

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

/** Values of a row by the name of their column; null is printed as `-`. */
export type OutputRow = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Adds colour to the text of a cell, which may be cut and may end with spaces; returns it unchanged where there is none. `word`: the
 * whole text without them.
 */
type CellStyle = (column: string, text: string, word: string) => string;

/** A table with the texts of its cells; the first line is the head. */
interface Table {
  readonly columns: readonly string[];
  readonly lines: readonly (readonly string[])[];
  /** Width of each column in characters. */
  readonly widths: readonly number[];
}

const GAP = '  ';
/** Minimum width of a column that is cut, in characters. */
const MIN_WIDTH = 8;

/** The table of rows with the columns in the order of `columns`. */
export function tableOf(columns: readonly string[], rows: readonly OutputRow[]): Table {
  const head = columns.map((column) => column.toUpperCase());
  const cells = rows.map((row) => columns.map((column) => printable(String(row[column] ?? '-'))));
  const lines = [head, ...cells];
  const widths = columns.map((_, index) =>
    lines.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), 0),
  );
  return { columns, lines, widths };
}

/** Width of the longest line in characters. */
function widthOf({ widths }: Pick<Table, 'widths'>): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * Math.max(0, widths.length - 1);
}

/** The text of a table. Where it is wider than `maxWidth`, its widest columns except the first are cut. */
export function formatTable(table: Table, maxWidth: number, style: CellStyle): string {
  const widths = fit(table.widths, maxWidth);
  return table.lines
    .map((line, number) =>
      line
        .map((cell, index) => {
          const text = cut(cell, widths[index] ?? 0);
          const filled = index === line.length - 1 ? text : text.padEnd(widths[index] ?? 0);
          return number === 0 ? colour('bold', filled) : style(table.columns[index] ?? '', filled, cell);
        })
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** The widths, of which the greatest is lowered until their sum fits. The first column names the row and stays whole. */
function fit(natural: readonly number[], maxWidth: number): readonly number[] {
  const widths = [...natural];
  for (let over = widthOf({ widths }) - maxWidth; over > 0; over--) {
    const widest = widths.reduce(
      (best, width, index) => (index > 0 && width > (widths[best] ?? 0) ? index : best),
      1,
    );
    const width = widths[widest] ?? 0;
    if (width <= MIN_WIDTH) break;
    widths[widest] = width - 1;
  }
  return widths;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1).trimEnd()}…`;
}

type Tone = 'green' | 'yellow' | 'red' | 'gray';

/** The tone of words in columns that say how something is. */
const TONES = new Map<string, Tone>([
  ...['up', 'ok', 'made', 'valid', 'running', 'resolved'].map((word) => [word, 'green'] as const),
  ...['slow', 'expired', 'monitoring'].map((word) => [word, 'yellow'] as const),
  ...['down', 'FIX', 'investigating', 'identified'].map((word) => [word, 'red'] as const),
  ...['unknown', 'revoked', 'over', 'planned'].map((word) => [word, 'gray'] as const),
]);

/** The colours of the columns `status` and `state` by their words; cells without a value are grey. */
const styleOfWord: CellStyle = (column, text, word) => {
  if (word === '-') return colour('gray', text);
  const tone = column === 'status' || column === 'state' ? TONES.get(word) : undefined;
  return tone === undefined ? text : colour(tone, text);
};

/** The text in a colour where standard output is a terminal, unless NO_COLOR is set, or where FORCE_COLOR asks for it. */
function colour(format: Tone | 'bold', text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/** Delay of the first report and minimum time between two, milliseconds. */
const PAUSE_MS = 1_000;
/** The same for a bar on a terminal, once it is shown. */
const BAR_PAUSE_MS = 100;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[K';

/** Starts reporting the progress of `total` items. */
export function startProgress(total: number, what: string, clock: Clock, stream: Stream = process.stderr) {
  let shownMs = clock.monotonic();
  let isShown = false;
  return {
    /** Reports the number of completed items. */
    note(done: number): void {
      const now = clock.monotonic();
      if (now - shownMs < (isShown && stream.isTTY ? BAR_PAUSE_MS : PAUSE_MS) || done >= total) return;
      shownMs = now;
      isShown = true;
      const line = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${what}`;
      stream.write(stream.isTTY ? `${CLEAR_LINE}${barOf(done / total)}  ${line}` : `${line}\n`);
    },
    end(): void {
      if (isShown && stream.isTTY) stream.write(CLEAR_LINE);
    },
  };
}

/** A bar for a share from 0 to 1, with the percentage. */
function barOf(share: number): string {
  const full = Math.floor(share * BAR_WIDTH);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${percent} %`;
}

/**
 * Reports on a terminal what a command waits for, with the seconds so far, if the work takes over a second. Elsewhere nothing is
 * written, so that standard error has only what matters. Returns the result of the work, or throws its error.
 */
export async function whileWaiting<T>(
  what: string,
  work: () => Promise<T>,
  clock: Clock = systemClock,
  stream: Stream = process.stderr,
): Promise<T> {
  const startedMs = clock.monotonic();
  let seconds = 0;
  const cancel = clock.every(PAUSE_MS, () => {
    seconds = Math.floor((clock.monotonic() - startedMs) / 1_000);
    if (seconds > 0 && stream.isTTY) stream.write(`${CLEAR_LINE}${what} … ${seconds} s`);
  });
  try {
    return await work();
  } finally {
    cancel();
    if (seconds > 0 && stream.isTTY) stream.write(CLEAR_LINE);
  }
}
