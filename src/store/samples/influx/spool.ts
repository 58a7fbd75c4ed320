/**
 * Lines that InfluxDB has not accepted yet, on disk and in order: an SQLite file beside the other stores. Its size is
 * bounded; the oldest lines are dropped first, and counted.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { copyDamagedLog, setFileAside } from '../../sqlite/log-damage.ts';
import { findDamage, isDamage, isDiskRefusal } from '../../sqlite/open-full.ts';
import { MEASUREMENT } from './influx-settings.ts';

interface OpenedSpool {
  readonly database: DatabaseSync;
  /** The path at which a damaged file, or a copy of its damaged log, is kept; null: there was no damage. */
  readonly kept: string | null;
}

/** Up to this size the whole file is checked at the start, bytes. An idle spool is small. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024;

/** The oldest lines of the spool, as many rows as fill a request. */
export interface SpooledBatch {
  /** Number of its newest row. */
  readonly upTo: number;
  readonly lines: readonly string[];
}

export type Spool = ReturnType<typeof openSpool>;

/** Finds the oldest check in a spool; rows of earlier versions do not tell. */
const OLDEST_CHECK =
  'SELECT check_at FROM batches WHERE seq > ? AND check_at IS NOT NULL ORDER BY seq LIMIT 1';

/** Pages of 4 KiB that an empty spool may keep. */
const MAX_EMPTY_PAGES = 256;

/** Returns true if a process has opened a spool in the data directory, which may be empty. */
export function hasSpool(dataDir: string): boolean {
  return existsSync(spoolFile(dataDir));
}

/**
 * Opens the spool of a data directory, whose compressed rows take at most `maxBytes`. A damaged one is set aside. `now`: epoch
 * milliseconds, for its new name. Default: 1970.
 */
export function openSpool(dataDir: string, maxBytes: number, now: () => number = () => 0) {
  const { database, kept } = openSpoolFile(dataDir, now());
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
  /** Batches up to here are removed, although a full disk may still have their rows. */
  let doneUpTo = 0;
  /** Undefined: it must be queried. */
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
    /** Appends a batch; it is on disk when this returns. Throws if the disk refuses the write. */
    put(lines: readonly string[]): void {
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
    /** The oldest lines, at most `maxLines` unless a single row has more; null: the spool is empty. */
    first(maxLines: number): SpooledBatch | null {
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
    /**
     * Removes a batch except for `unsent`, which stays before all others. Never throws: rows that a full disk cannot
     * delete are not returned again.
     */
    remove(batch: SpooledBatch, unsent: readonly string[] = []): void {
      // Some of its rows may have been dropped meanwhile, for lack of space.
      if (batch.upTo <= doneUpTo) return;
      const sent = upTo.get(doneUpTo, batch.upTo) ?? {};
      try {
        database.exec('BEGIN IMMEDIATE');
        remove.run(batch.upTo);
        const packed = unsent.length === 0 ? null : pack(unsent);
        if (packed !== null) insertAt.run(batch.upTo, unsent.length, packed, timeOfFirstCheck(unsent));
        database.exec('COMMIT');
        samples += unsent.length;
        bytes += packed?.length ?? 0;
        doneUpTo = packed === null ? batch.upTo : batch.upTo - 1;
      } catch {
        if (database.isTransaction) database.exec('ROLLBACK');
        // The whole batch is then sent again, which stores its points once.
        if (unsent.length > 0) return;
        // Its rows are deleted with the next batch; a restart before that sends them again.
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
    /** Time of the oldest check in the spool, epoch milliseconds; null: it has none. */
    oldestCheckAt(): number | null {
      if (checkAt === undefined) {
        const found = oldestCheck.get(doneUpTo)?.check_at;
        checkAt = found === undefined ? null : Number(found);
      }
      return checkAt;
    },
    get samples(): number {
      return samples;
    },
    get bytes(): number {
      return bytes;
    },
    /** The file that was damaged when the spool was opened, kept until the operator removes it; null: none. */
    damaged: (): string | null => (kept !== null && existsSync(kept) ? kept : null),
    /** Samples that were dropped for lack of space since the spool was opened. */
    get dropped(): number {
      return dropped;
    },
    close: (): void => database.close(),
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

/** Opens the spool of a data directory. If its disk is full, the spool refuses lines until it can be opened. Throws other errors. */
export function openLateSpool(dataDir: string, maxBytes: number, now?: () => number): Spool {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  let opened: Spool | null = null;
  /** Throws while the disk accepts no writes: the writer then keeps the lines in memory and tries again. */
  const open = (): Spool => {
    opened ??= openSpool(dataDir, maxBytes, now);
    return opened;
  };
  try {
    open();
  } catch (error) {
    if (!isDiskRefusal(error, spoolFile(dataDir))) throw error;
  }
  return {
    put: (lines) => open().put(lines),
    first: (maxLines) => open().first(maxLines),
    remove: (batch, unsent) => open().remove(batch, unsent),
    oldestCheckAt: () => opened?.oldestCheckAt() ?? null,
    damaged: () => opened?.damaged() ?? null,
    get samples() {
      return opened?.samples ?? 0;
    },
    get bytes() {
      return opened?.bytes ?? 0;
    },
    get dropped() {
      return opened?.dropped ?? 0;
    },
    close: () => opened?.close(),
  };
}

function spoolFile(dataDir: string): string {
  return join(dataDir, 'influx-spool.sqlite');
}

/** Opens or creates the file. `now`: epoch milliseconds. Throws SQLite's error if the disk refuses. */
function openSpoolFile(dataDir: string, now: number): OpenedSpool {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = spoolFile(dataDir);
  const damagedLog = copyDamagedLog(file, now);
  const database = openWhole(file);
  if (database !== null) return { database, kept: damagedLog };
  const kept = setFileAside(file, now);
  return { database: openFile(file), kept };
}

/** Null: the file is damaged. */
function openWhole(file: string): DatabaseSync | null {
  try {
    const database = openFile(file);
    if (statSync(file).size > MAX_CHECKED_BYTES || findDamage(database) === null) return database;
    database.close();
    return null;
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}

function openFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
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
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
