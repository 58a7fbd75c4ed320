/** Is it the service that fails, or our own connection? What both ways of finding out have in common. */
import type { CheckResult } from '../domain/result.ts';

/** How the prober's own connection is (decisions, "When the prober itself is offline, nothing is down"). */
export interface ProberState {
  readonly online: boolean;
  /** Epoch milliseconds; null while it is online. */
  readonly offlineSince: number | null;
  /** For people, in one line; null while it is online. */
  readonly reason: string | null;
  /** Failures without an HTTP response that wait for the answer of a control target. */
  readonly heldResults: number;
  /** Results since the start that became suspect samples, own faults included. */
  readonly suspectCount: number;
}

/** When a failing or slow check took place. Monotonic milliseconds of this thread. */
export interface CheckSpan {
  /** Start of the first failed attempt. */
  readonly beganAt: number;
  /** The first failed attempt had ended by then: a question asked since can speak for the failure. */
  readonly provenFrom: number;
  readonly endedAt: number;
  /** When the record took the result. */
  readonly takenAt: number;
}

/**
 * When a check took place, taken by the record at `takenAt`, monotonic milliseconds; `toMonotonic` turns wall times
 * into those. Nothing lies after `takenAt`, wherever the wall clock was set.
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

/** `clear`: the failure is the service's. `own`: it may be ours. `wait`: not known yet; {@link ConnectionWatchOptions.onChange} will tell. */
export type Ruling = 'clear' | 'own' | 'wait';

/** Whether a check got an HTTP response: to its first attempt, to a later one after a failure, or to none. */
export type Answer = 'first' | 'later' | 'none';

/** Watches the prober's own connection. */
export interface ConnectionWatch {
  readonly online: boolean;
  /** Epoch milliseconds; null while online. */
  readonly offlineSince: number | null;
  readonly reason: string | null;
  /** An attempt failed without an HTTP response; `failedAt` is monotonic. */
  doubt(failedAt: number): void;
  /** An attempt has been waiting for its response for so long that it may become slow, now. */
  noteDelay(): void;
  /** Notes the end of any check; monotonic times. */
  note(serviceId: number, beganAt: number, endedAt: number, answer: Answer): void;
  /** Whose a failure without an HTTP response is. */
  rule(span: CheckSpan): Ruling;
  /** Whose a slow response is: ours where it overlaps an outage or a delay of our own connection. */
  ruleSlow(span: CheckSpan): Ruling;
  /** Whose the silence of a service is, now: ours where nothing can reach us. */
  ruleMissedHeartbeat(): Ruling;
  /** Whether a failing check overlaps a time in which the prober was offline. */
  overlapsOutage(span: CheckSpan): boolean;
  stop(): void;
}

/** What both ways of watching need. */
export interface ConnectionWatchOptions {
  /** Called when rulings may have changed. */
  readonly onChange: () => void;
}
