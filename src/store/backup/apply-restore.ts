/** Puts the files of a restore into their places: at once, or at the first start after the monitor has ended. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import { messageOf } from '../../error.ts';
import { FRESH_MS } from '../lease/writer-lease.ts';
import { registryFile } from '../sqlite/private-files.ts';
import { moveFile, movingFolder, stagingFolder, syncFolder } from '../sqlite/sync-files.ts';
import { BACKUP_FILES } from './manifest.ts';

/**
 * `pending`: a monitor runs, and the first start after it has ended puts the files in place. `replaced`: the folder of the files that
 * were there before; null: there were none.
 */
export type RestoreOutcome =
  | { readonly kind: 'none' | 'pending' }
  | { readonly kind: 'applied'; readonly replaced: string | null };

/**
 * Puts restored files into their places, unless a monitor of the data directory runs. The present files are moved to a folder
 * `replaced-TIME`. A crash in between is repaired by the next call. Waits up to 4 s if a monitor was killed.
 */
export async function applyRestore(dataDir: string, clock: Clock): Promise<RestoreOutcome> {
  if (finishMove(dataDir)) return { kind: 'applied', replaced: null };
  const staged = stagingFolder(dataDir);
  if (!existsSync(staged)) return { kind: 'none' };
  if (await isMonitored(dataDir, clock)) return { kind: 'pending' };
  const replaced = setAside(dataDir, staged, clock.now());
  // From now on, what is in the data directory was restored.
  renameSync(staged, movingFolder(dataDir));
  syncFolder(dataDir);
  finishMove(dataDir);
  return { kind: 'applied', replaced };
}

/** Moves restored files into their places, where nothing is any more; false: there are none that are being moved. */
export function finishMove(dataDir: string): boolean {
  const moving = movingFolder(dataDir);
  if (!existsSync(moving)) return false;
  for (const name of BACKUP_FILES.toReversed()) moveFile(name, moving, dataDir);
  rmdirSync(moving);
  syncFolder(dataDir);
  return true;
}

/** Moves the present files to a folder, and returns it; null: there are none. A backup without a registry replaces its files only. */
function setAside(dataDir: string, staged: string, now: number): string | null {
  const folder = join(dataDir, `replaced-${new Date(now).toISOString().replaceAll(':', '-')}`);
  const isWhole = existsSync(registryFile(staged));
  const names = BACKUP_FILES.filter((name) => {
    if (!existsSync(join(dataDir, name))) return false;
    return existsSync(join(staged, name)) || (isWhole && name !== 'secret.key');
  });
  if (names.length === 0) return null;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of names) moveFile(name, dataDir, folder);
  syncFolder(folder);
  return folder;
}

/** Returns true if a monitor renews the lease of a data directory, or marks itself alive in it. */
async function isMonitored(dataDir: string, clock: Clock): Promise<boolean> {
  const before = readLease(dataDir);
  if (before === null) return false;
  await new Promise<void>((resolve) => {
    // Timers of `Clock` do not keep a process alive.
    const awake = setInterval(() => {}, FRESH_MS);
    clock.after(FRESH_MS, () => {
      clearInterval(awake);
      resolve();
    });
  });
  const after = readLease(dataDir);
  return after !== null && after !== before;
}

/** The stamp that a holder of the lease changes every second; null: there is no holder. A damaged registry has none. */
function readLease(dataDir: string): string | null {
  const file = registryFile(dataDir);
  if (!existsSync(file)) return null;
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const { pid, ...rest } = database.prepare('SELECT fence, pid, renewed_at FROM lease').get() ?? {};
      return pid === null ? null : JSON.stringify([pid, rest, readMark(dataDir)]);
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

/** The mark of a monitor whose disk refuses writes. */
function readMark(dataDir: string): string {
  try {
    return readFileSync(join(dataDir, 'monitor.alive'), 'utf8');
  } catch (error) {
    return messageOf(error);
  }
}
