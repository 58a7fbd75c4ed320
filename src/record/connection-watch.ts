/** What the watches of the prober's own connection have in common, by control targets and by majority. */
import type { Clock } from '../clock.ts';
import type { CheckResult } from '../domain/result.ts';

/** State of the prober's own connection (decisions, "When the prober itself is offline, nothing is down"). */
export interface ProberState {
  readonly online: boolean;
  /** Epoch milliseconds; null while it is online. */
  readonly offlineSince: number | null;
  /** One line of text; null while it is online. */
  readonly reason: string | null;
  /** Results that are held until it is known whether the fault is ours. */
  readonly heldResults: number;
  /** Results since the start that became suspect samples, own faults included. */
  readonly suspectCount: number;
}

/** The time of a failed or slow check. Monotonic milliseconds of this thread. */
export interface CheckSpan {
  /** Start of the first failed attempt. */
  readonly beganAt: number;
  /** The first failed attempt had ended by then: a query of the control targets since says something of the failure. */
  readonly provenFrom: number;
  readonly endedAt: number;
  /** When the record received the result. */
  readonly takenAt: number;
}

/**
 * The time of a check whose result the record received at `takenAt`, monotonic milliseconds; `toMonotonic` is what
 * turns wall times into monotonic ones. No time is after `takenAt`, even if the wall clock was set.
 */
export function spanOf(result: CheckResult, toMonotonic: number, takenAt: number): CheckSpan {
  const at = (wallAt: number): number => Math.min(wallAt + toMonotonic, takenAt);
  return {
    beganAt: at(result.firstFailedAt ?? result.startedAt),
    // The first failed attempt ended before the last one began. A millisecond for the rounding of wall times.
    provenFrom: at(result.attempts > 1 ? result.startedAt : result.endedAt) - 1,
    endedAt: at(result.endedAt),
    takenAt,
  };
}

/** `clear`: the fault is the service's. `own`: it may be ours. `wait`: not known before {@link ConnectionWatchOptions.onChange}. */
export type Ruling = 'clear' | 'own' | 'wait';

/** Whether a check got an HTTP response: to its first attempt, to a later one after a failure, or to none. */
export type Answer = 'first' | 'later' | 'none';

/** Watches the prober's own connection. */
export interface ConnectionWatch {
  readonly online: boolean;
  /** Epoch milliseconds; null while online. */
  readonly offlineSince: number | null;
  readonly reason: string | null;
  /** An attempt failed without an HTTP response at `failedAt`, monotonic milliseconds. */
  doubt(failedAt: number): void;
  /** An attempt has been waiting for its response for so long that it may become slow, now. */
  noteDelay(): void;
  /** Notes the end of a check; monotonic milliseconds. */
  note(serviceId: number, beganAt: number, endedAt: number, answer: Answer): void;
  /** Whose fault a failure without an HTTP response is. */
  rule(span: CheckSpan): Ruling;
  /** Whose fault a slow response is: ours where it overlaps an outage or a delay of our own connection. */
  ruleSlow(span: CheckSpan): Ruling;
  /** Whose fault a heartbeat is that is missed now: ours where none can reach us. */
  ruleMissedHeartbeat(): Ruling;
  /** Whether a failing check overlaps a time in which the prober was offline. */
  overlapsOutage(span: CheckSpan): boolean;
  stop(): void;
}

/** What both watches need. */
export interface ConnectionWatchOptions {
  /** Called when rulings may have changed. */
  readonly onChange: () => void;
}

/** Longer than any check with its confirmations and the time for which its result is held. */
const KEEP_MS = 600_000;

interface Outage {
  readonly fromAt: number;
  /** Infinity: the outage lasts. */
  untilAt: number;
}

/** A list of outages; times are monotonic milliseconds. */
export interface OutageLog {
  readonly open: boolean;
  /** Start of the present outage, epoch milliseconds; null: none. */
  readonly since: number | null;
  begin(fromAt: number): void;
  end(): void;
  /** Adds an outage that is over already. */
  note(fromAt: number, untilAt: number): void;
  /** Whether `[fromAt, untilAt]` touches an outage. */
  overlaps(fromAt: number, untilAt: number): boolean;
}

/** Makes an empty list. */
export function createOutageLog(clock: Pick<Clock, 'now' | 'monotonic'>): OutageLog {
  let outages: Outage[] = [];
  let present: Outage | null = null;
  let since: number | null = null;

  function add(outage: Outage): void {
    outages = outages.filter(({ untilAt }) => untilAt > clock.monotonic() - KEEP_MS);
    outages.push(outage);
  }

  return {
    get open() {
      return present !== null;
    },
    get since() {
      return since;
    },
    begin(fromAt) {
      if (present !== null) return;
      present = { fromAt, untilAt: Number.POSITIVE_INFINITY };
      add(present);
      since = Math.round(clock.now() - (clock.monotonic() - fromAt));
    },
    end() {
      if (present === null) return;
      present.untilAt = clock.monotonic();
      present = null;
      since = null;
    },
    note: (fromAt, untilAt) => add({ fromAt, untilAt }),
    overlaps: (fromAt, untilAt) =>
      outages.some((outage) => outage.fromAt <= untilAt && fromAt <= outage.untilAt),
  };
}
