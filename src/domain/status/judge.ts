/** The verdict of an attempt, with its reason, and the attempt as latest check and as sample. */
import type { StatusReason } from '../incident/incident.ts';
import { type Attempt, type CheckResult, LATE_LOOP_MS } from '../result.ts';
import { MAX_SAMPLE_LATENCY_MS, type Sample } from '../sample.ts';
import { judgeLatency, readStatusWord, type Verdict } from '../status.ts';
import type { LatestCheck } from './current.ts';

/**
 * Judges an attempt. A failure is `down`; a good response is `up` or, if it takes longer than `slowOverMs`, `slow`; the
 * `slow` or `down` of a health body counts; a bot wall or 429 is never `down` (contract 3; decisions, "What a check is").
 */
export function judgeAttempt(attempt: Attempt, slowOverMs: number): Verdict {
  if (!attempt.blocked) {
    if (attempt.failure !== null || attempt.reported === 'down') return 'down';
    if (attempt.reported === 'slow') return 'slow';
  }
  return judgeLatency(attempt.responseTimeMs ?? 0, slowOverMs);
}

/** The latest check; `checkedAt` is the start of the last attempt (decisions, Services). */
export function latestCheckOf(attempt: Attempt, verdict: Verdict): LatestCheck {
  return {
    status: verdict,
    responseTimeMs: attempt.responseTimeMs,
    statusCode: attempt.statusCode,
    checkedAt: attempt.startedAt,
    source: attempt.via,
    reported: attempt.reportedWord,
    failure: attempt.failure,
    blocked: attempt.blocked,
    timing: attempt.timing,
    certificateExpiresAt: attempt.certificateExpiresAt,
  };
}

/**
 * The sample of a check, at the start of its last attempt. A response time that our own event loop may have prolonged is
 * left out. `region` undefined: the sample names none.
 */
export function sampleOf(result: CheckResult, verdict: Verdict, suspect: boolean, region?: string): Sample {
  const responseTimeMs = result.lostMs > LATE_LOOP_MS ? null : result.responseTimeMs;
  const sample: Sample = {
    serviceId: result.serviceId,
    at: result.startedAt,
    status: verdict,
    latencyMs: responseTimeMs === null ? null : Math.min(responseTimeMs, MAX_SAMPLE_LATENCY_MS),
    statusCode: result.statusCode,
    suspect,
  };
  return region === undefined ? sample : { ...sample, region };
}

export function detailedSampleOf(
  result: CheckResult,
  verdict: Verdict,
  suspect: boolean,
  region?: string,
): Sample {
  const { timing, certificateExpiresAt, failure } = result;
  const detail = {
    timing,
    certificateExpiresAt,
    failure: verdict === 'down' && failure !== null ? failure.class : null,
  };
  return { ...sampleOf(result, verdict, suspect, region), detail };
}

/** The reason for a verdict; null: it is `up`. */
export function reasonOfVerdict(result: CheckResult, verdict: Verdict): StatusReason | null {
  return explain(verdict, result.reported === 'slow' && !result.blocked, result);
}

/** The reason for the verdict of a check that was judged before; null: it is `up`. */
export function reasonOfCheck(check: LatestCheck): StatusReason | null {
  const { status, reported, blocked } = check;
  return explain(status, reported !== null && readStatusWord(reported) === 'slow' && !blocked, check);
}

function explain(
  verdict: Verdict,
  isReportedSlow: boolean,
  { responseTimeMs, failure }: Pick<LatestCheck, 'responseTimeMs' | 'failure'>,
): StatusReason | null {
  if (verdict === 'up') return null;
  if (verdict === 'slow')
    return isReportedSlow
      ? { code: 'reported_slow' }
      : { code: 'slow_response', responseTimeMs: responseTimeMs ?? 0 };
  return failure === null ? { code: 'reported_down' } : { code: 'check_failed', failure };
}
