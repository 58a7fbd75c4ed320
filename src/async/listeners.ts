/** The listeners of an event. */

/**
 * Creates an empty set of listeners of one event, which passes `Args`. A listener that throws does not keep the others from
 * being called: `onError` gets its error. Without `onError` the error is thrown to the caller of `notify`.
 */
export function createListeners<Args extends readonly unknown[]>(
  onError?: (error: unknown, ...args: Args) => void,
) {
  const entries = new Set<{ readonly listener: (...args: Args) => void }>();
  return {
    get size(): number {
      return entries.size;
    },
    /** Adds a listener and returns the function that removes it. A listener added twice is called twice. */
    add(listener: (...args: Args) => void): () => void {
      const entry = { listener };
      entries.add(entry);
      return () => void entries.delete(entry);
    },
    /** Calls every listener in the order in which they were added. */
    notify(...args: Args): void {
      for (const { listener } of entries) {
        try {
          listener(...args);
        } catch (error) {
          if (onError === undefined) throw error;
          onError(error, ...args);
        }
      }
    },
    clear: (): void => entries.clear(),
  };
}
