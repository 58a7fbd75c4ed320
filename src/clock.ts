/**
 * Time and randomness, passed in as arguments so that every decision can be tested without waiting.
 * Wall times are epoch milliseconds; durations come from the monotonic clock.
 */

/** Cancels the timer that it was returned for; further calls do nothing. */
export type Cancel = () => void;

/** The only source of time in the program. */
export interface Clock {
  /** Wall time in epoch milliseconds. */
  now(): number;
  /** Monotonic time in fractional milliseconds; only differences are meaningful. */
  monotonic(): number;
  /** Runs `task` once after `delayMs`. */
  after(delayMs: number, task: () => void): Cancel;
  /** Runs `task` every `periodMs`, the first time after one period. */
  every(periodMs: number, task: () => void): Cancel;
}

/** The only source of randomness in the program: a number in [0, 1). */
export type Random = () => number;

/** The system's random numbers. */
export const systemRandom: Random = () => Math.random();

/** The system's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  every(periodMs, task) {
    const timer = setInterval(task, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** A clock that advances only on request. */
export interface FakeClock extends Clock {
  /** Advances time by `ms`, runs due timers in order, and lets promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Moves time forward by `ms` at once, as on a machine that slept: each timer that became due meanwhile runs once. */
  skip(ms: number): Promise<void>;
}

interface Entry {
  at: number;
  readonly order: number;
  readonly periodMs: number | null;
  readonly task: () => void;
}

/** Creates a clock for tests. `startAt` is epoch milliseconds. */
export function createFakeClock(startAt = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsedMs = 0;
  let order = 0;
  const entries = new Set<Entry>();
  const add = (delayMs: number, periodMs: number | null, task: () => void): Cancel => {
    const entry: Entry = { at: elapsedMs + Math.max(0, delayMs), order: order++, periodMs, task };
    entries.add(entry);
    return () => void entries.delete(entry);
  };
  /** The entry that is due first; of several, the one that was added first. */
  const next = (): Entry | undefined => {
    let first: Entry | undefined;
    for (const entry of entries)
      if (first === undefined || entry.at < first.at || (entry.at === first.at && entry.order < first.order))
        first = entry;
    return first;
  };
  const settle = async () => {
    for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return {
    now: () => startAt + elapsedMs,
    monotonic: () => elapsedMs,
    after: (delayMs, task) => add(delayMs, null, task),
    every: (periodMs, task) => add(periodMs, periodMs, task),
    async advance(ms) {
      const end = elapsedMs + ms;
      for (;;) {
        await settle();
        const due = next();
        if (due === undefined || due.at > end) break;
        elapsedMs = Math.max(elapsedMs, due.at);
        if (due.periodMs === null) entries.delete(due);
        else due.at += due.periodMs;
        due.task();
      }
      elapsedMs = end;
      await settle();
    },
    async skip(ms) {
      await settle();
      elapsedMs += ms;
      const due = [...entries]
        .filter(({ at }) => at <= elapsedMs)
        .sort((a, b) => a.at - b.at || a.order - b.order);
      for (const entry of due) {
        // A task may have cancelled one that comes after it.
        if (!entries.has(entry)) continue;
        if (entry.periodMs === null) entries.delete(entry);
        else entry.at += Math.ceil((elapsedMs - entry.at + 1) / entry.periodMs) * entry.periodMs;
        entry.task();
        await settle();
      }
    },
  };
}
