/** The data directory: the place of the registry, and the permissions 0700 and 0600 (operating, `storage.dataDir`). */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';

/** A folder or file that other users can access or own. */
export interface LooseFile {
  readonly path: string;
  /** Its permissions in octal, such as 644. */
  readonly mode: string;
  readonly wantedMode: string;
  /** User id of its owner, if that is another user; null: it is ours, or the system has none. */
  readonly foreignOwner: number | null;
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Names of our files, including SQLite's files beside them and damaged ones. */
const OURS = /^(?:(?:registry|samples|influx-spool)\.sqlite|secret\.key$|monitor\.alive$)/;

/** Makes new files of the process accessible to their owner only. */
export function makeFilesPrivate(): void {
  process.umask(0o077);
}

/** Files of a data directory that others can access, including the folder itself; none if it does not exist. */
export function findLooseFiles(dataDir: string): LooseFile[] {
  let names: string[];
  try {
    names = readdirSync(dataDir).filter((name) => OURS.test(name));
  } catch {
    return [];
  }
  const self = process.getuid?.() ?? null;
  return [
    examine(dataDir, FOLDER_MODE, self),
    ...names.map((name) => examine(join(dataDir, name), FILE_MODE, self)),
  ].filter((found) => found !== null);
}

/** Corrects the permissions of files that an earlier version or a copy left open to other users, and logs it. */
export function closeDataDirectory(dataDir: string, log: Log): void {
  const closed: string[] = [];
  const failed: { readonly path: string; readonly problem: string }[] = [];
  for (const { path, mode, wantedMode } of findLooseFiles(dataDir)) {
    if (mode === wantedMode) continue;
    try {
      chmodSync(path, Number.parseInt(wantedMode, 8));
      closed.push(`${path}: ${mode} to ${wantedMode}`);
    } catch (error) {
      failed.push({ path, problem: messageOf(error) });
    }
  }
  if (closed.length > 0)
    log.warn({ closed }, 'the data directory was accessible to other users; permissions were corrected');
  if (failed.length > 0)
    log.warn(
      { failed },
      'the data directory is accessible to other users and its permissions cannot be changed',
    );
}

function examine(path: string, allowed: number, self: number | null): LooseFile | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // It may just have been removed. Links are left alone.
  if (found === undefined || found.isSymbolicLink()) return null;
  const mode = found.mode & 0o777;
  const isWide = (mode & ~allowed) !== 0;
  const foreignOwner = self === null || found.uid === self ? null : found.uid;
  if (!isWide && foreignOwner === null) return null;
  const wantedMode = isWide ? allowed : mode;
  return { path, mode: mode.toString(8), wantedMode: wantedMode.toString(8), foreignOwner };
}

export function registryFile(dataDir: string): string {
  return join(dataDir, 'registry.sqlite');
}
