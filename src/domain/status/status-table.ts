/**
 * Current statuses by service as rows of numbers: 85 bytes each instead of 350 as objects, and nothing for the garbage
 * collector to follow. A status that does not fit a row, such as one with a failure or with regions, is kept as it is.
 */

import { packTiming, SOURCES, unpackNullable, unpackTiming } from '../packed.ts';
import { NO_TIMING } from '../result.ts';
import { SERVICE_STATUSES, type ServiceStatus, type Verdict } from '../status.ts';
import { type CurrentStatus, headOf, type LatestCheck, type StatusHead } from './current.ts';

/** Rows of a chunk. */
const CHUNK = 512;
/** Doubles of a row: the times of status and latest check, the phases of its timing. NaN stands for null. */
const DOUBLES = 9;
/** Whole numbers of a row: `seq`, response time, flags. */
const INTEGERS = 3;
/** A row without a response time. */
const NO_TIME = 2 ** 32 - 1;
const MAX_INTEGER = NO_TIME - 1;

// Flags of a row. A service without a status has 0.
const IS_PRESENT = 1;
/** The status is kept as it is. */
const IS_WHOLE = 2;
const HAS_LATEST = 4;
const IS_BLOCKED = 8;
const STATUS_SHIFT = 4;
const VERDICT_SHIFT = 6;
const SOURCE_SHIFT = 8;
/** Status codes have 16 bits. */
const CODE_SHIFT = 13;
const MAX_CODE = 65_535;

/** Different words of health bodies that are numbered; 0: none. Statuses with further words are kept as they are. */
const MAX_WORDS = 255;

interface Chunk {
  readonly doubles: Float64Array;
  readonly integers: Uint32Array;
  readonly words: Uint8Array;
  /** Services with a status. */
  size: number;
}

/** A map from services to their statuses. What it returns is equal to what was stored, but not the same object. */
export class StatusTable {
  readonly #chunks = new Map<number, Chunk>();
  readonly #whole = new Map<number, CurrentStatus>();
  readonly #words: string[] = [];
  readonly #numberOfWord = new Map<string, number>();
  /** A row to compare with. */
  readonly #scratch = createChunk(1);
  #size = 0;

  /** Services with a status. */
  get size(): number {
    return this.#size;
  }

  /** Undefined: the service has no status here. */
  get(serviceId: number): CurrentStatus | undefined {
    const chunk = this.#chunkOf(serviceId);
    const row = serviceId % CHUNK;
    const flags = flagsOf(chunk, row);
    if (chunk === undefined || (flags & IS_PRESENT) === 0) return undefined;
    return (flags & IS_WHOLE) !== 0 ? this.#whole.get(serviceId) : this.#unpack(chunk, row, flags, serviceId);
  }

  /** The head of a status, which costs less to read; of a status with regions or a failure the whole of it. */
  shortOf(serviceId: number): CurrentStatus | StatusHead | undefined {
    const chunk = this.#chunkOf(serviceId);
    const row = serviceId % CHUNK;
    const flags = flagsOf(chunk, row);
    if (chunk === undefined || (flags & IS_PRESENT) === 0) return undefined;
    if ((flags & IS_WHOLE) !== 0) return this.#whole.get(serviceId);
    const { doubles, integers } = chunk;
    return {
      serviceId,
      seq: integers[row * INTEGERS] as number,
      observedAt: doubles[row * DOUBLES] as number,
      status: statusOf(flags),
      checkedAt: unpackNullable(doubles[row * DOUBLES + 2]),
    };
  }

  /** Undefined: the service has no status here. */
  headOf(serviceId: number): StatusHead | undefined {
    const short = this.shortOf(serviceId);
    return short !== undefined && 'latest' in short ? headOf(short) : short;
  }

  /** Returns true if the service has this status, or an equal one in a row. */
  holds(status: CurrentStatus): boolean {
    const { serviceId } = status;
    const chunk = this.#chunkOf(serviceId);
    const row = serviceId % CHUNK;
    const flags = flagsOf(chunk, row);
    if (chunk === undefined || (flags & IS_PRESENT) === 0) return false;
    if ((flags & IS_WHOLE) !== 0) return this.#whole.get(serviceId) === status;
    return this.#pack(this.#scratch, 0, status) && isSameRow(this.#scratch, 0, chunk, row);
  }

  /** Replaces the status of its service. Throws a RangeError unless that is a whole number from 0. */
  set(status: CurrentStatus): void {
    const { serviceId } = status;
    if (!Number.isSafeInteger(serviceId) || serviceId < 0) throw new RangeError(`${serviceId} is no id`);
    const number = Math.floor(serviceId / CHUNK);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      chunk = createChunk();
      this.#chunks.set(number, chunk);
    }
    const row = serviceId % CHUNK;
    const before = flagsOf(chunk, row);
    if ((before & IS_PRESENT) === 0) {
      chunk.size++;
      this.#size++;
    }
    if (this.#pack(chunk, row, status)) {
      if ((before & IS_WHOLE) !== 0) this.#whole.delete(serviceId);
    } else {
      chunk.integers[row * INTEGERS + 2] = IS_PRESENT | IS_WHOLE;
      this.#whole.set(serviceId, status);
    }
  }

  /** False: the service had no status here. */
  delete(serviceId: number): boolean {
    const chunk = this.#chunkOf(serviceId);
    const row = serviceId % CHUNK;
    if (chunk === undefined || (flagsOf(chunk, row) & IS_PRESENT) === 0) return false;
    chunk.integers[row * INTEGERS + 2] = 0;
    this.#whole.delete(serviceId);
    this.#size--;
    if (--chunk.size === 0) this.#chunks.delete(Math.floor(serviceId / CHUNK));
    return true;
  }

  /** The services with a status, in ascending order. They may be deleted meanwhile. */
  *serviceIds(): Generator<number, void, undefined> {
    for (const number of [...this.#chunks.keys()].sort((a, b) => a - b)) {
      const chunk = this.#chunks.get(number);
      for (let row = 0; row < CHUNK; row++)
        if ((flagsOf(chunk, row) & IS_PRESENT) !== 0) yield number * CHUNK + row;
    }
  }

  #chunkOf(serviceId: number): Chunk | undefined {
    return this.#chunks.get(Math.floor(serviceId / CHUNK));
  }

  /** False: the status does not fit a row. */
  #pack({ doubles, integers, words }: Chunk, row: number, status: CurrentStatus): boolean {
    const { seq, latest } = status;
    if (status.regions !== undefined || status.scope !== undefined || !isInteger(seq, MAX_INTEGER))
      return false;
    let flags = IS_PRESENT | (SERVICE_STATUSES.indexOf(status.status) << STATUS_SHIFT);
    let word = 0;
    if (latest !== null) {
      const { responseTimeMs, statusCode, reported } = latest;
      const source = SOURCES.indexOf(latest.source);
      if (latest.failure !== null || source === -1 || !isInteger(statusCode, MAX_CODE)) return false;
      if (responseTimeMs !== null && !isInteger(responseTimeMs, MAX_INTEGER)) return false;
      const wordNumber = reported === null ? 0 : this.#numberWord(reported);
      if (wordNumber === null) return false;
      word = wordNumber;
      flags |= HAS_LATEST | (latest.blocked ? IS_BLOCKED : 0) | (source << SOURCE_SHIFT);
      flags |= (SERVICE_STATUSES.indexOf(latest.status) << VERDICT_SHIFT) | (statusCode << CODE_SHIFT);
    }
    let at = row * DOUBLES;
    doubles[at++] = status.observedAt;
    doubles[at++] = status.since ?? Number.NaN;
    doubles[at++] = latest?.checkedAt ?? Number.NaN;
    doubles[at++] = latest?.certificateExpiresAt ?? Number.NaN;
    packTiming(doubles, at, latest?.timing ?? NO_TIMING);
    integers[row * INTEGERS] = seq;
    integers[row * INTEGERS + 1] = latest?.responseTimeMs ?? NO_TIME;
    integers[row * INTEGERS + 2] = flags;
    words[row] = word;
    return true;
  }

  #unpack({ doubles, integers, words }: Chunk, row: number, flags: number, serviceId: number): CurrentStatus {
    const seq = integers[row * INTEGERS] as number;
    const responseTimeMs = integers[row * INTEGERS + 1] as number;
    const at = row * DOUBLES;
    const observedAt = doubles[at] as number;
    const since = unpackNullable(doubles[at + 1]);
    const status = statusOf(flags);
    if ((flags & HAS_LATEST) === 0) return { serviceId, seq, observedAt, status, since, latest: null };
    // The order of the members is that of a check that was just made, so that both have the same JSON.
    const latest: LatestCheck = {
      status: SERVICE_STATUSES[(flags >>> VERDICT_SHIFT) & 3] as Verdict,
      responseTimeMs: responseTimeMs === NO_TIME ? null : responseTimeMs,
      statusCode: flags >>> CODE_SHIFT,
      checkedAt: doubles[at + 2] as number,
      source: SOURCES[(flags >>> SOURCE_SHIFT) & 31] as LatestCheck['source'],
      reported: this.#words[(words[row] as number) - 1] ?? null,
      failure: null,
      blocked: (flags & IS_BLOCKED) !== 0,
      timing: unpackTiming(doubles, at + 4),
      certificateExpiresAt: unpackNullable(doubles[at + 3]),
    };
    return { serviceId, seq, observedAt, status, since, latest };
  }

  /** The number of a word, from 1; null: there are too many. */
  #numberWord(word: string): number | null {
    const known = this.#numberOfWord.get(word);
    if (known !== undefined) return known;
    if (this.#words.length >= MAX_WORDS) return null;
    const number = this.#words.push(word);
    this.#numberOfWord.set(word, number);
    return number;
  }
}

function createChunk(rows = CHUNK): Chunk {
  const integersAt = rows * DOUBLES * Float64Array.BYTES_PER_ELEMENT;
  const wordsAt = integersAt + rows * INTEGERS * Uint32Array.BYTES_PER_ELEMENT;
  const buffer = new ArrayBuffer(wordsAt + rows);
  return {
    doubles: new Float64Array(buffer, 0, rows * DOUBLES),
    integers: new Uint32Array(buffer, integersAt, rows * INTEGERS),
    words: new Uint8Array(buffer, wordsAt, rows),
    size: 0,
  };
}

function isSameRow(a: Chunk, rowOfA: number, b: Chunk, rowOfB: number): boolean {
  for (let at = 0; at < INTEGERS; at++)
    if (a.integers[rowOfA * INTEGERS + at] !== b.integers[rowOfB * INTEGERS + at]) return false;
  for (let at = 0; at < DOUBLES; at++)
    if (!Object.is(a.doubles[rowOfA * DOUBLES + at], b.doubles[rowOfB * DOUBLES + at])) return false;
  return a.words[rowOfA] === b.words[rowOfB];
}

function flagsOf(chunk: Chunk | undefined, row: number): number {
  return chunk?.integers[row * INTEGERS + 2] ?? 0;
}

function statusOf(flags: number): ServiceStatus {
  return SERVICE_STATUSES[(flags >>> STATUS_SHIFT) & 3] as ServiceStatus;
}

function isInteger(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
