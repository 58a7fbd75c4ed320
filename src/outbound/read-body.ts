/** The one reader of bodies of checks: content coding (RFC 9110, 8.4), then the limit, then the charset (decisions, "A body is read"). */

import type { Transform } from 'node:stream';
import {
  constants,
  crc32,
  createBrotliDecompress,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { Headers } from './response-head.ts';
import type { WebResponse } from './send-request.ts';

/** A body, or its beginning. */
interface Content {
  readonly bytes: Buffer;
  /** True if there is more of it. */
  readonly cut: boolean;
}

/** Decoded content, or the coding in which the bytes are invalid or incomplete, such as `gzip`. */
type Decoded = Content | { readonly damaged: string };

/** Undoes a coding, to at most `maxBytes`; null: the bytes are invalid in it, or end too early. */
type Decoder = (content: Content, maxBytes: number) => Promise<Content | null>;

/** Maximum number of codings that are undone; a body with more is damaged. */
const MAX_CODINGS = 5;

/**
 * Undoes the codings that `Content-Encoding` and `Transfer-Encoding` name, the last one first. Unknown ones are identity, as in curl and
 * Go, because servers name charsets there; so is one that `Transfer-Encoding` names and the body does not have, since browsers ignore it
 * there. What follows the first `maxBytes` of decoded bytes is neither decoded nor judged.
 */
export async function decodeContent(body: Content, headers: Headers, maxBytes: number): Promise<Decoded> {
  const ofTransfer = codingsOf(headers['transfer-encoding']);
  const codings = [...codingsOf(headers['content-encoding']), ...ofTransfer];
  if (codings.length > MAX_CODINGS) return { damaged: codings.slice(-MAX_CODINGS).join(', ') };
  let content = body;
  for (const coding of codings.toReversed()) {
    // Some servers name the coding of an empty body, too.
    if (content.bytes.length === 0 && !content.cut) break;
    const decoded = await DECODERS.get(coding)?.(content, maxBytes);
    if (decoded !== null && decoded !== undefined) content = decoded;
    else if (!ofTransfer.includes(coding)) return { damaged: coding };
  }
  return content;
}

function codingsOf(field: Headers[string]): string[] {
  if (field === undefined) return [];
  const list = typeof field === 'string' ? field : field.join(',');
  return list
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => DECODERS.has(coding));
}

interface Poured extends Content {
  /** Number of bytes that belonged to the coding. */
  readonly consumed: number;
}

/** Decodes by a stream, which ends at `maxBytes`; null: an error came first. `isBeginning`: the bytes may end anywhere. */
function pour(stream: Transform & { bytesWritten: number }, bytes: Buffer, maxBytes: number) {
  return new Promise<Poured | null>((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (poured: Poured | null) => {
      stream.destroy();
      resolve(poured);
    };
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes)
        settle({ bytes: Buffer.concat(chunks, maxBytes), cut: true, consumed: bytes.length });
    });
    stream.on('error', () => settle(null));
    stream.on('end', () =>
      settle({ bytes: Buffer.concat(chunks, length), cut: false, consumed: stream.bytesWritten }),
    );
    stream.end(bytes);
  });
}

/** Decodes one stream; what follows it is ignored, as in browsers. */
async function decodeOne(
  create: () => Transform & { bytesWritten: number },
  { bytes, cut }: Content,
  maxBytes: number,
): Promise<Content | null> {
  const poured = await pour(create(), bytes, maxBytes);
  return poured === null ? null : { bytes: poured.bytes, cut: poured.cut || cut };
}

/** The flush at the end of the bytes: those of a beginning may end anywhere. */
const finishOf = ({ cut }: Content) => (cut ? constants.Z_SYNC_FLUSH : constants.Z_FINISH);

const decodeDeflate: Decoder = (content, maxBytes) => {
  const options = { finishFlush: finishOf(content) };
  // "deflate" is the zlib format (RFC 9110, 8.4.1.2), but some servers send raw deflate. RFC 1950, 2.2 has the check of the header.
  const [method = 0, flags = 0] = content.bytes;
  const isZlib = (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
  return decodeOne(() => (isZlib ? createInflate(options) : createInflateRaw(options)), content, maxBytes);
};

const decodeBrotli: Decoder = (content, maxBytes) => {
  const finishFlush = content.cut ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_FINISH;
  return decodeOne(() => createBrotliDecompress({ finishFlush }), content, maxBytes);
};

/** Maximum window of zstd in HTTP, 8 MB (RFC 9659). */
const ZSTD_WINDOW_LOG = 23;
const ZSTD_MAGIC = 0xfd2fb528;

/** Decodes frames of zstd, which may follow one another. */
const decodeZstd: Decoder = (content, maxBytes) => {
  const finishFlush = content.cut ? constants.ZSTD_e_flush : constants.ZSTD_e_end;
  const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG };
  return decodeMembers(content, maxBytes, (bytes, room) =>
    bytes.length < 4 || bytes.readUInt32LE(0) !== ZSTD_MAGIC
      ? null
      : pour(createZstdDecompress({ finishFlush, params }), bytes, room),
  );
};

/** Decodes members of gzip (RFC 1952), which may follow one another. */
const decodeGzip: Decoder = (content, maxBytes) =>
  decodeMembers(content, maxBytes, (bytes, room) => {
    const start = gzipHeaderLength(bytes);
    return start === null ? null : readMember(content, bytes, start, room);
  });

async function readMember(
  content: Content,
  bytes: Buffer,
  start: number,
  room: number,
): Promise<Poured | null> {
  const stream = createInflateRaw({ finishFlush: finishOf(content) });
  const poured = await pour(stream, bytes.subarray(start), room);
  if (poured === null || poured.cut) return poured;
  const end = start + poured.consumed;
  // Some servers leave out the checksum and the length, which browsers do not ask for.
  const isChecked = end + 8 <= bytes.length;
  if (isChecked && bytes.readUInt32LE(end) !== crc32(poured.bytes)) return null;
  return { ...poured, consumed: isChecked ? end + 8 : bytes.length };
}

/** Decodes members one after another; what follows the last one, such as padding, is ignored. */
async function decodeMembers(
  { bytes, cut }: Content,
  maxBytes: number,
  decode: (bytes: Buffer, room: number) => Promise<Poured | null> | null,
): Promise<Content | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  let at = 0;
  while (at < bytes.length && chunks.length < MAX_MEMBERS) {
    const member = decode(bytes.subarray(at), maxBytes - length);
    if (member === null) {
      if (chunks.length === 0 && !cut) return null;
      break;
    }
    const poured = await member;
    if (poured === null) return null;
    chunks.push(poured.bytes);
    length += poured.bytes.length;
    if (poured.cut) return { bytes: Buffer.concat(chunks, length), cut: true };
    at += Math.max(1, poured.consumed);
  }
  return { bytes: Buffer.concat(chunks, length), cut: cut || chunks.length === MAX_MEMBERS };
}

/** Maximum number of members; the text behind them is not read. */
const MAX_MEMBERS = 1_000;

/** Length of the header of a member (RFC 1952, 2.3); null: this is none, or it is incomplete. */
function gzipHeaderLength(bytes: Buffer): number | null {
  const flags = bytes[3] ?? 0xff;
  if (bytes.length < 10 || bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8 || flags > 31)
    return null;
  let at = 10;
  if ((flags & 4) !== 0) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0);
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end === -1) return null;
    at = end + 1;
  }
  if ((flags & 2) !== 0) at += 2;
  return at <= bytes.length ? at : null;
}

const DECODERS = new Map<string, Decoder>([
  ['gzip', decodeGzip],
  ['x-gzip', decodeGzip],
  ['deflate', decodeDeflate],
  ['br', decodeBrotli],
  ['zstd', decodeZstd],
]);

export type BodyReading =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** True if it is all of the body; false: it is longer than the limit, and `text` is its beginning. */
      readonly whole: boolean;
      /**
       * True if the bytes are not in the charset that was used for them: `text` lacks characters, or has others. Absent: they are, as far
       * as is known.
       */
      readonly isGuess?: boolean;
    }
  /** The body cannot be decoded: it is damaged, or incomplete. `coding` is known, such as `gzip`. */
  | { readonly kind: 'unreadable'; readonly coding: string };

/** Reads a body up to `maxBytes` of decoded bytes. A response without a body has an empty text. */
export async function readBody(
  { body, overlong, headers }: Pick<WebResponse, 'body' | 'overlong' | 'headers'>,
  maxBytes: number,
): Promise<BodyReading> {
  if (body === null) return { kind: 'text', text: '', whole: true };
  const content = await decodeContent({ bytes: body, cut: overlong }, headers, maxBytes);
  if ('damaged' in content) return { kind: 'unreadable', coding: content.damaged };
  return { kind: 'text', ...decodeText(content.bytes, headers, content.cut), whole: !content.cut };
}

/** Strings, whose texts are kept, and numbers that JSON lacks. */
const NOT_FINITE = /"(?:[^"\\]|\\.)*"?|-?\b(?:NaN|Infinity)\b/gs;

/** Parses JSON. `NaN` and `Infinity`, which many programs write nevertheless, are null. Throws if the text is something else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    return JSON.parse(text.replace(NOT_FINITE, (found) => (found.startsWith('"') ? found : 'null')));
  }
}

/** Number of bytes in which a page may declare its charset. */
const MAX_DECLARATION_BYTES = 4_096;

/**
 * Decodes text by its byte order mark, else by the charset of `Content-Type`, else by the one that a page declares, as browsers do.
 * Invalid bytes become U+FFFD. `cut`: the last character may be incomplete, and is left out then.
 */
function decodeText(bytes: Buffer, headers: Headers, cut: boolean): { text: string; isGuess?: boolean } {
  const type = contentTypeOf(headers);
  const decoder =
    decoderOf(markedCharset(bytes)) ??
    decoderOf(CHARSET.exec(type)?.slice(1).find(Boolean)) ??
    decoderOf(declaredCharset(bytes, type)) ??
    decoderOf(zeroedCharset(bytes));
  const text = (decoder ?? new TextDecoder()).decode(bytes, { stream: cut });
  if (!isMostlyInvalid(text)) return { text };
  return { text: decoder === null ? new TextDecoder('windows-1252').decode(bytes) : text, isGuess: true };
}

/** Every character of windows-1252. */
const WESTERN = new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));

/**
 * Returns true if a body may have `wanted` although its text lacks it: bytes whose charset is not known were read as windows-1252, or as
 * U+FFFD in the charset that the response names.
 */
export function mayHide(body: BodyReading | null, wanted: string): boolean {
  if (body?.kind !== 'text' || body.isGuess !== true) return false;
  const isReplaced = body.text.includes('\ufffd');
  return [...wanted].some((character) => (isReplaced ? character > '\x7f' : !WESTERN.includes(character)));
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,]+))/i;

function contentTypeOf(headers: Headers): string {
  const field = headers['content-type'];
  return typeof field === 'string' ? field : (field?.at(-1) ?? '');
}

/** The decoder of a charset by its label of WHATWG's Encoding standard; null: none is named, or it is not known. */
function decoderOf(label: string | null | undefined): InstanceType<typeof TextDecoder> | null {
  if (label === null || label === undefined) return null;
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

/** The charset of a byte order mark, which precedes every declaration. */
function markedCharset([first, second, third]: Buffer): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : null;
}

/** JSON and pages begin with an ASCII character, so that a zero byte beside it shows UTF-16. */
function zeroedCharset([first = 1, second = 1]: Buffer): string | null {
  if (first === 0 && second !== 0) return 'utf-16be';
  return first !== 0 && second === 0 ? 'utf-16le' : null;
}

/** The charset that a page declares by `<meta>` or in its XML declaration. */
function declaredCharset(bytes: Buffer, type: string): string | null {
  if (type !== '' && !/html|xml/i.test(type)) return null;
  const head = bytes.toString('latin1', 0, MAX_DECLARATION_BYTES).replace(/<!--.*?(?:-->|$)/gs, '');
  const [, declared = metaCharset(head)] =
    /^\s*<\?xml\s[^>]{0,150}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(head) ?? [];
  // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
  return declared !== null && /^utf-?16/i.test(declared) ? 'utf-8' : declared;
}

function metaCharset(head: string): string | null {
  for (const [tag] of head.matchAll(/<meta\s[^>]{1,300}/gi)) {
    const isHeader = /\bhttp-equiv\s*=\s*["']?content-type/i.test(tag);
    const attributes = isHeader ? tag : tag.replace(/\bcontent\s*=\s*(?:"[^"]*"|'[^']*'|\S+)/i, '');
    const charset = /\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(attributes)?.[1];
    if (charset !== undefined) return charset;
  }
  return null;
}

/** Returns true if most characters outside of ASCII are invalid, so that the bytes are in another charset. */
function isMostlyInvalid(text: string): boolean {
  let foreign = 0;
  let invalid = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) foreign++;
    if (code === 0xfffd) invalid++;
  }
  return 2 * invalid > foreign;
}
