/**
 * What a late event loop can have caused, and nothing else (decisions, "When the prober itself is offline"): a time-out,
 * if the attempt would have had time left without the delay, and a `slow`, by the length of the delay.
 */
import { judgeAttempt } from '../../domain/judge.ts';
import { type Attempt, MAX_RETURNED_MS } from '../../domain/result.ts';

/**
 * Whether a late event loop can have caused what the attempt came to. Never so for an answer's status, a refusal, a
 * reset or a certificate. A delay costs a time-out nothing that its budget does not give back, up to `MAX_RETURNED_MS`:
 * what arrived while the loop stood still lay in the socket, and was read before time counted as over.
 * `loopDelayMs` is the worst delay during the attempt.
 */
export function isSpoilt(attempt: Attempt, loopDelayMs: number, slowOverMs: number): boolean {
  const { failure, lostMs, responseTimeMs } = attempt;
  const verdict = judgeAttempt(attempt, slowOverMs);
  if (verdict === 'down') {
    return failure?.class === 'timeout' && Math.max(lostMs, loopDelayMs) > MAX_RETURNED_MS;
  }
  if (verdict === 'up' || responseTimeMs === null) return false;
  return judgeAttempt({ ...attempt, responseTimeMs: responseTimeMs - lostMs }, slowOverMs) === 'up';
}
