/** Writes files and the names in folders to the disk, so that a power cut leaves the old state or the new one. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/** Writes what the system keeps of a file to the disk. */
export function syncFile(file: string): void {
  syncOpened(openSync(file, 'r+'));
}

/** Writes the names in a folder to the disk. Does nothing where the system cannot open folders. */
export function syncFolder(folder: string): void {
  let handle: number;
  try {
    handle = openSync(folder, 'r');
  } catch {
    return;
  }
  syncOpened(handle);
}

function syncOpened(handle: number): void {
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

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
