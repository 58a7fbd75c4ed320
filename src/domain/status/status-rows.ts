/** Checks with the times of their status as rows of numbers in typed arrays. A check that does not fit a row is refused. */
import { packTiming, SOURCES, unpackNullable, unpackTiming } from '../packed.ts';
import { NO_TIMING } from '../result.ts';
import { SERVICE_STATUSES, type ServiceStatus, type Verdict } from '../status.ts';
import type { LatestCheck } from './current.ts';

/** Doubles of a row: the times of status and check, the phases of its timing. NaN stands for null. */
const DOUBLES = 9;
/** Whole numbers of a row: one that the caller gives, response time, flags. */
const INTEGERS = 3;
/** A row without a response time. */
const NO_TIME = 2 ** 32 - 1;
const MAX_INTEGER = NO_TIME - 1;

// Flags of a row. Bits 0, 1 and 29 to 31 are the caller's; a row that was never written has none.
const HAS_CHECK = 4;
const IS_BLOCKED = 8;
const STATUS_SHIFT = 4;
const VERDICT_SHIFT = 6;
const SOURCE_SHIFT = 8;
/** Status codes have 16 bits. */
const CODE_SHIFT = 13;
const MAX_CODE = 65_535;
const CHECK_FLAGS =
  HAS_CHECK | IS_BLOCKED | (3 << VERDICT_SHIFT) | (31 << SOURCE_SHIFT) | (MAX_CODE << CODE_SHIFT);

/** Different words of health bodies that are numbered; 0: none. Checks with further words do not fit a row. */
const MAX_WORDS = 255;

export interface Rows {
  readonly doubles: Float64Array;
  readonly integers: Uint32Array;
  readonly words: Uint8Array;
}

/** The content of a row. Times are epoch milliseconds. */
export interface RowContent {
  /** A whole number of 32 bits. */
  readonly number: number;
  /** Those of the caller. */
  readonly flags: number;
  readonly observedAt: number;
  readonly since: number | null;
  readonly status: ServiceStatus;
  readonly check: LatestCheck | null;
}

/** Makes rows that were never written. */
export function createRows(count: number): Rows {
  const integersAt = count * DOUBLES * Float64Array.BYTES_PER_ELEMENT;
  const wordsAt = integersAt + count * INTEGERS * Uint32Array.BYTES_PER_ELEMENT;
  const buffer = new ArrayBuffer(wordsAt + count);
  return {
    doubles: new Float64Array(buffer, 0, count * DOUBLES),
    integers: new Uint32Array(buffer, integersAt, count * INTEGERS),
    words: new Uint8Array(buffer, wordsAt, count),
  };
}

/** The words of health bodies in rows, by number. */
export class RowWords {
  readonly #words: string[] = [];
  readonly #numberOf = new Map<string, number>();

  /** The number of a word, from 1, 0 for none; null: there are too many. */
  numberOf(word: string | null): number | null {
    if (word === null) return 0;
    const known = this.#numberOf.get(word);
    if (known !== undefined) return known;
    if (this.#words.length >= MAX_WORDS) return null;
    const number = this.#words.push(word);
    this.#numberOf.set(word, number);
    return number;
  }

  wordOf(number: number): string | null {
    return this.#words[number - 1] ?? null;
  }
}

/** Writes a row. False: the content does not fit, and nothing was written. */
export function packRow(
  { doubles, integers, words }: Rows,
  row: number,
  content: RowContent,
  known: RowWords,
): boolean {
  const { number, observedAt, since, status, check } = content;
  if (!isInteger(number, MAX_INTEGER)) return false;
  let flags = content.flags | (SERVICE_STATUSES.indexOf(status) << STATUS_SHIFT);
  let word = 0;
  if (check !== null) {
    const { responseTimeMs, statusCode, reported } = check;
    const source = SOURCES.indexOf(check.source);
    if (check.failure !== null || source === -1 || !isInteger(statusCode, MAX_CODE)) return false;
    if (responseTimeMs !== null && !isInteger(responseTimeMs, MAX_INTEGER)) return false;
    const wordNumber = known.numberOf(reported);
    if (wordNumber === null) return false;
    word = wordNumber;
    flags |= HAS_CHECK | (check.blocked ? IS_BLOCKED : 0) | (source << SOURCE_SHIFT);
    flags |= (SERVICE_STATUSES.indexOf(check.status) << VERDICT_SHIFT) | (statusCode << CODE_SHIFT);
  }
  let at = row * DOUBLES;
  doubles[at++] = observedAt;
  doubles[at++] = since ?? Number.NaN;
  doubles[at++] = check?.checkedAt ?? Number.NaN;
  doubles[at++] = check?.certificateExpiresAt ?? Number.NaN;
  packTiming(doubles, at, check?.timing ?? NO_TIMING);
  integers[row * INTEGERS] = number;
  integers[row * INTEGERS + 1] = check?.responseTimeMs ?? NO_TIME;
  integers[row * INTEGERS + 2] = flags;
  words[row] = word;
  return true;
}

/** The check of a row; null: it has none. */
export function checkOf(
  { doubles, integers, words }: Rows,
  row: number,
  known: RowWords,
): LatestCheck | null {
  const flags = integers[row * INTEGERS + 2] as number;
  if ((flags & HAS_CHECK) === 0) return null;
  const responseTimeMs = integers[row * INTEGERS + 1] as number;
  const at = row * DOUBLES;
  // The order of the members is that of a check that was just made, so that both have the same JSON.
  return {
    status: SERVICE_STATUSES[(flags >>> VERDICT_SHIFT) & 3] as Verdict,
    responseTimeMs: responseTimeMs === NO_TIME ? null : responseTimeMs,
    statusCode: (flags >>> CODE_SHIFT) & MAX_CODE,
    checkedAt: doubles[at + 2] as number,
    source: SOURCES[(flags >>> SOURCE_SHIFT) & 31] as LatestCheck['source'],
    reported: known.wordOf(words[row] as number),
    failure: null,
    blocked: (flags & IS_BLOCKED) !== 0,
    timing: unpackTiming(doubles, at + 4),
    certificateExpiresAt: unpackNullable(doubles[at + 3]),
  };
}

export function flagsOf({ integers }: Rows, row: number): number {
  return integers[row * INTEGERS + 2] as number;
}

export function setFlags({ integers }: Rows, row: number, flags: number): void {
  integers[row * INTEGERS + 2] = flags;
}

export function numberOf({ integers }: Rows, row: number): number {
  return integers[row * INTEGERS] as number;
}

export function statusOf(rows: Rows, row: number): ServiceStatus {
  return SERVICE_STATUSES[(flagsOf(rows, row) >>> STATUS_SHIFT) & 3] as ServiceStatus;
}

export function observedAtOf({ doubles }: Rows, row: number): number {
  return doubles[row * DOUBLES] as number;
}

export function sinceOf({ doubles }: Rows, row: number): number | null {
  return unpackNullable(doubles[row * DOUBLES + 1]);
}

/** Null: the row has no check. */
export function checkedAtOf({ doubles }: Rows, row: number): number | null {
  return unpackNullable(doubles[row * DOUBLES + 2]);
}

/** Returns true if two rows hold the same. */
export function isSameRow(a: Rows, rowOfA: number, b: Rows, rowOfB: number): boolean {
  for (let at = 0; at < INTEGERS; at++)
    if (a.integers[rowOfA * INTEGERS + at] !== b.integers[rowOfB * INTEGERS + at]) return false;
  for (let at = 0; at < DOUBLES; at++)
    if (!Object.is(a.doubles[rowOfA * DOUBLES + at], b.doubles[rowOfB * DOUBLES + at])) return false;
  return a.words[rowOfA] === b.words[rowOfB];
}

/** Returns true if two rows have the same check, or none. */
export function isSameCheckRow(a: Rows, rowOfA: number, b: Rows, rowOfB: number): boolean {
  if (((flagsOf(a, rowOfA) ^ flagsOf(b, rowOfB)) & CHECK_FLAGS) !== 0) return false;
  if (a.integers[rowOfA * INTEGERS + 1] !== b.integers[rowOfB * INTEGERS + 1]) return false;
  for (let at = 2; at < DOUBLES; at++)
    if (!Object.is(a.doubles[rowOfA * DOUBLES + at], b.doubles[rowOfB * DOUBLES + at])) return false;
  return a.words[rowOfA] === b.words[rowOfB];
}

function isInteger(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
