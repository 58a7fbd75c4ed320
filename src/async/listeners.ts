/** A set of listeners. */

/** The listeners of one event, which passes `Args`. */
export interface Listeners<Args extends readonly unknown[]> {
  readonly size: number;
  /** Adds a listener and returns the function that removes it. A listener added twice is called twice. */
  add(listener: (...args: Args) => void): () => void;
  /** Calls every listener in the order in which they were added. */
  notify(...args: Args): void;
  /** Removes all listeners. */
  clear(): void;
}

/**
 * Creates an empty set. A listener that throws does not keep the others from being called: `onError` gets its error.
 * Without `onError` the error is thrown to the caller of `notify`.
 */
export function createListeners<Args extends readonly unknown[]>(
  onError?: (error: unknown, ...args: Args) => void,
): Listeners<Args> {
  const entries = new Set<{ readonly listener: (...args: Args) => void }>();
  return {
    get size() {
      return entries.size;
    },
    add(listener) {
      const entry = { listener };
      entries.add(entry);
      return () => void entries.delete(entry);
    },
    notify(...args) {
      for (const { listener } of entries) {
        try {
          listener(...args);
        } catch (error) {
          if (onError === undefined) throw error;
          onError(error, ...args);
        }
      }
    },
    clear: () => entries.clear(),
  };
}
