/** The results of checks. A target's failure is data, never an exception. */
import type { Failure } from './failure.ts';
import type { ProbedKind } from './service.ts';

/** Durations in milliseconds with a fraction; null, never 0: the phase did not happen. */
export interface Timing {
  /** Time spent on name resolution while no connection was attempted. */
  readonly dnsMs: number | null;
  /** From the first connection attempt to the first connection; an unreachable address adds 250 ms. */
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the sent request to the first byte of the response. */
  readonly firstByteMs: number | null;
  /** From the start of name resolution, or of the connection if no name had to be resolved, to the headers of the final response, including redirects. */
  readonly totalMs: number | null;
}

/** A timing without phases. */
export const NO_TIMING: Timing = {
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: null,
  totalMs: null,
};

/** Reasons why a sample is suspect: the fault is on our side. */
export const SUSPECT_REASONS = ['offline', 'own_fault', 'loop_late'] as const;

/** A response time to which our own event loop may have added more than this is no latency of the target, milliseconds. */
export const LATE_LOOP_MS = 250;

/**
 * Maximum extension of an attempt's deadline by delays of our own event loop, milliseconds. A process that was suspended for
 * longer may have lost its connections.
 */
export const MAX_RETURNED_MS = 5_000;

/** Kind of our own fault. */
export type SuspectReason = (typeof SUSPECT_REASONS)[number];

/** An attempt of a check: one request with its redirects. */
export interface Attempt {
  /** Start, epoch milliseconds. */
  readonly startedAt: number;
  /** True if the target responded, by the protocol of the check. The offline rule applies to attempts that it did not. */
  readonly answered: boolean;
  /** Status code of the final response; 0: no HTTP response arrived. */
  readonly statusCode: number;
  /** Whole milliseconds (decisions, `response_time`); null when no response arrived. */
  readonly responseTimeMs: number | null;
  readonly timing: Timing;
  /** Null: the attempt was good. */
  readonly failure: Failure | null;
  /** Verdict of the status word in a health body; null: there is none. */
  readonly reported: 'up' | 'slow' | 'down' | null;
  /** The status word, at most 64 characters; null: there is none. */
  readonly reportedWord: string | null;
  /** The response is a bot wall or 429, so that the service is reachable and not down. */
  readonly blocked: boolean;
  /** The kind of the last request. */
  readonly via: ProbedKind;
  /** Expiry of the server's certificate, epoch milliseconds; null without TLS. */
  readonly certificateExpiresAt: number | null;
  /** Pause that a 429 asks for, milliseconds, at most an hour; null: none. */
  readonly retryAfterMs: number | null;
  /** Our own fault in this attempt; null: none. */
  readonly suspect: SuspectReason | null;
  /**
   * Milliseconds that delays of our own event loop may have added to `responseTimeMs`, or taken from the timeout if no
   * response arrived.
   */
  readonly lostMs: number;
  /** A HEAD got no response, and the service has never responded to one, so that HEAD itself may be the reason. */
  readonly headUnproven: boolean;
  /** The probe memory after the attempt. */
  readonly memory: ProbeMemory;
}

/** The probe memory of a service, kept by its actor and, across restarts, by the registry. */
export interface ProbeMemory {
  /** HEAD is refused, or gets no response although GET does (decisions, Root check). */
  readonly needsGet: boolean;
  /** HEAD of the root got a response once; from then on a HEAD without one is a failure. */
  readonly headSeen: boolean;
  /** A valid health body was seen once; from then on its absence is a failure. */
  readonly healthSeen: boolean;
  /** The time at which `/api/health` may be requested again after it was missing, epoch milliseconds; null: now. */
  readonly askHealthAt: number | null;
}

/** The initial probe memory. */
export const NO_MEMORY: ProbeMemory = {
  needsGet: false,
  headSeen: false,
  healthSeen: false,
  askHealthAt: null,
};

/** The memories without a time, by the flags that they have. */
const SHARED_MEMORIES = Array.from(
  { length: 8 },
  (_, flags): ProbeMemory => ({
    needsGet: (flags & 1) !== 0,
    headSeen: (flags & 2) !== 0,
    healthSeen: (flags & 4) !== 0,
    askHealthAt: null,
  }),
);

/** An equal memory that services share, because there may be a million of them; the memory itself if it has a time. */
export function shareMemory(memory: ProbeMemory): ProbeMemory {
  if (memory.askHealthAt !== null) return memory;
  const flags = (memory.needsGet ? 1 : 0) | (memory.headSeen ? 2 : 0) | (memory.healthSeen ? 4 : 0);
  return SHARED_MEMORIES[flags] ?? memory;
}

/** Returns true if two probe memories are equal. */
export function isSameMemory(a: ProbeMemory, b: ProbeMemory): boolean {
  return (
    a.needsGet === b.needsGet &&
    a.headSeen === b.headSeen &&
    a.healthSeen === b.healthSeen &&
    a.askHealthAt === b.askHealthAt
  );
}

/**
 * Joins the memories of two regions about a service. A thing that one of them has seen once holds for the service, since each
 * region starts from the memory that any of them has stored (decisions, Health check).
 */
export function joinMemory(a: ProbeMemory, b: ProbeMemory): ProbeMemory {
  const healthSeen = a.healthSeen || b.healthSeen;
  const askedAt = [a.askHealthAt, b.askHealthAt].filter((at) => at !== null);
  return {
    needsGet: a.needsGet || b.needsGet,
    headSeen: a.headSeen || b.headSeen,
    healthSeen,
    askHealthAt: healthSeen || askedAt.length === 0 ? null : Math.max(...askedAt),
  };
}

/** The result of a check: its last attempt, and what happened before. */
export interface CheckResult extends Attempt {
  readonly serviceId: number;
  /** Revision of the definition that was checked. */
  readonly revision: number;
  /** Attempts made: 1 to 1 + the number of `checks.confirmAfter`. */
  readonly attempts: number;
  /** Start of the first failed attempt of this check, epoch milliseconds; null: none failed. */
  readonly firstFailedAt: number | null;
  /** The time at which the check ended, epoch milliseconds. */
  readonly endedAt: number;
  /** Longest delay of the thread's event loop during the check, milliseconds. */
  readonly loopDelayMs: number;
}

/** A check result after the offline rule of the node that made it. */
export interface RuledResult {
  readonly result: CheckResult;
  /** The fault may be ours: it becomes a suspect sample and changes no status. */
  readonly suspect: boolean;
  /** The region in which the check was made. */
  readonly region: string;
}
