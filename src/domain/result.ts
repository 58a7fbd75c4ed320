/** What one check found. A target's failure is data, never an exception. */

import type { Failure } from './failure.ts';

/** Milliseconds with a fraction; null where the phase did not happen, never 0. */
export interface Timing {
  /** Names were waited for, and nothing was dialled meanwhile. */
  readonly dnsMs: number | null;
  /** From the first address that was dialled to the first connection: a dead address adds 250 ms to it. */
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the request on the wire to the first byte of the answer's headers. */
  readonly firstByteMs: number | null;
  /** From the start of name resolution to the arrival of the deciding headers, redirects included. */
  readonly totalMs: number | null;
}

/** A timing in which nothing happened. */
export const NO_TIMING: Timing = {
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: null,
  totalMs: null,
};

/** Why a sample is not trusted: the fault is on our side. */
export const SUSPECT_REASONS = ['offline', 'own_fault', 'loop_late'] as const;

/** A response time to which late turns of our own event loop may have added more than this is no latency of a target. */
export const LATE_LOOP_MS = 250;

/**
 * Most of an attempt's time that is given back where late turns of our own event loop took it, milliseconds. A process
 * that stood still for longer may have been asleep with its machine, and what was said to it meanwhile is lost.
 */
export const MAX_RETURNED_MS = 5_000;

/** Kind of our own fault. */
export type SuspectReason = (typeof SUSPECT_REASONS)[number];

/** One request with its redirects, as the probe saw it: an attempt of a check. */
export interface Attempt {
  /** Start, epoch milliseconds. */
  readonly startedAt: number;
  /** Status code of the deciding answer; 0 when no HTTP response arrived. */
  readonly statusCode: number;
  /** Whole milliseconds (decisions, `response_time`); null when no response arrived. */
  readonly responseTimeMs: number | null;
  readonly timing: Timing;
  /** Null: the attempt was good. */
  readonly failure: Failure | null;
  /** What a health body's own word comes to; null: judge by latency alone. */
  readonly reported: 'up' | 'slow' | 'down' | null;
  /** That word as the body said it, at most 64 characters; null: no health body said one. */
  readonly reportedWord: string | null;
  /** A bot wall or 429 answered: reachable, never down. */
  readonly blocked: boolean;
  /** What was asked in the end: the health endpoint, or the root. */
  readonly via: 'root' | 'health';
  /** Not after of the server's certificate, epoch milliseconds; null without TLS. */
  readonly certificateExpiresAt: number | null;
  /** How long a 429 asks us to wait, milliseconds, at most an hour; null: it does not. */
  readonly retryAfterMs: number | null;
  /** Our own fault in this attempt; null: none. */
  readonly suspect: SuspectReason | null;
  /**
   * What late turns of our own event loop may have added to `responseTimeMs`; without an answer, what they took of the
   * attempt's time. Milliseconds.
   */
  readonly lostMs: number;
  /**
   * The request that got no response was a HEAD, and this service has never answered one: HEAD itself may be the reason.
   */
  readonly headUnproven: boolean;
  /** What the probe learnt for next time. */
  readonly memory: ProbeMemory;
}

/** What a service has taught the prober; kept by its actor and, across restarts, by the registry. */
export interface ProbeMemory {
  /** HEAD is refused there, or not answered where GET is (decisions, Root check). */
  readonly needsGet: boolean;
  /** HEAD of the root was answered once: a HEAD without a response is a failure from then on. */
  readonly headSeen: boolean;
  /** A valid health body was seen once; from then on its absence is a failure. */
  readonly healthSeen: boolean;
  /** When `/api/health` may be asked again after it was found missing, epoch milliseconds; null: now. */
  readonly askHealthAt: number | null;
}

/** Nothing learnt yet. */
export const NO_MEMORY: ProbeMemory = {
  needsGet: false,
  headSeen: false,
  healthSeen: false,
  askHealthAt: null,
};

/** Whether two checks have learned the same. */
export function isSameMemory(a: ProbeMemory, b: ProbeMemory): boolean {
  return (
    a.needsGet === b.needsGet &&
    a.headSeen === b.headSeen &&
    a.healthSeen === b.healthSeen &&
    a.askHealthAt === b.askHealthAt
  );
}

/** The end of a check: its last attempt, and what happened on the way. */
export interface CheckResult extends Attempt {
  readonly serviceId: number;
  /** Revision of the definition that was checked. */
  readonly revision: number;
  /** Attempts made: 1 to 1 + the number of `checks.confirmAfter`. */
  readonly attempts: number;
  /** Start of the first failed attempt of this check, epoch milliseconds; null: none failed. */
  readonly firstFailedAt: number | null;
  /** When the check ended, epoch milliseconds. */
  readonly endedAt: number;
  /** How late the thread's event loop was at worst during the check, milliseconds. */
  readonly loopDelayMs: number;
}
