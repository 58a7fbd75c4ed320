/**
 * The storage engine of the embedded sample store. Batches go into memory and, at least once a second, into a journal on
 * disk. Compaction moves them into blocks of one series and day, applies the retention, and summarises days that are over.
 */
import { systemClock } from '../../clock.ts';
import { DAY_MS } from '../../domain/durations.ts';
import type { Bucket, Sample } from '../../domain/sample.ts';
import { messageOf } from '../../error.ts';
import type { RegionFilter, SampleQuery } from '../ports/samples.ts';
import {
  createSlices,
  DayCompaction,
  fillLevels,
  freshDays,
  hasLevels,
  type InSlices,
  nextTurn,
  SLICE_MS,
} from './day-compaction.ts';
import {
  EMPTY_SERIES,
  mergeSeries,
  regionNumberOf,
  type Series,
  STRIDE,
  seriesOf,
  unpackOutcome,
} from './encoding.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';
import { createDayReader, readCells, readWindow, type WindowReading, windowSteps } from './window-reader.ts';

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

/** The engine. A new one reads the journal that a crash may have left. */
export class SampleEngine {
  readonly #database: SamplesDatabase;
  readonly #rawRetentionMs: number;
  readonly #now: () => number;
  readonly #follows: boolean;
  readonly #maxPending: number;
  readonly #reader = createDayReader();
  readonly #inSlices: InSlices;
  readonly #compaction: DayCompaction;
  /** The regions, in the order of their numbers. */
  readonly #regions: string[];
  #storedRegions: number;
  /** Samples that are in no block yet, by series, in order of arrival. */
  readonly #buffers = new Map<number, Series>();
  #unwritten: Float64Array[] = [];
  #pending = 0;
  #journaled = 0;
  #journalStart = 0;
  #journalEnd = 0;
  #problem: string | null = null;
  #lost = 0;
  #compacting: Promise<void> | null = null;
  /** Resolves when the last query in slices has ended. */
  #reading: Promise<unknown> = Promise.resolve();
  #fileBytes: number;
  readonly #targetPending: number;

  constructor({
    database,
    rawRetentionMs,
    rollupRetentionMs,
    now,
    follows = false,
    maxPending = MAX_PENDING,
  }: {
    readonly database: SamplesDatabase;
    readonly rawRetentionMs: number;
    readonly rollupRetentionMs: number;
    readonly now: () => number;
    /** True: another process writes the file, and this engine reads what is on disk. Default false. */
    readonly follows?: boolean;
    /** Maximum number of samples in memory while the disk refuses writes; default 500,000. */
    readonly maxPending?: number;
  }) {
    this.#database = database;
    this.#rawRetentionMs = rawRetentionMs;
    this.#now = now;
    this.#follows = follows;
    this.#maxPending = maxPending;
    this.#inSlices = createSlices(database);
    this.#compaction = new DayCompaction({
      ...{ database, reader: this.#reader, inSlices: this.#inSlices, rawRetentionMs, rollupRetentionMs, now },
    });
    this.#regions = database.regions();
    this.#storedRegions = this.#regions.length;
    this.#fileBytes = database.fileBytes();
    this.#targetPending = maxPending * KEPT_SHARE;
    this.#readJournal(0);
  }

  /** The regions of the store, in the order of their numbers. */
  regions(): readonly string[] {
    return [...this.#regions];
  }

  /** Returns true if no process has written a sample. */
  isEmpty(): boolean {
    this.#follow();
    return this.#buffers.size === 0 && !this.#database.hasDays(0, Number.MAX_SAFE_INTEGER);
  }

  /** Takes packed samples. `newRegions`: the regions that have the next numbers. */
  append(packed: Float64Array, newRegions: readonly string[] = []): SampleEngineState {
    this.#regions.push(...newRegions);
    if (packed.length > 0) {
      this.#unwritten.push(packed);
      this.#pending += packed.length / STRIDE;
      this.#buffer(packed);
      this.#dropOldest();
    }
    return this.state();
  }

  /** Writes everything to disk. Throws if the disk refuses the write. */
  flush(): SampleEngineState {
    try {
      this.#writeJournal();
    } catch (error) {
      this.#problem = messageOf(error);
      throw error;
    }
    if (this.#journaled >= JOURNAL_SAMPLES) {
      this.#startCompacting().catch((error: Error) => {
        this.#problem = error.message;
      });
    }
    return this.state();
  }

  state(): SampleEngineState {
    return {
      pending: this.#pending,
      fileBytes: this.#fileBytes,
      problem: this.#problem,
      lost: this.#lost,
      damaged: this.#reader.damaged,
    };
  }

  query(query: SampleQuery): Bucket[] {
    return readWindow(this.#readingOf(query));
  }

  /** The same in slices, one query after the other. Other calls are answered in between. */
  queryInSlices(query: SampleQuery): Promise<Bucket[]> {
    const reading = this.#reading.then(() => this.#readInSlices(query));
    this.#reading = reading.catch(() => {});
    return reading;
  }

  async #readInSlices(query: SampleQuery): Promise<Bucket[]> {
    const steps = windowSteps(this.#readingOf(query));
    for (let endMs = systemClock.monotonic() + SLICE_MS; ; ) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (systemClock.monotonic() < endMs) continue;
      await nextTurn();
      endMs = systemClock.monotonic() + SLICE_MS;
    }
  }

  /** The cells of rows of a heat map in place of their buckets. Other queries are answered in between. */
  async cells(queries: readonly SampleQuery[]): Promise<Uint8Array[]> {
    const rows: Uint8Array[] = [];
    let endMs = systemClock.monotonic() + SLICE_MS;
    for (const query of queries) {
      if (systemClock.monotonic() >= endMs) {
        await nextTurn();
        endMs = systemClock.monotonic() + SLICE_MS;
      }
      rows.push(readCells(this.#readingOf(query)));
    }
    return rows;
  }

  /** Fills in the levels of days that an earlier version summarized, in slices; done once for a file. */
  async fillLevels(): Promise<void> {
    if (!hasLevels(this.#database)) await fillLevels(this.#database, this.#inSlices);
  }

  /** Newest samples, newest first. */
  newest(serviceId: number, limit: number): Sample[] {
    this.#follow();
    return this.#findSeries(serviceId)
      .flatMap((number) => {
        const { times, outcomes } = this.#newestOf(number, limit);
        const region = this.#regions[regionNumberOf(number) - 1];
        const of = region === undefined ? { serviceId } : { serviceId, region };
        return times.map((at, index) => ({ ...of, at, ...unpackOutcome(outcomes[index] as number) }));
      })
      .sort((a, b) => b.at - a.at)
      .slice(0, limit);
  }

  /** The regions of which the service has samples, by name. */
  regionsOf(serviceId: number): string[] {
    this.#follow();
    return this.#regions
      .filter((_, index) => {
        const number = seriesOf(serviceId, index + 1);
        return (
          this.#buffers.has(number) || this.#database.hasDays(number * KEY_DAYS, (number + 1) * KEY_DAYS)
        );
      })
      .sort();
  }

  /** Moves the journal into blocks, summarizes past days and deletes what is out of retention, in slices. */
  async compact(): Promise<void> {
    await this.#compacting;
    await this.#startCompacting();
  }

  /** Samples that the disk refuses are lost, and counted in the returned state. */
  close(): SampleEngineState {
    try {
      this.#database.waitLonger();
      this.#writeJournal();
    } catch (error) {
      this.#problem = messageOf(error);
      this.#lost += this.#pending;
    }
    this.#database.close();
    return this.state();
  }

  #buffer(packed: Float64Array) {
    for (let at = 0; at < packed.length; at += STRIDE) {
      const number = packed[at] as number;
      let series = this.#buffers.get(number);
      if (series === undefined) {
        series = { times: [], outcomes: [] };
        this.#buffers.set(number, series);
      }
      series.times.push(packed[at + 1] as number);
      series.outcomes.push(packed[at + 2] as number);
    }
  }

  /**
   * Reads new entries into the buffers: those left by a crash, those of the process that writes, and those of a former
   * writer that was suspended and wrote once more before it noticed that it had been replaced.
   */
  #readJournal(afterSeq: number) {
    for (const { seq, bytes } of this.#database.journal(afterSeq)) {
      const packed = this.#reader.journal(seq, bytes);
      this.#journaled += packed.length / STRIDE;
      this.#buffer(packed);
      this.#journalEnd = seq;
    }
  }

  /** Reads what another process has written. Samples that it has moved into blocks are no longer kept here. */
  #follow() {
    if (!this.#follows) return;
    const start = this.#database.firstJournalSeq();
    if (start !== this.#journalStart) {
      this.#buffers.clear();
      this.#journalEnd = 0;
    }
    this.#journalStart = start;
    this.#readJournal(this.#journalEnd);
    this.#regions.splice(0, this.#regions.length, ...this.#database.regions());
  }

  #writeJournal() {
    if (this.#unwritten.length === 0) return;
    const batches = this.#unwritten;
    this.#journalEnd = this.#database.transaction(() => {
      this.#readJournal(this.#journalEnd);
      for (const [index, name] of this.#regions.entries())
        if (index >= this.#storedRegions) this.#database.putRegion(index + 1, name);
      for (const batch of batches)
        this.#database.addToJournal(new Uint8Array(batch.buffer, batch.byteOffset, batch.byteLength));
      return this.#database.lastJournalSeq();
    });
    this.#unwritten = [];
    this.#storedRegions = this.#regions.length;
    this.#journaled += this.#pending;
    this.#pending = 0;
    this.#problem = null;
    this.#fileBytes = this.#database.fileBytes();
  }

  #dropOldest() {
    if (this.#pending <= this.#maxPending || this.#compacting !== null) return;
    let batches = 0;
    for (; this.#pending > this.#targetPending && batches < this.#unwritten.length - 1; batches++) {
      const count = (this.#unwritten[batches]?.length ?? 0) / STRIDE;
      this.#pending -= count;
      this.#lost += count;
    }
    this.#unwritten.splice(0, batches);
    // Dropped samples disappear from results and memory, too.
    this.#buffers.clear();
    [this.#journaled, this.#journalEnd] = [0, 0];
    this.#readJournal(0);
    for (const batch of this.#unwritten) this.#buffer(batch);
  }

  async #compact() {
    this.#writeJournal();
    this.#readJournal(this.#journalEnd);
    // Only what is in the buffers is moved, so only that is deleted from the journal.
    const upTo = this.#journalEnd;
    const moved = this.#journaled;
    await this.#inSlices(
      [...this.#buffers.keys()],
      (number) => this.#compaction.compactSeries(number, this.#buffers.get(number)),
      (numbers) => {
        for (const number of numbers) this.#buffers.delete(number);
      },
    );
    this.#database.transaction(() => this.#database.deleteJournal(upTo));
    this.#journaled -= moved;
    const today = Math.floor(this.#now() / DAY_MS);
    await this.#compaction.summarizeDays(today);
    await this.#compaction.deleteExpired(today);
    while (this.#database.vacuum(VACUUMED_PAGES)) await nextTurn();
    this.#database.checkpoint();
    this.#fileBytes = this.#database.fileBytes();
  }

  #startCompacting() {
    this.#compacting ??= this.#compact().finally(() => {
      this.#compacting = null;
    });
    return this.#compacting;
  }

  /** The series of a service that have samples of the region, or of all regions. */
  #findSeries(serviceId: number, filter?: RegionFilter): number[] {
    const found = filter === undefined || filter.takesUnnamed ? [serviceId] : [];
    for (const [index, region] of this.#regions.entries())
      if (filter === undefined || filter.region === region) found.push(seriesOf(serviceId, index + 1));
    return found;
  }

  #readingOf(query: SampleQuery): WindowReading {
    this.#follow();
    const today = Math.floor(this.#now() / DAY_MS);
    const series = this.#findSeries(query.serviceId, query.region).map((number) => ({
      number,
      fresh: freshDays(this.#buffers.get(number), number, {
        database: this.#database,
        reader: this.#reader,
        today,
      }),
    }));
    return {
      database: this.#database,
      reader: this.#reader,
      query,
      series,
      rawFrom: this.#now() - this.#rawRetentionMs,
    };
  }

  /** At least the newest `limit` samples of a series, if it has as many; in order of time. */
  #newestOf(number: number, limit: number): Series {
    let found = mergeSeries(EMPTY_SERIES, this.#buffers.get(number) ?? EMPTY_SERIES);
    const start = number * KEY_DAYS;
    for (let end = start + KEY_DAYS - 1; ; ) {
      const block = this.#database.newestBlock(start, end);
      if (block === null) return found;
      found = mergeSeries(this.#reader.block(block.key, block.bytes) ?? EMPTY_SERIES, found);
      end = block.key - 1;
      // A late sample may precede this block, but never lies in the days after it.
      const firstOfDay = (block.key - start) * DAY_MS;
      if (found.times.filter((time) => time >= firstOfDay).length >= limit) return found;
    }
  }
}
