/**
 * Time and randomness, passed in as arguments so that every decision can be tested without waiting.
 * Wall times are epoch milliseconds; durations come from the monotonic clock.
 */

/** Cancels the timer that it was returned for; further calls do nothing. */
export type Cancel = () => void;

/** The only source of time in the program. */
export interface Clock {
  /** Wall time in epoch milliseconds. */
  now(): number;
  /** Monotonic time in fractional milliseconds; only differences are meaningful. */
  monotonic(): number;
  /** Runs `task` once after `delayMs`. */
  after(delayMs: number, task: () => void): Cancel;
  /** Runs `task` every `periodMs`, the first time after one period. */
  every(periodMs: number, task: () => void): Cancel;
}

/** The only source of randomness in the program: a number in [0, 1). */
export type Random = () => number;

/** The system's random numbers. */
export const systemRandom: Random = () => Math.random();

/** The system's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  every(periodMs, task) {
    const timer = setInterval(task, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};
