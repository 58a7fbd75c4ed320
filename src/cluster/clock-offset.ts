/** How far the wall clock of this process is from that of Redis, by the round trips of commands that return its time. */
import type { Clock } from '../clock.ts';

/** An estimate that follows both clocks. */
export interface ClockOffset {
  /** This process' wall clock minus Redis' clock, milliseconds; 0 before the first answer. */
  readonly ms: number;
  /** Begins a round trip; call the returned function with Redis' time (epoch milliseconds) when the answer is there. */
  measure(): (redisAt: number) => void;
}

/** A measurement: Redis read its clock at some time during the round trip. */
interface Measurement {
  readonly offsetMs: number;
  /** Maximum error of `offsetMs`: half of the round trip. */
  readonly errorMs: number;
  /** When it was made, monotonic milliseconds. */
  readonly madeMs: number;
}

/** A measurement is replaced after this time even by a worse one: clocks drift. */
const MAX_AGE_MS = 60_000;
/** Both clocks are read in whole milliseconds. */
const ROUNDING_MS = 1;

/** Makes an estimate without measurements. It keeps the one with the shortest round trip until it contradicts a newer one. */
export function createClockOffset(clock: Pick<Clock, 'now' | 'monotonic'>): ClockOffset {
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
