/** A verdict's reason in words for people. */
import type { CheckResult, Failure, FailureClass } from './result.ts';
import type { Verdict } from './status.ts';

/** What each class of failure means, as the end of a sentence about the service. */
export const FAILURE_CLASS_WORDS: Readonly<Record<FailureClass, string>> = {
  dns: 'its name could not be resolved',
  refused: 'it refused the connection',
  unreachable: 'no connection could be made or kept',
  tls: 'no secure connection could be made',
  timeout: 'it did not answer in time',
  protocol: 'its answer was not valid HTTP',
  status: 'it answered with an error',
  body: 'its health report was not acceptable',
  forbidden_address: 'its name leads to an address that may not be checked',
};

/**
 * A failure in one line: what it means, then the detail, as in `its name could not be resolved (the name does not
 * exist)`; once, where the detail says the same.
 */
export function describeFailure({ class: kind, detail }: Failure): string {
  const words = FAILURE_CLASS_WORDS[kind];
  if (kind === 'status' && detail.startsWith('answered with ')) return `it ${detail}`;
  return detail === '' || (kind === 'refused' && detail === 'the connection was refused')
    ? words
    : `${words} (${detail})`;
}

/** Why a check ended in its verdict, in one line; null: it is `up`, which needs no reason. */
export function describeVerdict(result: CheckResult, verdict: Verdict): string | null {
  if (verdict === 'up') return null;
  if (verdict === 'slow') {
    if (result.reported === 'slow' && !result.blocked) return 'it reports that it is slow';
    return `it took ${formatSeconds(result.responseTimeMs ?? 0)} to answer`;
  }
  return result.failure === null ? 'it reports that it is down' : describeFailure(result.failure);
}

/** What stands behind the service's name in the title of its own incident, as in `is not reachable`. */
export function describeOutage(failure: Failure | null): string {
  switch (failure?.class) {
    case undefined:
    case 'body':
      return 'reports a failure';
    case 'status':
      return 'answers with errors';
    case 'tls':
      return 'cannot be reached securely';
    default:
      return 'is not reachable';
  }
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
