/**
 * Due times of very many entries: a hashed timing wheel on typed arrays, 12 bytes an entry.
 * Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), scheme 6.
 */

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
