/** The common options of commands, and the errors of which only the message is printed. */
import { printableLines } from '../domain/printable-text.ts';
import { errorCodeOf, messageOf } from '../error.ts';
import { type OutputRow, printNote } from './output.ts';

export interface CommonOptions {
  readonly config: string;
  readonly json?: boolean;
}

/** The command failed: status 1. */
export class CommandError extends Error {
  readonly code = 'command_failed';
}

/** The arguments of the command are wrong: status 2. */
export class UsageError extends CommandError {}

/** Exit status: the configuration or the arguments are wrong. */
export const EXIT_USAGE = 2;
const EXIT_FAILURE = 1;
/** Codes of errors whose message lists several problems, one on each line. */
const LISTING_CODES: readonly (string | null)[] = ['bad_config', 'bad_catalogue', 'bad_apply_file'];

/**
 * Prints the message of an error on standard error and ends the process: with status 2 if the configuration or the
 * arguments are wrong, else with 1. Errors are told apart by their codes, so that the classes need not be loaded.
 */
export function endByError(error: unknown): never {
  const [message, code] = [messageOf(error), errorCodeOf(error)];
  if (LISTING_CODES.includes(code)) console.error(printableLines(message));
  else printNote(`upbeat: ${message}`);
  process.exit(code === 'bad_config' || error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE);
}

export interface ListOptions extends CommonOptions {
  /** Part of a text, in any case. */
  readonly q?: string;
}

/** The note where a list has rows, and the filters leave none. */
export const NOTHING_MATCHES = 'Nothing matches.';

/**
 * The rows that match all filters: `q` is part of a column in `searched`, and each other filter names the word of its column.
 * Absent filters match every row.
 */
export function filterRows<Row extends OutputRow>(
  rows: readonly Row[],
  {
    q = '',
    ...words
  }: { readonly [column: string]: readonly string[] | string | undefined; readonly q?: string | undefined },
  searched: readonly string[],
): Row[] {
  return rows.filter(
    (row) =>
      Object.entries(words).every(
        ([column, all]) => all === undefined || all.includes(String(row[column])),
      ) &&
      hasText(
        searched.map((column) => String(row[column] ?? '')),
        q,
      ),
  );
}

/** Returns true if one of the texts contains `q`, in any case. */
export function hasText(texts: readonly string[], q: string): boolean {
  const wanted = q.trim().toLowerCase();
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

/** The parts of an option such as `NAME=VALUE`. Throws {@link UsageError}. */
export function splitSetting(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`"${text}" is not a setting: expected NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}
