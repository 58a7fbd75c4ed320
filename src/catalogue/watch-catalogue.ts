/** Keeps the public list current: reads the file again on demand and whenever it changes. */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { NewService } from '../store/ports/registry.ts';
import { readCatalogue } from './read-catalogue.ts';

/** A catalogue that is being watched. */
export interface CatalogueWatch {
  /** Reads the file now; resolves when the list has been taken or refused. Never rejects. */
  reload(): Promise<void>;
  close(): void;
}

/** How to watch. */
export interface CatalogueWatchOptions {
  readonly file: string;
  /** Takes a good list; called for one list at a time. */
  readonly onChange: (services: readonly NewService[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Editors write a file in several steps; the list is read when it has been quiet for this long. */
const QUIET_MS = 200;
/** Where the system tells nothing of changes (network folders, some containers), the content is compared this often. */
const POLL_MS = 5_000;

/** Reads the file once as text and list. Rejects with a CatalogueError or the file system's error. */
export async function loadCatalogue(
  file: string,
): Promise<{ readonly text: string; readonly services: NewService[] }> {
  const text = await readFile(file, 'utf8');
  return { text, services: readCatalogue(text, file) };
}

/** Watches `file`, whose content `seen` was read already. A bad file changes nothing but the log. */
export function watchCatalogue(
  seen: string,
  { file, onChange, clock, log }: CatalogueWatchOptions,
): CatalogueWatch {
  let lastText = seen;
  let running: Promise<void> = Promise.resolve();
  let cancelQuiet = () => {};
  const read = async () => {
    try {
      const text = await readFile(file, 'utf8');
      if (text === lastText) return;
      // Remembered before it is judged, so that a bad file is told once and not at every poll.
      lastText = text;
      await onChange(readCatalogue(text, file));
    } catch (error) {
      log.error(
        { file, problem: (error as Error).message },
        'the catalogue was not taken; the list stays as it was',
      );
    }
  };
  const reload = () => {
    running = running.then(read);
    return running;
  };
  const watcher = watchFolder(file, () => {
    cancelQuiet();
    cancelQuiet = clock.after(QUIET_MS, () => void reload());
  });
  const stopPolling = clock.every(POLL_MS, () => void reload());
  return {
    reload,
    close() {
      cancelQuiet();
      stopPolling();
      watcher();
    },
  };
}

/** Watches the folder, since an editor that renames a new file over the old one ends a watch of the file itself. */
function watchFolder(file: string, onChange: () => void): () => void {
  try {
    const path = resolve(file);
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name === null || name === basename(path)) onChange();
    });
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
