/** Keeps the public list current: reads the file again on demand and whenever it changes. */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { NewService } from '../store/ports/services.ts';
import { readCatalogue } from './read-catalogue.ts';

/** A catalogue that is being watched. */
export interface CatalogueWatch {
  /**
   * Reads the file now, on somebody's demand: a list that was refused before is judged again, and a problem is told again.
   * Resolves when the list has been taken or refused. Never rejects.
   */
  reload(): Promise<void>;
  /** Nothing is taken or told after this. */
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

/** Reads the file once as text and list. Rejects with a CatalogueError, or with a sentence that names setting and file. */
export async function loadCatalogue(
  file: string,
): Promise<{ readonly text: string; readonly services: NewService[] }> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(`catalogue.file: ${file} cannot be read: ${error.message}`, { cause: error });
  });
  return { text, services: readCatalogue(text, file) };
}

/** Watches `file`, whose content `seen` was read already. A bad file changes nothing but the log. */
export function watchCatalogue(
  seen: string,
  { file, onChange, clock, log }: CatalogueWatchOptions,
): CatalogueWatch {
  let takenText = seen;
  let refusedText: string | null = null;
  let lastProblem: string | null = null;
  let closed = false;
  let running: Promise<void> = Promise.resolve();
  let cancelQuiet = () => {};
  const read = async (demanded: boolean) => {
    if (closed) return;
    try {
      const text = await readFile(file, 'utf8');
      if (closed || (text === refusedText && !demanded)) return;
      if (text !== takenText) {
        // Reading a long list takes a good part of a second: a bad one is not read at every look.
        refusedText = text;
        const services = readCatalogue(text, file);
        refusedText = null;
        await onChange(services);
        takenText = text;
      }
      lastProblem = null;
    } catch (error) {
      const problem = (error as Error).message;
      // The file is looked at every few seconds: what stays wrong is told once, unless somebody asks.
      if (closed || (problem === lastProblem && !demanded)) return;
      lastProblem = problem;
      log.error({ file, problem }, 'the new catalogue is invalid; the previous one stays in use');
    }
  };
  const look = (demanded: boolean) => {
    running = running.then(() => read(demanded));
    return running;
  };
  const stopWatching = watchFolder(file, () => {
    cancelQuiet();
    cancelQuiet = clock.after(QUIET_MS, () => void look(false));
  });
  const stopPolling = clock.every(POLL_MS, () => void look(false));
  return {
    reload: () => look(true),
    close() {
      closed = true;
      cancelQuiet();
      stopPolling();
      stopWatching();
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
