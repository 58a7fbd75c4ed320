/** Decides by the majority of the fleet whether the prober is online, for an installation without control targets (decisions). */
import {
  type Answer,
  type CheckSpan,
  type ConnectionWatch,
  type ConnectionWatchOptions,
  createOutageLog,
  type Ruling,
} from './connection-watch.ts';

/** Results of fewer services say nothing about the connection that they share (decisions). */
const MIN_SERVICES = 10;
/** "Checked in the last minute" (decisions); no failure is held for longer. */
const WINDOW_MS = 60_000;
/** The interval at which results are counted while a service fails. */
const COUNT_PERIOD_MS = 500;

const REASON = 'over half of the services checked in the last minute gave no HTTP response';

interface NewestCheck {
  beganAt: number;
  endedAt: number;
  answer: Answer;
}

/**
 * Watches by majority: the prober counts as offline while over half of at least 10 services checked in the last minute
 * failed without an HTTP response. An outage shows in that count only after a while, so a failure waits for the results
 * of 10 services that were checked after it. The service is at fault if half of them succeeded, or after a minute; the
 * prober is at fault if over half of them failed as well. In a fleet of fewer than 10 services no failure waits.
 */
export function createMajorityWatch({
  clock,
  log,
  fleetSize,
  onChange,
}: ConnectionWatchOptions & {
  /** The number of services that are checked at present. */
  readonly fleetSize: () => number;
}): ConnectionWatch {
  const outages = createOutageLog(clock, log, REASON);
  const newest = new Map<number, NewestCheck>();
  /** Start of the newest check of each service of the window, ascending, as last counted: checks without a failure, */
  let smoothBegan = new Float64Array(0);
  /** and those with a failed attempt, even if a later one succeeded: a short outage shows in them. */
  let troubledBegan = new Float64Array(0);
  let counting = false;
  let cancelTimer = (): void => {};
  let stopped = false;

  function countSoon(): void {
    if (counting || stopped) return;
    counting = true;
    cancelTimer = clock.after(COUNT_PERIOD_MS, count);
  }

  function count(): void {
    counting = false;
    const startAt = clock.monotonic() - WINDOW_MS;
    const smooth: number[] = [];
    const troubled: number[] = [];
    let failed = 0;
    let firstFailedAt = clock.monotonic();
    for (const [serviceId, { beganAt, endedAt, answer }] of newest) {
      if (endedAt < startAt) {
        newest.delete(serviceId);
        continue;
      }
      (answer === 'first' ? smooth : troubled).push(beganAt);
      if (answer !== 'none') continue;
      failed += 1;
      firstFailedAt = Math.min(firstFailedAt, beganAt);
    }
    smoothBegan = Float64Array.from(smooth).sort();
    troubledBegan = Float64Array.from(troubled).sort();
    const offline = newest.size >= MIN_SERVICES && failed * 2 > newest.size;
    if (offline && !outages.isOpen) outages.begin(firstFailedAt);
    else if (!offline) outages.end();
    onChange();
    if (failed > 0 || outages.isOpen) countSoon();
  }

  /** Rules on a failure by the services whose checks started after the failed check. */
  function ruleByPeers(span: CheckSpan, now: number): Ruling {
    // A check that fails takes as long as this one took. Of the checks that started later, only successes are known so
    // far; counting them would bias the result.
    const settledAt = now - (span.endedAt - span.beganAt);
    const troubled = countBetween(troubledBegan, span.beganAt, settledAt);
    const smooth = countBetween(smoothBegan, span.beganAt, settledAt);
    if (troubled + smooth >= MIN_SERVICES) return troubled * 2 > troubled + smooth ? 'own' : 'clear';
    const total = troubledBegan.length + smoothBegan.length;
    const smoothSince = countBetween(smoothBegan, span.provenFrom, now);
    if (total >= MIN_SERVICES && smoothSince * 2 >= total) return 'clear';
    return now - span.takenAt >= WINDOW_MS ? 'clear' : 'wait';
  }

  return {
    outages,
    doubt() {},
    noteDelay() {},
    note(serviceId, beganAt, endedAt, answer) {
      const known = newest.get(serviceId);
      if (known === undefined) newest.set(serviceId, { beganAt, endedAt, answer });
      else if (endedAt >= known.endedAt) Object.assign(known, { beganAt, endedAt, answer });
      if (answer === 'none') countSoon();
    },
    rule(span) {
      if (outages.isOpen || outages.overlaps(span)) return 'own';
      if (fleetSize() < MIN_SERVICES) return 'clear';
      const ruling = ruleByPeers(span, clock.monotonic());
      if (ruling === 'wait') countSoon();
      return ruling;
    },
    ruleSlow(span) {
      if (outages.isOpen || outages.overlaps(span)) return 'own';
      const isSuspected = counting && fleetSize() >= MIN_SERVICES;
      return isSuspected ? ruleByPeers(span, clock.monotonic()) : 'clear';
    },
    ruleMissedHeartbeat: () => (outages.isOpen ? 'own' : 'clear'),
    stop() {
      stopped = true;
      cancelTimer();
    },
  };
}

/** Number of values of an ascending array in `[from, to]`. */
function countBetween(sorted: Float64Array, from: number, to: number): number {
  return Math.max(0, firstOver(sorted, to, true) - firstOver(sorted, from, false));
}

/** Index of the first value that is at least `bound`, or over it where `beyondEqual`. */
function firstOver(sorted: Float64Array, bound: number, beyondEqual: boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const value = sorted[middle] ?? 0;
    if (value < bound || (beyondEqual && value === bound)) low = middle + 1;
    else high = middle;
  }
  return low;
}
