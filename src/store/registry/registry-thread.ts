/** The registry's thread: opens the file and serves the calls, over one connection. */
import { statfsSync } from 'node:fs';
import { systemClock } from '../../clock.ts';
import type { LeaseRequest } from '../ports/lease.ts';
import { MAX_REGISTRATIONS_PER_DAY } from '../ports/ownership.ts';
import { ensureInstallation, readInstallation } from './fact-rows.ts';
import { createGroupCommit } from './group-commit.ts';
import { createHeldLease } from './held-lease.ts';
import { createQueries } from './kysely-sqlite.ts';
import { releaseLease, takeLease, touchLease } from './lease-rows.ts';
import { type OpenRegistry, prepareStatements } from './open-registry.ts';
import { createSecrets, rewriteFile } from './protect-secrets.ts';
import { type Methods, REGISTRY_CALLS } from './registry-calls.ts';
import { openRegistryDatabase, type RegistryDatabase } from './registry-database.ts';
import { explainSqliteError, fullDisk } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';

/** Longest work of one transaction, milliseconds (architecture, The stores). */
const MAX_GROUP_MS = 5;
/** A disk that was full is so until this is free. */
const MIN_FREE_BYTES = 1_048_576;
/** How long writes wait for another process's transaction, milliseconds; those of Upbeat last a few. */
const BUSY_TIMEOUT_MS = 5_000;
/** So long SQLite waits by itself for a lock, and the thread with it, milliseconds. */
const TRY_TIMEOUT_MS = 5;
/** The same when the file is closed. */
const LAST_BUSY_TIMEOUT_MS = 1_000;
/** A file whose disk took no writes is opened anew no more often than this, milliseconds. */
const REOPEN_MS = 500;

/** What the thread is started with. */
export interface RegistryThreadData {
  readonly dataDir: string;
  readonly domainsPerAccount: number;
  /** The setting `secrets.key`; null or absent: the key is in the data directory. */
  readonly secretKey?: string | null;
}

/** The methods of the thread. */
export type RegistryMethods = Awaited<ReturnType<typeof openRegistryMethods>>;

/** Opens the registry; throws what `openRegistryDatabase` throws. */
export async function openRegistryMethods({
  dataDir,
  domainsPerAccount,
  secretKey = null,
}: RegistryThreadData) {
  let opened = await openRegistryDatabase(dataDir);
  const store = storeOf(opened);
  const lease = createHeldLease(store, dataDir);
  const secrets = createSecrets(store, dataDir, secretKey);
  const registry: OpenRegistry = Object.assign(store, prepareStatements(opened.database), {
    secrets,
    limits: { perAccount: domainsPerAccount, perDay: MAX_REGISTRATIONS_PER_DAY },
  });
  const commits = createGroupCommit(store, {
    maxGroupMs: MAX_GROUP_MS,
    monotonic: systemClock.monotonic,
    guard: lease.guard,
    busyTimeoutMs: BUSY_TIMEOUT_MS,
  });
  let openedAt = systemClock.monotonic();

  /** Opens a file anew that could not be shared when it was opened: its disk may take writes by now. */
  const share = async (): Promise<void> => {
    if (opened.access === 'shared') return;
    const now = systemClock.monotonic();
    if (now - openedAt < REOPEN_MS) throw fullDisk(opened.file);
    openedAt = now;
    opened.database.close();
    opened = await openRegistryDatabase(dataDir);
    Object.assign(store, storeOf(opened), prepareStatements(opened.database));
    if (opened.access !== 'shared') throw fullDisk(opened.file);
  };
  /** Reads run at once, between two transactions. */
  const read = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw explainSqliteError(error, opened.file);
    }
  };
  const write = async <T>(work: () => T): Promise<T> => {
    try {
      await share();
      return await commits.write(work);
    } catch (error) {
      throw explainSqliteError(error, opened.file);
    }
  };

  return {
    ...methodsOf(registry, read, write),

    sealSecrets: async () => {
      const sealed = await write(secrets.sealClear);
      if (sealed > 0) rewriteFile(store.database);
      return sealed;
    },
    installation: async () =>
      read(() => readInstallation(store)) ?? (await write(() => ensureInstallation(store))),

    readLease: () => read(lease.read),
    takeLease: async (request: LeaseRequest) => {
      const fence = await write(() => takeLease(store, request));
      if (fence !== null) lease.hold(request, fence);
      return fence;
    },
    claimLease: (request: LeaseRequest) => read(() => lease.claim(request)),
    markLease: (fence: number, now: number) => read(() => lease.mark(fence, now)),
    releaseLease: async (fence: number) => {
      await write(() => releaseLease(store, fence));
      lease.drop();
    },
    /** Resolves where the disk takes a page, and has room for many more: or it would be full again at once. */
    tryWriting: async () => {
      if (freeBytes(dataDir) < MIN_FREE_BYTES) throw fullDisk(opened.file);
      await write(() => touchLease(store));
    },

    /** Commits what waits and closes the file; SQLite then folds the write-ahead log into it. */
    close: async () => {
      store.database.exec(`PRAGMA busy_timeout = ${LAST_BUSY_TIMEOUT_MS}`);
      commits.flush();
      // The answers to what was just committed leave first.
      await new Promise((resolve) => setImmediate(resolve));
      lease.close();
      store.database.close();
    },
  };
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function storeOf({ database, kysely }: RegistryDatabase): RegistryStore {
  database.exec(`PRAGMA busy_timeout = ${TRY_TIMEOUT_MS}`);
  return { database, kysely, queries: createQueries(database) };
}

/** The methods of the table, over an open registry. */
function methodsOf(
  registry: OpenRegistry,
  read: <T>(work: () => T) => T,
  write: <T>(work: () => T) => Promise<T>,
): Methods<typeof REGISTRY_CALLS> {
  const methods = Object.entries(REGISTRY_CALLS).map(([name, { kind, run }]) => {
    const serve: (registry: OpenRegistry, ...args: never[]) => unknown = run;
    const through = kind === 'read' ? read : write;
    return [name, (...args: never[]) => through(() => serve(registry, ...args))];
  });
  return Object.fromEntries(methods);
}
