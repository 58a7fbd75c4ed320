/**
 * The schedule of a host: due times on a timing wheel, and the queue of due services. It runs on the monotonic clock, so
 * that a step of the wall clock neither stalls nor floods it.
 */
import { IdMap } from '../../async/id-map.ts';
import type { Clock } from '../../clock.ts';
import { createTimingWheel } from './timing-wheel.ts';

/** The taken part of the queue is freed when it has this length and is half of the queue. */
const COMPACT_AT = 4_096;

/** Creates an empty schedule with ticks of `tickMs`. Times are epoch milliseconds. */
export function createCheckSchedule(clock: Clock, tickMs: number) {
  const wheel = createTimingWheel(clock.monotonic(), tickMs);
  /** Entries of the wheel are small numbers that are reused; services have any number. */
  const entryOf = new IdMap<number>();
  const serviceOf: number[] = [];
  const freeEntries: number[] = [];
  let dueMs = new Float64Array(1_024);
  let isQueued = new Uint8Array(1_024);
  let queue: number[] = [];
  let head = 0;

  const schedule = (entry: number, due: number) => {
    dueMs[entry] = due;
    isQueued[entry] = 0;
    wheel.schedule(entry, due);
  };
  const toMonotonic = (at: number) => clock.monotonic() + at - clock.now();

  return {
    /** Adds a service without a due time. */
    add(serviceId: number): void {
      const entry = freeEntries.pop() ?? serviceOf.length;
      if (entry >= dueMs.length) {
        const [longerDue, longerQueued] = [new Float64Array(entry * 2), new Uint8Array(entry * 2)];
        longerDue.set(dueMs);
        longerQueued.set(isQueued);
        [dueMs, isQueued] = [longerDue, longerQueued];
      }
      serviceOf[entry] = serviceId;
      dueMs[entry] = Number.POSITIVE_INFINITY;
      entryOf.set(serviceId, entry);
    },
    remove(serviceId: number): void {
      const entry = entryOf.get(serviceId);
      if (entry === undefined) return;
      wheel.cancel(entry);
      isQueued[entry] = 0;
      entryOf.delete(serviceId);
      freeEntries.push(entry);
    },
    /** Sets the due time of a service, which leaves the queue. Ignores services that were not added. */
    wake(serviceId: number, at: number): void {
      const entry = entryOf.get(serviceId);
      if (entry !== undefined) schedule(entry, toMonotonic(at));
    },
    /** The same, unless the service is due earlier or is in the queue. */
    hasten(serviceId: number, at: number): void {
      const entry = entryOf.get(serviceId);
      if (entry === undefined || isQueued[entry] === 1) return;
      const due = toMonotonic(at);
      if (due < (dueMs[entry] as number)) schedule(entry, due);
    },
    /** Queues due services in order of their times; returns their number. */
    turn(): number {
      let came = 0;
      const now = clock.monotonic();
      wheel.advance(now, (entry) => {
        const due = dueMs[entry] as number;
        // It is further ahead than the wheel reaches.
        if (due > now) return wheel.schedule(entry, due);
        isQueued[entry] = 1;
        queue.push(entry);
        came++;
      });
      return came;
    },
    /** Takes a service from the queue and calls `begin` with the milliseconds since it was due; false: the queue is empty. */
    take(begin: (serviceId: number, lateMs: number) => void): boolean {
      while (head < queue.length) {
        const entry = queue[head++] as number;
        if (head === queue.length || (head >= COMPACT_AT && head * 2 >= queue.length)) {
          queue = queue.slice(head);
          head = 0;
        }
        // It was removed or rescheduled while it waited.
        if (isQueued[entry] === 0) continue;
        isQueued[entry] = 0;
        const lateMs = clock.monotonic() - (dueMs[entry] as number);
        dueMs[entry] = Number.POSITIVE_INFINITY;
        begin(serviceOf[entry] as number, lateMs);
        return true;
      }
      return false;
    },
    /** Ticks ahead in which nothing becomes due, at most `max`. */
    emptyAhead: wheel.emptyAhead,
    /** Length of the queue; some entries may be outdated. */
    get waiting() {
      return queue.length - head;
    },
  };
}
