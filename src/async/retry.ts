/** Retries of operations that failed with a transient error. */

/** Creates the pauses between retries of one operation, which double from `firstMs` to `maxMs`. */
export function createBackoff(firstMs: number, maxMs: number) {
  let pauseMs = firstMs;
  return {
    /** The pause before the next retry, milliseconds; the one after it is twice as long, up to the maximum. */
    next(): number {
      const pause = pauseMs;
      pauseMs = Math.min(maxMs, pauseMs * 2);
      return pause;
    },
    /** The pause that `next` will return, milliseconds. */
    get pauseMs(): number {
      return pauseMs;
    },
    /** Resets the next pause to the first one. Call it after a success. */
    reset(): void {
      pauseMs = firstMs;
    },
  };
}

export interface RetryOptions {
  /** Retries after the first attempt. */
  readonly maxRetries: number;
  /** Between two attempts, milliseconds. */
  readonly pauseMs: number;
  /** Returns true if an error is transient; the promise rejects with any other error. */
  readonly isTransient: (error: unknown) => boolean;
  /** Called with the first transient error. */
  readonly onFirstRetry: (error: unknown) => void;
}

/** Repeats `attempt` until it succeeds. Rejects with the error of the last attempt. */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { maxRetries, pauseMs, isTransient, onFirstRetry } = options;
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      if (retries === maxRetries || !isTransient(error)) throw error;
      if (retries === 0) onFirstRetry(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
