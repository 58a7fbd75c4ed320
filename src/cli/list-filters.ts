/** The filters of commands that print a list: a text, and words of columns. */
import type { CommonOptions } from './command.ts';
import type { OutputRow } from './table.ts';

/** Options of a list that can be searched. */
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
