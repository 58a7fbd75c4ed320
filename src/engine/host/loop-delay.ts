/** How late the thread's event loop was, measured by a timer that knows when it should have run. */

/** Delays of the recent past. All values in milliseconds of the monotonic clock. */
export interface LoopDelay {
  /** Tells that the timer that was due at `dueMs` ran at `nowMs`. */
  note(dueMs: number, nowMs: number): void;
  /** Worst delay that touched the time since `sinceMs`. */
  worstSince(sinceMs: number): number;
}

/** Delays below this are the ordinary life of an event loop and are not kept. */
const WORTH_KEEPING_MS = 20;
const KEPT = 256;

/** Makes an empty memory of delays. */
export function createLoopDelay(): LoopDelay {
  const endedAt = new Float64Array(KEPT).fill(Number.NEGATIVE_INFINITY);
  const delays = new Float64Array(KEPT);
  let newest = 0;
  let last = 0;
  return {
    note(dueMs, nowMs) {
      last = Math.max(0, nowMs - dueMs);
      if (last < WORTH_KEEPING_MS) return;
      newest = (newest + 1) % KEPT;
      endedAt[newest] = nowMs;
      delays[newest] = last;
    },
    worstSince(sinceMs) {
      let worst = last;
      for (let back = 0; back < KEPT; back++) {
        const index = (newest - back + KEPT) % KEPT;
        if ((endedAt[index] as number) < sinceMs) break;
        worst = Math.max(worst, delays[index] as number);
      }
      return worst;
    },
  };
}
