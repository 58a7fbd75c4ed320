/** Reads the buckets of a query from the blocks and summaries on disk, and from samples that are in no block yet. */
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts';
import { CELL_LEVELS, cellsOf, levelOf } from '../../domain/picture.ts';
import type { Bucket } from '../../domain/sample.ts';
import type { SampleQuery } from '../ports/samples.ts';
import { createBucketing } from './bucketing.ts';
import { joinLevels, LEVEL_DAYS, levelAt, levelOfDay, NO_CHECKS, UNKNOWN_LEVEL } from './day-levels.ts';
import type { DayReader } from './day-reader.ts';
import { EMPTY_SERIES, mergeSeries, type Series } from './encoding.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';

/** The sources of a query. */
export interface WindowReading {
  readonly database: SamplesDatabase;
  readonly reader: DayReader;
  readonly query: SampleQuery;
  readonly series: readonly WindowSeries[];
  /** Days before this, epoch milliseconds, may have summaries only. */
  readonly rawFrom: number;
}

interface WindowSeries {
  readonly number: number;
  /** Its samples that are in no block yet, by day since 1970. */
  readonly fresh: ReadonlyMap<number, Series>;
}

/** Percentiles of longer windows come from summaries of days (within 1 %), so that a year costs little more than a quarter. */
const EXACT_MS = 92 * DAY_MS;

/** Every bucket of the window in order. Throws a RangeError for a window that cannot be answered. */
export function readWindow(reading: WindowReading): Bucket[] {
  const bucketing = createBucketing(reading.query);
  for (const series of reading.series) addSeries(bucketing, reading, series);
  return bucketing.buckets();
}

/**
 * The cells of a heat map in place of the buckets of {@link readWindow}. In a window of days they are taken from the levels of days,
 * or made from their summaries without adding up sketches. Throws a RangeError for a window that cannot be answered.
 */
export function readCells(reading: WindowReading): Uint8Array {
  const { query } = reading;
  const series = withData(reading);
  if (series.length === 0 || query.stepMs !== DAY_MS || query.from % DAY_MS !== 0)
    return cellsOf(readWindow({ ...reading, series }));
  const bucketing = createBucketing(query);
  const isAlone = series.length === 1;
  const levels = series.map((one) => readLevels(bucketing, reading, one, !isAlone));
  const cells = joinLevels(levels);
  const answered = cells.map((level) => (level === UNKNOWN_LEVEL ? 0 : 1));
  const takeLevel: TakeLevel = (startAt, level) => {
    cells[(startAt - query.from) / DAY_MS] = level;
  };
  for (const one of series)
    addSeries(bucketing, reading, one, { answered: answered.slice(), takeLevel: isAlone ? takeLevel : null });
  for (const [place, cell] of cells.entries())
    if (cell === UNKNOWN_LEVEL) cells[place] = CELL_LEVELS.indexOf(levelOf(bucketing.bucketAt(place)));
  return cells;
}

type Bucketing = ReturnType<typeof createBucketing>;

/** The levels of a series on the days of a window. `findsNone`: days of which it has nothing are known, too. */
function readLevels(
  bucketing: Bucketing,
  { database, query: { from, to } }: WindowReading,
  { number, fresh }: WindowSeries,
  findsNone: boolean,
): Uint8Array {
  const levels = new Uint8Array(Math.ceil((to - from) / DAY_MS)).fill(UNKNOWN_LEVEL);
  if (to - from <= EXACT_MS) return levels;
  const firstKey = number * KEY_DAYS + from / DAY_MS;
  const lastKey = firstKey + levels.length - 1;
  for (const { key: rowKey, bytes } of database.levels(firstKey, lastKey)) {
    const firstOfRow = rowKey * LEVEL_DAYS;
    const end = Math.min(lastKey + 1, firstOfRow + LEVEL_DAYS);
    for (let key = Math.max(firstKey, firstOfRow); key < end; key++) {
      const level = levelAt(bytes, key);
      if (level !== null && isWhole(bucketing, fresh, key % KEY_DAYS)) levels[key - firstKey] = level;
    }
  }
  if (findsNone)
    for (const [gapFrom, gapTo] of gaps(firstKey, lastKey, (place) => levels[place] !== UNKNOWN_LEVEL))
      if (!database.hasDays(gapFrom, gapTo + 1))
        for (let key = gapFrom; key <= gapTo; key++)
          if (!fresh.has(key % KEY_DAYS)) levels[key - firstKey] = NO_CHECKS;
  return levels;
}

/** Returns true if the summary of a day is all that there is of it: it lacks samples that came late. */
function isWhole(bucketing: Bucketing, fresh: WindowSeries['fresh'], day: number): boolean {
  return !fresh.has(day) && bucketing.holds(day * DAY_MS, DAY_MS);
}

/** The series that have anything in the window. In a store with regions, most services have samples of one of them only. */
function withData({ database, query: { from, to }, series }: WindowReading): readonly WindowSeries[] {
  if (series.length === 1) return series;
  const [firstDay, lastDay] = [Math.floor(from / DAY_MS), Math.floor((to - 1) / DAY_MS)];
  return series.filter(({ number, fresh }) => {
    const start = number * KEY_DAYS;
    return fresh.size > 0 || database.hasDays(start + firstDay, start + lastDay + 1);
  });
}

/** Called with the level of each whole day of the window that is made from its summary; the bucket of the day then gets nothing. */
type TakeLevel = (startAt: number, level: number) => void;

interface CellReading {
  /** By day of the window: 1 if there is nothing left to read of it. The reader fills it in. */
  readonly answered: Uint8Array;
  /** Null: summaries are added to the buckets. */
  readonly takeLevel: TakeLevel | null;
}

function addSeries(
  bucketing: Bucketing,
  { database, reader, query: { from, to }, rawFrom }: WindowReading,
  { number, fresh }: WindowSeries,
  cells: CellReading | null = null,
): void {
  const firstKey = number * KEY_DAYS + Math.floor(from / DAY_MS);
  const lastKey = number * KEY_DAYS + Math.floor((to - 1) / DAY_MS);
  const dayOf = (key: number): number => key % KEY_DAYS;
  const { answered, takeLevel } = cells ?? {
    answered: new Uint8Array(lastKey - firstKey + 1),
    takeLevel: null,
  };
  const isAnswered = (place: number): boolean => answered[place] === 1;

  if (to - from > EXACT_MS) {
    for (const [gapFrom, gapTo] of gaps(firstKey, lastKey, isAnswered))
      for (const { key, bytes } of database.days(gapFrom, gapTo)) {
        const day = dayOf(key);
        if (!isWhole(bucketing, fresh, day)) continue;
        const level = takeLevel === null ? null : levelOfDay(bytes);
        if (level !== null) takeLevel?.(day * DAY_MS, level);
        else {
          const summary = reader.day(key, bytes);
          if (summary === null) continue;
          bucketing.addSummary(day * DAY_MS, summary);
        }
        answered[key - firstKey] = 1;
      }
  }
  const missing = gaps(firstKey, lastKey, isAnswered);
  let isDamaged = false;
  for (const [gapFrom, gapTo] of missing) {
    for (const { key, bytes } of database.blocks(gapFrom, gapTo)) {
      const late = fresh.get(dayOf(key));
      const block = reader.block(key, bytes);
      if (block === null) {
        isDamaged = true;
        continue;
      }
      bucketing.addSeries(late === undefined ? block : mergeSeries(block, late));
      answered[key - firstKey] = 1;
    }
  }
  for (const [day, series] of fresh) {
    const key = number * KEY_DAYS + day;
    if (isAnswered(key - firstKey)) continue;
    bucketing.addSeries(mergeSeries(EMPTY_SERIES, series));
    answered[key - firstKey] = 1;
  }
  // Days whose blocks were deleted, or are damaged, are read from the summaries of their hours.
  if (!isDamaged && Math.floor(from / DAY_MS) > Math.floor(rawFrom / DAY_MS)) return;
  for (const [gapFrom, gapTo] of missing) {
    for (const { key, bytes } of database.hours(gapFrom, gapTo)) {
      if (isAnswered(key - firstKey)) continue;
      for (const [hour, summary] of reader.hours(key, bytes) ?? [])
        bucketing.addSummary(dayOf(key) * DAY_MS + hour * HOUR_MS, summary);
    }
  }
}

/** Ranges of keys from `first` to `last`, both included, that are not answered; `isAnswered` is asked by place, from 0. */
function gaps(
  first: number,
  last: number,
  isAnswered: (place: number) => boolean,
): (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  for (let at = first; at <= last; at++) {
    if (isAnswered(at - first)) continue;
    const from = at;
    while (at < last && !isAnswered(at + 1 - first)) at++;
    found.push([from, at]);
  }
  return found;
}
