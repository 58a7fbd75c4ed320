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
  /** True if a transaction is open. False: none was begun, or the database has ended it, for example because its disk is full. */
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

/** The outcome of one of several writes that were made together; null: it has to be made on its own. */
export type JointOutcome<T> = { readonly value: T } | { readonly error: unknown } | null;

/** A kind of writes that can be made together. */
export interface JointWrites<Item = unknown, T = unknown> {
  /**
   * Makes several writes by the same statements; the outcomes are in the order of the items. Changes nothing for writes whose
   * outcome is null or an error. If it rejects, all it did is rolled back and each write is made on its own.
   */
  make(items: readonly Item[]): Promise<readonly JointOutcome<T>[]>;
}

/** A write that may be made together with those beside it in the queue that are of the same kind. */
export interface JointWrite {
  readonly kind: JointWrites;
  readonly item: unknown;
}

/** Maximum number of writes that are made together. */
const MAX_TOGETHER = 500;

interface Write {
  readonly work: () => Promise<unknown>;
  /** Null: it is made on its own. */
  joint: JointWrite | null;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export function createGroupCommit(options: GroupCommitOptions) {
  const { transactions, maxGroupMs, monotonic, guard } = options;
  const queue: Write[] = [];
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
    const taken = new Set<Write>();
    const answers: (() => void)[] = [];
    let onCommitted: (() => void) | null = null;
    try {
      onCommitted = await transactions.begin(guard);
      const endAt = monotonic() + maxGroupMs;
      do {
        const next = takeNeighbours();
        for (const write of next) taken.add(write);
        const [first] = next;
        if (next.length > 1) answers.push(...(await runTogether(next, taken)));
        else if (first !== undefined) answers.push(await runOne(first));
      } while (queue.length > 0 && monotonic() < endAt);
      await transactions.commit();
    } catch (error) {
      await transactions.rollback();
      // If the transaction could not begin, no waiting write can succeed.
      const failed = taken.size > 0 ? taken : queue.splice(0);
      for (const { reject } of failed) reject(error);
      return;
    }
    onCommitted?.();
    for (const answer of answers) answer();
  };

  /** Takes the first write of the queue, with those after it that can be made together with it. */
  const takeNeighbours = (): Write[] => {
    const kind = queue[0]?.joint?.kind;
    const end = queue.findIndex(({ joint }) => joint === null || joint.kind !== kind);
    return queue.splice(0, Math.max(1, Math.min(MAX_TOGETHER, end < 0 ? queue.length : end)));
  };

  /** Makes writes together. Those for which that is not possible go back to the beginning of the queue. */
  const runTogether = async (writes: readonly Write[], taken: Set<Write>): Promise<(() => void)[]> => {
    const made = await makeTogether(writes);
    const left = writes.filter((_, index) => (made[index] ?? null) === null);
    for (const write of left) {
      write.joint = null;
      taken.delete(write);
    }
    queue.unshift(...left);
    return writes.flatMap(({ resolve, reject }, index) => {
      const outcome = made[index] ?? null;
      if (outcome === null) return [];
      return ['error' in outcome ? () => reject(outcome.error) : () => resolve(outcome.value as never)];
    });
  };

  const makeTogether = async (writes: readonly Write[]): Promise<readonly JointOutcome<unknown>[]> => {
    const joints = writes.flatMap(({ joint }) => joint ?? []);
    const [first] = joints;
    if (first === undefined) return [];
    try {
      return await transactions.nested(() => first.kind.make(joints.map(({ item }) => item)));
    } catch (error) {
      // The transaction is lost, so the whole group fails.
      if (!transactions.isOpen) throw error;
      return [];
    }
  };

  const runOne = async ({ work, resolve, reject }: Write): Promise<() => void> => {
    try {
      const value = await transactions.nested(work);
      return () => resolve(value as never);
    } catch (error) {
      if (!transactions.isOpen) throw error;
      return () => reject(error);
    }
  };

  return {
    /**
     * Runs `work` inside a transaction and resolves with its value after the commit is on disk. If it throws, only its
     * own changes are rolled back, not those of its group. `joint`: how it can be made together with others instead.
     */
    write<T>(work: () => Promise<T>, joint: JointWrite | null = null): Promise<T> {
      return new Promise((resolve, reject) => {
        queue.push({ work, joint, resolve, reject });
        if (!isRunning) running = run();
      });
    },
    /** Resolves when all writes accepted so far are committed or refused. */
    idle: (): Promise<void> => running,
  };
}
