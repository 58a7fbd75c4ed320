/** Pauses between retries. */

/** The pauses of one thing that is retried. */
export interface Backoff {
  /** The pause before the next retry, milliseconds; the one after it is twice as long, up to the maximum. */
  next(): number;
  /** The pause that `next` will return, milliseconds. */
  readonly pauseMs: number;
  /** After a success: the next pause is the first one again. */
  reset(): void;
}

/** Creates pauses that double from `firstMs` to `maxMs`. */
export function createBackoff(firstMs: number, maxMs: number): Backoff {
  let pauseMs = firstMs;
  return {
    next() {
      const present = pauseMs;
      pauseMs = Math.min(maxMs, pauseMs * 2);
      return present;
    },
    get pauseMs() {
      return pauseMs;
    },
    reset() {
      pauseMs = firstMs;
    },
  };
}
