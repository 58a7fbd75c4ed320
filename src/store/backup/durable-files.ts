/** Files and folders that must be on disk before the next step, so that a power cut leaves the old state or the new one. */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/** The complete files of a restore, until they take their places. */
export const stagingFolder = (dataDir: string): string => join(dataDir, 'restored');
/** The same files from the moment at which those that they replace have been moved away. */
export const movingFolder = (dataDir: string): string => join(dataDir, 'restored.moving');

/** Returns true if restored files have not taken their places yet. */
export function isRestorePending(dataDir: string): boolean {
  return existsSync(stagingFolder(dataDir)) || existsSync(movingFolder(dataDir));
}

/** SQLite's files beside a database. */
const BESIDE = ['', '-wal', '-shm', '-journal'];

/** Moves a file from one folder to another, with SQLite's files beside it. Those that do not exist are left out. */
export function moveFile(name: string, from: string, to: string): void {
  for (const end of BESIDE) {
    const file = join(from, name + end);
    if (existsSync(file)) renameSync(file, join(to, name + end));
  }
}
