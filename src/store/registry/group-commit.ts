/** Writes that arrive together share one transaction: one wait for the disk for all of them. */
import type { DatabaseSync } from 'node:sqlite';

/** Takes writes and commits them in groups. */
export interface GroupCommit {
  /**
   * Runs `work` inside a transaction and resolves with its value after the commit is on disk. What it throws undoes
   * its own changes only, not those of its group. `work` must be synchronous.
   */
  write<T>(work: () => T): Promise<T>;
  /** Commits everything taken so far, before it returns. */
  flush(): void;
}

/** Settings of a {@link GroupCommit}. */
export interface GroupCommitOptions {
  /** Longest work of one transaction, milliseconds; what is left over goes into the next. */
  readonly maxGroupMs: number;
  /** Monotonic time in milliseconds. */
  readonly monotonic: () => number;
  /**
   * Runs first in each transaction; what it throws rejects the whole group. What it returns is called after the commit;
   * null: nothing is.
   */
  readonly guard: () => (() => void) | null;
  /** How long a group waits for a lock that another process holds, milliseconds; reads go on meanwhile. */
  readonly busyTimeoutMs: number;
}

interface Write {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Pause between two tries to get the lock, milliseconds. */
const LOCK_RETRY_MS = 5;
const SQLITE_BUSY = 5;

/**
 * Makes a group commit over the connection that `store` has at the time; no other code writes through it. Its own busy
 * timeout should be short, since the thread is blocked for that time.
 */
export function createGroupCommit(
  store: { readonly database: DatabaseSync },
  { maxGroupMs, monotonic, guard, busyTimeoutMs }: GroupCommitOptions,
): GroupCommit {
  let queue: Write[] = [];
  let scheduled = false;
  /** When the lock was first asked for in vain, monotonic milliseconds; null: it was not. */
  let lockedSince: number | null = null;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    // A turn of the event loop delivers every message that waits; they join this group. While its commit waits for
    // the disk, the next group gathers by itself.
    setImmediate(() => {
      scheduled = false;
      if (queue.length === 0) return;
      if (!commitGroup(true)) {
        scheduled = true;
        setTimeout(() => {
          scheduled = false;
          schedule();
        }, LOCK_RETRY_MS);
      } else if (queue.length > 0) schedule();
    });
  };

  /** Whether the lock was taken; false: another process holds it, and there is time left to wait for it. */
  const begin = (mayWait: boolean): boolean => {
    try {
      store.database.exec('BEGIN IMMEDIATE');
      lockedSince = null;
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      lockedSince ??= monotonic();
      if (mayWait && monotonic() - lockedSince < busyTimeoutMs) return false;
      lockedSince = null;
      throw error;
    }
  };

  /** Commits what it can and answers the callers; false: another process holds the lock, try again. */
  const commitGroup = (mayWait: boolean): boolean => {
    const { database } = store;
    const taken: Write[] = [];
    const answers: (() => void)[] = [];
    let onCommitted: (() => void) | null = null;
    try {
      if (!begin(mayWait)) return false;
      onCommitted = guard();
      const endAt = monotonic() + maxGroupMs;
      for (const write of queue) {
        taken.push(write);
        answers.push(runOne(write));
        if (monotonic() >= endAt) break;
      }
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      // Where the transaction did not even begin, nothing that waits has a chance.
      const failed = taken.length > 0 ? taken : queue;
      queue = queue.slice(failed.length);
      for (const { reject } of failed) reject(error);
      return true;
    }
    queue = queue.slice(taken.length);
    onCommitted?.();
    for (const answer of answers) answer();
    return true;
  };

  const runOne = ({ work, resolve, reject }: Write): (() => void) => {
    const { database } = store;
    database.exec('SAVEPOINT one');
    try {
      const value = work();
      database.exec('RELEASE one');
      return () => resolve(value as never);
    } catch (error) {
      // A full disk or an I/O error has ended the transaction already: the whole group fails with it.
      if (!database.isTransaction) throw error;
      database.exec('ROLLBACK TO one');
      database.exec('RELEASE one');
      return () => reject(error);
    }
  };

  return {
    write(work) {
      return new Promise((resolve, reject) => {
        queue.push({ work, resolve, reject });
        schedule();
      });
    },
    flush() {
      while (queue.length > 0) commitGroup(false);
    },
  };
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  return (code & 0xff) === SQLITE_BUSY;
}
