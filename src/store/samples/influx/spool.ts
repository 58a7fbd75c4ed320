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
  remove(seq: number): void;
  /** Samples that wait. */
  readonly samples: number;
  readonly bytes: number;
  /** Samples that were dropped for want of room, since the spool was opened. */
  readonly dropped: number;
  close(): void;
}

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
    'SELECT seq, samples, length(lines) AS bytes, lines FROM batches ORDER BY seq LIMIT 1',
  );
  const remove = database.prepare(
    'DELETE FROM batches WHERE seq = ? RETURNING samples, length(lines) AS bytes',
  );
  const sum = sums.get() ?? {};
  let samples = Number(sum.samples);
  let bytes = Number(sum.bytes);
  let dropped = 0;

  const removeBatch = (seq: number): number => {
    const row = remove.get(seq);
    if (row === undefined) return 0;
    samples -= Number(row.samples);
    bytes -= Number(row.bytes);
    return Number(row.samples);
  };

  return {
    put(lines) {
      const packed = deflateRawSync(lines.join('\n'), { level: 1 });
      while (samples > 0 && bytes + packed.length > maxBytes) {
        const first = oldest.get();
        if (first === undefined) break;
        dropped += removeBatch(Number(first.seq));
      }
      insert.run(lines.length, packed);
      samples += lines.length;
      bytes += packed.length;
    },
    first() {
      const row = oldest.get();
      if (row === undefined) return null;
      return {
        seq: Number(row.seq),
        lines: inflateRawSync(row.lines as Uint8Array)
          .toString()
          .split('\n'),
      };
    },
    remove: (seq) => void removeBatch(seq),
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
