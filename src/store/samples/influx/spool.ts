/**
 * What InfluxDB could not take yet, on disk and in order: an SQLite file beside the other stores. It is bounded; the
 * oldest goes first, and is counted.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** A batch in the spool. */
export interface SpooledBatch {
  readonly seq: number;
  readonly lines: readonly string[];
}

/** The spool. */
export interface Spool {
  /** Puts a batch behind all others; it is on disk when this returns. Throws where the disk does not take it. */
  put(lines: readonly string[]): void;
  /** The oldest batch; null: the spool is empty. */
  first(): SpooledBatch | null;
  /** The oldest batch has arrived. Never throws: what a full disk does not let go is not given out again. */
  removeFirst(): void;
  /** Samples that wait. */
  readonly samples: number;
  readonly bytes: number;
  /** Samples that were dropped for want of room, since the spool was opened. */
  readonly dropped: number;
  close(): void;
}

/** Pages of 4 KiB that an empty spool may keep. */
const MOST_EMPTY_PAGES = 256;

/** Opens the spool of a data directory. `maxBytes` bounds what waits, compressed. */
export function openSpool(dataDir: string, maxBytes: number): Spool {
  mkdirSync(dataDir, { recursive: true });
  const database = new DatabaseSync(join(dataDir, 'influx-spool.sqlite'), { timeout: 5_000 });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS batches (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      samples INTEGER NOT NULL,
      lines BLOB NOT NULL
    ) STRICT`);
  const sums = database.prepare(
    'SELECT coalesce(sum(samples), 0) AS samples, coalesce(sum(length(lines)), 0) AS bytes FROM batches',
  );
  const insert = database.prepare('INSERT INTO batches (samples, lines) VALUES (?, ?)');
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

  const takeFirst = (): number => {
    const row = oldest.get(doneUpTo);
    if (row === undefined) return 0;
    doneUpTo = Number(row.seq);
    samples -= Number(row.samples);
    bytes -= Number(row.bytes);
    return Number(row.samples);
  };

  /** A long absence of the server must not cost the disk for ever. */
  const shrink = (): void => {
    if (samples > 0 || Number(pages.get()?.count) < MOST_EMPTY_PAGES) return;
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  };

  return {
    put(lines) {
      const packed = deflateRawSync(lines.join('\n'), { level: 1 });
      while (samples > 0 && bytes + packed.length > maxBytes) {
        dropped += takeFirst();
        remove.run(doneUpTo);
      }
      insert.run(lines.length, packed);
      samples += lines.length;
      bytes += packed.length;
    },
    first() {
      const row = oldest.get(doneUpTo);
      if (row === undefined) return null;
      return {
        seq: Number(row.seq),
        lines: inflateRawSync(row.lines as Uint8Array)
          .toString()
          .split('\n'),
      };
    },
    removeFirst() {
      takeFirst();
      try {
        remove.run(doneUpTo);
        shrink();
      } catch {
        // They go with the next that can be removed; a restart before that sends them again, which stores them once.
      }
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
