/** The growing delay between attempts to sign in with a password, as a pure function. */
import { DAY_MS } from './durations.ts';

/** Failures are forgotten this long after the last one, milliseconds. */
export const FAILURES_KEPT_MS = DAY_MS;

const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = 900_000;
/** Beyond it the delay is the maximum. */
const MAX_DOUBLINGS = 10;

/** The attempts that count together: those for a name, of a client, or of a browser that has signed in before. */
export interface AttemptCount {
  readonly failures: number;
  /** The time at which the last one was made, epoch milliseconds. */
  readonly lastAt: number;
}

/**
 * The delay of an attempt, milliseconds; 0: it may be made. The first `free` attempts need not wait; the delay then begins
 * with 5 s after the last attempt and doubles with each failure up to 15 minutes.
 */
export function signInDelayMs({ failures, lastAt }: AttemptCount, free: number, now: number): number {
  if (failures < free || now - lastAt >= FAILURES_KEPT_MS) return 0;
  const delayMs = FIRST_DELAY_MS * 2 ** Math.min(failures - free, MAX_DOUBLINGS);
  // A clock that was set back must not lengthen the delay.
  return Math.max(0, Math.min(delayMs, MAX_DELAY_MS) - Math.max(0, now - lastAt));
}
