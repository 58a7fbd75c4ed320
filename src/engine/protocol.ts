/**
 * Messages between the fleet supervisor (main thread) and a host (probe thread). Results and targets are packed: numbers in one transferred
 * Float64Array, and the few texts beside it. To clone a result as an object takes 4 µs; packed it takes a fraction of that.
 */
import type { MessagePort } from 'node:worker_threads';
import type { CheckTarget, CheckTiming } from '../domain/check-target.ts';
import type { UnreadableCredentials } from '../domain/credential-seal.ts';
import type { AddressRefusal, Failure } from '../domain/failure.ts';
import {
  MEMORY_BITS,
  memoryFlags,
  packTiming,
  unpackMemory,
  unpackNullable,
  unpackTiming,
} from '../domain/packed.ts';
import { type CheckResult, type ProbeMemory, SUSPECT_REASONS } from '../domain/result.ts';
import { type CheckDefinition, PROBED_KINDS, type ProbedKind } from '../domain/service.ts';

interface PackedTargets {
  /** {@link TARGET_STRIDE} numbers for each target; NaN stands for null. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly domains: readonly string[];
  /**
   * JSON of the list of checks that the numbers refer to by place. Those that are one object stay one. An object that was parsed takes a
   * third less memory than one that V8 has cloned, and less CPU time.
   */
  readonly checks: string;
}

const TARGET_STRIDE = 7;
const OWNED = 1;

export function packTargets(targets: readonly CheckTarget[]): PackedTargets {
  const numbers = new Float64Array(targets.length * TARGET_STRIDE);
  const places = new Map<CheckDefinition, number>();
  let at = 0;
  for (const { serviceId, revision, origin, accountId, check, memory, lastCheckedAt } of targets) {
    const place = places.get(check) ?? places.size;
    if (place === places.size) places.set(check, place);
    numbers[at++] = serviceId;
    numbers[at++] = revision;
    numbers[at++] = place;
    numbers[at++] = lastCheckedAt ?? Number.NaN;
    numbers[at++] = memory.askHealthAt ?? Number.NaN;
    numbers[at++] = accountId ?? Number.NaN;
    numbers[at++] = (origin === 'owner' ? OWNED : 0) | memoryFlags(memory, MEMORY_BITS);
  }
  const checks = JSON.stringify([...places.keys()]);
  return { numbers, domains: targets.map(({ domain }) => domain), checks };
}

/** The packed targets in order, each made when it is its turn. */
export function* unpackTargets({ numbers, domains, checks }: PackedTargets): Generator<CheckTarget, void> {
  const definitions: readonly CheckDefinition[] = JSON.parse(checks);
  for (const [index, domain] of domains.entries()) {
    const at = index * TARGET_STRIDE;
    const flags = numbers[at + 6] as number;
    yield {
      serviceId: numbers[at] as number,
      revision: numbers[at + 1] as number,
      domain,
      origin: (flags & OWNED) === 0 ? 'catalogue' : 'owner',
      accountId: unpackNullable(numbers[at + 5]),
      check: definitions[numbers[at + 2] as number] as CheckDefinition,
      memory: unpackMemory(flags, numbers[at + 4], MEMORY_BITS),
      lastCheckedAt: unpackNullable(numbers[at + 3]),
    };
  }
}

/** Settings of the engine; all durations in milliseconds. They are the times of services that set none. */
export interface EngineSettings extends CheckTiming {
  /** The first checks of all services are spread over this. */
  readonly firstSpreadMs: number;
  /** Maximum number of attempts in flight per host. */
  readonly concurrency: number;
}

export type ToHost =
  /**
   * Adds services or changes their definitions. Those without a check in the last interval are due within `spreadMs`, which begin
   * in `aheadMs`.
   * `notBefore`: services that must not be checked before a time (epoch milliseconds).
   */
  | {
      readonly type: 'assign';
      readonly services: PackedTargets;
      readonly spreadMs: number;
      readonly aheadMs: number;
      readonly notBefore: readonly (readonly [serviceId: number, at: number])[];
    }
  | { readonly type: 'remove'; readonly serviceIds: readonly number[] }
  /** Checks services again, spread over `spreadMs` (after the prober was offline). */
  | { readonly type: 'recheck'; readonly serviceIds: readonly number[]; readonly spreadMs: number }
  /**
   * Checks are due this much later than the phase of their service, from now on. A service with an interval of its own is
   * shifted by the same part of it.
   */
  | { readonly type: 'shift'; readonly phaseShiftMs: number }
  | { readonly type: 'stop' };

/** A name that resolves to an address that may not be probed. */
export interface ForbiddenTarget {
  readonly host: string;
  readonly address: string;
  readonly refusal: AddressRefusal;
}

/** An attempt that met a bug of this program. */
export interface BrokenAttempt {
  readonly serviceId: number;
  readonly domain: string;
  /** The stack of the error. */
  readonly problem: string;
}

/** From a host to the supervisor. Every message carries the epoch of the host's life. */
export type FromHost =
  /** `threadId` is Node's number of the worker thread. */
  | { readonly type: 'ready'; readonly epoch: number; readonly threadId: number }
  /** The thread has taken the services of one `assign`. */
  | { readonly type: 'assigned'; readonly epoch: number }
  | { readonly type: 'results'; readonly epoch: number; readonly packed: PackedResults }
  /** A first attempt failed without an HTTP response, so that the control targets are requested. Coalesced by the host. */
  | { readonly type: 'doubt'; readonly epoch: number; readonly failedAt: number }
  /** An attempt has waited so long that it may become slow, perhaps by a delay of our connection. Coalesced by the host. */
  | { readonly type: 'delay'; readonly epoch: number }
  /** A name resolves to an address that may not be probed; for the operator's log only. */
  | { readonly type: 'forbidden'; readonly epoch: number; readonly found: ForbiddenTarget }
  /** The credentials of a check cannot be decrypted; for the operator's log only. */
  | { readonly type: 'unreadable'; readonly epoch: number; readonly found: UnreadableCredentials }
  /** Checks wait because an address has as many connections as it may; for the operator's log only. */
  | { readonly type: 'busy'; readonly epoch: number; readonly address: string }
  /** An attempt met a bug of this program; for the operator's log only. */
  | { readonly type: 'broken'; readonly epoch: number; readonly found: BrokenAttempt }
  | { readonly type: 'report'; readonly epoch: number; readonly report: HostReport }
  | { readonly type: 'stopped'; readonly epoch: number };

/** State of a host, sent once a second. */
export interface HostReport {
  readonly services: number;
  readonly openChecks: number;
  /** Checks that are due and not started. */
  readonly waiting: number;
  /** Checks completed since the start of the host. */
  readonly checksDone: number;
  /** Delays of checks against their due times in the last second, milliseconds: median, 99th percentile and maximum. */
  readonly startDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Longest delay of the thread's event loop in the last second, milliseconds. */
  readonly loopDelayMs: number;
  readonly shares: SlotShares;
  /** Attempts since the start of the host that were put off, because their address had as many connections as it may. */
  readonly postponed: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
}

/** Slots that are held, and checks that are due and wait for one. */
interface SlotUse {
  readonly held: number;
  readonly waiting: number;
}

/** Who holds how many slots of a host. */
export interface SlotShares {
  readonly catalogue: SlotUse;
  readonly owners: SlotUse;
  /** Slots of checks whose last attempts took long. */
  readonly heldLong: number;
  /** Slots of the account that holds most, without the catalogue. */
  readonly mostOfAccount: number;
  /** Checks that wait because their account is at a bound. */
  readonly heldUp: number;
  /** The accounts of these checks, those with most first; not all if there are many. */
  readonly bounded: readonly ({ readonly accountId: number } & SlotUse)[];
}

/** The arguments of a host; they cross the thread boundary. */
export interface HostTask {
  readonly epoch: number;
  /** The host's end of the channel; transferred. */
  readonly port: MessagePort;
  /** A counter that the host increments in every tick while its event loop turns. */
  readonly loopTicks: SharedArrayBuffer;
  /**
   * The attempts in flight: a Float64 for each slot, 1 + the number of the service, or 0. The supervisor reads it after a
   * crash; absent: it does not.
   */
  readonly inFlight?: SharedArrayBuffer;
  /** Until when attempts may be started; absent: always. */
  readonly startPermit?: SharedArrayBuffer;
  readonly settings: EngineSettings;
  /** The settings that the thread's entry needs to make attempts. */
  readonly prober: unknown;
}

/** A batch that crosses threads. */
interface PackedResults {
  /** {@link STRIDE} numbers for each result; NaN stands for null. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** Failures by the index of their result. */
  readonly failures: readonly (readonly [index: number, failure: Failure])[];
  /** Words of health bodies by the index of their result. */
  readonly words: readonly (readonly [index: number, word: string])[];
}

/** Numbers of one packed result. */
export const STRIDE = 19;
const REPORTED = [null, 'up', 'slow', 'down'] as const;
const BLOCKED = 1;
const VIA_HEALTH = 2;
const REPORTED_SHIFT = 4;
const SUSPECT_SHIFT = 6;
const MEMORY = { needsGet: 4, headSeen: 256, healthSeen: 8 };
const HEAD_UNPROVEN = 512;
const ANSWERED = 1024;
/** From here on, five bits with the place of the kind in `PROBED_KINDS`; `health` has a flag of its own beside it. */
const VIA_SHIFT = 11;
const VIA_MASK = 31;

export function packResults(results: readonly CheckResult[]): PackedResults {
  const numbers = new Float64Array(results.length * STRIDE);
  const failures: [number, Failure][] = [];
  const words: [number, string][] = [];
  results.forEach((result, index) => {
    const { timing, memory } = result;
    if (result.failure !== null) failures.push([index, result.failure]);
    if (result.reportedWord !== null) words.push([index, result.reportedWord]);
    let at = index * STRIDE;
    numbers[at++] = result.serviceId;
    numbers[at++] = result.revision;
    numbers[at++] = result.attempts;
    numbers[at++] = result.startedAt;
    numbers[at++] = result.endedAt;
    numbers[at++] = result.firstFailedAt ?? Number.NaN;
    numbers[at++] = result.loopDelayMs;
    numbers[at++] = result.lostMs;
    numbers[at++] = result.statusCode;
    numbers[at++] = result.responseTimeMs ?? Number.NaN;
    packTiming(numbers, at, timing);
    at += 5;
    numbers[at++] = result.certificateExpiresAt ?? Number.NaN;
    numbers[at++] = result.retryAfterMs ?? Number.NaN;
    numbers[at++] = memory.askHealthAt ?? Number.NaN;
    numbers[at] = flagsOf(result, memory);
  });
  return { numbers, failures, words };
}

export function unpackResults({ numbers, failures, words }: PackedResults): CheckResult[] {
  const failureOf = new Map(failures);
  const wordOf = new Map(words);
  return Array.from({ length: numbers.length / STRIDE }, (_, index) => {
    let at = index * STRIDE;
    const take = () => numbers[at++] as number;
    const takeNullable = () => unpackNullable(take());
    const serviceId = take();
    const revision = take();
    const attempts = take();
    const startedAt = take();
    const endedAt = take();
    const firstFailedAt = takeNullable();
    const loopDelayMs = take();
    const lostMs = take();
    const statusCode = take();
    const responseTimeMs = takeNullable();
    const timing = unpackTiming(numbers, at);
    at += 5;
    const certificateExpiresAt = takeNullable();
    const retryAfterMs = takeNullable();
    const askHealthAt = take();
    const flags = take();
    return {
      serviceId,
      revision,
      attempts,
      firstFailedAt,
      endedAt,
      loopDelayMs,
      lostMs,
      startedAt,
      answered: (flags & ANSWERED) !== 0,
      statusCode,
      responseTimeMs,
      timing,
      failure: failureOf.get(index) ?? null,
      reported: REPORTED[(flags >> REPORTED_SHIFT) & 3] ?? null,
      reportedWord: wordOf.get(index) ?? null,
      blocked: (flags & BLOCKED) !== 0,
      via: kindOf(flags),
      certificateExpiresAt,
      retryAfterMs,
      suspect: SUSPECT_REASONS[((flags >> SUSPECT_SHIFT) & 3) - 1] ?? null,
      headUnproven: (flags & HEAD_UNPROVEN) !== 0,
      memory: unpackMemory(flags, askHealthAt, MEMORY),
    };
  });
}

/** The kind of check in the flags. Throws for a kind of a later version. */
function kindOf(flags: number): ProbedKind {
  const kind = (flags & VIA_HEALTH) === 0 ? PROBED_KINDS[(flags >> VIA_SHIFT) & VIA_MASK] : 'health';
  if (kind === undefined) throw new RangeError('the kind of a check is not known');
  return kind;
}

function flagsOf(result: CheckResult, memory: ProbeMemory): number {
  const suspect = result.suspect === null ? 0 : SUSPECT_REASONS.indexOf(result.suspect) + 1;
  return (
    (result.blocked ? BLOCKED : 0) |
    (result.via === 'health' ? VIA_HEALTH : PROBED_KINDS.indexOf(result.via) << VIA_SHIFT) |
    memoryFlags(memory, MEMORY) |
    (result.headUnproven ? HEAD_UNPROVEN : 0) |
    (result.answered ? ANSWERED : 0) |
    (REPORTED.indexOf(result.reported) << REPORTED_SHIFT) |
    (suspect << SUSPECT_SHIFT)
  );
}

export interface StartPermit {
  /** For {@link readStartPermit} in the threads. */
  readonly shared: SharedArrayBuffer;
  /** Attempts may be started until `untilNs`, in place of what was set before. */
  set(untilNs: bigint): void;
  /** No attempt may be started from now on. */
  revoke(): void;
}

export function createStartPermit(): StartPermit {
  const shared = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  const until = new BigInt64Array(shared);
  return {
    shared,
    set: (untilNs) => void Atomics.store(until, 0, untilNs),
    revoke: () => void Atomics.store(until, 0, 0n),
  };
}

/** Tells whether an attempt may be started now; without a permit always. */
export function readStartPermit(
  shared: SharedArrayBuffer | undefined,
  nowNs: () => bigint = process.hrtime.bigint,
): () => boolean {
  if (shared === undefined) return () => true;
  const until = new BigInt64Array(shared);
  return () => nowNs() < Atomics.load(until, 0);
}
