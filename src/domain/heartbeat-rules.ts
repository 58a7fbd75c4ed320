/** What a received heartbeat means: when, how long, how well (decisions, Heartbeats). */
import type { LatestCheck } from './current.ts';
import type { DependencyReport, HeartbeatReport } from './heartbeat-body.ts';
import type { StatusReason } from './incident.ts';
import { NO_TIMING } from './result.ts';
import { MAX_SAMPLE_LATENCY_MS, type Sample } from './sample.ts';
import type { CheckDefinition, Service } from './service.ts';
import { judgeLatency, type Verdict } from './status.ts';

/** How far the sender's clock may be ahead of ours, milliseconds. */
export const MAX_AHEAD_MS = 300_000;
/** How old a heartbeat may be by its own word, milliseconds. */
export const MAX_BEHIND_MS = 600_000;

/** What is wrong with a timestamp at `now`; null: nothing. */
export function refuseTimestamp(timestamp: number, now: number): string | null {
  if (timestamp - now > MAX_AHEAD_MS) return 'is more than 5 minutes ahead of our clock';
  if (now - timestamp > MAX_BEHIND_MS) return 'is more than 10 minutes behind our clock';
  return null;
}

/** `checked_at`: the earlier of timestamp and arrival, epoch milliseconds. */
export function checkedAtOf({ timestamp }: Pick<HeartbeatReport, 'timestamp'>, arrivedAt: number): number {
  return timestamp === null ? arrivedAt : Math.min(timestamp, arrivedAt);
}

/** `response_time`: the largest latency reported, whole milliseconds; null: none was. */
export function responseTimeOf(dependencies: readonly DependencyReport[] | null): number | null {
  let largest: number | null = null;
  for (const { latencyMs } of dependencies ?? [])
    if (latencyMs !== null && (largest === null || latencyMs > largest)) largest = latencyMs;
  return largest;
}

/**
 * The owner's word stands, whatever the dependencies say; only `ok` with a response time over `slowOverMs` is `slow`,
 * as for a check.
 */
export function judgeHeartbeat(word: Verdict, responseTimeMs: number | null, slowOverMs: number): Verdict {
  return word === 'up' ? judgeLatency(responseTimeMs ?? 0, slowOverMs) : word;
}

/** A heartbeat as it was received, judged by itself: plain data. */
export interface Beat {
  readonly verdict: Verdict;
  /** The owner's word as it was said; null: none was. */
  readonly reported: string | null;
  /** Null: no latency was reported; shown as 0. */
  readonly responseTimeMs: number | null;
  /** Epoch milliseconds. */
  readonly checkedAt: number;
}

/** Why a service is what its heartbeat made it; null: it is up. */
export function reasonOfHeartbeat(
  { kind, word }: HeartbeatReport,
  { verdict, responseTimeMs }: Beat,
): StatusReason | null {
  if (verdict === 'up') return null;
  if (verdict === 'down') return { code: kind === 'fail' ? 'run_failed' : 'reported_down' };
  return word === 'slow'
    ? { code: 'reported_slow' }
    : { code: 'reported_response_time', responseTimeMs: responseTimeMs ?? 0 };
}

/** The newest check that a heartbeat is. */
export function latestOfBeat({ verdict, reported, responseTimeMs, checkedAt }: Beat): LatestCheck {
  return {
    ...BARE,
    status: verdict,
    reported,
    responseTimeMs: responseTimeMs ?? 0,
    statusCode: 200,
    checkedAt,
  };
}

/** The newest check that silence is: no response, at the deadline. */
export function latestOfSilence(deadlineAt: number): LatestCheck {
  return {
    ...BARE,
    status: 'down',
    responseTimeMs: null,
    statusCode: 0,
    checkedAt: deadlineAt,
    source: 'silence',
  };
}

const BARE = {
  source: 'heartbeat',
  reported: null,
  failure: null,
  blocked: false,
  timing: NO_TIMING,
  certificateExpiresAt: null,
} as const;

/** The point of the time series that a heartbeat or silence leaves; without a latency it stays out of percentiles. */
export function sampleOfLatest(
  serviceId: number,
  { status, checkedAt, statusCode }: LatestCheck,
  latencyMs: number | null,
): Sample {
  return {
    serviceId,
    at: checkedAt,
    status,
    latencyMs: latencyMs === null ? null : Math.min(latencyMs, MAX_SAMPLE_LATENCY_MS),
    statusCode,
    suspect: false,
  };
}

/**
 * How long a service may be silent, milliseconds: its own period and grace together, or `silenceMs` where its owner
 * set neither.
 */
export function silenceOf({ periodMs, graceMs }: CheckDefinition, silenceMs: number): number {
  return periodMs === undefined ? silenceMs + (graceMs ?? 0) : periodMs + (graceMs ?? 0);
}

/** Whether heartbeats decide the status of the service: it is heartbeat-monitored and not paused. */
export function isHeartbeatMonitored({ paused, check }: Pick<Service, 'paused' | 'check'>): boolean {
  return !paused && check.kind === 'heartbeat';
}
