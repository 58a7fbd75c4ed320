/** A task that several callers request, and that runs once at a time. */

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
