/**
 * The levels of days that the heat map of a year shows, a byte a day: 128 days of a series are one row of the file, so that a year
 * is four rows in place of 365 summaries. Triggers of the file make a level unknown when the summary of its day changes, whichever
 * version of the program changes it. A day whose level is unknown is read from its summary.
 */
import { CELL_LEVELS, levelOf } from '../../domain/picture.ts';
import { decodeDayFigures } from './summary.ts';

/** Days in a row. It divides the number of days that a key can contain, so no row has days of two series. */
export const LEVEL_DAYS = 128;
/** The byte of a day whose level is unknown. */
export const UNKNOWN_LEVEL = 255;

/** The level of a day without checks that count. */
export const NO_CHECKS = CELL_LEVELS.indexOf('none');
const FAILING = CELL_LEVELS.indexOf('failing');

/** The key of the row of a day, by the key of the day. */
export function levelsKeyOf(dayKey: number): number {
  return Math.floor(dayKey / LEVEL_DAYS);
}

/** The table, and the triggers that keep it right. */
export const LEVEL_TABLES = `
  CREATE TABLE IF NOT EXISTS levels (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  ${forgetLevel('INSERT', 'NEW')}
  ${forgetLevel('UPDATE', 'NEW')}
  ${forgetLevel('DELETE', 'OLD')}
`;

function forgetLevel(change: 'INSERT' | 'UPDATE' | 'DELETE', row: 'NEW' | 'OLD'): string {
  const place = `${row}.key % ${LEVEL_DAYS}`;
  return `CREATE TRIGGER IF NOT EXISTS level_after_${change.toLowerCase()} AFTER ${change} ON days BEGIN
    UPDATE levels SET bytes = CAST(substr(bytes, 1, ${place}) || x'FF' || substr(bytes, ${place} + 2) AS BLOB)
    WHERE key = ${row}.key / ${LEVEL_DAYS}; END;`;
}

/** The level of a day by its summary, as an index in `CELL_LEVELS`; null: the summary is damaged. */
export function levelOfDay(summary: Uint8Array): number | null {
  try {
    const figures = decodeDayFigures(summary);
    return figures === null ? null : CELL_LEVELS.indexOf(levelOf(figures));
  } catch {
    return null;
  }
}

/** A row with the level of a day besides those of `row`. Null: there is no row yet, or a level that is unknown. */
export function withLevel(row: Uint8Array | null, dayKey: number, level: number | null): Uint8Array {
  const bytes = row?.length === LEVEL_DAYS ? row.slice() : new Uint8Array(LEVEL_DAYS).fill(UNKNOWN_LEVEL);
  bytes[dayKey % LEVEL_DAYS] = level ?? UNKNOWN_LEVEL;
  return bytes;
}

/** The level of a day in its row; null: it is unknown, or the row is damaged. */
export function levelAt(row: Uint8Array, dayKey: number): number | null {
  const level = row.length === LEVEL_DAYS ? (row[dayKey % LEVEL_DAYS] ?? UNKNOWN_LEVEL) : UNKNOWN_LEVEL;
  return level < CELL_LEVELS.length ? level : null;
}

/**
 * The levels of all checks of each day from those of its series, such as of several regions. Unknown: the summaries are needed. A share, or
 * a percentile, of all checks lies between those of the series, so what series agree on is right. So is `failing` of one if none is
 * down: some checks have failed, and fewer than half.
 */
export function joinLevels(series: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(), ...others] = series;
  const joined = first.slice();
  for (const levels of others)
    for (const [place, level] of levels.entries())
      joined[place] = joinLevel(joined[place] ?? UNKNOWN_LEVEL, level);
  return joined;
}

function joinLevel(one: number, other: number): number {
  if (one === other || other === NO_CHECKS) return one;
  if (one === NO_CHECKS) return other;
  const isFailing = (one === FAILING || other === FAILING) && Math.max(one, other) === FAILING;
  return isFailing ? FAILING : UNKNOWN_LEVEL;
}
