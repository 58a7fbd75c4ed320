/**
 * What InfluxDB could not take yet, on disk and in order: an SQLite file beside the other stores. It is bounded; the
 * oldest goes first, and is counted.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { MEASUREMENT } from './influx-settings.ts';

/** The oldest lines of the spool, of as many rows as fill a request. */
export interface SpooledBatch {
  /** Number of the newest row that it holds. */
  readonly upTo: number;
  readonly lines: readonly string[];
}

/** The spool. */
export interface Spool {
  /** Puts a batch behind all others; it is on disk when this returns. Throws where the disk does not take it. */
  put(lines: readonly string[]): void;
  /** The oldest lines, at most `maxLines` unless a single row has more; null: the spool is empty. */
  first(maxLines: number): SpooledBatch | null;
  /**
   * The lines of a batch were dealt with, but for `rest`, which stays before all others. Never throws: what a full disk
   * does not let go is not given out again.
   */
  remove(batch: SpooledBatch, rest?: readonly string[]): void;
  /** Time of the first check among the lines that wait, epoch milliseconds; null: no check waits. */
  oldestCheckAt(): number | null;
  /** Samples that wait. */
  readonly samples: number;
  readonly bytes: number;
  /** Samples that were dropped for want of room, since the spool was opened. */
  readonly dropped: number;
  close(): void;
}

/** Name of the file in the data directory. */
export const SPOOL_FILE = 'influx-spool.sqlite';
/** Finds the first check in a spool; rows of earlier versions do not say. */
export const OLDEST_CHECK =
  'SELECT check_at FROM batches WHERE seq > ? AND check_at IS NOT NULL ORDER BY seq LIMIT 1';

/** Pages of 4 KiB that an empty spool may keep. */
const MAX_EMPTY_PAGES = 256;

/** Opens the spool of a data directory. `maxBytes` bounds what waits, compressed. */
export function openSpool(dataDir: string, maxBytes: number): Spool {
  mkdirSync(dataDir, { recursive: true });
  const database = new DatabaseSync(join(dataDir, SPOOL_FILE), { timeout: 5_000 });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS batches (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      samples INTEGER NOT NULL,
      lines BLOB NOT NULL,
      check_at INTEGER
    ) STRICT`);
  const columns = database.prepare("SELECT name FROM pragma_table_info('batches')").all();
  if (!columns.some(({ name }) => name === 'check_at'))
    database.exec('ALTER TABLE batches ADD COLUMN check_at INTEGER');
  const sums = database.prepare(
    'SELECT coalesce(sum(samples), 0) AS samples, coalesce(sum(length(lines)), 0) AS bytes FROM batches',
  );
  const insert = database.prepare('INSERT INTO batches (samples, lines, check_at) VALUES (?, ?, ?)');
  const insertAt = database.prepare(
    'INSERT INTO batches (seq, samples, lines, check_at) VALUES (?, ?, ?, ?)',
  );
  const waiting = database.prepare('SELECT seq, samples, lines FROM batches WHERE seq > ? ORDER BY seq');
  const upTo = database.prepare(
    'SELECT coalesce(sum(samples), 0) AS samples, coalesce(sum(length(lines)), 0) AS bytes FROM batches WHERE seq > ? AND seq <= ?',
  );
  const oldestCheck = database.prepare(OLDEST_CHECK);
  const oldest = database.prepare(
    'SELECT seq, samples, length(lines) AS bytes, lines FROM batches WHERE seq > ? ORDER BY seq LIMIT 1',
  );
  const remove = database.prepare('DELETE FROM batches WHERE seq <= ?');
  const pages = database.prepare('SELECT page_count AS count FROM pragma_page_count()');
  const sum = sums.get() ?? {};
  let samples = Number(sum.samples);
  let bytes = Number(sum.bytes);
  let dropped = 0;
  /** Batches up to here are done with, though the disk may not have let them go. */
  let doneUpTo = 0;
  /** Undefined: to be looked up. */
  let checkAt: number | null | undefined;

  const takeFirst = (): number => {
    const row = oldest.get(doneUpTo);
    if (row === undefined) return 0;
    doneUpTo = Number(row.seq);
    checkAt = undefined;
    samples -= Number(row.samples);
    bytes -= Number(row.bytes);
    return Number(row.samples);
  };

  /** A long absence of the server must not occupy the disk permanently. */
  const shrink = (): void => {
    if (samples > 0 || Number(pages.get()?.count) < MAX_EMPTY_PAGES) return;
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  };

  return {
    put(lines) {
      const packed = pack(lines);
      while (samples > 0 && bytes + packed.length > maxBytes) {
        dropped += takeFirst();
        remove.run(doneUpTo);
      }
      const at = timeOfFirstCheck(lines);
      insert.run(lines.length, packed, at);
      samples += lines.length;
      bytes += packed.length;
      if (checkAt === null) checkAt = at;
    },
    first(maxLines) {
      const parts: Buffer[] = [];
      let count = 0;
      let newest = 0;
      for (const row of waiting.iterate(doneUpTo)) {
        if (count > 0 && count + Number(row.samples) > maxLines) break;
        parts.push(inflateRawSync(row.lines as Uint8Array));
        count += Number(row.samples);
        newest = Number(row.seq);
      }
      if (count === 0) return null;
      return { upTo: newest, lines: parts.flatMap((part) => part.toString().split('\n')) };
    },
    remove(batch, rest = []) {
      // Some of its rows may have been dropped meanwhile, for want of room.
      if (batch.upTo <= doneUpTo) return;
      const sent = upTo.get(doneUpTo, batch.upTo) ?? {};
      try {
        database.exec('BEGIN IMMEDIATE');
        remove.run(batch.upTo);
        const packed = rest.length === 0 ? null : pack(rest);
        if (packed !== null) insertAt.run(batch.upTo, rest.length, packed, timeOfFirstCheck(rest));
        database.exec('COMMIT');
        samples += rest.length;
        bytes += packed?.length ?? 0;
        doneUpTo = packed === null ? batch.upTo : batch.upTo - 1;
      } catch {
        if (database.isTransaction) database.exec('ROLLBACK');
        // The whole batch is sent again then, which stores its points once.
        if (rest.length > 0) return;
        // They go with the next that can be removed; a restart before that sends them again.
        doneUpTo = batch.upTo;
      }
      samples -= Number(sent.samples);
      bytes -= Number(sent.bytes);
      checkAt = undefined;
      try {
        shrink();
      } catch {
        // The file keeps its size until the next time.
      }
    },
    oldestCheckAt() {
      if (checkAt === undefined) {
        const found = oldestCheck.get(doneUpTo)?.check_at;
        checkAt = found === undefined ? null : Number(found);
      }
      return checkAt;
    },
    get samples() {
      return samples;
    },
    get bytes() {
      return bytes;
    },
    get dropped() {
      return dropped;
    },
    close: () => database.close(),
  };
}

function pack(lines: readonly string[]): Buffer {
  return deflateRawSync(lines.join('\n'), { level: 1 });
}

function timeOfFirstCheck(lines: readonly string[]): number | null {
  const line = lines.find((one) => one.startsWith(`${MEASUREMENT},`));
  const at = Number(line?.slice(line.lastIndexOf(' ') + 1) ?? Number.NaN);
  return Number.isSafeInteger(at) ? at : null;
}
