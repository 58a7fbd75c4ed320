/** Groups concurrent writes into one transaction, so that they share one wait for the disk. */

/** Transactions of one connection, one at a time. */
export interface Transactions {
  /**
   * Begins a transaction as the only writer of the database and runs `first` in it; with a database server, in the same
   * round trip. Rejects if another process holds the lock for too long.
   */
  begin<T>(first: () => Promise<T>): Promise<T>;
  commit(): Promise<void>;
  /** Rolls back the transaction; does nothing if none is open. */
  rollback(): Promise<void>;
  /** Runs `work`. If it rejects, its changes are rolled back and the transaction continues. */
  nested<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Whether a transaction is open. False: none was begun, or the database has ended it, for example because its disk is
   * full.
   */
  readonly isOpen: boolean;
}

/** Settings of {@link createGroupCommit}. */
export interface GroupCommitOptions {
  /** The transactions. No other part may begin transactions on them. */
  readonly transactions: Transactions;
  /** Maximum duration of the work in one transaction, milliseconds. Remaining writes go into the next one. */
  readonly maxGroupMs: number;
  /** Monotonic time in milliseconds. */
  readonly monotonic: () => number;
  /**
   * Runs first in each transaction. If it throws, the whole group is rejected. It may resolve with a function that is
   * called after the commit, or with null.
   */
  readonly guard: () => Promise<(() => void) | null>;
}

interface Write {
  readonly work: () => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Accepts writes and commits them in groups. */
export function createGroupCommit(options: GroupCommitOptions) {
  const { transactions, maxGroupMs, monotonic, guard } = options;
  let queue: Write[] = [];
  let isRunning = false;
  let running: Promise<void> = Promise.resolve();

  const run = async (): Promise<void> => {
    isRunning = true;
    do {
      // After one iteration of the event loop, all waiting messages have joined this group. The next group forms while
      // this one waits for the disk.
      await new Promise((resolve) => setImmediate(resolve));
      await commitGroup();
    } while (queue.length > 0);
    isRunning = false;
  };

  /** Commits as many writes as it can and answers the callers. */
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
      // If the transaction could not begin, no waiting write can succeed.
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
      // The transaction is lost, so the whole group fails.
      if (!transactions.isOpen) throw error;
      return () => reject(error);
    }
  };

  return {
    /**
     * Runs `work` inside a transaction and resolves with its value after the commit is on disk. If it throws, only its
     * own changes are rolled back, not those of its group.
     */
    write<T>(work: () => Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        queue.push({ work, resolve, reject });
        if (!isRunning) running = run();
      });
    },
    /** Resolves when all writes accepted so far are committed or refused. */
    idle: (): Promise<void> => running,
  };
}
