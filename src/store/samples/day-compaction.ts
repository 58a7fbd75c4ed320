/** The compaction of days: blocks of one series and day, the summaries of days that are over, and the end of their retention. */

import { systemClock } from '../../clock.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { levelAt, levelsKeyOf } from './day-levels.ts';
import { EMPTY_SERIES, encodeBlock, mergeSeries, type Series } from './encoding.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';
import { encodeDay, encodeHours, summarizeDay, summarizeHours } from './summary.ts';
import type { DayReader } from './window-reader.ts';

/** The fact that says that every summary had a level once. */
const FILLED = 'levels.filled';

/** Length of a slice, milliseconds: queries wait for it. */
export const SLICE_MS = 5;

/** Runs `work` for each item, in transactions of about {@link SLICE_MS}. `onCommit` gets the items of each. */
export type InSlices = <Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
  onCommit?: (items: readonly Item[]) => void,
) => Promise<void>;

/** Creates the function for a file. It rejects with what `work` throws; that transaction is rolled back. */
export function createSlices(database: SamplesDatabase): InSlices {
  return async <Item>(
    items: Iterable<Item>,
    work: (item: Item) => void,
    onCommit: (items: readonly Item[]) => void = () => {},
  ): Promise<void> => {
    const iterator = items[Symbol.iterator]();
    for (let next = iterator.next(); next.done !== true; ) {
      const done: Item[] = [];
      database.transaction(() => {
        const endMs = systemClock.monotonic() + SLICE_MS;
        do {
          work(next.value as Item);
          done.push(next.value as Item);
          next = iterator.next();
        } while (next.done !== true && systemClock.monotonic() < endMs);
      });
      onCommit(done);
      await nextTurn();
    }
  };
}

/** Resolves after what waits in the event loop now. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Returns true if the levels of a file have been filled in. A version that does not know them may have added days since. */
export function hasLevels(database: SamplesDatabase): boolean {
  return database.fact(FILLED) !== null;
}

/** Fills in what is missing, in slices; queries are answered between them. */
export async function fillLevels(database: SamplesDatabase, inSlices: InSlices): Promise<void> {
  await inSlices(database.series('summaries'), (number) => fillSeries(database, number));
  database.transaction(() => database.putFact(FILLED, '1'));
}

function fillSeries(database: SamplesDatabase, number: number): void {
  const first = number * KEY_DAYS;
  const end = first + KEY_DAYS;
  const rows = new Map(database.levels(first, end - 1).map(({ key, bytes }) => [key, bytes]));
  const isMissing = (key: number): boolean => {
    const row = rows.get(levelsKeyOf(key));
    return row === undefined || levelAt(row, key) === null;
  };
  const missing = database.summarized(first, end).filter(isMissing);
  if (missing.length === 0) return;
  const [from = first, to = first] = [missing[0], missing.at(-1)];
  for (const { key, bytes } of database.days(from, to)) if (isMissing(key)) database.putLevel(key, bytes);
}

/** The sources of {@link freshDays}. */
interface FreshDaysOptions {
  readonly database: SamplesDatabase;
  readonly reader: DayReader;
  readonly today: number;
}

/** The parts of an engine that its compaction uses; retention in milliseconds. */
interface DayCompactionOptions {
  readonly database: SamplesDatabase;
  readonly reader: DayReader;
  readonly inSlices: InSlices;
  readonly rawRetentionMs: number;
  readonly rollupRetentionMs: number;
  readonly now: () => number;
}

export class DayCompaction {
  readonly #database: SamplesDatabase;
  readonly #reader: DayReader;
  readonly #inSlices: InSlices;
  readonly #options: DayCompactionOptions;
  /** The day on which expired days were deleted last; null: not since the start. */
  #expiredOn: number | null = null;
  /** The first day, since 1970, that may have a block without a summary. */
  #summarizedTo = 0;

  constructor(options: DayCompactionOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#reader = options.reader;
    this.#inSlices = options.inSlices;
  }

  /**
   * Moves the samples of a series that are in no block into blocks, and summarizes its past days in the same transaction. A day that is not over
   * has a summary if the wall clock was ahead; it is made again when the day is over.
   */
  compactSeries(number: number, buffered: Series | undefined): void {
    const today = Math.floor(this.#options.now() / DAY_MS);
    for (const [day, series] of freshDays(buffered, number, {
      database: this.#database,
      reader: this.#reader,
      today,
    })) {
      const key = number * KEY_DAYS + day;
      const old = this.#database.block(key);
      const merged = mergeSeries(
        (old === null ? null : this.#reader.block(key, old)) ?? EMPTY_SERIES,
        series,
      );
      this.#database.putBlock(key, encodeBlock(merged));
      if (day < today) this.#putSummaries(key, merged);
      else {
        this.#database.deleteSummaries(key);
        this.#summarizedTo = Math.min(this.#summarizedTo, day);
      }
    }
  }

  /** Summarizes the blocks of days that are over, and were not when they were written. */
  async summarizeDays(today: number): Promise<void> {
    const from = this.#summarizedTo;
    if (from >= today) return;
    // A block that is written meanwhile may be of a day before.
    this.#summarizedTo = today;
    try {
      await this.#inSlices(this.#database.series('blocks'), (number) => {
        const first = number * KEY_DAYS;
        for (const key of this.#database.unsummarized(first + from, first + today)) {
          const block = this.#database.block(key);
          const series = block === null ? null : this.#reader.block(key, block);
          if (series !== null) this.#putSummaries(key, series);
        }
      });
    } catch (error) {
      this.#summarizedTo = Math.min(this.#summarizedTo, from);
      throw error;
    }
  }

  /** Deletes the days that are out of retention, once for each day, since it reads the keys of all summaries. */
  async deleteExpired(today: number): Promise<void> {
    if (today === this.#expiredOn) return;
    const days = new Set<number>();
    await this.#inSlices(this.#database.series('summaries'), (number) => {
      const first = number * KEY_DAYS;
      for (const key of this.#database.summarized(first, first + KEY_DAYS)) days.add(key - first);
    });
    // Days that are not over have no summary.
    await this.#inSlices(this.#database.series('blocks'), (number) => {
      const first = number * KEY_DAYS;
      const newest = this.#database.newestBlock(first, first + KEY_DAYS - 1);
      if (newest !== null) days.add(newest.key - first);
    });
    for (const [table, retentionMs] of [
      ['blocks', this.#options.rawRetentionMs],
      ['summaries', this.#options.rollupRetentionMs],
    ] as const) {
      const firstKept = firstKeptDay([...days], retentionMs, this.#options.now());
      await this.#inSlices(this.#database.series(table), (number) =>
        this.#database.deleteDays(table, number * KEY_DAYS, number * KEY_DAYS + firstKept),
      );
    }
    // An earlier version that ran in between left levels unknown.
    await fillLevels(this.#database, this.#inSlices);
    this.#expiredOn = today;
  }

  #putSummaries(key: number, series: Series): void {
    const hours = summarizeHours(series);
    this.#database.putSummaries(key, encodeHours(hours), encodeDay(summarizeDay(hours)));
  }
}

/**
 * The first day, since 1970, that a retention keeps. It keeps as many days with samples as it has days, too: under a wall
 * clock that is wrong by a year, nothing gets old but by days on which there were samples. `days` are in no order.
 */
function firstKeptDay(days: readonly number[], retentionMs: number, now: number): number {
  // Today and the days before it.
  const kept = Math.ceil(retentionMs / DAY_MS) + 1;
  const newest = [...days].sort((a, b) => b - a).slice(0, kept);
  return Math.min(Math.floor((now - retentionMs) / DAY_MS), newest.at(-1) ?? 0);
}

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
