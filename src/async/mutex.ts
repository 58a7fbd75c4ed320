/** A lock within one thread. Waiting callers get it in the order of their calls. */

/** Creates a lock that is free. */
export function createMutex() {
  let last: Promise<void> = Promise.resolve();
  return {
    /** Waits for the lock and resolves with the function that releases it. Only its first call has an effect. */
    async lock(): Promise<() => void> {
      const before = last;
      let unlock = (): void => {};
      last = new Promise((resolve) => {
        unlock = resolve;
      });
      await before;
      return unlock;
    },
  };
}
