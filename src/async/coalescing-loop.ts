/** A task that several callers request, and that runs once at a time. */

/** The loop. */
export interface CoalescingLoop {
  readonly isRunning: boolean;
  /**
   * Runs the task, or runs it once more after the current run. Resolves after a run that began after the call;
   * calls during one run share the next one.
   */
  run(): Promise<void>;
  /** Resolves when the task is not running and no further run is wanted. */
  idle(): Promise<void>;
}

/** Creates a loop over `task`, which must not reject. The first run begins within the call. */
export function createCoalescingLoop(task: () => Promise<void>): CoalescingLoop {
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
    get isRunning() {
      return current !== null;
    },
    run() {
      if (next !== null) return next;
      if (current === null) return start();
      next = current.then(() => {
        next = null;
        return start();
      });
      return next;
    },
    async idle() {
      for (let run = next ?? current; run !== null; run = next ?? current) await run;
    },
  };
}
