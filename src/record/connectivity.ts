/**
 * The offline rule: whether a result describes its service or only the prober's own connection (decisions, "When the
 * prober itself is offline, nothing is down").
 */
import type { Clock } from '../clock.ts';
import type { CheckResult } from '../domain/result.ts';
import { judgeAttempt } from '../domain/status/judge.ts';
import type { Log } from '../log.ts';
import {
  type Answer,
  type CheckSpan,
  type ConnectionWatch,
  type ConnectionWatchOptions,
  createOutageLog,
  type ProberState,
  type Ruling,
  spanOf,
} from './connection-watch.ts';
import { ControlWatch } from './control-watch.ts';

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
function createMajorityWatch({
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

export interface ConnectivityOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A good response of a service that takes longer is `slow`, milliseconds. */
  readonly slowOverMs: (serviceId: number) => number;
  /** The number of configured control targets; 0: the majority of the fleet decides (decisions). */
  readonly controlTargets: number;
  /** True: at least one control target responded. No response within 3 s, or a rejection, counts as no. */
  readonly queryControlTargets: () => Promise<boolean>;
  /** The number of services that are checked at present. */
  readonly fleetSize: () => number;
  /**
   * Called when the prober went offline or online, or when held results may have been decided. The caller then calls
   * {@link Connectivity.takeDecided}.
   */
  readonly onChange: () => void;
}

/** `suspect`: the prober may be at fault. `held`: not known yet; the result is kept until it is known. */
type Trust = 'trusted' | 'suspect' | 'held';

/** A result that was held, and its ruling. */
interface DecidedResult {
  readonly result: CheckResult;
  readonly trust: Exclude<Trust, 'held'>;
}

interface HeldResult {
  readonly result: CheckResult;
  readonly span: CheckSpan;
}

export type Connectivity = ReturnType<typeof createConnectivity>;

/** Creates the rule. The prober counts as online until a watch finds it offline. */
export function createConnectivity(options: ConnectivityOptions) {
  const { clock, log, slowOverMs, controlTargets, queryControlTargets: ask, fleetSize, onChange } = options;
  const watch =
    controlTargets > 0
      ? new ControlWatch({ clock, log, onChange, controlTargets, ask })
      : createMajorityWatch({ clock, log, onChange, fleetSize });
  const { outages } = watch;
  let held: HeldResult[] = [];
  const affected = new Set<number>();
  let suspectCount = 0;

  /** Rules on a held result. An error status can come from a proxy on the way only while the prober is offline. */
  function ruleOn({ result, span }: HeldResult): Ruling {
    if (!result.answered) return watch.rule(span);
    const verdict = judgeAttempt(result, slowOverMs(result.serviceId));
    if (verdict === 'slow') return watch.ruleSlow(span);
    return verdict === 'down' && (outages.isOpen || outages.overlaps(span)) ? 'own' : 'clear';
  }

  function dropHeld(serviceId: number): void {
    if (held.length > 0) held = held.filter(({ result }) => result.serviceId !== serviceId);
  }

  function decide(result: CheckResult, ruling: Exclude<Ruling, 'wait'>): DecidedResult['trust'] {
    if (ruling === 'clear' && result.suspect === null) return 'trusted';
    suspectCount += 1;
    if (ruling === 'own') affected.add(result.serviceId);
    return 'suspect';
  }

  return {
    /**
     * Rules on a result. {@link takeDecided} returns a `held` one later. `toMonotonic` is the difference that converts
     * its wall times to monotonic times, milliseconds.
     */
    rule(result: CheckResult, toMonotonic: number): Trust {
      const { answered } = result;
      const answer = answered ? (result.firstFailedAt === null ? 'first' : 'later') : 'none';
      const beganAt = result.firstFailedAt ?? result.startedAt;
      watch.note(result.serviceId, beganAt + toMonotonic, result.endedAt + toMonotonic, answer);
      const isClear = answered && result.suspect === null;
      if (isClear && judgeAttempt(result, slowOverMs(result.serviceId)) === 'up') return 'trusted';
      // A result with an own fault and a response is always suspect. Without a response, it may be the first sign of an outage.
      if (answered && result.suspect !== null) return decide(result, 'clear');
      const one = { result, span: spanOf(result, toMonotonic, clock.monotonic()) };
      const ruling = ruleOn(one);
      if (ruling !== 'wait') return decide(result, ruling);
      held.push(one);
      return 'held';
    },
    /** The held results that have been decided since the last call, oldest first. */
    takeDecided(): readonly DecidedResult[] {
      const decided: DecidedResult[] = [];
      held = held.filter((one) => {
        const ruling = ruleOn(one);
        if (ruling === 'wait') return true;
        decided.push({ result: one.result, trust: decide(one.result, ruling) });
        return false;
      });
      return decided;
    },
    /** Removes and returns all held results, oldest first. */
    takeHeld(): readonly CheckResult[] {
      const results = held.map(({ result }) => result);
      held = [];
      suspectCount += results.length;
      return results;
    },
    /** Services that had suspect results while the prober was offline. Empty while it is offline. Each service is returned once. */
    takeAffected(): readonly number[] {
      if (affected.size === 0 || outages.isOpen) return [];
      const serviceIds = [...affected];
      affected.clear();
      return serviceIds;
    },
    /** Drops the held results of a service whose check has changed. */
    dropHeld,
    forget(serviceId: number): void {
      affected.delete(serviceId);
      dropHeld(serviceId);
    },
    /** An attempt failed at `failedAt`, monotonic milliseconds, without an HTTP response. */
    doubt: (failedAt: number): void => watch.doubt(failedAt),
    /** The same with `failedAt` in epoch milliseconds. */
    noteDoubt: (failedAt: number): void =>
      watch.doubt(clock.monotonic() - Math.max(0, clock.now() - failedAt)),
    /** An attempt has been waiting for its response for so long that it may become slow, now. */
    noteDelay: (): void => watch.noteDelay(),
    /** Returns true if a heartbeat that is missed now counts against its service. */
    trustsMissedHeartbeat: (): boolean => watch.ruleMissedHeartbeat() === 'clear',
    get online() {
      return !outages.isOpen;
    },
    state(): ProberState {
      const { isOpen, since: offlineSince, reason } = outages;
      return { online: !isOpen, offlineSince, reason, heldResults: held.length, suspectCount };
    },
    stop: (): void => watch.stop(),
  };
}
