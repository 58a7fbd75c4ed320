/** Reloads the catalogue on demand and whenever its file changes, and stores it in the registry. */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Clock } from '../clock.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { NewService, ServiceStore } from '../store/ports/services.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import { readCatalogue } from './read-catalogue.ts';

/** Options of the watch. */
interface CatalogueWatchOptions {
  readonly file: string;
  /** Applies a valid list; called for one list at a time. */
  readonly onChange: (services: readonly NewService[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Editors write a file in several steps; it is read after this long without a change, milliseconds. */
const QUIET_MS = 200;
/** Where the system reports no changes (network folders, some containers), the content is compared this often. */
const POLL_MS = 5_000;

/** Reads the file once as text and list. Rejects with a CatalogueError, or with an error that names setting and file. */
export async function loadCatalogue(
  file: string,
): Promise<{ readonly text: string; readonly services: NewService[] }> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(`catalogue.file: ${file} cannot be read: ${error.message}`, { cause: error });
  });
  return { text, services: readCatalogue(text, file) };
}

/** Watches `file`, whose content `seen` has been read already. An invalid file is only logged. */
export function watchCatalogue(seen: string, { file, onChange, clock, log }: CatalogueWatchOptions) {
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
        // Parsing a long list takes a good part of a second, so an invalid one is not parsed at every poll.
        refusedText = text;
        const services = readCatalogue(text, file);
        refusedText = null;
        await onChange(services);
        takenText = text;
      }
      lastProblem = null;
    } catch (error) {
      const problem = messageOf(error);
      // The file is polled every few seconds: a lasting problem is logged once, unless a reload was requested.
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
    /**
     * Reloads the file on request: a list that was refused before is validated again, and its problems are logged again.
     * Resolves when the list has been applied or refused. Never rejects.
     */
    reload: (): Promise<void> => look(true),
    /** Stops watching; nothing is applied or logged afterwards. */
    close(): void {
      closed = true;
      cancelQuiet();
      stopPolling();
      stopWatching();
    },
  };
}

/** Watches the folder, because an editor that renames a new file over the old one ends a watch of the file itself. */
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

/** Time before a list is stored again after the disk has refused it, milliseconds. */
const STORE_RETRY_MS = 2_000;

/**
 * Creates the function that stores a list and logs `message`. While the disk accepts no writes, the known services stay,
 * and the newest list is retried. Rejects with other errors of the registry.
 */
export function createCatalogueWriter({
  registry,
  clock,
  log,
  file,
}: {
  readonly registry: Pick<ServiceStore, 'putCatalogue'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  /** For the log. */
  readonly file: string;
}) {
  let newest = 0;
  return async (services: readonly NewService[], message: string): Promise<void> => {
    newest += 1;
    const turn = newest;
    const put = async (): Promise<void> => {
      if (turn !== newest) return;
      try {
        log.info({ ...(await registry.putCatalogue(services)), file }, message);
      } catch (error) {
        if (refusalOf(error) === null) throw error;
        clock.after(STORE_RETRY_MS, () => void retry());
      }
    };
    const retry = (): Promise<void> =>
      put().catch((error: Error) => log.error({ error, file }, 'the catalogue could not be stored'));
    await put();
  };
}
