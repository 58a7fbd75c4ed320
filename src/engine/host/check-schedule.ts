/**
 * The schedule of a host: due times on a timing wheel, and the queue of due services, in which accounts take
 * turns. It runs on the monotonic clock, so that a step of the wall clock neither stalls nor floods it.
 */
import { IdMap } from '../../async/id-map.ts';
import type { Clock } from '../../clock.ts';
import { CATALOGUE, FairQueue, type Lane } from './fair-queue.ts';
import { createTimingWheel } from './timing-wheel.ts';

/** Flags of an entry: it is in the queue; above, the number of its last attempts that were long, up to {@link LONG_AFTER}. */
const QUEUED = 1;
const LONG_SHIFT = 1;
/** After so many long attempts in a row, as many as a check makes by default, a service waits in the lane of long ones. */
const LONG_AFTER = 3;

/** Starts a check. `lateMs`: since it was due; null: a bound of its account may have made it wait. `lane` takes the slot. */
type Begin = (serviceId: number, lateMs: number | null, lane: Lane) => void;

/** Creates an empty schedule for so many slots, with ticks of `tickMs`. Times are epoch milliseconds. */
export function createCheckSchedule(clock: Clock, tickMs: number, slots: number) {
  const wheel = createTimingWheel(clock.monotonic(), tickMs);
  /** Entries of the wheel are small numbers that are reused; services have any number. */
  const entryOf = new IdMap<number>();
  const serviceOf: number[] = [];
  const freeEntries: number[] = [];
  let dueMs = new Float64Array(1_024);
  let flags = new Uint8Array(1_024);
  let accounts = new Uint32Array(1_024);
  const queue = new FairQueue(slots);

  const isQueued = (entry: number) => ((flags[entry] as number) & QUEUED) !== 0;
  const leaveQueue = (entry: number) => {
    flags[entry] = (flags[entry] as number) & ~QUEUED;
  };
  const isLong = (entry: number) => (flags[entry] as number) >> LONG_SHIFT >= LONG_AFTER;
  const schedule = (entry: number, due: number) => {
    dueMs[entry] = due;
    leaveQueue(entry);
    wheel.schedule(entry, due);
  };
  const toMonotonic = (at: number) => clock.monotonic() + at - clock.now();

  return {
    /** Adds a service of an account, by its key, without a due time. */
    add(serviceId: number, account = CATALOGUE): void {
      const entry = freeEntries.pop() ?? serviceOf.length;
      if (entry >= dueMs.length) {
        const [longerDue, longerFlags] = [new Float64Array(entry * 2), new Uint8Array(entry * 2)];
        const longerAccounts = new Uint32Array(entry * 2);
        longerDue.set(dueMs);
        longerFlags.set(flags);
        longerAccounts.set(accounts);
        [dueMs, flags, accounts] = [longerDue, longerFlags, longerAccounts];
      }
      serviceOf[entry] = serviceId;
      dueMs[entry] = Number.POSITIVE_INFINITY;
      flags[entry] = 0;
      accounts[entry] = account;
      entryOf.set(serviceId, entry);
      queue.add(account);
    },
    /** Moves a service to another account. */
    move(serviceId: number, account: number): void {
      const entry = entryOf.get(serviceId);
      if (entry === undefined || accounts[entry] === account) return;
      queue.add(account);
      queue.remove(accounts[entry] as number);
      accounts[entry] = account;
      // Its place in the queue of the other account is outdated.
      if (isQueued(entry)) queue.push(entry, account, isLong(entry));
    },
    remove(serviceId: number): void {
      const entry = entryOf.get(serviceId);
      if (entry === undefined) return;
      wheel.cancel(entry);
      leaveQueue(entry);
      queue.remove(accounts[entry] as number);
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
      if (entry === undefined || isQueued(entry)) return;
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
        flags[entry] = (flags[entry] as number) | QUEUED;
        queue.push(entry, accounts[entry] as number, isLong(entry));
        came++;
      });
      return came;
    },
    /** Starts the next check in turn, while so many slots are free; false: none may start. */
    take(free: number, begin: Begin): boolean {
      for (let turn = queue.shift(free); turn !== null; turn = queue.shift(free)) {
        const { item: entry, lane, wasHeldUp } = turn;
        // It was removed, rescheduled or moved to another account while it waited.
        if (!isQueued(entry) || lane.account.key !== accounts[entry]) {
          queue.skip(lane);
          continue;
        }
        leaveQueue(entry);
        const lateMs = clock.monotonic() - (dueMs[entry] as number);
        dueMs[entry] = Number.POSITIVE_INFINITY;
        begin(serviceOf[entry] as number, wasHeldUp ? null : lateMs, lane);
        return true;
      }
      return false;
    },
    /** An attempt of the lane takes a slot. */
    hold(lane: Lane): void {
      queue.hold(lane);
    },
    /** It gives the slot back. */
    release(lane: Lane): void {
      queue.release(lane);
    },
    /** Notes whether an attempt of a service was long. */
    noteLength(serviceId: number, wasLong: boolean): void {
      const entry = entryOf.get(serviceId);
      if (entry === undefined) return;
      const before = flags[entry] as number;
      const count = wasLong ? Math.min(LONG_AFTER, (before >> LONG_SHIFT) + 1) : 0;
      flags[entry] = (before & QUEUED) | (count << LONG_SHIFT);
    },
    shares: () => queue.shares(),
    /** Ticks ahead in which nothing becomes due, at most `max`. */
    emptyAhead: wheel.emptyAhead,
    /** Checks that wait for their turn, without those whose account is at a bound; some may be outdated. */
    get waiting() {
      return queue.ready;
    },
  };
}
