/**
 * The sign of life of a monitor whose disk takes no writes: a small file of a fixed size, written over in place, so that
 * it needs no room. Without it other processes would take a lease for abandoned that cannot be renewed.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { LeaseHolder } from '../ports/lease.ts';

/** A sign of life. */
export interface AliveMark extends LeaseHolder {
  /** Of the lease that the process holds, or takes as soon as the disk lets it. */
  readonly fence: number;
  /** Epoch milliseconds of the process's clock. */
  readonly at: number;
}

/** The file, open for marks. */
export interface AliveFile {
  /** Writes the mark over the one before; false: the disk did not take it. */
  write(mark: AliveMark): boolean;
  close(): void;
}

/** A block of most file systems, so that its place on the disk is its own from the beginning. */
const FILE_BYTES = 4_096;

const fileOf = (dataDir: string): string => join(dataDir, 'monitor.alive');

/** Opens the file, and makes it where it does not exist; null: the disk has no room for it, or is read-only. */
export function openAliveFile(dataDir: string): AliveFile | null {
  try {
    const handle = openSync(fileOf(dataDir), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      if (fstatSync(handle).size < FILE_BYTES) writeSync(handle, Buffer.alloc(FILE_BYTES), 0, FILE_BYTES, 0);
    } catch {
      closeSync(handle);
      return null;
    }
    return {
      write(mark) {
        try {
          const text = JSON.stringify(mark).padEnd(FILE_BYTES);
          return writeSync(handle, text, 0) >= FILE_BYTES;
        } catch {
          return false;
        }
      },
      close: () => closeSync(handle),
    };
  } catch {
    return null;
  }
}

/** The newest mark; null: there is none. */
export function readAliveMark(dataDir: string): AliveMark | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8').replaceAll('\0', '')) as AliveMark;
  } catch {
    return null;
  }
}
