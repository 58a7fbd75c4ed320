/** The delays after which webhooks and letters that failed are sent again. */
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

/** For this time a letter or a message is tried. */
export const TRIED_MS = RETRY_AFTER_MS.reduce((sum, wait) => sum + wait, 0);

/** A delay is longer by up to this share of it, so that what failed together is not repeated together. */
const JITTER = 0.1;

/** Maximum time from an attempt to the next one, milliseconds. What waits for longer has its time from a clock that was ahead. */
export const MAX_DELIVERY_WAIT_MS = Math.ceil(Math.max(...RETRY_AFTER_MS) * (1 + JITTER));

/**
 * The time of the next try after the failure of attempt `attempts`, counted from 0; epoch milliseconds. Null: it is given up.
 * `chance`: 0 to 1.
 */
export function retryAt(attempts: number, now: number, chance: number): number | null {
  const wait = RETRY_AFTER_MS[attempts];
  return wait === undefined ? null : now + Math.round(wait * (1 + JITTER * chance));
}

/**
 * The time of the next try of a letter; as {@link retryAt}. It is tried each hour at least, since the mail server may be repaired at
 * any time, and for a day from `createdAt`, however often others had it tried in between. `createdAt`: null: not known.
 */
export function retryLetterAt(
  { attempts, createdAt }: { readonly attempts: number; readonly createdAt: number | null },
  now: number,
  chance: number,
): number | null {
  // A clock that was set ahead makes no letter old.
  const isTried = attempts >= RETRY_AFTER_MS.length;
  const isOver = isTried && (createdAt === null || now - createdAt >= TRIED_MS);
  const wait = Math.min(RETRY_AFTER_MS[attempts] ?? HOUR_MS, HOUR_MS);
  return isOver ? null : now + Math.round(wait * (1 + JITTER * chance));
}
