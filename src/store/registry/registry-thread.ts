/** The registry's thread: opens the file and serves the calls over one connection. */
import { type FSWatcher, statfsSync, watch } from 'node:fs';
import { type Cancel, type Clock, systemClock } from '../../clock.ts';
import { hasSmallHeaps } from '../../thread/v8-options.ts';
import { createGroupCommit } from '../database/group-commit.ts';
import { openRegistryDatabase, type RegistryDatabase } from '../database/registry-database.ts';
import { explainSqliteError, fullDisk } from '../database/registry-error.ts';
import { createSqliteStore } from '../database/sqlite-store.ts';
import { createHeldLease } from '../lease/held-lease.ts';
import { MAX_REGISTRATIONS_PER_DAY } from '../ports/services.ts';
import { createSecrets } from '../secrets/secret-box.ts';
import { createRegistryMethods, type RegistryParts } from './registry-methods.ts';

/** Maximum duration of the work in one transaction, milliseconds (architecture, The stores). */
const MAX_GROUP_MS = 5;
/** Free space from which on a disk no longer counts as full, bytes. */
const MIN_FREE_BYTES = 1_048_576;
/**
 * Maximum time that writes wait for the transaction of another process, milliseconds. Transactions of Upbeat last a few milliseconds.
 */
const BUSY_TIMEOUT_MS = 5_000;
/** Busy timeout of SQLite, for which the thread is blocked, milliseconds. */
const TRY_TIMEOUT_MS = 5;
/** Maximum time that the last writes wait for the lock before the file is closed, milliseconds. */
const LAST_BUSY_TIMEOUT_MS = 1_000;
/** Pages of the file that SQLite keeps; where memory is short, less than the check of the file at its opening would fill. */
const CACHE_KIB = { usual: 2_000, small: 512, filling: 16_384 };
/** Pages of the log after which SQLite copies it into the file; 8,000 are 32 MiB. */
const LOG_PAGES = { usual: 1_000, filling: 8_000 };
/** Minimum time between two attempts to reopen a file whose disk refused writes, milliseconds. */
const REOPEN_MS = 500;

export interface RegistryThreadData {
  /** Directory of `registry.sqlite` and of the key of secrets; it is created if it does not exist. */
  readonly dataDir: string;
  /** Maximum number of live domains of an account (decisions, Ownership). */
  readonly domainsPerAccount: number;
  /** The setting `storage.postgres.url`; null or absent: the registry is in the data directory. */
  readonly postgresUrl?: string | null;
  /** The setting `secrets.key`; null or absent: the key is in the data directory. */
  readonly secretKey?: string | null;
  /** The setting `secrets.checksKey`; null or absent: that key is derived from the other one. */
  readonly checksKey?: string | null;
  /** True if no other process may have the registry open; in a file only. Default false. */
  readonly alone?: boolean;
}

export type RegistryMethods = Awaited<ReturnType<typeof openRegistryMethods>>;

/** Opens the registry; throws as `openRegistryDatabase`. */
export async function openRegistryMethods({
  dataDir,
  domainsPerAccount,
  secretKey = null,
  checksKey = null,
  alone = false,
}: RegistryThreadData) {
  let opened = await openWithShortWaits(dataDir, alone);
  let openedAt = systemClock.monotonic();
  let busyTimeoutMs = BUSY_TIMEOUT_MS;
  const { store, transactions, read } = createSqliteStore(() => opened, {
    monotonic: systemClock.monotonic,
    busyTimeoutMs: () => busyTimeoutMs,
  });
  const lease = createHeldLease(store, dataDir);
  const secrets = createSecrets(store, dataDir, secretKey, checksKey);
  const commits = createGroupCommit({
    transactions,
    maxGroupMs: MAX_GROUP_MS,
    monotonic: systemClock.monotonic,
    guard: () => lease.guard(store),
  });

  const foreign = createForeignCommits({
    file: opened.file,
    version: () => Number(opened.database.prepare('PRAGMA data_version').get()?.data_version),
    clock: systemClock,
  });

  /** Reopens a file that could not be shared when it was opened, since its disk may accept writes by now. */
  const share = async (): Promise<void> => {
    if (opened.access === 'shared') return;
    const now = systemClock.monotonic();
    if (now - openedAt < REOPEN_MS) throw fullDisk(opened.file);
    openedAt = now;
    opened.database.close();
    opened = await openWithShortWaits(dataDir, alone);
    if (opened.access !== 'shared') throw fullDisk(opened.file);
  };
  const explained = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw explainSqliteError(error, opened.file);
    }
  };
  const write: RegistryParts['write'] = (work, joint) =>
    explained(async () => {
      await share();
      const value = await commits.write(() => work(store), joint);
      foreign.noteOwn();
      return value;
    });

  const methods = createRegistryMethods({
    limits: { perAccount: domainsPerAccount, perDay: MAX_REGISTRATIONS_PER_DAY },
    secrets,
    lease,
    read: (work) => explained(() => read(() => work(store))),
    write,
    unordered: write,
    urgent: write,
    writable: store,
  });
  return {
    ...methods,

    /** Resolves with another number than `seen` as soon as another connection has committed. */
    commitAfter: (seen: number) => explained(() => foreign.after(seen)),
    // The changes of a long page would not fit the usual cache, so that they were written several times.
    putCataloguePage: async (page: string) => {
      setCache(opened, 'filling');
      try {
        return await methods.putCataloguePage(page);
      } catch (error) {
        // Nothing may follow.
        setCache(opened, 'usual');
        throw error;
      }
    },
    endCatalogue: (ids: Float64Array, digest: string) =>
      methods.endCatalogue(ids, digest).finally(() => setCache(opened, 'usual')),
    sealSecrets: async () => {
      const sealed = await methods.sealSecrets();
      if (sealed > 0) await read(async () => rewriteFile(opened));
      return sealed;
    },
    /** Resolves if the disk accepts a page and has enough free space, so that it is not full again at once. */
    tryWriting: async () => {
      if (freeBytes(dataDir) < MIN_FREE_BYTES) throw fullDisk(opened.file);
      await methods.tryWriting();
    },

    /** Commits waiting writes and closes the file; SQLite then checkpoints the write-ahead log. */
    close: async () => {
      busyTimeoutMs = LAST_BUSY_TIMEOUT_MS;
      foreign.stop();
      lease.stopKeeping();
      await commits.idle();
      // The responses to the last commits are sent first.
      await new Promise((resolve) => setImmediate(resolve));
      lease.close();
      opened.database.close();
    },
  };
}

/** Rewrites the whole file, so that no old content remains in free pages or in the log. */
function rewriteFile({ database }: RegistryDatabase): void {
  database.exec('VACUUM');
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

async function openWithShortWaits(dataDir: string, alone: boolean): Promise<RegistryDatabase> {
  const opened = await openRegistryDatabase(dataDir, alone);
  opened.database.exec(`PRAGMA busy_timeout = ${TRY_TIMEOUT_MS}`);
  setCache(opened, 'usual');
  return opened;
}

/** Sets how many pages SQLite keeps: those of a catalogue that is being stored, or the usual ones. */
function setCache({ database }: RegistryDatabase, use: 'usual' | 'filling'): void {
  const kibibytes = CACHE_KIB[use === 'usual' && hasSmallHeaps() ? 'small' : use];
  database.exec(`PRAGMA cache_size = -${kibibytes}; PRAGMA wal_autocheckpoint = ${LOG_PAGES[use]}`);
  if (use === 'usual') database.exec('PRAGMA shrink_memory');
}

// Notices commits of other connections to an SQLite file, in the thread that writes to it.

/**
 * Delay after a write that was noticed, milliseconds: a commit is complete some time after its first write. It is shorter than the end
 * of a process that ran a command, so that its changes are visible by then.
 */
const SETTLE_MS = 25;
/** A write that is noticed within this time after an own commit, milliseconds, is taken for that one. */
const OWN_MS = 20;
/** Interval of looking where writes are noticed, milliseconds: some file systems do not tell all of them. */
const LOOK_MS = 1_000;

/** The number of a file that cannot be read. */
const UNREADABLE = -2;

/** Creates a watch, which begins with the first wait. */
export function createForeignCommits({
  file,
  version,
  clock,
  watchFile = watchWrites,
}: {
  readonly file: string;
  /** `PRAGMA data_version`: another number after a commit of another connection. */
  readonly version: () => number;
  readonly clock: Clock;
  /** Default: {@link watchWrites}. */
  readonly watchFile?: typeof watchWrites;
}) {
  let known = version();
  let ownMs = Number.NEGATIVE_INFINITY;
  let changed = Promise.withResolvers<void>();
  let hasBegun = false;
  let isStopped = false;
  let watcher: ReturnType<typeof watchWrites> = null;
  let cancelLooks: Cancel = () => {};
  let cancelSoon: Cancel | null = null;

  function look(): void {
    let now = UNREADABLE;
    try {
      now = version();
    } catch {
      // It may have changed: the reads that follow report the fault.
    }
    if (now === known) return;
    known = now;
    changed.resolve();
    changed = Promise.withResolvers();
  }

  function noteWrite(): void {
    if (isStopped) return;
    look();
    if (clock.monotonic() - ownMs < OWN_MS) return;
    cancelSoon ??= clock.after(SETTLE_MS, () => {
      cancelSoon = null;
      look();
    });
  }

  function begin(): void {
    hasBegun = true;
    watcher = watchFile(file, noteWrite, () => {
      cancelLooks();
      if (!isStopped) cancelLooks = clock.every(SETTLE_MS, look);
    });
    cancelLooks = clock.every(watcher === null ? SETTLE_MS : LOOK_MS, look);
  }

  return {
    /** Resolves with a number other than `seen` as soon as there is one, or with any after {@link stop}. */
    async after(seen: number): Promise<number> {
      if (!hasBegun) begin();
      if (!isStopped) look();
      while (known === seen && !isStopped) await changed.promise;
      return known;
    },
    /** The own connection has committed. */
    noteOwn(): void {
      ownMs = clock.monotonic();
    },
    stop(): void {
      isStopped = true;
      watcher?.close();
      cancelLooks();
      cancelSoon?.();
      changed.resolve();
    },
  };
}

/**
 * Calls `onWrite` for each write to the log that stands before an SQLite file, by any process of this machine. `onFault` is called once
 * if the system ends the watch. Null: the system cannot watch it. It does not keep the process alive.
 */
export function watchWrites(
  file: string,
  onWrite: () => void,
  onFault: () => void,
): { readonly close: () => void } | null {
  const log = `${file}-wal`;
  const start = () =>
    watch(log, { persistent: false }, (event) => {
      onWrite();
      // The file has another name or is gone; the next one of this name is another file.
      if (event === 'rename') renew();
    }).on('error', fail);
  const fail = (): void => {
    watcher.close();
    onFault();
  };
  const renew = (): void => {
    watcher.close();
    try {
      watcher = start();
    } catch {
      onFault();
    }
  };
  let watcher: FSWatcher;
  try {
    watcher = start();
  } catch {
    return null;
  }
  return { close: () => watcher.close() };
}
