/**
 * The pace of a host: its ticks, regular while there is something to do and few while there is nothing; and the number of attempts that
 * it starts in one iteration of its event loop, with the delays of these starts. If attempts that are due together started at once,
 * their responses would arrive together and wait for each other in our own event loop, and that time would count as the targets' latency.
 */
import type { Cancel, Clock } from '../../clock.ts';
import { percentileOf } from '../../domain/sample.ts';
import type { HostReport } from '../protocol.ts';

/** Maximum number of ticks that are left out at a time: the watchdog of the thread looks every 50 ticks. */
export const MAX_EMPTY_TICKS = 49;

interface TickerOptions {
  readonly clock: Clock;
  readonly tickMs: number;
  /** Called in every tick with the number of those that were left out before it. */
  readonly onTick: (leftOut: number) => void;
  /** The number of next ticks without work, up to {@link MAX_EMPTY_TICKS}. */
  readonly emptyAhead: () => number;
  /** Called with the time, of the monotonic clock, at which the next tick is due, if that is not one tick ahead. */
  readonly onPlan: (dueMs: number) => void;
}

export function startTicker({ clock, tickMs, onTick, emptyAhead, onPlan }: TickerOptions) {
  let cancelTicks: Cancel | null = null;
  let cancelWait: Cancel | null = null;
  let stopped = false;
  let tickedMs = clock.monotonic();

  const tick = (leftOut: number) => {
    tickedMs = clock.monotonic();
    onTick(leftOut);
    if (!stopped) plan();
  };
  const everyTick = () => tick(0);
  const plan = () => {
    const empty = emptyAhead();
    if (empty === 0) {
      cancelTicks ??= clock.every(tickMs, everyTick);
      return;
    }
    cancelTicks?.();
    cancelTicks = null;
    const dueMs = tickedMs + (empty + 1) * tickMs;
    const waitMs = Math.max(0, dueMs - clock.monotonic());
    onPlan(dueMs);
    cancelWait = clock.after(waitMs, () => {
      cancelWait = null;
      tick(empty);
    });
  };
  cancelTicks = clock.every(tickMs, everyTick);

  return {
    /** Ticks regularly from now on, because there may be something to do before the planned tick. */
    wake(): void {
      if (stopped || cancelWait === null) return;
      cancelWait();
      cancelWait = null;
      onPlan(clock.monotonic() + tickMs);
      cancelTicks = clock.every(tickMs, everyTick);
    },
    /** Leaves out the ticks from now on in which there is nothing to do, because something has ended. */
    rest(): void {
      if (!stopped && cancelTicks !== null && emptyAhead() > 0) plan();
    },
    stop(): void {
      stopped = true;
      cancelTicks?.();
      cancelWait?.();
    },
  };
}

/** Minimum number of starts in an iteration; fewer would cost more in wake-ups than they gain. */
export const MIN_STARTS = 8;
/** Pause between two iterations while many are due, milliseconds. */
export const TURN_PAUSE_MS = 2;
/** A burst, and a backlog after a delay of the thread, is spread over about this number of iterations. */
const BURST_TURNS = 32;
/** A constant load is no burst: its checks start 1.5 times as fast as they become due, so that no backlog grows. */
const HEADROOM = 1.5;
/** Ticks over which the load is averaged: about 0.6 s at 10 ms each. */
const USUAL_TICKS = 64;

/** From this load on, checks a millisecond, a thread looks for due checks twice in a tick. */
const BUSY_PER_MS = 0.5;

/** Creates the pacer of a host with ticks of `tickMs`. */
export function createStartPacer(tickMs: number) {
  let usualPerTick = 0;
  return {
    /** Notes the number of checks that became due in a tick. Called in every tick. */
    note(count: number): void {
      usualPerTick += (count - usualPerTick) / USUAL_TICKS;
    },
    /** Returns true if the constant load, not a burst, is worth a second look within a tick. */
    isBusy: (): boolean => usualPerTick >= BUSY_PER_MS * tickMs,
    /** Attempts to start in an iteration while `waiting` are due, 8 or more. */
    starts(waiting: number): number {
      const usual = (usualPerTick / tickMs) * TURN_PAUSE_MS * HEADROOM;
      return Math.max(MIN_STARTS, Math.ceil(usual), Math.ceil(waiting / BURST_TURNS));
    },
  };
}

/** Maximum number of delays that are kept; the newest overwrite the oldest. */
const KEPT = 4_096;

/** Collects the milliseconds by which checks started late; `take` returns their percentiles since its last call, or zeros. */
export function createStartDelays() {
  const delays = new Float32Array(KEPT);
  let count = 0;
  return {
    note(delayMs: number) {
      delays[count++ % KEPT] = Math.max(0, delayMs);
    },
    take(): HostReport['startDelayMs'] {
      const sorted = delays.slice(0, Math.min(count, KEPT)).sort();
      count = 0;
      const rank = (ratio: number) => percentileOf(sorted, ratio) ?? 0;
      return { p50: rank(0.5), p99: rank(0.99), max: rank(1) };
    },
  };
}
