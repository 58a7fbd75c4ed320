/** A clock for tests, whose time stands still until a test advances it. */
import type { Cancel, Clock } from '../../src/clock.ts';

/** A clock that advances only on request. */
export interface FakeClock extends Clock {
  /** Advances time by `ms`, runs due timers in order, and lets promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Moves time forward by `ms` at once, as on a machine that slept: each timer that became due meanwhile runs once. */
  skip(ms: number): Promise<void>;
  /** Sets the wall clock by `ms`, back if negative. The monotonic clock stays as it is. */
  setBy(ms: number): void;
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
  let setMs = 0;
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
    now: () => startAt + elapsedMs + setMs,
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
    setBy(ms) {
      setMs += ms;
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
