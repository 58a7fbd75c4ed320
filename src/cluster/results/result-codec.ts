/** The wire format of a node's results in Redis: a line of JSON, and the unchanged numbers of the packed results. */
import {
  describeCause,
  FAILURE_CLASSES,
  fromStoredFailure,
  PHASES,
  type StoredFailure,
  toStoredFailure,
} from '../../domain/failure.ts';
import { CLOCK_OFF_MS, MAX_CLOCK_OFFSET_MS } from '../../domain/node.ts';
import { isRegionName } from '../../domain/region.ts';
import type { CheckResult, RuledResult } from '../../domain/result.ts';
import { packResults, STRIDE, unpackResults } from '../../engine/protocol.ts';

/** Results of one node, in the order in which they were made. */
export interface NodeResults {
  readonly node: string;
  /** The node's wall clock minus the common clock of all nodes, milliseconds. */
  readonly clockOffsetMs: number;
  /** The results, all of one region. */
  readonly region: string;
  readonly results: readonly RuledResult[];
}

/** An entry of the stream. */
export interface EncodedResults {
  /** JSON. */
  readonly head: string;
  readonly numbers: Buffer;
}

/**
 * Versions of the format; a judge refuses others. Form 1 has no flag for `answered`: a result with a status code is one
 * with a response. Results for which that holds are written in form 1, so that a judge of an earlier version reads them.
 */
const FORMS = { statusCode: 1, answered: 2 } as const;

/** The JSON of an entry. An index is the number of a result, from 0. */
interface Head {
  readonly form: number;
  readonly node: string;
  readonly region: string;
  readonly offset: number;
  readonly suspect: readonly number[];
  /** Text for a judge of an earlier version, which may not know the cause. */
  readonly failures: readonly (readonly [index: number, failure: StoredFailure])[];
  readonly words: readonly (readonly [index: number, word: string])[];
}

export function encodeResults({ node, clockOffsetMs, region, results }: NodeResults): EncodedResults {
  const { numbers, failures, words } = packResults(results.map(({ result }) => result));
  const head: Head = {
    form: results.every(({ result }) => isPlain(result)) ? FORMS.statusCode : FORMS.answered,
    node,
    region,
    offset: clockOffsetMs,
    suspect: results.flatMap(({ suspect }, index) => (suspect ? [index] : [])),
    failures: failures.map(([index, failure]) => [index, toStoredFailure(failure)]),
    words,
  };
  return { head: JSON.stringify(head), numbers: Buffer.from(numbers.buffer) };
}

/** Returns true if an earlier version of the program would read the same from the result. */
function isPlain({ answered, statusCode }: CheckResult): boolean {
  return answered === (statusCode !== 0);
}

/** Decodes an entry; null: the entry does not have this format. */
export function decodeResults(head: string, numbers: Uint8Array): NodeResults | null {
  try {
    const { form, node, region, offset, suspect, failures, words } = JSON.parse(head) as Head;
    const isForm = form === FORMS.statusCode || form === FORMS.answered;
    const isHead = isForm && typeof node === 'string' && isRegionName(region);
    if (!isHead || !Number.isFinite(offset)) return null;
    const unpacked = unpackResults({
      numbers: numbersOf(numbers),
      failures: failures.map(([index, failure]) => [index, readFailure(failure)]),
      words: words.map(([index, word]) => [index, String(word)]),
    });
    if (!unpacked.every(isResult)) return null;
    const suspects = new Set(suspect);
    const results = unpacked.map((read, index) => {
      const result = form === FORMS.answered ? read : { ...read, answered: read.statusCode !== 0 };
      return { result, suspect: suspects.has(index), region };
    });
    return { node, clockOffsetMs: offset, region, results };
  } catch {
    // An invalid entry must not block the entries behind it.
    return null;
  }
}

/** Copies the bytes, since numbers must be aligned. Throws if they are not whole results, or not numbers of a result. */
function numbersOf(bytes: Uint8Array): Float64Array<ArrayBuffer> {
  const numbers = new Float64Array(new Uint8Array(bytes).buffer);
  const isNumber = (value: number) => Number.isNaN(value) || Math.abs(value) <= MAX_NUMBER;
  if (numbers.length % STRIDE !== 0 || !numbers.every(isNumber)) throw new Error('these are no results');
  return numbers;
}

/** Parses a failure. Throws if the value is not one. */
function readFailure(stored: StoredFailure): ReturnType<typeof fromStoredFailure> {
  const failure = fromStoredFailure(stored);
  const isKnown = FAILURE_CLASSES.includes(failure.class) && PHASES.includes(failure.phase);
  if (!isKnown || typeof describeCause(failure) !== 'string') throw new Error('it is no failure');
  return failure;
}

/** Returns true if the numbers are in the ranges that the program writes. Others could not be stored. */
function isResult(result: CheckResult): boolean {
  const { serviceId, revision, attempts, startedAt, endedAt, statusCode, loopDelayMs, lostMs } = result;
  const { responseTimeMs, firstFailedAt, certificateExpiresAt, memory } = result;
  return (
    [serviceId, revision, attempts].every((count) => Number.isInteger(count) && count > 0) &&
    [startedAt, endedAt, statusCode].every(Number.isInteger) &&
    [responseTimeMs, firstFailedAt, certificateExpiresAt, memory.askHealthAt].every(isIntegerOrNull) &&
    !Number.isNaN(loopDelayMs) &&
    !Number.isNaN(lostMs)
  );
}

const isIntegerOrNull = (value: number | null) => value === null || Number.isInteger(value);

/** Maximum of any number in a result: the last time of a date, epoch milliseconds (ECMA-262, 21.4.1.1). */
const MAX_NUMBER = 8.64e15;

/**
 * The results with corrected times. An offset below {@link CLOCK_OFF_MS} is not corrected, since it cannot be
 * distinguished from the time that a message takes. Null: the clock is off by more than {@link MAX_CLOCK_OFFSET_MS}.
 */
export function correctTimes({ clockOffsetMs, results }: NodeResults): readonly RuledResult[] | null {
  if (Math.abs(clockOffsetMs) > MAX_CLOCK_OFFSET_MS) return null;
  if (Math.abs(clockOffsetMs) < CLOCK_OFF_MS) return results;
  return results.map((ruled) => ({ ...ruled, result: withOffset(ruled.result, -clockOffsetMs) }));
}

/** Shifts all times of the node's clock. */
function withOffset(result: CheckResult, byMs: number): CheckResult {
  const { startedAt, endedAt, firstFailedAt, memory } = result;
  const { askHealthAt } = memory;
  return {
    ...result,
    startedAt: startedAt + byMs,
    endedAt: endedAt + byMs,
    firstFailedAt: firstFailedAt === null ? null : firstFailedAt + byMs,
    memory: askHealthAt === null ? memory : { ...memory, askHealthAt: askHealthAt + byMs },
  };
}
