/** Notices that a file of SQLite was written, by any process of this machine. */
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** A running watch. */
export interface WriteWatch {
  stop(): void;
}

/**
 * Calls `onWrite` for each write to the log that stands before an SQLite file. `onFault` is called once if the system ends the
 * watch. Null: the system cannot watch the folder. It does not keep the process alive.
 */
export function watchWrites(file: string, onWrite: () => void, onFault: () => void): WriteWatch | null {
  const log = `${basename(file)}-wal`;
  try {
    const watcher = watch(dirname(file), { persistent: false }, (_, name) => {
      // Some systems do not say which file it was.
      if (name === null || name === log) onWrite();
    });
    watcher.on('error', () => {
      watcher.close();
      onFault();
    });
    return { stop: () => watcher.close() };
  } catch {
    return null;
  }
}
