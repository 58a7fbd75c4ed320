/** The one reader of bodies of checks: content coding, then the limit, then the charset (decisions, "A body is read"). */
import { decodeContent } from './content-coding.ts';
import type { Headers } from './response-head.ts';
import type { WebResponse } from './send-request.ts';

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
