/** How late the thread's event loop was, measured by a timer that knows when it should have run. */

/** Delays of the recent past. All values in milliseconds of the monotonic clock. */
export interface LoopDelay {
  /** Tells that the timer ran at `nowMs`; it is expected again one period later. */
  note(nowMs: number): void;
  /** Worst delay that touched the time from `sinceMs` to `nowMs`, that of a timer still overdue included. */
  worst(sinceMs: number, nowMs: number): number;
  /** How late the turn of the event loop came that is at work at `nowMs`, within a period; what it reads may be as old. */
  present(nowMs: number): number;
}

/** Delays below this are the ordinary life of an event loop and are not kept. */
const WORTH_KEEPING_MS = 20;
const KEPT = 256;

/** Makes an empty memory of the delays of a timer that was started at `nowMs`. */
export function createLoopDelay(periodMs: number, nowMs: number): LoopDelay {
  const endedAt = new Float64Array(KEPT).fill(Number.NEGATIVE_INFINITY);
  const delays = new Float64Array(KEPT);
  let newest = 0;
  let expectedMs = nowMs + periodMs;
  let lastAt = Number.NEGATIVE_INFINITY;
  let last = 0;
  return {
    note(nowMs) {
      last = Math.max(0, nowMs - expectedMs);
      lastAt = nowMs;
      expectedMs = nowMs + periodMs;
      if (last < WORTH_KEEPING_MS) return;
      newest = (newest + 1) % KEPT;
      endedAt[newest] = nowMs;
      delays[newest] = last;
    },
    // What is read comes before the timer or after it, in the same turn of a loop that was late.
    present: (nowMs) => Math.max(0, nowMs - expectedMs) + last,
    worst(sinceMs, nowMs) {
      // An answer may be read before the timer runs, in the same turn of a loop that was late.
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
