/**
 * The schedule of a host: due times on a timing wheel, and the queue of due services, in which accounts take
 * turns. It runs on the monotonic clock, so that a step of the wall clock neither stalls nor floods it.
 */
import { IdMap } from '../../async/id-map.ts';
import type { Clock } from '../../clock.ts';
import { CATALOGUE, FairQueue, type Lane } from './fair-queue.ts';

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

// Due times of very many entries: a hashed timing wheel on typed arrays, 12 bytes an entry. Varghese and Lauck, "Hashed and
// Hierarchical Timing Wheels" (1987), scheme 6.

const NONE = -1;
/**
 * Buckets: at 2.5 ms a tick they span 327 s, so that an interval of five minutes passes each entry once. An entry with a longer
 * interval is passed once in each span, which costs less than its checks at five minutes would (`bench/scheduling.ts`).
 */
const BUCKETS = 131_072;
/** Ticks are stored modulo this number, so that they fit an Int32Array; a multiple of {@link BUCKETS}. */
const CYCLE = 2 ** 31;
/** Maximum distance of a due time, 11.6 hours at 2.5 ms a tick: far less than a cycle, so that no tick is ambiguous. */
const MAX_TICKS_AHEAD = 2 ** 24;

/** Creates a wheel that starts at `startMs` with ticks of `tickMs`. Times are milliseconds of one monotonic clock. */
export function createTimingWheel(startMs: number, tickMs: number) {
  const heads = new Int32Array(BUCKETS).fill(NONE);
  let next = new Int32Array(1_024).fill(NONE);
  let previous = new Int32Array(1_024).fill(NONE);
  /** Tick at which the entry is due, from the wheel's start, modulo CYCLE; NONE: not scheduled. */
  let dueTicks = new Int32Array(1_024).fill(NONE);
  let currentTick = 0;
  let size = 0;

  const grow = (entry: number) => {
    let length = next.length;
    while (length <= entry) length *= 2;
    const copy = (old: Int32Array) => {
      const bigger = new Int32Array(length).fill(NONE);
      bigger.set(old);
      return bigger;
    };
    next = copy(next);
    previous = copy(previous);
    dueTicks = copy(dueTicks);
  };

  const unlink = (entry: number) => {
    const dueTick = dueTicks[entry] as number;
    if (dueTick === NONE) return;
    const after = next[entry] as number;
    const before = previous[entry] as number;
    if (before === NONE) heads[dueTick % BUCKETS] = after;
    else next[before] = after;
    if (after !== NONE) previous[after] = before;
    dueTicks[entry] = NONE;
    size--;
  };

  return {
    /**
     * Sets the due time of an entry, a number from 0; one beyond {@link MAX_TICKS_AHEAD} is called after those, too early, and
     * the caller schedules it again. The wheel grows with the largest entry.
     */
    schedule(entry: number, dueMs: number): void {
      if (entry >= next.length) grow(entry);
      unlink(entry);
      // An entry that is due in the past or in the current tick is due in the next one.
      const wanted = Math.max(currentTick + 1, Math.ceil((dueMs - startMs) / tickMs));
      const dueTick = Math.min(wanted, currentTick + MAX_TICKS_AHEAD) % CYCLE;
      const bucket = dueTick % BUCKETS;
      const head = heads[bucket] as number;
      dueTicks[entry] = dueTick;
      next[entry] = head;
      previous[entry] = NONE;
      if (head !== NONE) previous[head] = entry;
      heads[bucket] = entry;
      size++;
    },
    /** Removes the due time of an entry, if it has one. */
    cancel(entry: number): void {
      if (entry < next.length) unlink(entry);
    },
    /** Calls `onDue` for each entry due at or before `nowMs`, in order of their ticks. It may schedule entries. */
    advance(nowMs: number, onDue: (entry: number) => void): void {
      const target = Math.floor((nowMs - startMs) / tickMs);
      const due: number[] = [];
      while (currentTick < target) {
        if (size === 0) {
          currentTick = target;
          return;
        }
        currentTick++;
        const tick = currentTick % CYCLE;
        for (let entry = heads[tick % BUCKETS] as number; entry !== NONE; ) {
          const after = next[entry] as number;
          if (dueTicks[entry] === tick) {
            unlink(entry);
            due.push(entry);
          }
          entry = after;
        }
        if (due.length === 0) continue;
        // The list of a bucket starts with the entry that was scheduled last.
        for (let index = due.length - 1; index >= 0; index--) onDue(due[index] as number);
        due.length = 0;
      }
    },
    /** The ticks ahead in which nothing is due, at most `max`; there may be more of them than it finds. */
    emptyAhead(max: number): number {
      if (size === 0) return max;
      let empty = 0;
      // A bucket also contains entries of later turns of the wheel.
      while (empty < max && heads[((currentTick + 1 + empty) % CYCLE) % BUCKETS] === NONE) empty++;
      return empty;
    },
    /** Entries with a due time. */
    get size() {
      return size;
    },
  };
}
