/** A timer that does not count the time in which our own event loop was blocked. */
import type { Cancel, Clock } from '../clock.ts';

const TICK_MS = 500;
/** Of the lateness of a tick, at most this much counts. */
const MAX_LATE_MS = 50;

/**
 * Runs `task` after `delayMs` in which the event loop ran. After it was blocked, it first reads what has arrived
 * meanwhile: an iteration of the loop runs timers before it reads sockets.
 */
export function afterLoopTime(clock: Clock, delayMs: number, task: () => void): Cancel {
  let leftMs = delayMs;
  let isCancelled = false;
  let cancelTimer: Cancel = () => {};
  const wait = (): void => {
    const sinceMs = clock.monotonic();
    const tickMs = Math.min(leftMs, TICK_MS);
    cancelTimer = clock.after(tickMs, () => {
      leftMs -= Math.min(clock.monotonic() - sinceMs, tickMs + MAX_LATE_MS);
      // Timers may come up to a millisecond early.
      if (leftMs >= 1) wait();
      else setImmediate(() => !isCancelled && task());
    });
  };
  wait();
  return () => {
    isCancelled = true;
    cancelTimer();
  };
}
