/** The time ranges of the response times on a service's page, and their buckets. */

import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import type { Bucket } from '../domain/sample.ts';
import { enumParameter } from '../http/parameters.ts';

/** The values of `?range=`, in the order of their links. */
export const RANGE_NAMES = ['24h', '7d', '30d', '90d', '1y'] as const;

export type RangeName = (typeof RANGE_NAMES)[number];

/** Width and number of buckets: enough for a curve, and few enough for a phone. */
const RANGES: Readonly<Record<RangeName, { readonly stepMs: number; readonly buckets: number }>> = {
  '24h': { stepMs: HOUR_MS / 4, buckets: 96 },
  '7d': { stepMs: HOUR_MS, buckets: 168 },
  '30d': { stepMs: 6 * HOUR_MS, buckets: 120 },
  '90d': { stepMs: 12 * HOUR_MS, buckets: 180 },
  '1y': { stepMs: 2 * DAY_MS, buckets: 183 },
};

/** Steps of {@link closeUp}, milliseconds. */
const FINE_STEPS_MS = [1, 5, 15, 60, 300, 900, 3_600, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1_000,
);
const MAX_CLOSE_BUCKETS = 180;

export const RANGE_QUERY = {
  range: enumParameter(RANGE_NAMES, 'Range of time whose response times are shown.', '24h'),
};

/** A window of equal buckets, epoch milliseconds; the last one is cut at `to`. */
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
}

/**
 * The buckets of a range that ends at `now`. They start at multiples of their width, so that a reload does not move
 * them.
 */
export function windowOf(range: RangeName, now: number): Window {
  const { stepMs, buckets } = RANGES[range];
  return alignedWindow(stepMs, buckets, now);
}

/**
 * The window from the first known bucket on, in finer steps where they fit, so that the axis covers the data and no
 * more. Null: the range is known from its start on, or nothing of it is known.
 */
export function closeUp(window: Window, buckets: readonly Bucket[], intervalMs: number): Window | null {
  const first = buckets.findIndex(({ count }) => count > 0);
  if (first < 1) return null;
  const from = buckets[first]?.startAt ?? window.from;
  const stepMs = Math.min(window.stepMs, stepFor(window.to - from, intervalMs, MAX_CLOSE_BUCKETS));
  return { from: Math.floor(from / stepMs) * stepMs, to: window.to, stepMs };
}

/** A round width of buckets of at least `intervalMs`, of which at most `maxBuckets` cover `lengthMs`; milliseconds. */
export function stepFor(lengthMs: number, intervalMs: number, maxBuckets: number): number {
  return (
    FINE_STEPS_MS.find((step) => step >= intervalMs && lengthMs / step <= maxBuckets) ??
    Math.max(1, Math.ceil(Math.max(intervalMs, lengthMs / maxBuckets) / DAY_MS)) * DAY_MS
  );
}

/** The UTC days up to and including that of `now`. */
export function daysUntil(now: number, days: number): Window {
  return alignedWindow(DAY_MS, days, now);
}

/** The last `hours` whole hours, the present one included. */
export function hoursUntil(now: number, hours: number): Window {
  return alignedWindow(HOUR_MS, hours, now);
}

/** The 24 hours up to `now`, not rounded to whole hours: the window of "up in 24 hours". */
export function lastDay(now: number): Window {
  return { from: now - DAY_MS, to: now, stepMs: DAY_MS };
}

function alignedWindow(stepMs: number, buckets: number, now: number): Window {
  const last = Math.floor(now / stepMs) * stepMs;
  // At the start of a bucket, the window would be empty, which is not allowed.
  return { from: last - (buckets - 1) * stepMs, to: Math.max(now, last + 1), stepMs };
}
