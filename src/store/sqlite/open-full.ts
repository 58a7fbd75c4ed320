/** Opens files of stores on a disk that refuses writes, where SQLite cannot create the files that it shares. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { errorCodeOf } from '../../error.ts';

/**
 * `shared`: as usual. `alone`: no other process can open the file; writes wait for space on the disk. `frozen`: the file is
 * read without locks.
 */
export type SqliteAccess = 'shared' | 'alone' | 'frozen';

/** Returns true if the file system of a folder or file is mounted read-only. */
function isOnReadOnlyDisk(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return errorCodeOf(error) === 'EROFS';
  }
}

/**
 * The result code of an error of SQLite, and its low byte, the primary result code (https://sqlite.org/rescode.html). Null: the
 * error is not one of SQLite.
 */
export function resultCodeOf(error: unknown): { readonly extended: number; readonly primary: number } | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return { extended: error.errcode, primary: error.errcode & 0xff };
}

/**
 * Returns true if SQLite failed because of the disk, which is full, read-only or could not be written, and not because of the
 * file. A failure to open counts only if `file` exists.
 */
export function isDiskRefusal(error: unknown, file: string): boolean {
  const code = resultCodeOf(error);
  if (code === null) return false;
  const { extended, primary } = code;
  if (primary === SQLITE_FULL) return true;
  if (primary === SQLITE_IOERR) return WRITING_FAULTS.has(extended >> 8);
  if (primary !== SQLITE_READONLY && primary !== SQLITE_CANTOPEN) return false;
  return isOnReadOnlyDisk(dirname(file));
}

/** Returns true if SQLite failed because of the content of a file. */
export function isDamage(error: unknown): boolean {
  const primary = resultCodeOf(error)?.primary;
  return primary === SQLITE_CORRUPT || primary === SQLITE_NOTADB;
}

const CHECK_CACHE_KIB = 128;

/** The damage that SQLite finds in the pages of a database, all of which it reads; null: none. */
export function findDamage(database: DatabaseSync): string | null {
  // A page is read once, and pages that are kept for nothing leave gaps in the memory of a start.
  const usual = Number(database.prepare('PRAGMA cache_size').get()?.cache_size);
  database.exec(`PRAGMA cache_size = -${CHECK_CACHE_KIB}`);
  const found = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
  database.exec(`PRAGMA cache_size = ${usual}`);
  return found === 'ok' ? null : String(found);
}

/** Opens an existing file for reading that cannot be shared because of {@link isDiskRefusal}. Throws SQLite's error. */
export function openWithoutRoom(file: string): { database: DatabaseSync; access: SqliteAccess } {
  try {
    return { database: openExclusively(file, { timeout: 0 }), access: 'alone' };
  } catch (error) {
    // SQLite ignores the log of an immutable file.
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // Without locks, another process must not be able to write meanwhile.
    if (hasLog && !isOnReadOnlyDisk(dirname(file))) throw error;
    const uri = `${pathToFileURL(file).href}?${hasLog ? WITHOUT_LOCKS : 'immutable=1'}`;
    return { database: openExclusively(uri, { readOnly: true }), access: 'frozen' };
  }
}

/**
 * Opens a file with a log on a read-only disk, where locks and the shared index of the log cannot be created: the VFS without
 * locks allows an index in memory (https://sqlite.org/vfs.html, 2.1; https://sqlite.org/wal.html, 8).
 */
const WITHOUT_LOCKS = 'vfs=unix-none';

function openExclusively(location: string, options: DatabaseSyncOptions): DatabaseSync {
  const database = new DatabaseSync(location, options);
  try {
    // In this mode the index of the log is kept in memory, not in a file.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
/** Extended codes of SQLITE_IOERR: WRITE, FSYNC, DIR_FSYNC, TRUNCATE, DELETE, SHMOPEN, SHMSIZE, SHMMAP. */
const WRITING_FAULTS = new Set([3, 4, 5, 6, 10, 18, 19, 21]);
