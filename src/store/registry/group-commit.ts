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
  /** Runs first in each transaction; what it throws rejects the whole group. */
  readonly guard: () => void;
}

interface Write {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a group commit over a database connection that nobody else writes through. */
export function createGroupCommit(
  database: DatabaseSync,
  { maxGroupMs, monotonic, guard }: GroupCommitOptions,
): GroupCommit {
  let queue: Write[] = [];
  let scheduled = false;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    // A turn of the event loop delivers every message that waits; they join this group. While its commit waits for
    // the disk, the next group gathers by itself.
    setImmediate(() => {
      scheduled = false;
      commitGroup();
      if (queue.length > 0) schedule();
    });
  };

  const commitGroup = () => {
    const taken: Write[] = [];
    const answers: (() => void)[] = [];
    try {
      database.exec('BEGIN IMMEDIATE');
      guard();
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
      return;
    }
    queue = queue.slice(taken.length);
    for (const answer of answers) answer();
  };

  const runOne = ({ work, resolve, reject }: Write): (() => void) => {
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
      while (queue.length > 0) commitGroup();
    },
  };
}
