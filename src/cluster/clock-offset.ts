/**
 * Estimates the offset between the wall clocks of this process and Redis, by the round trips of commands that return
 * Redis' time.
 */
import type { Clock } from '../clock.ts';

/** The estimate, which follows changes of both clocks. */
export interface ClockOffset {
  /** This process' wall clock minus Redis' clock, milliseconds; 0 before the first answer. */
  readonly ms: number;
  /**
   * Begins a round trip. Call the returned function with Redis' time (epoch milliseconds) when the response arrives.
   */
  measure(): (redisAt: number) => void;
}

/** A measurement. Redis read its clock at an unknown time during the round trip. */
interface Measurement {
  readonly offsetMs: number;
  /** Maximum error of `offsetMs`: half of the round trip. */
  readonly errorMs: number;
  /** Time of the measurement, monotonic milliseconds. */
  readonly madeMs: number;
}

/** After this time a measurement is replaced even by a less exact one, because clocks drift. */
const MAX_AGE_MS = 60_000;
/** Rounding error, milliseconds: both clocks are read in whole milliseconds. */
const ROUNDING_MS = 1;

/**
 * Creates an estimate without measurements. It keeps the measurement with the shortest round trip until a newer one
 * contradicts it.
 */
export function createClockOffset(clock: Clock): ClockOffset {
  let kept: Measurement | null = null;

  function isBetter(next: Measurement): boolean {
    if (kept === null || next.errorMs <= kept.errorMs || next.madeMs - kept.madeMs > MAX_AGE_MS) return true;
    // A clock was set, or another server has become the master.
    return Math.abs(next.offsetMs - kept.offsetMs) > next.errorMs + kept.errorMs + ROUNDING_MS;
  }

  return {
    get ms() {
      return Math.round(kept?.offsetMs ?? 0);
    },
    measure() {
      const sentMs = clock.monotonic();
      return (redisAt) => {
        const madeMs = clock.monotonic();
        const errorMs = (madeMs - sentMs) / 2;
        const measured = { offsetMs: clock.now() - errorMs - redisAt, errorMs, madeMs };
        if (isBetter(measured)) kept = measured;
      };
    },
  };
}
