/** Samples, the points of the time series, the buckets that a query over them returns, and their percentiles. */
import type { FailureClass } from './failure.ts';
import type { Timing } from './result.ts';
import type { Verdict } from './status.ts';

/** Details of a check, for stores that keep them. */
interface CheckDetail {
  readonly timing: Timing;
  /** Expiry of the server's certificate, epoch milliseconds; null without TLS. */
  readonly certificateExpiresAt: number | null;
  /** Null: it did not fail. */
  readonly failure: FailureClass | null;
}

/** Maximum latency of a sample, milliseconds; a longer one is stored as this. */
export const MAX_SAMPLE_LATENCY_MS = 65_534;

/** One point of a service. Of two with the same service, region and time, the last one counts. */
export interface Sample {
  readonly serviceId: number;
  /** The region in which the check was made; absent: there is only one region, or the sample is a heartbeat. */
  readonly region?: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly status: Verdict;
  /** Whole milliseconds, at most {@link MAX_SAMPLE_LATENCY_MS}; null: none, left out of percentiles. */
  readonly latencyMs: number | null;
  /** 0 when no HTTP response arrived. */
  readonly statusCode: number;
  /** The fault may have been ours, or that of what the service depends on: left out of uptime and percentiles. */
  readonly suspect: boolean;
  /** Absent: not known, or no store keeps it. */
  readonly detail?: CheckDetail;
}

/** Summary of the samples in `[startAt, endAt)`. Suspect samples count in `suspectCount` only. */
export interface Bucket {
  readonly startAt: number;
  readonly endAt: number;
  readonly count: number;
  readonly upCount: number;
  readonly slowCount: number;
  readonly downCount: number;
  readonly suspectCount: number;
  /** (up + slow) / count; null without samples. */
  readonly uptimeRatio: number | null;
  /** Milliseconds over samples with a latency; null without any. */
  readonly meanMs: number | null;
  /** Percentiles by nearest rank, milliseconds; null without any latency. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
}

/** Kind of a day: `suspect`: all checks were suspect; `none`: no checks. */
export type DayKind = 'up' | 'slow' | 'down' | 'suspect' | 'none';

/** A day with at most this share of slow checks is not slow. */
export const SLOW_DAY_SHARE = 0.05;

/** The kind of a bucket of a day or any other length, for pages, heat maps and embeds alike. */
export function dayKindOf({
  count,
  downCount,
  slowCount,
  suspectCount,
}: Pick<Bucket, 'count' | 'downCount' | 'slowCount' | 'suspectCount'>): DayKind {
  if (count === 0) return suspectCount > 0 ? 'suspect' : 'none';
  if (downCount > 0) return 'down';
  return slowCount / count > SLOW_DAY_SHARE ? 'slow' : 'up';
}

/** Ratio of good checks over buckets, from 0 to 1; null without checks. */
export function uptimeOf(buckets: readonly Pick<Bucket, 'count' | 'downCount'>[]): number | null {
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const down = buckets.reduce((sum, bucket) => sum + bucket.downCount, 0);
  return count === 0 ? null : (count - down) / count;
}

/** The percentile of values in ascending order; `ratio` from 0 to 1. Null: there are no values. */
export function percentileOf(sorted: ArrayLike<number>, ratio: number): number | null {
  return sorted[rankOf(sorted.length, ratio) - 1] ?? null;
}

/** The percentile of values with counts, ascending by value; `total` is the sum of the counts. */
export function weightedPercentileOf(
  sorted: readonly (readonly [value: number, count: number])[],
  total: number,
  ratio: number,
): number | null {
  let rank = rankOf(total, ratio);
  if (total === 0) return null;
  for (const [value, count] of sorted) {
    rank -= count;
    if (rank <= 0) return value;
  }
  return null;
}

/** The nearest rank of a percentile among `total` values, from 1. */
export function rankOf(total: number, ratio: number): number {
  return Math.max(1, Math.ceil(ratio * total));
}
