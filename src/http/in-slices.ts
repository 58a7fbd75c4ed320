/** Runs many tasks a few at a time, so that requests are answered in between. */

/**
 * Makes a queue that runs tasks in their order, at most `most` of them in one turn of the event loop. A task costs the
 * same however many wait. A task must not throw.
 */
export function createSlices(most: number): (task: () => void) => void {
  /** Tasks under way, from `next` on; what is put in meanwhile is gathered, and takes their place when they are done. */
  let tasks: (() => void)[] = [];
  let next = 0;
  let gathered: (() => void)[] = [];
  let isRunning = false;
  const run = (): void => {
    for (let count = 0; count < most; count++) {
      if (next === tasks.length) {
        [tasks, gathered, next] = [gathered, [], 0];
        if (tasks.length === 0) break;
      }
      const task = tasks[next] as () => void;
      // A task that is done is let go, not only when all others are.
      tasks[next++] = done;
      task();
    }
    isRunning = next < tasks.length || gathered.length > 0;
    if (isRunning) setImmediate(run);
  };
  return (task) => {
    gathered.push(task);
    if (isRunning) return;
    isRunning = true;
    // After the caller, who may put in many at once.
    queueMicrotask(run);
  };
}

const done = (): void => {};
