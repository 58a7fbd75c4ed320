/** The interface and the shared parts of the two connection watches: by control targets, and by majority. */
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
  /** Number of results that are held until the watch knows whether the prober's connection is at fault. */
  readonly heldResults: number;
  /** Results since the start that became suspect samples, own faults included. */
  readonly suspectCount: number;
}

/** The time of a failed or slow check. Monotonic milliseconds of this thread. */
export interface CheckSpan {
  /** Start of the first failed attempt. */
  readonly beganAt: number;
  /** A time at which the first failed attempt had ended. A later query of the control targets is evidence about the failure. */
  readonly provenFrom: number;
  readonly endedAt: number;
  /** The time at which the record received the result. */
  readonly takenAt: number;
}

/**
 * The time of a check whose result the record received at `takenAt`, monotonic milliseconds; `toMonotonic` is the difference that
 * converts wall times to monotonic times. No time is later than `takenAt`, even if the wall clock was set.
 */
export function spanOf(result: CheckResult, toMonotonic: number, takenAt: number): CheckSpan {
  const at = (wallAt: number): number => Math.min(wallAt + toMonotonic, takenAt);
  return {
    beganAt: at(result.firstFailedAt ?? result.startedAt),
    // The first failed attempt ended before the last one began. One millisecond allows for the rounding of wall times.
    provenFrom: at(result.attempts > 1 ? result.startedAt : result.endedAt) - 1,
    endedAt: at(result.endedAt),
    takenAt,
  };
}

/**
 * `clear`: the service is at fault. `own`: the prober's connection may be at fault. `wait`: not known before {@link
 * ConnectionWatchOptions.onChange}.
 */
export type Ruling = 'clear' | 'own' | 'wait';

/** The HTTP response of a check: to its first attempt, to a later one after a failure, or to none. */
export type Answer = 'first' | 'later' | 'none';

/** Watches the prober's own connection. */
export interface ConnectionWatch {
  /** The prober is offline while one of these lasts. */
  readonly outages: OutageLog;
  /** An attempt failed without an HTTP response at `failedAt`, monotonic milliseconds. */
  doubt(failedAt: number): void;
  /** An attempt has been waiting so long for its response that the response may be slow. Called at that moment. */
  noteDelay(): void;
  /** Notes the end of a check; monotonic milliseconds. */
  note(serviceId: number, beganAt: number, endedAt: number, answer: Answer): void;
  /** Rules on a failure without an HTTP response. */
  rule(span: CheckSpan): Ruling;
  /** Rules on a slow response: `own` if the check overlaps an outage or a delay of the prober's connection. */
  ruleSlow(span: CheckSpan): Ruling;
  /** Rules on a heartbeat that is missed now: `own` if heartbeats cannot reach this machine. */
  ruleMissedHeartbeat(): Ruling;
  stop(): void;
}

export interface ConnectionWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Called when rulings may have changed. */
  readonly onChange: () => void;
}

/** Longer than any check, its confirmation and the time for which its result is held, together. */
const KEEP_MS = 600_000;

/** Time spans in monotonic milliseconds. Each is kept as long as a result that overlaps it may still arrive. */
export interface SpanLog {
  add(span: { readonly fromAt: number; readonly untilAt: number }): void;
  overlaps(check: CheckSpan): boolean;
}

/** Makes an empty list. */
export function createSpanLog(clock: Clock): SpanLog {
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
  /** Start of the current outage, epoch milliseconds; null: the prober is online. */
  readonly since: number | null;
  /** Why the prober counts as offline; null: it is online. */
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
