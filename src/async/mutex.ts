/** A lock within one thread: those that wait for it get it in the order in which they asked. */

/** The lock. */
export interface Mutex {
  /** Resolves when the lock is held, with the function that gives it back. Calls of it after the first do nothing. */
  lock(): Promise<() => void>;
}

/** Makes a lock that is free. */
export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return {
    async lock() {
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
