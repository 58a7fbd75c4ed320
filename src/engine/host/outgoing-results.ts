/** Results on their way out of a probe thread: those of a moment are sent together. */
import type { Cancel, Clock } from '../../clock.ts';
import type { CheckResult } from '../../domain/result.ts';

/** A failed check waits for others for this time, milliseconds, and takes along what waits already. */
const FAILED_MS = 100;
/** Good ones are sent every half second: with few checks, each message by itself wakes up two threads. */
const GOOD_MS = 500;
const MAX_RESULTS = 256;

/** Creates an empty batch; `send` gets the results in their order. */
export function createOutgoingResults(clock: Clock, send: (results: readonly CheckResult[]) => void) {
  let waiting: CheckResult[] = [];
  let dueMs = Number.POSITIVE_INFINITY;
  let cancel: Cancel = () => {};

  function flush(): void {
    cancel();
    dueMs = Number.POSITIVE_INFINITY;
    if (waiting.length === 0) return;
    const results = waiting;
    waiting = [];
    send(results);
  }

  return {
    add(result: CheckResult): void {
      if (waiting.push(result) >= MAX_RESULTS) {
        flush();
        return;
      }
      const nowMs = clock.monotonic();
      // At a half second of the clock, together with the report of the thread.
      const waitMs = result.failure === null ? GOOD_MS - (nowMs % GOOD_MS) : FAILED_MS;
      if (nowMs + waitMs >= dueMs) return;
      cancel();
      dueMs = nowMs + waitMs;
      cancel = clock.after(Math.ceil(waitMs), flush);
    },
    /** Sends what waits now. */
    flush,
  };
}
