/**
 * The number of attempts that a host starts in one iteration of its event loop, and the delays of these starts. If attempts
 * that are due together started at once, their responses would arrive together and wait for each other in our own event
 * loop, and that time would count as the targets' latency.
 */
import { percentileOf } from '../../domain/percentile.ts';
import type { HostReport } from '../protocol.ts';

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
