/**
 * Parses the head of an HTTP/1.1 response line by line as it arrives (RFC 9112, 2 to 5), and parses `Retry-After`. The parser accepts
 * what the RFC allows and browsers accept, so that a site that works in a browser does not fail: lines that end in a bare LF, folded
 * fields, space before the colon, lines that are not fields, a line break before the status.
 */
import { HOUR_MS } from '../domain/durations.ts';
import type { FailureCause } from '../domain/failure.ts';

/** Header names in lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The head of one response, interim or final. */
export interface ResponseHead {
  readonly statusCode: number;
  readonly headers: Headers;
}

/** A head, or what is wrong with it; null: more bytes are needed. */
export type HeadProgress = ResponseHead | { readonly problem: FailureCause } | null;

/** Maximum size of a head together with its interim responses, that of browsers; a longer one is a failure of the target. */
const MAX_HEADER_BYTES = 262_144;

const LF = 0x0a;
const CR = 0x0d;
const TOO_LONG: FailureCause = { code: 'headers_too_long', maxBytes: MAX_HEADER_BYTES };
/** The start of every status line. */
const BEGINNING = 'HTTP/';
const STATUS_LINE = /^HTTP\/\d(?:\.\d)?[ \t]+([1-9]\d\d)(?![^ \t\r])/i;
const HEAD_END = Buffer.from('\r\n\r\n');
/** Bytes that have to be read line by line: bytes that are not printable ASCII, line breaks other than CR LF, folded fields. */
const UNUSUAL = /[^\t\r\n -~]|\r(?!\n)|(?<!\r)\n|\n[\t ]/;

/** Parses heads, one after another. */
export class HeadReader {
  /** Offset of the first byte after the head in the chunk that completed it. */
  bodyOffset = 0;
  /** True if a byte of the current head has arrived. */
  begun = false;
  #statusCode: number | null = null;
  #fields: [name: string, value: string][] = [];
  /** The beginning of an incomplete line. */
  #partial: Buffer | null = null;
  #bytes = 0;

  /** Parses the bytes of `chunk` from `start` on. After it has returned a head, the next call starts another one. */
  read(chunk: Buffer, start: number): HeadProgress {
    return (this.begun ? null : this.#readWhole(chunk, start)) ?? this.#readLines(chunk, start);
  }

  /** Parses a usual head that has arrived in one piece as one string; null: it has to be read line by line. */
  #readWhole(chunk: Buffer, start: number): ResponseHead | null {
    const end = chunk.indexOf(HEAD_END, start);
    const bodyOffset = end + HEAD_END.length;
    if (end === -1 || this.#bytes + bodyOffset - start > MAX_HEADER_BYTES) return null;
    const text = chunk.toString('latin1', start, end);
    const [, code] = STATUS_LINE.exec(text) ?? [];
    if (code === undefined || UNUSUAL.test(text)) return null;
    this.#bytes += bodyOffset - start;
    this.bodyOffset = bodyOffset;
    return { statusCode: Number(code), headers: readFields(text) };
  }

  #readLines(chunk: Buffer, start: number): HeadProgress {
    let at = start;
    while (at < chunk.length) {
      this.begun = true;
      const end = chunk.indexOf(LF, at);
      if (end === -1) return this.#keep(chunk.subarray(at));
      const rest = chunk.subarray(at, end);
      const line = this.#partial === null ? rest : Buffer.concat([this.#partial, rest]);
      this.#partial = null;
      this.#bytes += rest.length + 1;
      if (this.#bytes > MAX_HEADER_BYTES) return { problem: TOO_LONG };
      at = end + 1;
      const progress = this.#take(withoutCr(line));
      if (progress === null) continue;
      this.bodyOffset = at;
      return progress;
    }
    return null;
  }

  /** Stores an incomplete line, unless it cannot be a status line. */
  #keep(rest: Buffer): HeadProgress {
    this.#bytes += rest.length;
    if (this.#bytes > MAX_HEADER_BYTES) return { problem: TOO_LONG };
    // A copy, because the socket may reuse its memory.
    const partial = Buffer.concat([this.#partial ?? Buffer.alloc(0), rest]);
    this.#partial = partial;
    if (this.#statusCode !== null) return null;
    const seen = partial.toString('latin1', 0, BEGINNING.length).replace(/^\r+/, '').toUpperCase();
    return BEGINNING.startsWith(seen) ? null : { problem: notHttp(partial) };
  }

  #take(line: Buffer): HeadProgress {
    if (this.#statusCode === null) {
      if (line.length === 0) return null;
      const [, code] = STATUS_LINE.exec(line.toString('latin1')) ?? [];
      if (code === undefined) return { problem: notHttp(line) };
      this.#statusCode = Number(code);
      return null;
    }
    if (line.length > 0) return this.#takeField(line);
    const headers = noFields();
    for (const [name, value] of this.#fields) addField(headers, name, value);
    const head = { statusCode: this.#statusCode, headers };
    this.#statusCode = null;
    this.#fields = [];
    this.begun = false;
    return head;
  }

  #takeField(line: Buffer): HeadProgress {
    if (line.includes(0)) return { problem: { code: 'header_with_nul' } };
    // A bare CR is replaced by a space (RFC 9112, 2.2).
    const text = textOf(line).replaceAll('\r', ' ');
    if (/^[ \t]/.test(text)) {
      // A folded field: one value over two lines (RFC 9112, 5.2). Before the first field, the line is ignored.
      const last = this.#fields.at(-1);
      if (last !== undefined) last[1] = `${last[1]} ${text.trim()}`.trim();
      return null;
    }
    const colon = text.indexOf(':');
    const name = nameOf(text.slice(0, Math.max(0, colon)));
    if (name !== '') this.#fields.push([name, text.slice(colon + 1).trim()]);
    return null;
  }
}

/** The problem of the first bytes of a response that is not HTTP/1.1. */
function notHttp(bytes: Buffer): FailureCause {
  // A record of TLS, which is an alert or a handshake (RFC 8446, 5.1).
  if ((bytes[0] === 0x15 || bytes[0] === 0x16) && bytes[1] === 3) return { code: 'tls_instead_of_http' };
  // The first frame of HTTP/2 is SETTINGS of the connection; some servers send GOAWAY (RFC 9113, 3.4 and 4.1).
  const isFrame = bytes.length >= 9 && bytes.readUInt32BE(5) === 0 && bytes[0] === 0 && bytes[1] === 0;
  return { code: isFrame && (bytes[3] === 4 || bytes[3] === 7) ? 'http1_missing' : 'no_status_line' };
}

/**
 * A field as text. Browsers take what is not ASCII in `Location` as bytes, whatever their charset, and send cookies back as they came.
 */
function textOf(line: Buffer): string {
  const bytes = line.toString('latin1');
  if (/^set-cookie[ \t]*:/i.test(bytes)) return bytes;
  if (/^location[ \t]*:/i.test(bytes))
    return bytes.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return line.toString('utf8');
}

function withoutCr(line: Buffer): Buffer {
  let end = line.length;
  while (end > 0 && line[end - 1] === CR) end--;
  return end === line.length ? line : line.subarray(0, end);
}

/** Fields by name; repeated fields are lists. The object has no prototype, because the server chooses the names. */
type Fields = Record<string, string | string[]>;
const noFields = (): Fields => Object.create(null);

/** The fields behind the status line of a head in ASCII, whose lines end in CR LF. */
function readFields(head: string): Headers {
  const headers = noFields();
  let end = head.indexOf('\r\n');
  while (end !== -1) {
    const start = end + 2;
    end = head.indexOf('\r\n', start);
    const stop = end === -1 ? head.length : end;
    const colon = head.indexOf(':', start);
    if (colon === -1) break;
    const name = colon < stop ? nameOf(head.slice(start, colon)) : '';
    if (name !== '') addField(headers, name, head.slice(colon + 1, stop).trim());
  }
  return headers;
}

const nameOf = (text: string) => text.trim().toLowerCase();

function addField(headers: Fields, name: string, value: string): void {
  const known = headers[name];
  if (known === undefined) headers[name] = value;
  else if (typeof known === 'string') headers[name] = [known, value];
  else known.push(value);
}

/** Maximum pause that a target may ask for (decisions, "What a check is"). */
const MAX_RETRY_AFTER_MS = HOUR_MS;

/** Parses whole seconds or an HTTP date into milliseconds from now, 0 to an hour; null: absent or invalid. */
export function readRetryAfter(value: string | readonly string[] | undefined, now: number): number | null {
  const text = (typeof value === 'string' ? value : value?.[0])?.trim();
  if (text === undefined || text === '') return null;
  if (/^\d+$/.test(text)) return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1000);
  // `Date.parse` would take `-5` and `1.5` for years, so the text must begin with the name of a day.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, at - now));
}
