/** The registry's thread over PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { createGroupCommit } from '../database/group-commit.ts';
import { addressOf, openPostgresDatabase } from '../database/postgres/postgres-database.ts';
import { explainAtWork, explainPostgresError, isMissingRight } from '../database/postgres/postgres-error.ts';
import { PostgresLink } from '../database/postgres/postgres-link.ts';
import { createReadStore, createWriteStore, TRY_WRITE_LOCK } from '../database/postgres/postgres-store.ts';
import { makeDirectory } from '../database/registry-database.ts';
import { type RegistryStore, statement } from '../database/registry-store.ts';
import { createHeldLease } from '../lease/held-lease.ts';
import type { LeaseRequest } from '../ports/lease.ts';
import { MAX_REGISTRATIONS_PER_DAY } from '../ports/services.ts';
import { refusalOf } from '../ports/storage-health.ts';
import { createSecrets } from '../secrets/secret-box.ts';
import { createRegistryMethods } from './registry-methods.ts';
import type { RegistryMethods, RegistryThreadData } from './registry-thread.ts';
import { putAllInInbox } from './states/inbox-rows.ts';

/** Limits for writing heartbeats for the inbox together: over a far road, several wait for their answers at once. */
const JOINED_ENTRIES = { maxAtOnce: 4, maxItems: 500 };

/** Maximum duration of the work in one transaction, milliseconds, since other processes wait for it. */
const MAX_GROUP_MS = 20;

/**
 * Opens the registry at `url`; throws as `openPostgresDatabase`. `onLostCommits` is called if the server lacks
 * confirmed commits; by default the thread then ends.
 */
export async function openPostgresMethods(
  url: string,
  { dataDir, domainsPerAccount, secretKey = null, checksKey = null }: RegistryThreadData,
  onLostCommits: (reason: Error) => void = endThread,
): Promise<RegistryMethods> {
  const target = addressOf(url);
  makeDirectory(dataDir);
  const kysely = await openPostgresDatabase(url);
  const self = randomUUID();
  /** Commits of other processes that may concern this one, as far as they were noticed. */
  let foreignCommits = 0;
  let changed = Promise.withResolvers<void>();
  const noteForeign = (): void => {
    foreignCommits += 1;
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const link = new PostgresLink({
    url,
    address: target,
    clock: systemClock,
    onNotice(notice) {
      if (notice !== self) noteForeign();
    },
    onLostCommits,
  });
  const reader = createReadStore(kysely, link.readers);
  const unordered = createReadStore(kysely, link.unordered, 'unordered');
  const urgent = createReadStore(kysely, link.urgent, 'urgent');
  const writer = createWriteStore({
    kysely,
    connection: link.writer,
    onCommitted(position) {
      link.noteCommit(position);
    },
    notice: self,
  });
  // No data directory: the file that marks the holder alive is for a full disk, whereas an unavailable server refuses all processes.
  const lease = createHeldLease(reader, null);
  const secrets = createSecrets(reader, dataDir, secretKey, checksKey);
  const commits = createGroupCommit({
    transactions: writer.transactions,
    maxGroupMs: MAX_GROUP_MS,
    monotonic: systemClock.monotonic,
    guard: () => lease.guard(writer.store),
  });
  const explained = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw explainAtWork(error, target);
    }
  };
  await link.open().catch((error: unknown) => {
    throw explainPostgresError(error, target);
  });

  const methods = createRegistryMethods({
    limits: { perAccount: domainsPerAccount, perDay: MAX_REGISTRATIONS_PER_DAY },
    secrets,
    lease,
    read: (work) => explained(() => work(reader)),
    write: (work, joint) => explained(() => commits.write(() => work(writer.store), joint)),
    unordered: (work) => explained(() => work(unordered)),
    urgent: (work) => explained(() => work(urgent)),
    takeLease: (request) => explained(() => takeLease(unordered, request)),
    writable: writer.store,
  });
  return {
    ...methods,

    /** Each commit of an entry notifies the other processes, and the server commits such transactions one after the other. */
    putInInbox: joinCalls((entries) => explained(() => putAllInInbox(unordered, entries)), JOINED_ENTRIES),
    /** Resolves with another number than `seen` as soon as another connection has committed, or may have unnoticed. */
    async commitAfter(seen: number) {
      while (foreignCommits === seen) await changed.promise;
      return foreignCommits;
    },
    /** Who asks for the lease writes as soon as it has it; opening a connection takes several round trips. */
    readLease() {
      link.writer.open().catch(() => {});
      return methods.readLease();
    },
    /** No other process can take the lease through an unavailable server. If one took it on another server, the fence shows it. */
    async markLease(fence, now) {
      try {
        await methods.markLease(fence, now);
      } catch (error) {
        if (refusalOf(error) === null) throw error;
      }
    },

    /** A node that only makes checks may not write, so a successful read is enough. */
    async tryWriting() {
      try {
        await methods.tryWriting();
      } catch (error) {
        if (!isMissingRight(error)) throw error;
        await methods.lastChange();
      }
    },

    /** Commits waiting writes and closes the connections. */
    async close() {
      noteForeign();
      lease.stopKeeping();
      await commits.idle();
      lease.close();
      await link.close();
    },
  };
}

/**
 * Takes the lease in one round trip; returns the new fence, or null if another process was first or is in a transaction. Under the lock
 * of all writers no transaction of the former holder is open, and a later one sees that the lease is lost.
 */
async function takeLease(
  { queries }: RegistryStore,
  { pid, host, process = null, replacing, renewedAt, now }: LeaseRequest,
): Promise<number | null> {
  const fence = replacing + 1;
  const taken = await queries.run(TAKE_LEASE(fence, pid, host, process, now, replacing, renewedAt));
  return taken === 1 ? fence : null;
}

const TAKE_LEASE = statement(
  `WITH locked (isFree) AS MATERIALIZED (${TRY_WRITE_LOCK})
   UPDATE lease SET fence = ?, pid = ?, host = ?, process = ?, renewed_at = ? FROM locked
   WHERE isFree AND fence = ? AND renewed_at = ?`,
);

/** The state in memory is outdated, so the thread ends with an error and the program restarts. */
function endThread(reason: Error): void {
  setImmediate(() => {
    throw reason;
  });
}

// Joins calls that are made while others wait for their answers into one.

interface JoinLimits {
  /** Maximum number of joint calls that wait for their answers. */
  readonly maxAtOnce: number;
  /** Maximum number of items of a joint call. */
  readonly maxItems: number;
}

/**
 * Returns a function that makes a call for one item. Up to `maxAtOnce` calls are made at once; items that come meanwhile wait, and are
 * made together as soon as one of them has ended. `run` resolves with the values in the order of the items; if it rejects, so does
 * each of them.
 */
export function joinCalls<Item, T>(
  run: (items: readonly Item[]) => Promise<readonly T[]>,
  { maxAtOnce, maxItems }: JoinLimits,
): (item: Item) => Promise<T> {
  const waiting: { readonly item: Item; readonly call: PromiseWithResolvers<T> }[] = [];
  let running = 0;

  const runNext = async (): Promise<void> => {
    running += 1;
    while (waiting.length > 0) {
      const taken = waiting.splice(0, maxItems);
      try {
        const values = await run(taken.map(({ item }) => item));
        for (const [index, { call }] of taken.entries()) call.resolve(values[index] as T);
      } catch (error) {
        for (const { call } of taken) call.reject(error);
      }
    }
    running -= 1;
  };

  return (item) => {
    const call = Promise.withResolvers<T>();
    waiting.push({ item, call });
    if (running < maxAtOnce) void runNext();
    return call.promise;
  };
}
