/**
 * The sample store's thread: takes batches into memory and, at least once a second, into a journal on disk; moves them
 * into blocks of a service and day when enough have come together; summarises days that are over.
 */

import { forEachYielding } from '../../async/cooperative-queue.ts';
import { DAY_MS } from '../../domain/durations.ts';
import type { Bucket, Sample } from '../../domain/sample.ts';
import type { SampleQuery } from '../ports/samples.ts';
import { decodeBlock, encodeBlock, mergeSeries, type Series } from './block.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';
import { encodeDay, encodeHours, summariseDay, summariseHours } from './summary.ts';
import { readWindow } from './window-reader.ts';
import { STRIDE, unpackRest } from './wire.ts';

/** Retention in milliseconds, and the clock of the thread. */
export interface SampleBookOptions {
  readonly database: SamplesDatabase;
  readonly rawRetentionMs: number;
  readonly rollupRetentionMs: number;
  readonly now: () => number;
  /**
   * True: another process writes the file, and this book only reads. It then sees what that one has on disk. Default
   * false.
   */
  readonly follows?: boolean;
  /** Samples that wait in memory while the disk takes none; default 500,000. */
  readonly maxPending?: number;
}

/** State of the store after a call. */
export interface SampleBookState {
  /** Samples not yet in the journal. */
  readonly pending: number;
  readonly fileBytes: number;
  /** Why the last write failed; null: it did not. */
  readonly problem: string | null;
  /** Samples lost because the disk took nothing for too long. */
  readonly lost: number;
}

/** The store, as its thread serves it. */
export interface SampleBook {
  /** Takes packed samples. */
  append(packed: Float64Array): SampleBookState;
  /** Puts everything that came in on disk. Throws where the disk refuses it. */
  flush(): SampleBookState;
  state(): SampleBookState;
  query(query: SampleQuery): Bucket[];
  newest(serviceId: number, limit: number): Sample[];
  /** Moves everything into blocks, summarises days that are over, deletes what is out of retention; in slices. */
  tidy(): Promise<void>;
  /** What the disk does not take is lost, and counted in what is returned. */
  close(): SampleBookState;
}

/** The journal is moved into blocks at this many samples; each is written about three times in all. */
const JOURNAL_SAMPLES = 100_000;
/** Services that are moved in one transaction, so that a query never waits long. */
const SLICE = 200;
/** While the disk refuses writes, so many samples wait in memory, about 20 MB; then the oldest are lost and counted. */
const MAX_PENDING = 500_000;
/** This share of them stays then: making room costs as much as there are. */
const KEPT_SHARE = 0.9;

/** Opens the store: reads the journal that a crash may have left. */
export function createSampleBook({
  database,
  rawRetentionMs,
  rollupRetentionMs,
  now,
  follows = false,
  maxPending = MAX_PENDING,
}: SampleBookOptions): SampleBook {
  /** Samples that are in no block yet, by service, in the order of their arrival. */
  const buffers = new Map<number, Series>();
  let unwritten: Float64Array[] = [];
  let pending = 0;
  let journaled = 0;
  let journalStart = 0;
  let journalEnd = 0;
  let problem: string | null = null;
  let lost = 0;
  let tidying: Promise<void> | null = null;
  let fileBytes = database.fileBytes();
  const keptPending = maxPending * KEPT_SHARE;

  const buffer = (packed: Float64Array) => {
    for (let at = 0; at < packed.length; at += STRIDE) {
      const serviceId = packed[at] as number;
      let series = buffers.get(serviceId);
      if (series === undefined) {
        series = { times: [], rests: [] };
        buffers.set(serviceId, series);
      }
      series.times.push(packed[at + 1] as number);
      series.rests.push(packed[at + 2] as number);
    }
  };

  /**
   * Takes entries that are not known yet into the buffers: those of a crash, of the process that writes, and of a former
   * writer that stood still, woke, and wrote once more before it knew.
   */
  const readJournal = (afterSeq: number) => {
    for (const { seq, bytes } of database.journal(afterSeq)) {
      const packed = new Float64Array(bytes.slice().buffer);
      journaled += packed.length / STRIDE;
      buffer(packed);
      journalEnd = seq;
    }
  };
  readJournal(0);

  /** Reads on where another process writes. What it has moved into blocks meanwhile is not kept here twice. */
  const follow = () => {
    if (!follows) return;
    const start = database.firstJournalSeq();
    if (start !== journalStart) {
      buffers.clear();
      journalEnd = 0;
    }
    journalStart = start;
    readJournal(journalEnd);
  };

  const writeJournal = () => {
    if (unwritten.length === 0) return;
    const batches = unwritten;
    journalEnd = database.transaction(() => {
      readJournal(journalEnd);
      for (const batch of batches)
        database.addToJournal(new Uint8Array(batch.buffer, batch.byteOffset, batch.byteLength));
      return database.lastJournalSeq();
    });
    unwritten = [];
    journaled += pending;
    pending = 0;
    problem = null;
    fileBytes = database.fileBytes();
  };

  const state = (): SampleBookState => ({ pending, fileBytes, problem, lost });

  const dropOldest = () => {
    if (pending <= maxPending || tidying !== null) return;
    while (pending > keptPending && unwritten.length > 1) {
      const count = (unwritten.shift()?.length ?? 0) / STRIDE;
      pending -= count;
      lost += count;
    }
    // What is lost goes from the answers too, and from the memory.
    buffers.clear();
    [journaled, journalEnd] = [0, 0];
    readJournal(0);
    for (const batch of unwritten) buffer(batch);
  };

  const putSummaries = (key: number, series: Series) => {
    const hours = summariseHours(series);
    database.putSummaries(key, encodeHours(hours), encodeDay(summariseDay(hours)));
  };

  /** Moves the buffers of some services into blocks; summaries of days that are over follow in the same transaction. */
  const seal = (services: readonly number[]) => {
    const today = Math.floor(now() / DAY_MS);
    database.transaction(() => {
      for (const serviceId of services) {
        for (const [day, series] of splitByDay(buffers.get(serviceId))) {
          const key = serviceId * KEY_DAYS + day;
          const old = database.block(key);
          const merged = mergeSeries(old === null ? { times: [], rests: [] } : decodeBlock(old), series);
          database.putBlock(key, encodeBlock(merged));
          if (day < today) putSummaries(key, merged);
        }
      }
    });
    for (const serviceId of services) buffers.delete(serviceId);
  };

  const summarise = (keys: readonly number[]) => {
    database.transaction(() => {
      for (const key of keys) {
        const block = database.block(key);
        if (block !== null) putSummaries(key, decodeBlock(block));
      }
    });
  };

  /** Deletes the days of a service that are out of retention. */
  const forget = (services: readonly number[]) => {
    const rawDay = Math.floor((now() - rawRetentionMs) / DAY_MS);
    const rollupDay = Math.floor((now() - rollupRetentionMs) / DAY_MS);
    database.transaction(() => {
      for (const serviceId of services) {
        database.cutBlocks(serviceId * KEY_DAYS, serviceId * KEY_DAYS + rawDay);
        database.cutSummaries(serviceId * KEY_DAYS, serviceId * KEY_DAYS + rollupDay);
      }
    });
  };

  const tidy = async () => {
    writeJournal();
    readJournal(journalEnd);
    // Only what is in the buffers is moved, and so only that is cut.
    const upTo = journalEnd;
    const moved = journaled;
    await forEachYielding([...buffers.keys()], SLICE, seal);
    database.transaction(() => database.cutJournal(upTo));
    journaled -= moved;
    const today = Math.floor(now() / DAY_MS);
    await forEachYielding(database.unsummarised(today), SLICE, summarise);
    const old = database.outdated(Math.floor((now() - rawRetentionMs) / DAY_MS));
    await forEachYielding([...new Set(old.map((key) => Math.floor(key / KEY_DAYS)))], SLICE, forget);
    database.shrink();
    fileBytes = database.fileBytes();
  };

  const startTidying = () => {
    tidying ??= tidy().finally(() => {
      tidying = null;
    });
    return tidying;
  };

  return {
    append(packed) {
      if (packed.length > 0) {
        unwritten.push(packed);
        pending += packed.length / STRIDE;
        buffer(packed);
        dropOldest();
      }
      return state();
    },
    flush() {
      try {
        writeJournal();
      } catch (error) {
        problem = (error as Error).message;
        throw error;
      }
      if (journaled >= JOURNAL_SAMPLES) {
        startTidying().catch((error: Error) => {
          problem = error.message;
        });
      }
      return state();
    },
    state,
    query(query) {
      follow();
      const fresh = splitByDay(buffers.get(query.serviceId));
      return readWindow({ database, query, fresh, rawFrom: now() - rawRetentionMs });
    },
    newest(serviceId, limit) {
      follow();
      let found = mergeSeries(EMPTY, buffers.get(serviceId) ?? EMPTY);
      const start = serviceId * KEY_DAYS;
      for (let end = start + KEY_DAYS - 1; ; ) {
        const [block] = database.newestBlocks(start, end, 1);
        if (block === undefined) break;
        found = mergeSeries(decodeBlock(block.bytes), found);
        end = block.key - 1;
        // A late sample may lie before this block, but never in the days after it.
        const firstOfDay = (block.key - start) * DAY_MS;
        if (found.times.filter((time) => time >= firstOfDay).length >= limit) break;
      }
      return found.times
        .map((at, index) => ({ serviceId, at, ...unpackRest(found.rests[index] as number) }))
        .reverse()
        .slice(0, limit);
    },
    async tidy() {
      await tidying;
      await startTidying();
    },
    close() {
      try {
        writeJournal();
      } catch (error) {
        problem = (error as Error).message;
        lost += pending;
      }
      database.close();
      return state();
    },
  };
}

const EMPTY: Series = { times: [], rests: [] };

function splitByDay(series: Series | undefined): Map<number, Series> {
  const days = new Map<number, Series>();
  if (series === undefined) return days;
  for (let index = 0; index < series.times.length; index++) {
    const time = series.times[index] as number;
    const day = Math.floor(time / DAY_MS);
    const known = days.get(day) ?? { times: [], rests: [] };
    days.set(day, known);
    known.times.push(time);
    known.rests.push(series.rests[index] as number);
  }
  return days;
}
