/** Opens the file of the spool: creates it, and sets a damaged one aside. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findDamage, isDamage } from '../../sqlite/open-full.ts';
import { copyDamagedLog, setFileAside } from '../../sqlite/set-aside.ts';

/** The open file. */
export interface OpenedSpool {
  readonly database: DatabaseSync;
  /** Where a damaged file, or a copy of its damaged log, is kept; null: there was no damage. */
  readonly kept: string | null;
}

/** Up to this size the whole file is checked at the start, bytes. An idle spool is small. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024;

/** The spool's file in a data directory. */
export function spoolFile(dataDir: string): string {
  return join(dataDir, 'influx-spool.sqlite');
}

/** Opens or creates the file. `now`: epoch milliseconds. Throws SQLite's error if the disk refuses. */
export function openSpoolFile(dataDir: string, now: number): OpenedSpool {
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
