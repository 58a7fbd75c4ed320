/** What the watches of the prober's own connection have in common, by control targets and by majority. */
import type { Clock } from '../clock.ts';
import { formatTimeOrNull } from '../domain/durations.ts';
import type { CheckResult } from '../domain/result.ts';
import type { Log } from '../log.ts';

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
  /** The prober is offline while one of these lasts. */
  readonly outages: Pick<OutageLog, 'isOpen' | 'since' | 'reason' | 'overlaps'>;
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
  stop(): void;
}

/** What both watches need. */
export interface ConnectionWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Called when rulings may have changed. */
  readonly onChange: () => void;
}

/** Longer than any check with its confirmations and the time for which its result is held. */
const KEEP_MS = 600_000;

/** Spans of time, monotonic milliseconds, kept for as long as a check that overlaps one may still arrive. */
export interface SpanLog {
  add(span: { readonly fromAt: number; readonly untilAt: number }): void;
  /** Whether the check touches one of them. */
  overlaps(check: CheckSpan): boolean;
}

/** Makes an empty list. */
export function createSpanLog(clock: Pick<Clock, 'monotonic'>): SpanLog {
  let spans: Parameters<SpanLog['add']>[0][] = [];
  return {
    add(span) {
      spans = spans.filter(({ untilAt }) => untilAt > clock.monotonic() - KEEP_MS);
      spans.push(span);
    },
    overlaps: ({ beganAt, endedAt }) =>
      spans.some(({ fromAt, untilAt }) => fromAt <= endedAt && beganAt <= untilAt),
  };
}

/** The prober's own outages. */
export interface OutageLog extends SpanLog {
  readonly isOpen: boolean;
  /** Start of the present outage, epoch milliseconds; null: none. */
  readonly since: number | null;
  /** Why the prober counts as offline; null: it does not. */
  readonly reason: string | null;
  /** An outage began at `fromAt`, monotonic milliseconds. */
  begin(fromAt: number): void;
  end(): void;
}

/** Makes an empty log. `reason` is one line of text. */
export function createOutageLog(clock: Clock, log: Log, reason: string): OutageLog {
  const spans = createSpanLog(clock);
  let present: { readonly fromAt: number; untilAt: number } | null = null;
  let since: number | null = null;
  return {
    ...spans,
    get isOpen() {
      return present !== null;
    },
    get since() {
      return since;
    },
    get reason() {
      return present === null ? null : reason;
    },
    begin(fromAt) {
      present = { fromAt, untilAt: Number.POSITIVE_INFINITY };
      spans.add(present);
      since = Math.round(clock.now() - (clock.monotonic() - fromAt));
      const offlineSince = formatTimeOrNull(since);
      log.warn({ offlineSince }, `the prober is offline: ${reason}; nothing is marked down`);
    },
    end() {
      if (present === null) return;
      log.info({ offlineSince: formatTimeOrNull(since) }, 'the prober is online again');
      present.untilAt = clock.monotonic();
      present = null;
      since = null;
    },
  };
}
