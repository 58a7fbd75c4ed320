/** The data directory and its files are the program's alone: 0700 and 0600 (decisions of operating, `storage.dataDir`). */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What others may do with a folder or a file, or that another user has it. */
export interface LooseFile {
  readonly path: string;
  /** Its permissions in octal digits, such as 644. */
  readonly mode: string;
  readonly wantedMode: string;
  /** User id of its owner, where that is not the one who asks; null: it is, or the system has none. */
  readonly foreignOwner: number | null;
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Names of our files, with those that SQLite puts beside them and those that were set aside. */
const OURS = /^(?:(?:registry|samples|influx-spool)\.sqlite|secret\.key$|monitor\.alive$)/;

/** Makes new files of the whole process accessible to their owner only. */
export function makeFilesPrivate(): void {
  process.umask(0o077);
}

/** What in a data directory is open to others, the folder itself included; nothing where it does not exist. */
export function findLooseFiles(dataDir: string): LooseFile[] {
  let names: string[];
  try {
    names = readdirSync(dataDir).filter((name) => OURS.test(name));
  } catch {
    return [];
  }
  const self = process.getuid?.() ?? null;
  return [
    look(dataDir, FOLDER_MODE, self),
    ...names.map((name) => look(join(dataDir, name), FILE_MODE, self)),
  ].filter((found) => found !== null);
}

/** Closes what is open to others; what could not be closed, with the reason. */
export function closeLooseFiles(files: readonly LooseFile[]): { path: string; problem: string }[] {
  return files.flatMap(({ path, mode, wantedMode }) => {
    if (mode === wantedMode) return [];
    try {
      chmodSync(path, Number.parseInt(wantedMode, 8));
      return [];
    } catch (error) {
      return [{ path, problem: (error as Error).message }];
    }
  });
}

function look(path: string, allowed: number, self: number | null): LooseFile | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // It may just have gone; a link is its maker's matter.
  if (found === undefined || found.isSymbolicLink()) return null;
  const mode = found.mode & 0o777;
  const isWide = (mode & ~allowed) !== 0;
  const foreignOwner = self === null || found.uid === self ? null : found.uid;
  if (!isWide && foreignOwner === null) return null;
  const wantedMode = isWide ? allowed : mode;
  return { path, mode: mode.toString(8), wantedMode: wantedMode.toString(8), foreignOwner };
}
