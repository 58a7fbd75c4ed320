/**
 * The storage engine of the embedded sample store. Batches go into memory and, at least once a second, into a journal on
 * disk. Compaction moves them into blocks of one service and day, applies the retention, and summarises days that are over.
 */

import { forEachYielding } from '../../async/cooperative-queue.ts';
import { DAY_MS } from '../../domain/durations.ts';
import type { Bucket, Sample } from '../../domain/sample.ts';
import { messageOf } from '../../error.ts';
import type { SampleQuery } from '../ports/samples.ts';
import {
  decodeBlock,
  EMPTY_SERIES,
  encodeBlock,
  mergeSeries,
  type Series,
  STRIDE,
  unpackOutcome,
} from './encoding.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';
import { encodeDay, encodeHours, summarizeDay, summarizeHours } from './summary.ts';
import { readWindow } from './window-reader.ts';

/** Options of the engine; retention in milliseconds. */
export interface SampleEngineOptions {
  readonly database: SamplesDatabase;
  readonly rawRetentionMs: number;
  readonly rollupRetentionMs: number;
  readonly now: () => number;
  /**
   * True: another process writes the file, and this engine reads what is on disk. Default false.
   */
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
}

/** The journal is compacted at this many samples, so that each is written about three times in all. */
const JOURNAL_SAMPLES = 100_000;
/** Services of one transaction, so that queries do not wait long. */
const SERVICES_PER_SLICE = 200;
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
  /** Samples that are in no block yet, by service, in order of arrival. */
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
  const targetPending = maxPending * KEPT_SHARE;

  const buffer = (packed: Float64Array) => {
    for (let at = 0; at < packed.length; at += STRIDE) {
      const serviceId = packed[at] as number;
      let series = buffers.get(serviceId);
      if (series === undefined) {
        series = { times: [], outcomes: [] };
        buffers.set(serviceId, series);
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
      const packed = new Float64Array(bytes.slice().buffer);
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

  const state = (): SampleEngineState => ({ pending, fileBytes, problem, lost });

  const dropOldest = () => {
    if (pending <= maxPending || compacting !== null) return;
    while (pending > targetPending && unwritten.length > 1) {
      const count = (unwritten.shift()?.length ?? 0) / STRIDE;
      pending -= count;
      lost += count;
    }
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

  /** Moves the buffers of some services into blocks, and summarizes their past days in the same transaction. */
  const compactServices = (services: readonly number[]) => {
    const today = Math.floor(now() / DAY_MS);
    database.transaction(() => {
      for (const serviceId of services) {
        for (const [day, series] of splitByDay(buffers.get(serviceId))) {
          const key = serviceId * KEY_DAYS + day;
          const old = database.block(key);
          const merged = mergeSeries(old === null ? EMPTY_SERIES : decodeBlock(old), series);
          database.putBlock(key, encodeBlock(merged));
          if (day < today) putSummaries(key, merged);
        }
      }
    });
    for (const serviceId of services) buffers.delete(serviceId);
  };

  const summarizeDays = (keys: readonly number[]) => {
    database.transaction(() => {
      for (const key of keys) {
        const block = database.block(key);
        if (block !== null) putSummaries(key, decodeBlock(block));
      }
    });
  };

  /** Deletes the days of a service that are out of retention. */
  const deleteExpired = (services: readonly number[]) => {
    const rawDay = Math.floor((now() - rawRetentionMs) / DAY_MS);
    const rollupDay = Math.floor((now() - rollupRetentionMs) / DAY_MS);
    database.transaction(() => {
      for (const serviceId of services) {
        database.deleteBlocks(serviceId * KEY_DAYS, serviceId * KEY_DAYS + rawDay);
        database.deleteSummaries(serviceId * KEY_DAYS, serviceId * KEY_DAYS + rollupDay);
      }
    });
  };

  const compact = async () => {
    writeJournal();
    readJournal(journalEnd);
    // Only what is in the buffers is moved, so only that is deleted from the journal.
    const upTo = journalEnd;
    const moved = journaled;
    await forEachYielding([...buffers.keys()], SERVICES_PER_SLICE, compactServices);
    database.transaction(() => database.deleteJournal(upTo));
    journaled -= moved;
    const today = Math.floor(now() / DAY_MS);
    await forEachYielding(database.unsummarized(today), SERVICES_PER_SLICE, summarizeDays);
    const old = database.outdated(Math.floor((now() - rawRetentionMs) / DAY_MS));
    await forEachYielding(
      [...new Set(old.map((key) => Math.floor(key / KEY_DAYS)))],
      SERVICES_PER_SLICE,
      deleteExpired,
    );
    database.shrink();
    fileBytes = database.fileBytes();
  };

  const startCompacting = () => {
    compacting ??= compact().finally(() => {
      compacting = null;
    });
    return compacting;
  };

  return {
    /** Takes packed samples. */
    append(packed: Float64Array): SampleEngineState {
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
    query(query: SampleQuery): Bucket[] {
      follow();
      const fresh = splitByDay(buffers.get(query.serviceId));
      return readWindow({ database, query, fresh, rawFrom: now() - rawRetentionMs });
    },
    /** Newest samples, newest first. */
    newest(serviceId: number, limit: number): Sample[] {
      follow();
      let found = mergeSeries(EMPTY_SERIES, buffers.get(serviceId) ?? EMPTY_SERIES);
      const start = serviceId * KEY_DAYS;
      for (let end = start + KEY_DAYS - 1; ; ) {
        const block = database.newestBlock(start, end);
        if (block === null) break;
        found = mergeSeries(decodeBlock(block.bytes), found);
        end = block.key - 1;
        // A late sample may precede this block, but never lies in the days after it.
        const firstOfDay = (block.key - start) * DAY_MS;
        if (found.times.filter((time) => time >= firstOfDay).length >= limit) break;
      }
      return found.times
        .map((at, index) => ({ serviceId, at, ...unpackOutcome(found.outcomes[index] as number) }))
        .reverse()
        .slice(0, limit);
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
