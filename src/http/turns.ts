/** Turns: many tasks, few at a time. */

/** Runs tasks in their order, at most `most` at a time. */
export function createTurns(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // The place goes to the next in the row; only without one it is free.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
