/**
 * The storage engine of the embedded sample store. Batches go into memory and, at least once a second, into a journal on
 * disk. Compaction moves them into blocks of one series and day, applies the retention, and summarises days that are over.
 */
import { systemClock } from '../../clock.ts';
import { DAY_MS } from '../../domain/durations.ts';
import type { Bucket, Sample } from '../../domain/sample.ts';
import { messageOf } from '../../error.ts';
import type { RegionFilter, SampleQuery } from '../ports/samples.ts';
import { createDayReader } from './day-reader.ts';
import { EMPTY_SERIES, encodeBlock, mergeSeries, type Series, STRIDE, unpackOutcome } from './encoding.ts';
import { fillLevels, hasLevels } from './fill-levels.ts';
import { freshDays } from './fresh-days.ts';
import { firstKeptDay } from './kept-days.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';
import { regionNumberOf, seriesOf } from './series.ts';
import { createSlices, nextTurn, SLICE_MS } from './slices.ts';
import { encodeDay, encodeHours, summarizeDay, summarizeHours } from './summary.ts';
import { readCells, readWindow, type WindowReading } from './window-reader.ts';

/** Options of the engine; retention in milliseconds. */
export interface SampleEngineOptions {
  readonly database: SamplesDatabase;
  readonly rawRetentionMs: number;
  readonly rollupRetentionMs: number;
  readonly now: () => number;
  /** True: another process writes the file, and this engine reads what is on disk. Default false. */
  readonly follows?: boolean;
  /** Maximum number of samples in memory while the disk refuses writes; default 500,000. */
  readonly maxPending?: number;
}

/** State of the engine after a call. */
export interface SampleEngineState {
  /** Samples not yet in the journal. */
  readonly pending: number;
  readonly fileBytes: number;
  /** Why the last write failed; null: it succeeded. */
  readonly problem: string | null;
  /** Samples dropped because the disk refused writes for too long. */
  readonly lost: number;
  /** Days of services, and batches of samples, that the file has damaged; their samples are left out. */
  readonly damaged: number;
}

/** The journal is compacted at this many samples, so that each is written about three times in all. */
const JOURNAL_SAMPLES = 100_000;
/** Free pages that are returned to the file system at a time, which takes a few milliseconds. */
const VACUUMED_PAGES = 256;
/** Default of `maxPending`, about 20 MB; of more samples, the oldest are dropped and counted. */
const MAX_PENDING = 500_000;
/** The share of them that is then kept, because dropping costs as much as there are. */
const KEPT_SHARE = 0.9;

/** The engine, as its thread serves it. */
export type SampleEngine = ReturnType<typeof createSampleEngine>;

/** Creates the engine and reads the journal that a crash may have left. */
export function createSampleEngine({
  database,
  rawRetentionMs,
  rollupRetentionMs,
  now,
  follows = false,
  maxPending = MAX_PENDING,
}: SampleEngineOptions) {
  const reader = createDayReader();
  const inSlices = createSlices(database);
  /** The regions, in the order of their numbers. */
  const regions = database.regions();
  /** How many of them are on disk. */
  let storedRegions = regions.length;
  /** Samples that are in no block yet, by series, in order of arrival. */
  const buffers = new Map<number, Series>();
  let unwritten: Float64Array[] = [];
  let pending = 0;
  let journaled = 0;
  let journalStart = 0;
  let journalEnd = 0;
  let problem: string | null = null;
  let lost = 0;
  let compacting: Promise<void> | null = null;
  let fileBytes = database.fileBytes();
  /** The day on which expired days were deleted last; null: not since the start. */
  let expiredOn: number | null = null;
  /** The first day, since 1970, that may have a block without a summary. */
  let summarizedTo = 0;
  const targetPending = maxPending * KEPT_SHARE;

  const buffer = (packed: Float64Array) => {
    for (let at = 0; at < packed.length; at += STRIDE) {
      const number = packed[at] as number;
      let series = buffers.get(number);
      if (series === undefined) {
        series = { times: [], outcomes: [] };
        buffers.set(number, series);
      }
      series.times.push(packed[at + 1] as number);
      series.outcomes.push(packed[at + 2] as number);
    }
  };

  /**
   * Reads new entries into the buffers: those left by a crash, those of the process that writes, and those of a former
   * writer that was suspended and wrote once more before it noticed that it had been replaced.
   */
  const readJournal = (afterSeq: number) => {
    for (const { seq, bytes } of database.journal(afterSeq)) {
      const packed = reader.journal(seq, bytes);
      journaled += packed.length / STRIDE;
      buffer(packed);
      journalEnd = seq;
    }
  };
  readJournal(0);

  /** Reads what another process has written. Samples that it has moved into blocks are no longer kept here. */
  const follow = () => {
    if (!follows) return;
    const start = database.firstJournalSeq();
    if (start !== journalStart) {
      buffers.clear();
      journalEnd = 0;
    }
    journalStart = start;
    readJournal(journalEnd);
    regions.splice(0, regions.length, ...database.regions());
  };

  const writeJournal = () => {
    if (unwritten.length === 0) return;
    const batches = unwritten;
    journalEnd = database.transaction(() => {
      readJournal(journalEnd);
      for (const [index, name] of regions.entries())
        if (index >= storedRegions) database.putRegion(index + 1, name);
      for (const batch of batches)
        database.addToJournal(new Uint8Array(batch.buffer, batch.byteOffset, batch.byteLength));
      return database.lastJournalSeq();
    });
    unwritten = [];
    storedRegions = regions.length;
    journaled += pending;
    pending = 0;
    problem = null;
    fileBytes = database.fileBytes();
  };

  const state = (): SampleEngineState => ({ pending, fileBytes, problem, lost, damaged: reader.damaged });

  const dropOldest = () => {
    if (pending <= maxPending || compacting !== null) return;
    let batches = 0;
    for (; pending > targetPending && batches < unwritten.length - 1; batches++) {
      const count = (unwritten[batches]?.length ?? 0) / STRIDE;
      pending -= count;
      lost += count;
    }
    unwritten.splice(0, batches);
    // Dropped samples disappear from results and memory, too.
    buffers.clear();
    [journaled, journalEnd] = [0, 0];
    readJournal(0);
    for (const batch of unwritten) buffer(batch);
  };

  const putSummaries = (key: number, series: Series) => {
    const hours = summarizeHours(series);
    database.putSummaries(key, encodeHours(hours), encodeDay(summarizeDay(hours)));
  };

  /**
   * Moves the buffer of a series into blocks, and summarizes its past days in the same transaction. A day that is not over
   * has a summary if the wall clock was ahead; it is made again when the day is over.
   */
  const compactSeries = (number: number) => {
    const today = Math.floor(now() / DAY_MS);
    for (const [day, series] of freshDays(buffers.get(number), number, { database, reader, today })) {
      const key = number * KEY_DAYS + day;
      const old = database.block(key);
      const merged = mergeSeries((old === null ? null : reader.block(key, old)) ?? EMPTY_SERIES, series);
      database.putBlock(key, encodeBlock(merged));
      if (day < today) putSummaries(key, merged);
      else {
        database.deleteSummaries(key);
        summarizedTo = Math.min(summarizedTo, day);
      }
    }
  };

  /** Summarizes the blocks of days that are over, and were not when they were written. */
  const summarizeDays = async (today: number) => {
    const from = summarizedTo;
    if (from >= today) return;
    // A block that is written meanwhile may be of a day before.
    summarizedTo = today;
    try {
      await inSlices(database.series('blocks'), (number) => {
        const first = number * KEY_DAYS;
        for (const key of database.unsummarized(first + from, first + today)) {
          const block = database.block(key);
          const series = block === null ? null : reader.block(key, block);
          if (series !== null) putSummaries(key, series);
        }
      });
    } catch (error) {
      summarizedTo = Math.min(summarizedTo, from);
      throw error;
    }
  };

  /** Deletes the days that are out of retention, once for each day, since it reads the keys of all summaries. */
  const deleteExpired = async (today: number) => {
    if (today === expiredOn) return;
    const days = new Set<number>();
    await inSlices(database.series('summaries'), (number) => {
      const first = number * KEY_DAYS;
      for (const key of database.summarized(first, first + KEY_DAYS)) days.add(key - first);
    });
    // Days that are not over have no summary.
    await inSlices(database.series('blocks'), (number) => {
      const first = number * KEY_DAYS;
      const newest = database.newestBlock(first, first + KEY_DAYS - 1);
      if (newest !== null) days.add(newest.key - first);
    });
    for (const [table, retentionMs] of [
      ['blocks', rawRetentionMs],
      ['summaries', rollupRetentionMs],
    ] as const) {
      const firstKept = firstKeptDay([...days], retentionMs, now());
      await inSlices(database.series(table), (number) =>
        database.deleteDays(table, number * KEY_DAYS, number * KEY_DAYS + firstKept),
      );
    }
    // An earlier version that ran in between left levels unknown.
    await fillLevels(database, inSlices);
    expiredOn = today;
  };

  const compact = async () => {
    writeJournal();
    readJournal(journalEnd);
    // Only what is in the buffers is moved, so only that is deleted from the journal.
    const upTo = journalEnd;
    const moved = journaled;
    await inSlices([...buffers.keys()], compactSeries, (numbers) => {
      for (const number of numbers) buffers.delete(number);
    });
    database.transaction(() => database.deleteJournal(upTo));
    journaled -= moved;
    const today = Math.floor(now() / DAY_MS);
    await summarizeDays(today);
    await deleteExpired(today);
    while (database.vacuum(VACUUMED_PAGES)) await nextTurn();
    database.checkpoint();
    fileBytes = database.fileBytes();
  };

  const startCompacting = () => {
    compacting ??= compact().finally(() => {
      compacting = null;
    });
    return compacting;
  };

  /** The series of a service that have samples of the region, or of all regions. */
  const findSeries = (serviceId: number, filter?: RegionFilter): number[] => {
    const found = filter === undefined || filter.takesUnnamed ? [serviceId] : [];
    for (const [index, region] of regions.entries())
      if (filter === undefined || filter.region === region) found.push(seriesOf(serviceId, index + 1));
    return found;
  };

  const readingOf = (query: SampleQuery): WindowReading => {
    follow();
    const today = Math.floor(now() / DAY_MS);
    const series = findSeries(query.serviceId, query.region).map((number) => ({
      number,
      fresh: freshDays(buffers.get(number), number, { database, reader, today }),
    }));
    return { database, reader, query, series, rawFrom: now() - rawRetentionMs };
  };

  /** At least the newest `limit` samples of a series, if it has as many; in order of time. */
  const newestOf = (number: number, limit: number): Series => {
    let found = mergeSeries(EMPTY_SERIES, buffers.get(number) ?? EMPTY_SERIES);
    const start = number * KEY_DAYS;
    for (let end = start + KEY_DAYS - 1; ; ) {
      const block = database.newestBlock(start, end);
      if (block === null) return found;
      found = mergeSeries(reader.block(block.key, block.bytes) ?? EMPTY_SERIES, found);
      end = block.key - 1;
      // A late sample may precede this block, but never lies in the days after it.
      const firstOfDay = (block.key - start) * DAY_MS;
      if (found.times.filter((time) => time >= firstOfDay).length >= limit) return found;
    }
  };

  return {
    /** The regions of the store, in the order of their numbers. */
    regions: (): readonly string[] => [...regions],
    /** Takes packed samples. `newRegions`: the regions that have the next numbers. */
    append(packed: Float64Array, newRegions: readonly string[] = []): SampleEngineState {
      regions.push(...newRegions);
      if (packed.length > 0) {
        unwritten.push(packed);
        pending += packed.length / STRIDE;
        buffer(packed);
        dropOldest();
      }
      return state();
    },
    /** Writes everything to disk. Throws if the disk refuses the write. */
    flush(): SampleEngineState {
      try {
        writeJournal();
      } catch (error) {
        problem = messageOf(error);
        throw error;
      }
      if (journaled >= JOURNAL_SAMPLES) {
        startCompacting().catch((error: Error) => {
          problem = error.message;
        });
      }
      return state();
    },
    state,
    query: (query: SampleQuery): Bucket[] => readWindow(readingOf(query)),
    /** The cells of rows of a heat map in place of their buckets. Other queries are answered in between. */
    async cells(queries: readonly SampleQuery[]): Promise<Uint8Array[]> {
      const rows: Uint8Array[] = [];
      let endMs = systemClock.monotonic() + SLICE_MS;
      for (const query of queries) {
        if (systemClock.monotonic() >= endMs) {
          await nextTurn();
          endMs = systemClock.monotonic() + SLICE_MS;
        }
        rows.push(readCells(readingOf(query)));
      }
      return rows;
    },
    /** Fills in the levels of days that an earlier version summarized, in slices; done once for a file. */
    async fillLevels(): Promise<void> {
      if (!hasLevels(database)) await fillLevels(database, inSlices);
    },
    /** Newest samples, newest first. */
    newest(serviceId: number, limit: number): Sample[] {
      follow();
      return findSeries(serviceId)
        .flatMap((number) => {
          const { times, outcomes } = newestOf(number, limit);
          const region = regions[regionNumberOf(number) - 1];
          const of = region === undefined ? { serviceId } : { serviceId, region };
          return times.map((at, index) => ({ ...of, at, ...unpackOutcome(outcomes[index] as number) }));
        })
        .sort((a, b) => b.at - a.at)
        .slice(0, limit);
    },
    /** The regions of which the service has samples, by name. */
    regionsOf(serviceId: number): string[] {
      follow();
      return regions
        .filter((_, index) => {
          const number = seriesOf(serviceId, index + 1);
          return buffers.has(number) || database.hasDays(number * KEY_DAYS, (number + 1) * KEY_DAYS);
        })
        .sort();
    },
    /** Moves the journal into blocks, summarizes past days and deletes what is out of retention, in slices. */
    async compact(): Promise<void> {
      await compacting;
      await startCompacting();
    },
    /** Samples that the disk refuses are lost, and counted in the returned state. */
    close(): SampleEngineState {
      try {
        writeJournal();
      } catch (error) {
        problem = messageOf(error);
        lost += pending;
      }
      database.close();
      return state();
    },
  };
}
