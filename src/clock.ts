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
  /** Runs `task` every `periodMs`, the first time after one period; if the period is 5 s or less, at the latest. */
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
    if (periodMs % ALIGNED_MS === 0 && periodMs <= MAX_ALIGNED_MS) return runAligned(periodMs, task);
    const timer = setInterval(task, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/**
 * Periods of so many milliseconds, and multiples of them, are aligned: what is due every second is done in one wake-up of the thread,
 * together with what is due every quarter of a second. The wake-ups of an idle program cost more than its tasks.
 */
const ALIGNED_MS = 250;
/**
 * Longer periods wake the program seldom. They are apart, since thousands of streams have one each, and what is done every hour must not
 * follow a start at once.
 */
const MAX_ALIGNED_MS = 5_000;

interface Aligned {
  /** On the monotonic clock. */
  dueMs: number;
  readonly tasks: Set<{ readonly run: () => void }>;
}

/** The aligned calls of this thread, by period. */
const aligned = new Map<number, Aligned>();
let alignedTimer: NodeJS.Timeout | undefined;

function runAligned(periodMs: number, run: () => void): Cancel {
  const task = { run };
  const known = aligned.get(periodMs);
  known?.tasks.add(task);
  if (known === undefined) {
    aligned.set(periodMs, { dueMs: nextOf(periodMs), tasks: new Set([task]) });
    planAligned();
  }
  return () => {
    const { tasks } = aligned.get(periodMs) ?? {};
    if (tasks?.delete(task) === true && tasks.size === 0) aligned.delete(periodMs);
  };
}

const nextOf = (periodMs: number): number => (Math.floor(performance.now() / periodMs) + 1) * periodMs;

function planAligned(): void {
  clearTimeout(alignedTimer);
  if (aligned.size === 0) return;
  const dueMs = Math.min(...[...aligned.values()].map((one) => one.dueMs));
  // A timer counts whole milliseconds, and one that comes too early is followed by another.
  alignedTimer = setTimeout(runDue, Math.max(1, Math.ceil(dueMs - performance.now())));
  alignedTimer.unref();
}

function runDue(): void {
  const nowMs = performance.now();
  const due = [...aligned].filter(([, { dueMs }]) => dueMs <= nowMs);
  for (const [periodMs, one] of due) one.dueMs = nextOf(periodMs);
  planAligned();
  for (const [, { tasks }] of due) for (const task of [...tasks]) if (tasks.has(task)) task.run();
}
