/** Ends the deadlines of many attempts when their shared abort signal fires, with one listener for all of them. */
import type { Deadline } from '../outbound/deadline.ts';

/**
 * Creates a switch for `slots` concurrent attempts. A listener for each attempt would cost more than the rest of its
 * setup, and more than ten would cause a warning about a leak. The deadlines are in an array, because a Set with many
 * additions and deletions leaves old tables behind: each references the next one, and all that they contain stays in
 * memory until the next full garbage collection.
 */
export function createAbortSwitch(slots: number) {
  const tied = new WeakMap<AbortSignal, (Deadline | null)[]>();
  const listen = (signal: AbortSignal) => {
    const deadlines = new Array<Deadline | null>(slots).fill(null);
    tied.set(signal, deadlines);
    signal.addEventListener(
      'abort',
      () => {
        for (const deadline of deadlines) deadline?.abort();
      },
      { once: true },
    );
    return deadlines;
  };
  return {
    tie(signal: AbortSignal, slot: number, deadline: Deadline): void {
      const deadlines = tied.get(signal) ?? listen(signal);
      deadlines[slot] = deadline;
    },
    untie(signal: AbortSignal, slot: number): void {
      const deadlines = tied.get(signal);
      if (deadlines !== undefined) deadlines[slot] = null;
    },
  };
}
