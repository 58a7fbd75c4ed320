/** Why a check or heartbeat made a service what it is: codes with parameters. English texts are in `incident-text.ts`. */
import type { Coded, NoParams } from './coded-text.ts';
import type { Failure } from './failure.ts';
import type { CheckResult } from './result.ts';
import type { Verdict } from './status.ts';

/** Every reason with its parameters. Times are milliseconds. */
export interface StatusReasonParams {
  readonly check_failed: { readonly failure: Failure };
  readonly slow_response: { readonly responseTimeMs: number };
  /** The service's own words: of a health endpoint or a heartbeat. */
  readonly reported_down: NoParams;
  readonly reported_slow: NoParams;
  readonly reported_response_time: { readonly responseTimeMs: number };
  readonly run_failed: NoParams;
  readonly no_heartbeat: { readonly silenceMs: number };
}

/** Why a service is down or slow. */
export type StatusReason = Coded<StatusReasonParams>;

/** Why a check ended in its verdict; null: it is `up`, which needs no reason. */
export function reasonOfVerdict(result: CheckResult, verdict: Verdict): StatusReason | null {
  if (verdict === 'up') return null;
  if (verdict === 'slow') {
    return result.reported === 'slow' && !result.blocked
      ? { code: 'reported_slow' }
      : { code: 'slow_response', responseTimeMs: result.responseTimeMs ?? 0 };
  }
  const { failure } = result;
  return failure === null ? { code: 'reported_down' } : { code: 'check_failed', failure };
}
