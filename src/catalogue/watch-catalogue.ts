/** Reloads the catalogue on demand and whenever its file changes, and stores it in the registry. */
import { watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Clock } from '../clock.ts';
import { errorCodeOf, messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { CatalogueList, CatalogueOutcome, CatalogueStore, NewService } from '../store/ports/services.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import { CatalogueError, findProblems, readCatalogue } from './read-catalogue.ts';
import type { scanApart as ScanApart } from './scan-apart.ts';
import { type CatalogueMark, type CatalogueScan, scanCatalogue } from './scan-catalogue.ts';

/** The content of the file when it was read. */
export interface SeenCatalogue extends CatalogueMark {
  /** Its size and times, which show cheaply that it is as it was. */
  readonly stamp: string;
}

interface CatalogueWatchOptions {
  readonly file: string;
  /** Applies a valid list; called for one list at a time. */
  readonly onChange: (list: CatalogueList) => Promise<void>;
  /** Returns true if an entry with that slug is in the list that was applied last. */
  readonly isListed: (slug: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Editors write a file in several steps; what was read is taken after this long without a change, milliseconds. */
const QUIET_MS = 200;
/** The interval at which the file is polled, since some systems report no changes (network folders, containers). */
const POLL_MS = 5_000;
/** Files of this size or more are read in a separate thread: 4 MiB are about 20,000 entries, for which the main thread would need 20 ms. */
const LARGE_BYTES = 4_194_304;
/** A larger file is only read in parts: parsed as a whole, it takes some thirty times as much memory. */
const MAX_WHOLE_BYTES = 67_108_864;
/** Entries in a page of a list that is read as a whole. */
const ENTRIES_PER_PAGE = 5_000;

/** Reads what identifies the content of the file. Rejects with an error that names setting and file. */
export async function markCatalogue(file: string): Promise<SeenCatalogue> {
  try {
    const { stamp } = await lookAt(file);
    const { digest, hashes } = await scanCatalogue(file, 'none');
    return { stamp, digest, hashes };
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Reads all entries of the file. Rejects with a CatalogueError, or with an error that names setting and file. */
export async function loadCatalogue(
  file: string,
): Promise<{ readonly list: CatalogueList; readonly services: NewService[] }> {
  const list = await readList(file).catch((error: unknown) => {
    throw error instanceof CatalogueError ? error : unreadable(file, error);
  });
  return {
    list,
    get services() {
      return list.pages.flatMap((page) => JSON.parse(page) as NewService[]);
    },
  };
}

function unreadable(file: string, error: unknown): Error {
  return new Error(`catalogue.file: ${file} cannot be read: ${messageOf(error)}`, { cause: error });
}

/** A stamp that shows cheaply that the file is as it was, and its size in bytes. */
async function lookAt(file: string): Promise<{ readonly stamp: string; readonly size: number }> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
  return { stamp: [dev, ino, size, mtimeNs, ctimeNs].join(' '), size: Number(size) };
}

async function readList(file: string): Promise<CatalogueList> {
  const { digest, pages } = await scanCatalogue(file, 'all');
  return { digest, isPart: false, pages: pages ?? toPages(await readWhole(file)) };
}

/** Reads a file that has a problem, or that cannot be read in parts. */
async function readWhole(file: string): Promise<readonly NewService[]> {
  const { size } = await lookAt(file);
  const problems = size < LARGE_BYTES ? null : await findProblems(file);
  if (problems !== null && problems.length > 0) throw new CatalogueError(problems);
  if (size > MAX_WHOLE_BYTES)
    throw new CatalogueError([
      `${file}: a file of more than 64 MiB must be a list named "services", in brackets or with entries that begin with "-" on lines with the same indentation`,
    ]);
  return readCatalogue(await readFile(file, 'utf8'), file);
}

function toPages(services: readonly NewService[]): string[] {
  const pages: string[] = [];
  for (let at = 0; at < services.length; at += ENTRIES_PER_PAGE)
    pages.push(JSON.stringify(services.slice(at, at + ENTRIES_PER_PAGE)));
  return pages;
}

/**
 * Why the file is looked at: a change was reported just now; none was reported for {@link QUIET_MS}; its time has come where no
 * changes are reported; or an operator has asked for it.
 */
type Occasion = 'changed' | 'quiet' | 'polled' | 'demanded';

/**
 * Watches `file`, whose content `seen` is in use. An invalid file is only logged. A large file takes a second to read, so it is read
 * while it is still unknown whether it is complete, and taken when it has not changed for a while.
 */
export function watchCatalogue(
  seen: SeenCatalogue,
  { file, onChange, isListed, clock, log }: CatalogueWatchOptions,
) {
  let taken: CatalogueMark = seen;
  /** The file was looked at as it was then; null: it must be read. */
  let stamp: string | null = seen.stamp;
  let lastProblem: string | null = null;
  let closed = false;
  let running: Promise<void> = Promise.resolve();
  let cancelQuiet = () => {};
  /** Ends the wait of a look for {@link QUIET_MS} without a change. */
  let endWait = () => {};
  let changedMs = Number.NEGATIVE_INFINITY;
  /** Grows with each reported change and each demand, either of which makes what is being read by itself outdated. */
  let epoch = 0;
  const waitUntil = (dueMs: number) =>
    new Promise<void>((resolve) => {
      const cancel = clock.after(Math.max(0, dueMs - clock.monotonic()), resolve);
      endWait = () => {
        cancel();
        resolve();
      };
    });
  const outdate = () => {
    epoch++;
    endWait();
  };
  const read = async (occasion: Occasion) => {
    if (closed) return;
    const [before, since, startedMs] = [stamp, epoch, clock.monotonic()];
    const demanded = occasion === 'demanded';
    const isOutdated = () => closed || (!demanded && epoch !== since);
    let isComplete = demanded || occasion === 'quiet';
    try {
      const seenNow = await lookAt(file);
      stamp = seenNow.stamp;
      if (stamp === before && !(demanded && lastProblem !== null)) return;
      const wanted = taken.hashes === null ? 'none' : { except: taken.hashes };
      const scan =
        seenNow.size >= LARGE_BYTES
          ? await scanInThread(file, wanted, isOutdated, clock)
          : await scanCatalogue(file, wanted, isOutdated);
      if (!isComplete && scan !== null)
        await waitUntil((occasion === 'polled' ? startedMs : changedMs) + QUIET_MS);
      if (scan === null || isOutdated() || (!demanded && (await lookAt(file)).stamp !== stamp)) {
        // Another look follows: at the end of the changes, as demanded, or at the next poll.
        stamp = null;
        return;
      }
      isComplete = true;
      if (scan.digest !== taken.digest) {
        await apply(scan);
        taken = { digest: scan.digest, hashes: scan.hashes };
      }
      lastProblem = null;
    } catch (error) {
      // A list that is invalid is not read again before it changes; one that could not be stored is.
      if (!(error instanceof CatalogueError)) stamp = null;
      if (refusalOf(error) !== null || (occasion === 'changed' && !isComplete)) return;
      const problem = messageOf(error);
      // The file is polled every few seconds: a lasting problem is logged once, unless a reload was requested.
      if (closed || (problem === lastProblem && !demanded)) return;
      lastProblem = problem;
      log.error({ file, problem }, 'the new catalogue is invalid; the previous one stays in use');
    }
  };
  const apply = async ({ pages, slugs, digest, hashes }: CatalogueScan) => {
    // A part is stored in one transaction. A longer one is stored as a whole list, page by page.
    const isShort = pages !== null && pages.length <= 1;
    const part = isShort && !hasLost(hashes, slugs) ? { digest, isPart: true, pages } : null;
    if (part !== null)
      try {
        return await onChange(part);
      } catch (error) {
        // The part refers to entries outside of it. All of them together show whether the list is valid, and where not.
        if (errorCodeOf(error) !== 'domain_taken' && errorCodeOf(error) !== 'slug_taken') throw error;
      }
    const list = await readList(file);
    if (!closed) await onChange(list);
  };
  /** Returns true if entries were removed: those that are gone are not only those that new ones with the same slugs replace. */
  const hasLost = (hashes: Float64Array | null, slugs: readonly string[]): boolean => {
    const gone = (taken.hashes?.length ?? 0) - ((hashes?.length ?? 0) - slugs.length);
    return gone !== slugs.filter(isListed).length;
  };
  const look = (occasion: Occasion) => {
    running = running.then(() => read(occasion));
    return running;
  };
  let isQuiet = true;
  const stopWatching = watchFolder(file, () => {
    changedMs = clock.monotonic();
    outdate();
    cancelQuiet();
    cancelQuiet = clock.after(QUIET_MS, () => {
      isQuiet = true;
      void look('quiet');
    });
    if (isQuiet) void look('changed');
    isQuiet = false;
  });
  const stopPolling = clock.every(POLL_MS, () => void look('polled'));
  return {
    /**
     * Reloads the file on request: a list that was refused before is validated again, and its problems are logged again.
     * Resolves when the list has been applied or refused. Never rejects.
     */
    reload(): Promise<void> {
      outdate();
      return look('demanded');
    },
    /** Stops watching; nothing is applied or logged afterwards. */
    close(): void {
      closed = true;
      outdate();
      cancelQuiet();
      stopPolling();
      stopWatching();
    },
  };
}

/** Loaded when it is needed: few catalogues are large. */
const scanInThread: typeof ScanApart = async (...args) => {
  const { scanApart } = await import('./scan-apart.ts');
  return await scanApart(...args);
};

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

/** Returns true if the list with that digest was stored by this version of the program, and no service has changed since. */
export async function isStored(
  registry: CatalogueStore,
  mark: CatalogueMark,
  version: string,
): Promise<boolean> {
  return await registry.hasCatalogue(asStored(mark, version).digest);
}

function asStored<Marked extends Pick<CatalogueMark, 'digest'>>(marked: Marked, version: string): Marked {
  return { ...marked, digest: `${version} ${marked.digest}` };
}

/** The dependencies of storing a list. */
interface CatalogueWriting {
  readonly registry: CatalogueStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly file: string;
  /** Of the program: another one may read the same file otherwise. */
  readonly version: string;
}

/**
 * Stores the list of a registry that has no services while it is read, and logs `message`. False: it must be read before it is stored,
 * because it has a problem, cannot be read in parts, or the disk takes no writes; entries may be stored by then. `onStored`: called with
 * each page that is stored, a JSON text, and the ids of its services.
 */
export async function storeWhileReading(
  writing: CatalogueWriting,
  message: string,
  onStored: (page: string, ids: readonly number[]) => void,
): Promise<boolean> {
  const { log, file, version } = writing;
  const pages = createPageWriter(writing);
  /** A page is read while the one before it is stored. */
  let storing: Promise<void> = Promise.resolve();
  try {
    const mark = await scanCatalogue(file, 'all', NEVER, async (page) => {
      await storing;
      storing = pages.put(page).then((ids) => onStored(page, ids));
      storing.catch(() => {});
    });
    await storing;
    if (mark.pages === null) return false;
    log.info({ ...(await pages.end(asStored(mark, version).digest)), file }, message);
    return true;
  } catch (error) {
    // A page has entries that exclude each other, perhaps because the file was rewritten while it was read.
    const isProblem = ['slug_taken', 'domain_taken'].includes(errorCodeOf(error) ?? '');
    if (refusalOf(error) === null && !isProblem) throw error;
    return false;
  }
}

const NEVER = (): false => false;

/** Time before a list is stored again after the disk has refused it, milliseconds. */
const STORE_RETRY_MS = 2_000;

/**
 * Creates the function that stores a list and logs `message`. A list of several pages is stored page by page. While the disk accepts no writes, the known services stay,
 * and the newest whole list is retried; a part of a list is refused, since it adds to lists that are stored. Rejects with
 * other errors of the registry, too.
 */
export function createCatalogueWriter({ registry, clock, log, file, version }: CatalogueWriting) {
  let newest = 0;
  /** Why the newest whole list waits; null: it does not. */
  let refusal: unknown = null;
  const store = (list: CatalogueList, isOutdated: () => boolean): Promise<CatalogueOutcome | null> =>
    list.isPart || list.pages.length <= 1
      ? registry.putCatalogue(list)
      : putInPages(list, { registry, clock, log, file, version }, isOutdated);
  return async (list: CatalogueList, message: string): Promise<void> => {
    if (list.isPart && refusal !== null) throw refusal;
    newest += 1;
    const turn = newest;
    const put = async (): Promise<void> => {
      if (turn !== newest) return;
      try {
        const outcome = await store(asStored(list, version), () => turn !== newest);
        if (outcome === null) return;
        log.info({ ...outcome, file }, message);
        refusal = null;
      } catch (error) {
        if (refusalOf(error) === null || list.isPart) throw error;
        refusal = error;
        clock.after(STORE_RETRY_MS, () => void retry());
      }
    };
    const retry = (): Promise<void> =>
      put().catch((error: Error) => log.error({ error, file }, 'the catalogue could not be stored'));
    await put();
  };
}

/** Pause between two lines of the log, milliseconds. */
const PROGRESS_MS = 10_000;

/**
 * Replaces the public list. Null: `isOutdated`, since another list is stored by now. Rejects with errors of the registry; the list is then
 * stored in part, and has to be put again.
 */
async function putInPages(
  list: CatalogueList,
  writing: CatalogueWriting,
  isOutdated: () => boolean,
): Promise<CatalogueOutcome | null> {
  const pages = createPageWriter(writing, list.pages.length);
  for (const page of list.pages) {
    if (isOutdated()) return null;
    await pages.put(page);
  }
  return isOutdated() ? null : await pages.end(list.digest);
}

/** Stores the pages of a list, and logs how far it is. `count`: of the pages, if it is known. */
function createPageWriter({ registry, clock, log, file }: CatalogueWriting, count?: number) {
  const outcome = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const ids: number[] = [];
  let loggedMs = clock.monotonic();
  let page = 0;
  return {
    /** Resolves with the ids of its services. */
    async put(text: string): Promise<readonly number[]> {
      const stored = await registry.putCataloguePage(text);
      page++;
      outcome.added += stored.added;
      outcome.changed += stored.changed;
      outcome.unchanged += stored.unchanged;
      for (const id of stored.ids) ids.push(id);
      if (clock.monotonic() - loggedMs >= PROGRESS_MS) {
        loggedMs = clock.monotonic();
        log.info({ entries: ids.length, page, pages: count, file }, 'the catalogue is being stored');
      }
      return stored.ids;
    },
    /** Removes what is on no page. */
    async end(digest: string): Promise<CatalogueOutcome> {
      outcome.removed = await registry.endCatalogue(Float64Array.from(ids), digest);
      return outcome;
    },
  };
}
