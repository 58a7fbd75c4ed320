/** Attempts and results of checks as the engine makes them, for tests of what comes behind it. */
import type { CheckTiming } from '../../src/domain/check-target.ts';
import { type Attempt, type CheckResult, NO_MEMORY, NO_TIMING } from '../../src/domain/result.ts';

/** Times of checks: the defaults of the settings but for the interval, with which a verdict counts for 150 s. */
export const USUAL: CheckTiming = {
  intervalMs: 60_000,
  timeoutMs: 8_000,
  slowOverMs: 3_000,
  confirmAfterMs: [2_000, 4_000],
};

/** A good attempt in 12 ms, begun at 0, with changes. */
export function goodAttempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    startedAt: 0,
    answered: (changes.statusCode ?? 200) !== 0,
    statusCode: 200,
    responseTimeMs: 12,
    timing: NO_TIMING,
    failure: null,
    reported: null,
    reportedWord: null,
    blocked: false,
    via: 'root',
    certificateExpiresAt: null,
    retryAfterMs: null,
    suspect: null,
    lostMs: 0,
    headUnproven: false,
    memory: NO_MEMORY,
    ...changes,
  };
}

/** A check that went well at its first attempt, begun and ended at `at`, with changes. */
export function goodResult(serviceId: number, at: number, changes: Partial<CheckResult> = {}): CheckResult {
  return {
    ...goodAttempt({ startedAt: at, ...changes }),
    serviceId,
    revision: 1,
    attempts: 1,
    firstFailedAt: null,
    endedAt: at,
    loopDelayMs: 0,
    ...changes,
  };
}
