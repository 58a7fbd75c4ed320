/** Long work in parts, so that the event loop serves requests in between. */

/**
 * Creates a queue that runs tasks in the order of the calls, at most `maxPerTurn` of them in one turn of the event
 * loop. A call costs the same however many tasks are waiting. A task must not throw.
 */
export function createCooperativeQueue(maxPerTurn: number): (task: () => void) => void {
  /** The tasks that are running, from `next` on. New tasks are collected and replace these when they are done. */
  let tasks: (() => void)[] = [];
  let next = 0;
  let gathered: (() => void)[] = [];
  let isRunning = false;
  const run = (): void => {
    for (let count = 0; count < maxPerTurn; count++) {
      if (next === tasks.length) {
        [tasks, gathered, next] = [gathered, [], 0];
        if (tasks.length === 0) break;
      }
      const task = tasks[next] as () => void;
      // Lets the garbage collector free a finished task before the others are done.
      tasks[next++] = finished;
      task();
    }
    isRunning = next < tasks.length || gathered.length > 0;
    if (isRunning) setImmediate(run);
  };
  return (task) => {
    gathered.push(task);
    if (isRunning) return;
    isRunning = true;
    // Runs after the caller, which may add many tasks at once.
    queueMicrotask(run);
  };
}

const finished = (): void => {};

/**
 * Calls `work` with at most `size` of the items at a time, one call in each turn of the event loop. Rejects if `work`
 * throws.
 */
export async function forEachYielding<Item>(
  items: readonly Item[],
  size: number,
  work: (part: readonly Item[]) => void,
): Promise<void> {
  for (let at = 0; at < items.length; at += size) {
    work(items.slice(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
