/** The bytes of a document as text. */
import { FeedFormatError } from './feed-kind.ts';

/** Supported encodings besides UTF-8, by the labels of WHATWG's Encoding standard. */
const ENCODINGS = new Set([
  'utf-16',
  'utf-16le',
  'utf-16be',
  'iso-8859-1',
  'latin1',
  'windows-1252',
  'iso-8859-15',
  ...['windows-1250', 'windows-1251', 'windows-1254', 'iso-8859-2', 'koi8-r'],
  ...['gb2312', 'gbk', 'gb18030', 'big5', 'shift_jis', 'euc-jp', 'euc-kr'],
]);

/** Decodes JSON: UTF-16 by its byte order mark or first bytes, else UTF-8. */
export function decodeText(body: Uint8Array): string {
  return new TextDecoder(detectUtf(body) ?? 'utf-8').decode(body);
}

/**
 * Decodes XML by its byte order mark, else by its encoding declaration, else as UTF-8 (XML 1.0, appendix F). Invalid bytes
 * become U+FFFD. Throws {@link FeedFormatError} if the encoding is not supported.
 */
export function decodeXml(body: Uint8Array): string {
  return new TextDecoder(detectUtf(body) ?? declaredEncoding(body)).decode(body);
}

/** JSON and XML begin with an ASCII character, so a zero byte beside it shows UTF-16 even without a byte order mark. */
function detectUtf(body: Uint8Array): string | null {
  const [first = 1, second = 1, third = 1] = body;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  return (first === 0xff && second === 0xfe) || (first !== 0 && second === 0) ? 'utf-16le' : null;
}

function declaredEncoding(body: Uint8Array): string {
  const head = String.fromCharCode(...body.subarray(0, 200));
  const declared = /^\s*<\?xml\s[^>]{0,150}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/i
    .exec(head)?.[1]
    ?.toLowerCase();
  // A declaration that is readable byte by byte is not in UTF-16, whatever it says.
  if (declared === undefined || /^(utf-?(8|16|16le|16be)|us-ascii|ascii)$/.test(declared)) return 'utf-8';
  if (!ENCODINGS.has(declared)) throw new FeedFormatError('the document is in an encoding that is not read');
  return declared;
}
