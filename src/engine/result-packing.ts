/**
 * Packs results for the message between threads: numbers in one transferred Float64Array, and the few texts beside it.
 * To clone a result as an object takes 4 µs; packed it takes a fraction of that.
 */
import type { Failure } from '../domain/failure.ts';
import { type CheckResult, type ProbeMemory, SUSPECT_REASONS, type Timing } from '../domain/result.ts';

/** A batch that crosses threads. */
export interface PackedResults {
  /** {@link STRIDE} numbers for each result; NaN stands for null. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** Failures by the index of their result. */
  readonly failures: readonly (readonly [index: number, failure: Failure])[];
  /** Words of health bodies by the index of their result. */
  readonly words: readonly (readonly [index: number, word: string])[];
}

const STRIDE = 19;
const REPORTED = [null, 'up', 'slow', 'down'] as const;
const BLOCKED = 1;
const VIA_HEALTH = 2;
const NEEDS_GET = 4;
const HEALTH_SEEN = 8;
const REPORTED_SHIFT = 4;
const SUSPECT_SHIFT = 6;
const HEAD_SEEN = 256;
const HEAD_UNPROVEN = 512;

/** Packs results in order. */
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
    numbers[at++] = timing.dnsMs ?? Number.NaN;
    numbers[at++] = timing.connectMs ?? Number.NaN;
    numbers[at++] = timing.tlsMs ?? Number.NaN;
    numbers[at++] = timing.firstByteMs ?? Number.NaN;
    numbers[at++] = timing.totalMs ?? Number.NaN;
    numbers[at++] = result.certificateExpiresAt ?? Number.NaN;
    numbers[at++] = result.retryAfterMs ?? Number.NaN;
    numbers[at++] = memory.askHealthAt ?? Number.NaN;
    numbers[at] = flagsOf(result, memory);
  });
  return { numbers, failures, words };
}

/** The packed results in order. */
export function unpackResults({ numbers, failures, words }: PackedResults): CheckResult[] {
  const failureOf = new Map(failures);
  const wordOf = new Map(words);
  return Array.from({ length: numbers.length / STRIDE }, (_, index) => {
    let at = index * STRIDE;
    const take = () => numbers[at++] as number;
    const takeNullable = () => {
      const value = take();
      return Number.isNaN(value) ? null : value;
    };
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
    const timing: Timing = {
      dnsMs: takeNullable(),
      connectMs: takeNullable(),
      tlsMs: takeNullable(),
      firstByteMs: takeNullable(),
      totalMs: takeNullable(),
    };
    const certificateExpiresAt = takeNullable();
    const retryAfterMs = takeNullable();
    const askHealthAt = takeNullable();
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
      statusCode,
      responseTimeMs,
      timing,
      failure: failureOf.get(index) ?? null,
      reported: REPORTED[(flags >> REPORTED_SHIFT) & 3] ?? null,
      reportedWord: wordOf.get(index) ?? null,
      blocked: (flags & BLOCKED) !== 0,
      via: (flags & VIA_HEALTH) === 0 ? 'root' : 'health',
      certificateExpiresAt,
      retryAfterMs,
      suspect: SUSPECT_REASONS[((flags >> SUSPECT_SHIFT) & 3) - 1] ?? null,
      headUnproven: (flags & HEAD_UNPROVEN) !== 0,
      memory: {
        needsGet: (flags & NEEDS_GET) !== 0,
        headSeen: (flags & HEAD_SEEN) !== 0,
        healthSeen: (flags & HEALTH_SEEN) !== 0,
        askHealthAt,
      },
    };
  });
}

function flagsOf(result: CheckResult, memory: ProbeMemory): number {
  const suspect = result.suspect === null ? 0 : SUSPECT_REASONS.indexOf(result.suspect) + 1;
  return (
    (result.blocked ? BLOCKED : 0) |
    (result.via === 'health' ? VIA_HEALTH : 0) |
    (memory.needsGet ? NEEDS_GET : 0) |
    (memory.headSeen ? HEAD_SEEN : 0) |
    (memory.healthSeen ? HEALTH_SEEN : 0) |
    (result.headUnproven ? HEAD_UNPROVEN : 0) |
    (REPORTED.indexOf(result.reported) << REPORTED_SHIFT) |
    (suspect << SUSPECT_SHIFT)
  );
}
