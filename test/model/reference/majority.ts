/**
 * The reference implementation's prober without control targets. D: "With an empty list of control targets, the prober counts as offline
 * while over half of at least 10 services checked in the last minute failed without an HTTP response." Times are monotonic milliseconds.
 */
import type { Ended } from './prober.ts';

/** D: "at least 10 services". */
const ENOUGH = 10;
/** D: "checked in the last minute". */
const MINUTE_MS = 60_000;
/** How often results are counted while a service fails. */
const COUNT_MS = 500;

interface Newest {
  readonly beganMs: number;
  readonly endedMs: number;
  /** To its first attempt, to a later one after a failure, or to none. */
  readonly answered: 'first' | 'later' | 'none';
}

/** What is known of a failed or slow check. */
export type Trust = 'trusted' | 'offline' | 'later';

/** Makes the count of a prober. `fleetSize`: how many services it checks at present. */
export function createReferenceMajority(fleetSize: () => number) {
  const newest = new Map<number, Newest>();
  const outages: { readonly fromMs: number; untilMs: number }[] = [];
  /** The newest checks as of the last count. */
  let counted: readonly Newest[] = [];
  let next: { readonly setMs: number; readonly dueMs: number } | null = null;

  const isOffline = (): boolean => outages.at(-1)?.untilMs === Number.POSITIVE_INFINITY;
  const beganOf = ({ firstFailedMs, beganMs }: Ended): number => firstFailedMs ?? beganMs;

  function countAfter(atMs: number): void {
    next ??= { setMs: atMs, dueMs: atMs + COUNT_MS };
  }

  /**
   * Whether a failure is the prober's: "over half" of 10 services that were checked after it failed as well. If half of them did not, or
   * half of all have responded since, or for a minute nobody knows, it is the service's.
   */
  function comparePeers(ended: Ended, takenMs: number, atMs: number): Trust {
    const fromMs = beganOf(ended);
    // Of the checks that began later than a failure takes to be found, only the good ones are known.
    const settledMs = atMs - (Math.min(ended.endedMs, takenMs) - fromMs);
    const peers = counted.filter(({ beganMs }) => beganMs >= fromMs && beganMs <= settledMs);
    const troubled = peers.filter(({ answered }) => answered !== 'first').length;
    if (peers.length >= ENOUGH) return troubled * 2 > peers.length ? 'offline' : 'trusted';
    const provenMs = (ended.attempts > 1 ? ended.beganMs : ended.endedMs) - 1;
    const since = counted.filter(
      ({ beganMs, answered }) => answered === 'first' && beganMs >= provenMs && beganMs <= atMs,
    );
    if (counted.length >= ENOUGH && since.length * 2 >= counted.length) return 'trusted';
    if (atMs - takenMs >= MINUTE_MS) return 'trusted';
    countAfter(atMs);
    return 'later';
  }

  return {
    isOffline,
    /** The next count, and when it was planned; null: no service fails. */
    next: () => next,
    /** A check has ended. */
    note(ended: Ended): void {
      const answered = !ended.responded ? 'none' : ended.firstFailedMs === null ? 'first' : 'later';
      newest.set(ended.service, { beganMs: beganOf(ended), endedMs: ended.endedMs, answered });
      if (answered === 'none') countAfter(ended.endedMs);
    },
    /** Counts. The caller decides afterwards what was held, and then calls `goOn`. */
    count(atMs: number): void {
      next = null;
      for (const [service, { endedMs }] of newest) if (endedMs < atMs - MINUTE_MS) newest.delete(service);
      counted = [...newest.values()];
      const failing = counted.filter(({ answered }) => answered === 'none');
      const present = outages.at(-1);
      const isOut = counted.length >= ENOUGH && failing.length * 2 > counted.length;
      if (isOut && !isOffline())
        outages.push({
          fromMs: Math.min(...failing.map(({ beganMs }) => beganMs)),
          untilMs: Number.POSITIVE_INFINITY,
        });
      else if (!isOut && present !== undefined && isOffline()) present.untilMs = atMs;
    },
    /** Plans the next count, if a service fails. */
    goOn(atMs: number): void {
      if (isOffline() || counted.some(({ answered }) => answered === 'none')) countAfter(atMs);
    },
    trustOf(ended: Ended, takenMs: number, atMs: number): Trust {
      const { verdict, responded, isOurs, endedMs } = ended;
      if (responded && (verdict === 'up' || isOurs)) return 'trusted';
      const fromMs = beganOf(ended);
      if (outages.some((one) => one.fromMs <= endedMs && fromMs <= one.untilMs)) return 'offline';
      if (isOffline()) return verdict === 'up' ? 'trusted' : 'offline';
      if (fleetSize() < ENOUGH) return 'trusted';
      if (responded && (verdict === 'down' || next === null)) return 'trusted';
      return comparePeers(ended, takenMs, atMs);
    },
  };
}
