/**
 * The delay of the thread's event loop, measured by the lateness of a timer, and the attempts that it has spoilt: a timeout that would
 * not have happened without the delay, or a `slow` that the delay explains (decisions, "When the prober itself is offline").
 */
import { type Attempt, MAX_RETURNED_MS } from '../../domain/result.ts';
import { judgeAttempt } from '../../domain/status/judge.ts';

/** Shorter delays are normal for an event loop, and are neither kept nor summed. */
const WORTH_KEEPING_MS = 20;
const KEPT = 256;

/** Records the recent delays of a timer that was started at `nowMs`. All values in milliseconds of the monotonic clock. */
export function createLoopDelay(periodMs: number, nowMs: number) {
  const endedAt = new Float64Array(KEPT).fill(Number.NEGATIVE_INFINITY);
  const delays = new Float64Array(KEPT);
  let newest = 0;
  let expectedMs = nowMs + periodMs;
  let lastAt = Number.NEGATIVE_INFINITY;
  let last = 0;
  let sum = 0;
  /** The delay may have begun up to a period before the timer was due. */
  const fullLength = (delayMs: number) => (delayMs < WORTH_KEEPING_MS ? 0 : delayMs + periodMs);
  return {
    /** Notes that the timer ran at `nowMs`; it is expected again one period later. */
    note(nowMs: number): void {
      last = Math.max(0, nowMs - expectedMs);
      lastAt = nowMs;
      expectedMs = nowMs + periodMs;
      sum += fullLength(last);
      if (last < WORTH_KEEPING_MS) return;
      newest = (newest + 1) % KEPT;
      endedAt[newest] = nowMs;
      delays[newest] = last;
    },
    /** The timer will run next at `dueMs`, because nothing is measured until then. */
    expect(dueMs: number): void {
      expectedMs = dueMs;
    },
    /** Delay of the current iteration of the event loop, with the accuracy of a period; what it reads may be as old. */
    present: (nowMs: number): number => Math.max(0, nowMs - expectedMs) + last,
    /** The sum of all delays until `nowMs`, including that of a timer that is overdue: an upper bound. */
    total: (nowMs: number): number => sum + fullLength(nowMs - expectedMs),
    /** The longest delay between `sinceMs` and `nowMs`, including that of a timer that is overdue. */
    worst(sinceMs: number, nowMs: number): number {
      // A response may be read before the timer runs in an iteration that was late.
      let worst = Math.max(0, nowMs - expectedMs, lastAt > sinceMs ? last : 0);
      for (let back = 0; back < KEPT; back++) {
        const index = (newest - back + KEPT) % KEPT;
        if ((endedAt[index] as number) <= sinceMs) break;
        worst = Math.max(worst, delays[index] as number);
      }
      return worst;
    },
  };
}

/**
 * Returns true if a late event loop can have caused the outcome of the attempt; never true for a status code, a refused or
 * reset connection, or a certificate. Deadlines are extended by delays of up to `MAX_RETURNED_MS`, because data that arrived
 * meanwhile is in the socket and is read before a timeout. `loopDelayMs` is the longest delay during the attempt.
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
