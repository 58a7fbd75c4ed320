/** Reads the buckets of a query from the blocks and summaries on disk, and from samples that are in no block yet. */

import { BoundedMap } from '../../async/bounded-map.ts';
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts';
import { CELL_LEVELS, cellsOf, levelOf } from '../../domain/picture.ts';
import type { Bucket } from '../../domain/sample.ts';
import type { SampleQuery } from '../ports/samples.ts';
import { createBucketing } from './bucketing.ts';
import { joinLevels, LEVEL_DAYS, levelAt, levelOfDay, NO_CHECKS, UNKNOWN_LEVEL } from './day-levels.ts';
import { decodeBlock, EMPTY_SERIES, mergeSeries, type Series, STRIDE } from './encoding.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';
import { decodeDay, decodeHours, type Hours, type Summary } from './summary.ts';

/** The reader of a file. What is damaged is counted once, and read as null. */
export type DayReader = ReturnType<typeof createDayReader>;

/** Maximum number of damaged days that are remembered, so that each is counted once. */
const MAX_REMEMBERED = 10_000;
/** Series have numbers below this. */
const MAX_SERIES = 2 ** 37;
const MAX_OUTCOME = 2 ** 32;

export function createDayReader() {
  const known = new BoundedMap<string, true>(MAX_REMEMBERED);
  let damaged = 0;
  const note = (name: string): null => {
    if (known.get(name) === undefined) damaged++;
    known.set(name, true);
    return null;
  };
  const read = <T>(what: string, key: number, decode: () => T | null): T | null => {
    try {
      return decode() ?? note(`${what} ${key}`);
    } catch {
      return note(`${what} ${key}`);
    }
  };
  return {
    block: (key: number, bytes: Uint8Array): Series | null =>
      read('block', key, () => {
        const series = decodeBlock(bytes);
        return isOfDay(series, key % KEY_DAYS) ? series : null;
      }),
    hours: (key: number, bytes: Uint8Array): Hours | null => read('hours', key, () => decodeHours(bytes)),
    day: (key: number, bytes: Uint8Array): Summary | null => read('day', key, () => decodeDay(bytes)),
    /** The packed samples of an entry of the journal, without those that are none. */
    journal(seq: number, bytes: Uint8Array): Float64Array {
      const whole = bytes.length - (bytes.length % (STRIDE * Float64Array.BYTES_PER_ELEMENT));
      const packed = new Float64Array(bytes.slice(0, whole).buffer);
      let length = 0;
      for (let at = 0; at < packed.length; at += STRIDE) {
        if (!isSample(packed, at)) continue;
        packed.copyWithin(length, at, at + STRIDE);
        length += STRIDE;
      }
      if (length < packed.length || whole < bytes.length) note(`journal ${seq}`);
      return packed.subarray(0, length);
    },
    /** Days, and entries of the journal, of which something could not be read since the start. */
    get damaged(): number {
      return damaged;
    },
  };
}

/** Times are stored as differences, so a wrong one moves all that follow. */
function isOfDay({ times }: Series, day: number): boolean {
  const [first = Number.NaN, last = Number.NaN] = [times[0], times.at(-1)];
  return first >= day * DAY_MS && last < (day + 1) * DAY_MS;
}

function isSample(packed: Float64Array, at: number): boolean {
  const time = packed[at + 1] ?? -1;
  return (
    isNumberBelow(packed[at], MAX_SERIES) &&
    time >= 0 &&
    time < KEY_DAYS * DAY_MS &&
    isNumberBelow(packed[at + 2], MAX_OUTCOME)
  );
}

function isNumberBelow(value: number | undefined, limit: number): boolean {
  return value !== undefined && Number.isInteger(value) && value >= 0 && value < limit;
}

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
  return finish(windowSteps(reading));
}

/** {@link readWindow} in steps of a day of a series, between which the file and the samples that are in no block yet may change. */
export function* windowSteps(reading: WindowReading): Generator<void, Bucket[]> {
  const bucketing = createBucketing(reading.query);
  for (const series of reading.series) yield* seriesSteps(bucketing, reading, series);
  return bucketing.buckets();
}

function finish<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
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
    finish(
      seriesSteps(bucketing, reading, one, {
        answered: answered.slice(),
        takeLevel: isAlone ? takeLevel : null,
      }),
    );
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

function* seriesSteps(
  bucketing: Bucketing,
  { database, reader, query: { from, to }, rawFrom }: WindowReading,
  { number, fresh }: WindowSeries,
  cells: CellReading | null = null,
): Generator<void, void> {
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
        yield;
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
      yield;
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
      yield;
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
