/** A time-out that does not count the time in which our own event loop stood still. */
import type { Cancel, Clock } from '../clock.ts';

const TICK_MS = 500;
/** A tick that comes later than this counts as one that came so late. */
const MAX_LATE_MS = 50;

/**
 * Runs `task` after `delayMs` in which the event loop turned. A loop that stood still first reads what has arrived
 * meanwhile: a turn of it runs its timers before it reads its sockets.
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
