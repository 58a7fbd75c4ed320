/** Writes files and the names in folders to the disk, so that a power cut leaves the old state or the new one. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Writes what the system keeps of a file to the disk. */
export function syncFile(file: string): void {
  const handle = openSync(file, 'r+');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes the names in a folder to the disk. Does nothing where the system cannot open folders. */
export function syncFolder(folder: string): void {
  let handle: number;
  try {
    handle = openSync(folder, 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
