/** The framing of the body of an HTTP/1.1 response (RFC 9112, 6 and 7.1). */
import type { FailureCause } from '../domain/failure.ts';
import type { Headers } from './response-head.ts';

export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** The body ends when the connection is closed. */
  | { readonly kind: 'close' }
  | { readonly kind: 'invalid'; readonly problem: FailureCause };

/** Returns how the body of a response to `method` is delimited. */
export function framingOf(method: string, statusCode: number, headers: Headers): Framing {
  const codings = codingsOf(headers['transfer-encoding']);
  // Content-Length is ignored then (RFC 9112, 6.3). There is only one response per connection, so smuggling is impossible.
  const chunked = codings.includes('chunked');
  const length = chunked ? null : lengthOf(headers);
  if (typeof length === 'object' && length !== null) return { kind: 'invalid', problem: length };
  if (method === 'HEAD' || statusCode === 204 || statusCode === 304) return { kind: 'none' };
  if (chunked) return { kind: 'chunked' };
  return length === null || codings.length > 0 ? { kind: 'close' } : { kind: 'length', bytes: length };
}

const NO_CODINGS: readonly string[] = [];

function codingsOf(field: Headers[string]): readonly string[] {
  if (field === undefined) return NO_CODINGS;
  return listOf(field)
    .map((coding) => coding.toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
}

/** The value of Content-Length; several equal values count as one (RFC 9112, 6.3), an empty one as none. A cause: it is invalid. */
function lengthOf(headers: Headers): number | FailureCause | null {
  const field = headers['content-length'];
  if (field === undefined) return null;
  const lengths = new Set(listOf(field).filter((length) => length !== ''));
  const [length] = lengths;
  if (length === undefined) return null;
  if (lengths.size > 1) return { code: 'lengths_contradict' };
  const bytes = /^\d+$/.test(length) ? Number(length) : Number.NaN;
  return Number.isSafeInteger(bytes) ? bytes : { code: 'length_invalid' };
}

function listOf(field: string | readonly string[]): string[] {
  const values = typeof field === 'string' ? [field] : field;
  return values.flatMap((value) => value.split(',')).map((item) => item.trim());
}

/** The outcome of reading a piece of the body. */
export type BodyProgress = 'more' | 'ended' | { readonly problem: FailureCause };

export interface BodyReader {
  /** Reads the bytes of `chunk` from `start` on. Passes the data of the body to `onData`, as views of `chunk`. */
  read(chunk: Buffer, start: number): BodyProgress;
  /** Tells the reader that the connection has ended. */
  end(): BodyProgress;
}

const CUT = { problem: { code: 'cut_in_body' } } as const;
const BAD_CHUNK = { problem: { code: 'chunk_invalid' } } as const;

export function createBodyReader(framing: Framing, onData: (data: Buffer) => void): BodyReader {
  if (framing.kind === 'chunked') return new ChunkReader(onData);
  let left =
    framing.kind === 'length' ? framing.bytes : framing.kind === 'close' ? Number.POSITIVE_INFINITY : 0;
  return {
    read(chunk, start) {
      const data = chunk.subarray(start, Math.min(chunk.length, start + left));
      left -= data.length;
      if (data.length > 0) onData(data);
      return left === 0 ? 'ended' : 'more';
    },
    end: () => (left === 0 || framing.kind === 'close' ? 'ended' : CUT),
  };
}

const LF = 0x0a;
/** Maximum length of a chunk's size line with its extensions, and maximum size of all trailers, bytes. */
const MAX_LINE_BYTES = 4096;
const MAX_TRAILER_BYTES = 65_536;

/** Reads a chunked body. Lines may end in a bare LF. */
class ChunkReader implements BodyReader {
  readonly #onData: (data: Buffer) => void;
  #state: 'size' | 'data' | 'behind' | 'trailers' = 'size';
  #left = 0;
  #line = '';
  #trailerBytes = 0;

  constructor(onData: (data: Buffer) => void) {
    this.#onData = onData;
  }

  read(chunk: Buffer, start: number): BodyProgress {
    let at = start;
    while (at < chunk.length) {
      if (this.#state === 'data') {
        const data = chunk.subarray(at, Math.min(chunk.length, at + this.#left));
        this.#left -= data.length;
        at += data.length;
        this.#onData(data);
        if (this.#left === 0) this.#state = 'behind';
        continue;
      }
      const end = chunk.indexOf(LF, at);
      this.#line += chunk.toString('latin1', at, end === -1 ? chunk.length : end);
      if (this.#line.length > MAX_LINE_BYTES) return BAD_CHUNK;
      if (end === -1) return 'more';
      at = end + 1;
      const line = this.#line.trim();
      this.#line = '';
      const progress = this.#take(line);
      if (progress !== 'more') return progress;
    }
    return 'more';
  }

  /** The connection has ended. After the last chunk only trailers follow, which are discarded. */
  end(): BodyProgress {
    return this.#state === 'trailers' ? 'ended' : CUT;
  }

  #take(line: string): BodyProgress {
    if (this.#state === 'behind') {
      if (line !== '') return BAD_CHUNK;
      this.#state = 'size';
    } else if (this.#state === 'size') {
      const [, digits] = /^0*([0-9a-f]{1,13})[ \t]*(?:;|$)/i.exec(line) ?? [];
      if (digits === undefined) return BAD_CHUNK;
      this.#left = Number.parseInt(digits, 16);
      this.#state = this.#left === 0 ? 'trailers' : 'data';
    } else {
      this.#trailerBytes += line.length;
      if (line === '') return 'ended';
      if (this.#trailerBytes > MAX_TRAILER_BYTES)
        return { problem: { code: 'trailers_too_long', maxBytes: MAX_TRAILER_BYTES } };
    }
    return 'more';
  }
}
