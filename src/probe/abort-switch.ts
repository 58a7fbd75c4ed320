/** Ends deadlines by an abort signal that many attempts share, with one listener for all of them. */
import type { Deadline } from '../outbound/deadline.ts';

/**
 * Makes a switch for `slots` attempts at a time. A listener for each attempt would cost more than the rest of its
 * set-up, and warn of a leak past ten. The deadlines stand in an array: a Set that is added to and deleted from leaves
 * tables behind of which each keeps the next, with all that was in it, until the next full garbage collection.
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
