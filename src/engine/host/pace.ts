/**
 * How many attempts a host begins in a turn of its event loop. Begun all at once, what is due together is answered
 * together, and the answers wait for each other in our own loop: that wait would be reported as the target's.
 */

/** The pace of a host; see {@link createPace}. */
export interface Pace {
  /** So many came due in a tick; told of every tick, those without any too. */
  note(came: number): void;
  /** Attempts to begin in a turn while `waiting` are due, 8 or more. */
  starts(waiting: number): number;
}

/** The smallest turn: fewer would cost more in waking up than they gain. */
export const MIN_STARTS = 8;
/** Between two turns while many are due, milliseconds. */
export const TURN_PAUSE_MS = 2;
/** A burst is begun over about so many turns, and so is what has piled up while the thread was held up. */
const BURST_TURNS = 32;
/** What comes in all the time is no burst: it is begun half as fast again as it comes, so that nothing piles up. */
const HEADROOM = 1.5;
/** Ticks over which that is judged: about 0.6 s at 10 ms each. */
const USUAL_TICKS = 64;

/** Makes the pace of a host with ticks of `tickMs`. */
export function createPace(tickMs: number): Pace {
  let usualPerTick = 0;
  return {
    note(came) {
      usualPerTick += (came - usualPerTick) / USUAL_TICKS;
    },
    starts(waiting) {
      const usual = (usualPerTick / tickMs) * TURN_PAUSE_MS * HEADROOM;
      return Math.max(MIN_STARTS, Math.ceil(usual), Math.ceil(waiting / BURST_TURNS));
    },
  };
}
