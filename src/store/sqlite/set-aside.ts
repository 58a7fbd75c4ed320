/** Keeps what is damaged of a store that the program can do without, before it goes on without it. */
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { findLogDamage } from './log-damage.ts';

/** Moves a damaged file and those beside it away; returns its new place. `now`: epoch milliseconds. */
export function setFileAside(file: string, now: number): string {
  const place = file + suffixAt(now);
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, place + end);
  return place;
}

/**
 * Copies a damaged log, since the next write replaces what SQLite does not read of it. Returns the place of the copy, which is missing
 * if the disk refuses it; null: the log is whole. `now`: epoch milliseconds.
 */
export function copyDamagedLog(file: string, now: number): string | null {
  if (findLogDamage(file) === null) return null;
  const copy = `${file}-wal${suffixAt(now)}`;
  try {
    copyFileSync(`${file}-wal`, copy);
  } catch {
    // The samples are gone without a copy.
  }
  return copy;
}

function suffixAt(now: number): string {
  return `.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;
}
