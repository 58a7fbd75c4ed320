/** Writes that arrive together share one transaction: one wait for the disk for all of them. */

/** Transactions of one connection, one at a time. */
export interface Transactions {
  /**
   * Begins one, as the only writer of the database, and runs `first` in it: in the same exchange, where the database is a
   * server. Rejects where another process holds the lock for too long.
   */
  begin<T>(first: () => Promise<T>): Promise<T>;
  commit(): Promise<void>;
  /** Undoes everything; does nothing where no transaction is open. */
  rollback(): Promise<void>;
  /** Runs `work`; if it rejects, what it wrote is undone and the transaction continues. */
  nested<T>(work: () => Promise<T>): Promise<T>;
  /** False: none was begun, or the database has ended it, such as one whose disk is full. */
  readonly isOpen: boolean;
}

/** Settings of {@link createGroupCommit}. */
export interface GroupCommitOptions {
  /** Nothing else begins transactions on it. */
  readonly transactions: Transactions;
  /** Longest work of one transaction, milliseconds; what is left over goes into the next. */
  readonly maxGroupMs: number;
  /** Monotonic time in milliseconds. */
  readonly monotonic: () => number;
  /**
   * Runs first in each transaction; what it throws rejects the whole group. What it resolves with is called after the
   * commit; null: nothing is.
   */
  readonly guard: () => Promise<(() => void) | null>;
}

interface Write {
  readonly work: () => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Takes writes and commits them in groups. */
export function createGroupCommit(options: GroupCommitOptions) {
  const { transactions, maxGroupMs, monotonic, guard } = options;
  let queue: Write[] = [];
  let isRunning = false;
  let running: Promise<void> = Promise.resolve();

  const run = async (): Promise<void> => {
    isRunning = true;
    do {
      // A turn of the event loop delivers every message that waits; they join this group. While its commit waits for
      // the disk, the next group gathers by itself.
      await new Promise((resolve) => setImmediate(resolve));
      await commitGroup();
    } while (queue.length > 0);
    isRunning = false;
  };

  /** Commits what it can and answers the callers. */
  const commitGroup = async (): Promise<void> => {
    const taken: Write[] = [];
    const answers: (() => void)[] = [];
    let onCommitted: (() => void) | null = null;
    try {
      onCommitted = await transactions.begin(guard);
      const endAt = monotonic() + maxGroupMs;
      for (const write of queue) {
        taken.push(write);
        answers.push(await runOne(write));
        if (monotonic() >= endAt) break;
      }
      await transactions.commit();
    } catch (error) {
      await transactions.rollback();
      // Where the transaction did not even begin, nothing that waits has a chance.
      const failed = taken.length > 0 ? taken : queue;
      queue = queue.slice(failed.length);
      for (const { reject } of failed) reject(error);
      return;
    }
    queue = queue.slice(taken.length);
    onCommitted?.();
    for (const answer of answers) answer();
  };

  const runOne = async ({ work, resolve, reject }: Write): Promise<() => void> => {
    try {
      const value = await transactions.nested(work);
      return () => resolve(value as never);
    } catch (error) {
      // The transaction is lost: the whole group fails with it.
      if (!transactions.isOpen) throw error;
      return () => reject(error);
    }
  };

  return {
    /**
     * Runs `work` inside a transaction and resolves with its value after the commit is on disk. What it throws undoes
     * its own changes only, not those of its group.
     */
    write<T>(work: () => Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        queue.push({ work, resolve, reject });
        if (!isRunning) running = run();
      });
    },
    /** Resolves when everything taken so far is committed or refused. */
    idle: (): Promise<void> => running,
  };
}
