/** The slots of a host, which bound its attempts in flight and tell their services. */
import { MAX_RETURNED_MS } from '../../domain/result.ts';

/**
 * An attempt without a response after this time, or a third of `slowOverMs` if that is less, is reported as delayed, so that
 * the control targets are requested while our connection is still delayed.
 */
export const DELAY_AFTER_MS = 1_000;
/** An attempt that exceeds its timeout by this time, milliseconds, shows a bug of the prober. */
export const OVERDUE_MS = MAX_RETURNED_MS + 5_000;
/** An attempt that holds its slot for this time is long, milliseconds; a few of them in a row lead to the lane of long checks. */
export const LONG_ATTEMPT_MS = 5_000;

/** Memory for {@link createSlots} that another thread can read. */
export function shareSlots(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT);
}

/** Creates `count` slots; `shared` has 1 + the number of the service for each, or 0. */
export function createSlots(count: number, shared: SharedArrayBuffer = shareSlots(count)) {
  const takenBy = new Float64Array(shared);
  // Counted, not timed: attempts do not age while the machine sleeps.
  const ages = new Uint32Array(takenBy.length);
  const limits = new Uint32Array(takenBy.length);
  const free = Array.from(takenBy, (_, index) => takenBy.length - 1 - index);
  return {
    get available() {
      return free.length;
    },
    get busy() {
      return takenBy.length - free.length;
    },
    /** Takes a free slot for a service, which is overdue after `limit` ages. Throws a RangeError if none is free. */
    take(serviceId: number, limit: number): number {
      const slot = free.pop();
      if (slot === undefined) throw new RangeError('no slot is free');
      takenBy[slot] = serviceId + 1;
      ages[slot] = 0;
      limits[slot] = limit;
      return slot;
    },
    free(slot: number): void {
      takenBy[slot] = 0;
      free.push(slot);
    },
    /** Ages every busy slot by one; returns the service of one that is overdue, or null. */
    findOverdue(): number | null {
      let overdue: number | null = null;
      for (const [slot, taken] of takenBy.entries()) {
        if (taken === 0) continue;
        const age = (ages[slot] ?? 0) + 1;
        ages[slot] = age;
        if (age > (limits[slot] ?? 0)) overdue = taken - 1;
      }
      return overdue;
    },
  };
}

/** The services that had a slot, from what {@link createSlots} wrote. */
export function readSlots(shared: SharedArrayBuffer): number[] {
  return Array.from(
    new Float64Array(shared).filter((taken) => taken !== 0),
    (taken) => taken - 1,
  );
}
