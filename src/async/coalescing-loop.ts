/** A task that several callers request, and that runs once at a time; and polls that leave out what would find nothing. */

/** Creates a loop over `task`, which must not reject. The first run begins within the call. */
export function createCoalescingLoop(task: () => Promise<void>) {
  let current: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function start(): Promise<void> {
    const run = task().finally(() => {
      if (current === run) current = null;
    });
    current = run;
    return run;
  }

  return {
    get isRunning(): boolean {
      return current !== null;
    },
    /**
     * Runs the task, or runs it once more after the current run. Resolves after a run that began after the call;
     * calls during one run share the next one.
     */
    run(): Promise<void> {
      if (next !== null) return next;
      if (current === null) return start();
      next = current.then(() => {
        next = null;
        return start();
      });
      return next;
    },
    /** Resolves when the task is not running and no further run is wanted. */
    async idle(): Promise<void> {
      for (let run = next ?? current; run !== null; run = next ?? current) await run;
    },
  };
}

/** Something may wait that no write tells of; so a poll is made after this time in any case, milliseconds. */
const MAX_REST_MS = 60_000;

interface PollGate {
  /** Returns true if there may be something to find: call it at each tick. */
  isOpen(): boolean;
  /** A poll begins, which sees everything that was written before. */
  begin(): void;
  /** It has found nothing, and nothing waits for its time: polls are left out until the next write. */
  close(): void;
}

/** Creates an open gate. `writes` grows with each write that may concern the poll; undefined: it is not known, and no poll is left out. */
export function createPollGate(writes: (() => number) | undefined, monotonic: () => number): PollGate {
  let seen = Number.NaN;
  let begunMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  return {
    isOpen: () =>
      !isClosed || writes === undefined || writes() !== seen || monotonic() - begunMs >= MAX_REST_MS,
    begin() {
      seen = writes?.() ?? Number.NaN;
      begunMs = monotonic();
      isClosed = false;
    },
    close() {
      isClosed = true;
    },
  };
}
