/** When webhooks and letters that failed are sent again. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './durations.ts';

/** Delays after the failed attempts, over a day in total. */
export const RETRY_AFTER_MS: readonly number[] = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  16 * HOUR_MS,
];

/** A delay is longer by up to this share of it, so that what failed together is not repeated together. */
const JITTER = 0.1;

/** Maximum time from an attempt to the next one, milliseconds. What waits for longer has its time from a clock that was ahead. */
export const MAX_DELIVERY_WAIT_MS = Math.ceil(Math.max(...RETRY_AFTER_MS) * (1 + JITTER));

/** When to try again after the failure of attempt `attempts`, counted from 0; epoch milliseconds. Null: it is given up. `chance`: 0 to 1. */
export function retryAt(attempts: number, now: number, chance: number): number | null {
  const wait = RETRY_AFTER_MS[attempts];
  return wait === undefined ? null : now + Math.round(wait * (1 + JITTER * chance));
}
