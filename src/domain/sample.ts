/** Samples, the points of the time series, and the buckets that a query over them returns. */
import type { FailureClass } from './failure.ts';
import type { Timing } from './result.ts';
import type { Verdict } from './status.ts';

/** What a check found beside its verdict; for stores that keep more than a history needs. */
export interface CheckDetail {
  readonly timing: Timing;
  /** Not after of the server's certificate, epoch milliseconds; null without TLS. */
  readonly certificateExpiresAt: number | null;
  /** Null: it did not fail. */
  readonly failure: FailureClass | null;
}

/** The largest latency that a sample holds, milliseconds; a longer one is stored as this. */
export const MAX_SAMPLE_LATENCY_MS = 65_534;

/** One measured point of a service. Two with the same service and time: the last wins. */
export interface Sample {
  readonly serviceId: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly status: Verdict;
  /** Whole milliseconds, at most {@link MAX_SAMPLE_LATENCY_MS}; null: none, kept out of percentiles. */
  readonly latencyMs: number | null;
  /** 0 when no HTTP response arrived. */
  readonly statusCode: number;
  /** Taken while the fault may have been ours: kept out of uptime and percentiles. */
  readonly suspect: boolean;
  /** Absent: nothing more is known, or no store keeps it. */
  readonly detail?: CheckDetail;
}

/** Summary of the samples in `[startAt, endAt)`. Suspect samples count in `suspectCount` alone. */
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

/** How a day looks: `suspect` had checks, none of which can be trusted; `none` had no checks. */
export type DayKind = 'up' | 'slow' | 'down' | 'suspect' | 'none';

/** Slow checks up to this share make no slow day: one slow answer in a day is no news. */
export const SLOW_DAY_SHARE = 0.05;

/** What kind of day a bucket was; a bucket of another length is judged alike. */
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
