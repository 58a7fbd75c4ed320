/** Leaves out polls that would find nothing. */

/** Something may wait that no write tells of; so a poll is made after this time in any case, milliseconds. */
const MAX_REST_MS = 60_000;

/** The gate of a poll. */
export interface PollGate {
  /** Returns true if there may be something to find: call it at each tick. */
  isOpen(): boolean;
  /** A poll begins, which sees everything that was written before. */
  begin(): void;
  /** It has found nothing, and nothing waits for its time: polls are left out until the next write. */
  close(): void;
}

/** Creates an open gate. `writes` grows with each write that may concern the poll; undefined: it is not known, and no poll is left out. */
export function createPollGate(writes: (() => number) | undefined, monotonic: () => number): PollGate {
  let seen = Number.NaN;
  let begunMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  return {
    isOpen: () =>
      !isClosed || writes === undefined || writes() !== seen || monotonic() - begunMs >= MAX_REST_MS,
    begin() {
      seen = writes?.() ?? Number.NaN;
      begunMs = monotonic();
      isClosed = false;
    },
    close() {
      isClosed = true;
    },
  };
}
