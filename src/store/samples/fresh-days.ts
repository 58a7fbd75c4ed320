/** The samples of a series that are not in blocks yet, by day. */
import { DAY_MS } from '../../domain/durations.ts';
import type { DayReader } from './day-reader.ts';
import type { Series } from './encoding.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';

/**
 * Splits the buffer of series `number` by day since 1970. Leaves out days of which the summary alone is left, because their
 * block was deleted or is damaged: a day that is answered from the late samples would hide its summary. `today`: the present day;
 * it has a summary only if the wall clock was ahead, which counts for nothing. `buffer` undefined: it is empty.
 */
export function freshDays(
  buffer: Series | undefined,
  number: number,
  { database, reader, today }: FreshDaysOptions,
): Map<number, Series> {
  const days = splitByDay(buffer);
  for (const day of days.keys())
    if (day < today && isSummaryAlone(number * KEY_DAYS + day, database, reader)) days.delete(day);
  return days;
}

/** What {@link freshDays} looks into. */
interface FreshDaysOptions {
  readonly database: Pick<SamplesDatabase, 'block' | 'summarized'>;
  readonly reader: Pick<DayReader, 'block'>;
  readonly today: number;
}

function isSummaryAlone(
  key: number,
  database: FreshDaysOptions['database'],
  reader: FreshDaysOptions['reader'],
): boolean {
  if (database.summarized(key, key + 1).length === 0) return false;
  const block = database.block(key);
  return block === null || reader.block(key, block) === null;
}

function splitByDay(series: Series | undefined): Map<number, Series> {
  const days = new Map<number, Series>();
  if (series === undefined) return days;
  for (const [index, time] of series.times.entries()) {
    const day = Math.floor(time / DAY_MS);
    const known = days.get(day) ?? { times: [], outcomes: [] };
    days.set(day, known);
    known.times.push(time);
    known.outcomes.push(series.outcomes[index] as number);
  }
  return days;
}
