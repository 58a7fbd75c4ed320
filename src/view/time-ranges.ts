/** The ranges of time that a service's page shows response times of, and their buckets. */

import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import type { Bucket } from '../domain/sample.ts';
import { enumParameter } from '../http/parameters.ts';

/** The ranges in the order of their links, as `?range=` names them. */
export const RANGE_NAMES = ['24h', '7d', '30d', '90d', '1y'] as const;

/** A range of time. */
export type RangeName = (typeof RANGE_NAMES)[number];

/** Width of a bucket, and how many there are: enough to see a shape, few enough for a telephone. */
const RANGES: Readonly<Record<RangeName, { readonly stepMs: number; readonly buckets: number }>> = {
  '24h': { stepMs: HOUR_MS / 4, buckets: 96 },
  '7d': { stepMs: HOUR_MS, buckets: 168 },
  '30d': { stepMs: 6 * HOUR_MS, buckets: 120 },
  '90d': { stepMs: 12 * HOUR_MS, buckets: 180 },
  '1y': { stepMs: 2 * DAY_MS, buckets: 183 },
};

/** Steps of a closer look, milliseconds. */
const FINE_STEPS_MS = [1, 5, 15, 60, 300, 900, 3_600, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1_000,
);
const MAX_CLOSE_BUCKETS = 180;

/** The query parameter. */
export const RANGE_QUERY = {
  range: enumParameter(RANGE_NAMES, 'Range of time whose response times are shown.', '24h'),
};

/** A window of equal buckets, epoch milliseconds; the last one is cut at `to`. */
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
}

/** The buckets of a range that ends at `now`. They start at multiples of their width, so that a reload moves none. */
export function windowOf(range: RangeName, now: number): Window {
  const { stepMs, buckets } = RANGES[range];
  return alignedWindow(stepMs, buckets, now);
}

/**
 * The window from the first known bucket on, in finer steps; null: the range is known for a third of its length, or
 * there is nothing in it. A new service shows more than a dot at the edge.
 */
export function closeUp(window: Window, buckets: readonly Bucket[], intervalMs: number): Window | null {
  const first = buckets.findIndex(({ count }) => count > 0);
  if (first < (buckets.length * 2) / 3) return null;
  const from = buckets[first]?.startAt ?? window.from;
  const stepMs = FINE_STEPS_MS.find(
    (step) => step >= intervalMs && (window.to - from) / step <= MAX_CLOSE_BUCKETS,
  );
  if (stepMs === undefined || stepMs >= window.stepMs) return null;
  return { from: Math.floor(from / stepMs) * stepMs, to: window.to, stepMs };
}

/** The UTC days up to and with that of `now`. */
export function daysUntil(now: number, days: number): Window {
  return alignedWindow(DAY_MS, days, now);
}

/** The hours that make 24 hours up to `now`, not cut to whole ones: what "up in 24 hours" speaks of. */
export function lastDay(now: number): Window {
  return { from: now - DAY_MS, to: now, stepMs: DAY_MS };
}

function alignedWindow(stepMs: number, buckets: number, now: number): Window {
  const last = Math.floor(now / stepMs) * stepMs;
  // At the very start of a bucket it is still empty, and a window must not be.
  return { from: last - (buckets - 1) * stepMs, to: Math.max(now, last + 1), stepMs };
}
