/** Bounds on the number of tasks that run at a time. */

/**
 * Creates a limiter of at most `maxRunning` tasks, 1 or more. It runs a task as soon as fewer are running; waiting
 * tasks start in the order of the calls.
 */
export function createConcurrencyLimiter(maxRunning: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= maxRunning) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // The place passes to the next task; it is free only if none is waiting.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

/**
 * Creates a limiter of at most `maxRunning` tasks over all keys, and of one for each key. A task whose key is busy lets
 * others pass. A task that continues the work of an earlier one (`isContinued`) precedes all waiting tasks, so that few
 * intermediate results are in memory at a time.
 */
export function createKeyedLimiter(maxRunning: number) {
  const waiting: { readonly key: string; readonly start: () => Promise<void> }[] = [];
  const busy = new Set<string>();
  const startNext = (): void => {
    while (busy.size < maxRunning) {
      const index = waiting.findIndex(({ key }) => !busy.has(key));
      const [next] = index === -1 ? [] : waiting.splice(index, 1);
      if (next === undefined) return;
      busy.add(next.key);
      void next.start().finally(() => {
        busy.delete(next.key);
        startNext();
      });
    }
  };
  return <T>(key: string, task: () => Promise<T>, isContinued = false): Promise<T> =>
    new Promise((resolve, reject) => {
      const entry = { key, start: () => task().then(resolve, reject) };
      if (isContinued) waiting.unshift(entry);
      else waiting.push(entry);
      startNext();
    });
}
