/** Opens the files of stores whose disk takes no writes: SQLite cannot make the files beside them that it shares. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/**
 * `shared`: as ever. `alone`: no other process can open the file meanwhile; what is written waits for room on the disk.
 * `frozen`: the file is read as it lies there, without locks.
 */
export type SqliteAccess = 'shared' | 'alone' | 'frozen';

/** Whether the file system of a folder or file is mounted read-only. */
export function isOnReadOnlyDisk(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/**
 * Whether SQLite failed because of the disk and not of the file: it is full or read-only, or could not be written
 * (https://sqlite.org/rescode.html). `file` must exist for a failure to open to count.
 */
export function isDiskRefusal(error: unknown, file: string): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  const primary = error.errcode & 0xff;
  if (primary === SQLITE_FULL) return true;
  if (primary === SQLITE_IOERR) return WRITING_FAULTS.has(error.errcode >> 8);
  if (primary !== SQLITE_READONLY && primary !== SQLITE_CANTOPEN) return false;
  return isOnReadOnlyDisk(dirname(file));
}

/** Opens an existing file for reading where {@link isDiskRefusal} said why it cannot be shared. Throws SQLite's error. */
export function openWithoutRoom(file: string): { database: DatabaseSync; access: SqliteAccess } {
  try {
    return { database: openAlone(file), access: 'alone' };
  } catch (error) {
    // SQLite leaves the log out of a file that it takes for immutable.
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // Without locks, another process must not be able to write meanwhile.
    if (hasLog && !isOnReadOnlyDisk(dirname(file))) throw error;
    return { database: openReadOnly(file, hasLog ? WITHOUT_LOCKS : 'immutable=1'), access: 'frozen' };
  }
}

/**
 * Opens a file with a log on a read-only disk, where locks and the file that shares the log's index cannot be made: the
 * VFS without locks allows an index in memory (https://sqlite.org/vfs.html, 2.1; https://sqlite.org/wal.html, 8).
 */
const WITHOUT_LOCKS = 'vfs=unix-none';

function openAlone(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // The index of the log is then kept in memory, and not in a file.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function openReadOnly(file: string, parameter: string): DatabaseSync {
  const database = new DatabaseSync(`${pathToFileURL(file).href}?${parameter}`, { readOnly: true });
  try {
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
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
/** Extended codes of SQLITE_IOERR: WRITE, FSYNC, DIR_FSYNC, TRUNCATE, DELETE, SHMOPEN, SHMSIZE, SHMMAP. */
const WRITING_FAULTS = new Set([3, 4, 5, 6, 10, 18, 19, 21]);
