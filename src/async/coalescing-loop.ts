/** A task that many may ask for, and that runs once at a time. */

/** The loop. */
export interface CoalescingLoop {
  readonly isRunning: boolean;
  /**
   * Runs the task, or runs it once more after the present run. Resolves after a run that began after the call;
   * calls during one run share the next one.
   */
  run(): Promise<void>;
  /** Resolves when the task is not running and no further run is wanted. */
  idle(): Promise<void>;
}

/** Creates a loop over `task`, which must not reject. The first run begins within the call. */
export function createCoalescingLoop(task: () => Promise<void>): CoalescingLoop {
  let present: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function start(): Promise<void> {
    const run = task().finally(() => {
      if (present === run) present = null;
    });
    present = run;
    return run;
  }

  return {
    get isRunning() {
      return present !== null;
    },
    run() {
      if (next !== null) return next;
      if (present === null) return start();
      next = present.then(() => {
        next = null;
        return start();
      });
      return next;
    },
    async idle() {
      for (let run = next ?? present; run !== null; run = next ?? present) await run;
    },
  };
}
