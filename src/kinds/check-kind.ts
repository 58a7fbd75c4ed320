/** What a kind of check is: its settings, and how it makes an attempt. One file of this folder for each kind. */
import type { Clock } from '../clock.ts';
import type { AttemptOptions, CheckTarget } from '../domain/check-target.ts';
import { type Failure, failureOf } from '../domain/failure.ts';
import { type Attempt, NO_TIMING, type ProbeMemory, type Timing } from '../domain/result.ts';
import type { AddressGuard } from '../outbound/address-guard.ts';
import type { Trust } from '../outbound/connection.ts';
import type { Deadline } from '../outbound/deadline.ts';
import type { DestinationReading } from '../outbound/destination.ts';
import type { DialParts } from '../outbound/dial.ts';
import type { Fault } from '../outbound/fault.ts';
import { readRetryAfter } from '../outbound/response-head.ts';
import type { WebResponse } from '../outbound/send-request.ts';
import { isBlocked } from './response-rules.ts';

/** A kind of check. */
export interface CheckKind {
  /** Creates the function that makes the attempts of a thread. It holds what the kind remembers between attempts. */
  readonly prepare: (tools: ProbeTools) => (run: Run) => Promise<Attempt>;
}

/** What attempts of one thread share. */
export interface ProbeTools {
  readonly parts: DialParts;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Trusted authorities, with those of the PEM bundle. Throws if the bundle cannot be read. */
  readonly trust: (caFile: string | null) => Trust;
  /** The guard of a service, by the port of the first connection. */
  readonly guardOf: (target: Pick<CheckTarget, 'origin' | 'check'>, port: number) => AddressGuard;
  /** Parses a URL, with a cache. */
  readonly destinationOf: (url: string) => DestinationReading;
}

/** One attempt to make. */
export interface Run {
  readonly target: CheckTarget;
  readonly options: AttemptOptions;
  readonly deadline: Deadline;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** What an attempt has found. */
export interface Finding {
  /** Whether the target responded. */
  readonly answered: boolean;
  /** Absent: 0, no HTTP response. */
  readonly statusCode?: number;
  readonly timing: Timing;
  readonly certificateExpiresAt?: number | null;
  /** Why there is no usable response; null: there is one. */
  readonly fault: Fault | null;
  /** What is wrong with the response; null: it is good. */
  readonly failure: Failure | null;
  /** Time that delays of our own event loop may have added to the response time, milliseconds. */
  readonly lostMs: number;
}

/** The attempt of a check that keeps no probe memory, and whose response says nothing of its own. */
export function attemptOf({ target, startedAt }: Run, via: Attempt['via'], finding: Finding): Attempt {
  const { answered, statusCode = 0, timing, certificateExpiresAt = null, fault, failure, lostMs } = finding;
  const { totalMs } = timing;
  return {
    startedAt,
    answered,
    statusCode,
    responseTimeMs: totalMs === null ? null : Math.round(totalMs),
    timing,
    failure: fault?.failure ?? failure,
    reported: null,
    reportedWord: null,
    blocked: false,
    via,
    certificateExpiresAt,
    retryAfterMs: null,
    suspect: fault?.suspect ?? null,
    lostMs,
    headUnproven: false,
    memory: target.memory,
  };
}

/** The attempt of a service whose address cannot be requested. */
export function invalidAddress(
  run: Run,
  via: Attempt['via'],
  { problem }: Extract<DestinationReading, { readonly problem: object }>,
): Attempt {
  const failure = failureOf('protocol', 'dns', { code: 'service_address_invalid', problem });
  return attemptOf(run, via, { answered: false, timing: NO_TIMING, fault: null, failure, lostMs: 0 });
}

/** The judgement of an HTTP response. */
export interface Judgement {
  readonly failure: Failure | null;
  readonly reported?: Attempt['reported'];
  readonly reportedWord?: Attempt['reportedWord'];
  readonly headUnproven?: boolean;
  readonly via: Attempt['via'];
  readonly memory: ProbeMemory;
}

/** The attempt of an HTTP request, from its final response and the judgement of it. A bot wall and 429 are `blocked`. */
export function webAttemptOf(
  startedAt: number,
  response: WebResponse,
  judgement: Judgement,
  now: () => number,
): Attempt {
  const { failure, reported = null, reportedWord = null, headUnproven = false, via, memory } = judgement;
  const { fault, statusCode, timing, certificateExpiresAt, headers, lostMs } = response;
  const { totalMs } = timing;
  const blocked = fault === null && isBlocked(response);
  return {
    startedAt,
    answered: statusCode !== 0,
    statusCode,
    responseTimeMs: totalMs === null ? null : Math.round(totalMs),
    timing,
    failure: fault?.failure ?? failure,
    reported,
    reportedWord,
    blocked,
    via,
    certificateExpiresAt,
    retryAfterMs: blocked && statusCode === 429 ? readRetryAfter(headers['retry-after'], now()) : null,
    suspect: fault?.suspect ?? null,
    lostMs,
    headUnproven,
    memory,
  };
}
