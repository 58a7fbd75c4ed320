/** A lock within one thread: those that wait for it get it in the order in which they asked. */

/** Makes a lock that is free. */
export function createMutex() {
  let last: Promise<void> = Promise.resolve();
  return {
    /** Resolves when the lock is held, with the function that gives it back. Calls of it after the first do nothing. */
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
