/** The bytes of an XML document as text. */
import { FeedFormatError } from './feed-kind.ts';

/** What is read besides UTF-8, by the names that declarations use; all are known to WHATWG's Encoding standard. */
const ENCODINGS = new Set([
  'utf-16',
  'utf-16le',
  'utf-16be',
  'iso-8859-1',
  'latin1',
  'windows-1252',
  'iso-8859-15',
]);

/**
 * The text by its byte order mark, else by its encoding declaration, else as UTF-8 (XML 1.0, appendix F). Bytes that are
 * no characters become U+FFFD. Throws {@link FeedFormatError} for an encoding that no feed needs.
 */
export function decodeXml(body: Uint8Array): string {
  return new TextDecoder(encodingOf(body)).decode(body);
}

function encodingOf(body: Uint8Array): string {
  const [first = 0, second = 0, third = 0] = body;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  // A document begins with `<` or white space, so that a zero beside it tells UTF-16 without a mark.
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0 && body.length > 1))
    return 'utf-16le';
  const head = String.fromCharCode(...body.subarray(0, 200));
  const declared = /^\s*<\?xml\s[^>]{0,150}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/i
    .exec(head)?.[1]
    ?.toLowerCase();
  // A declaration that could be read byte by byte is not in UTF-16, whatever it says.
  if (declared === undefined || /^(utf-?(8|16|16le|16be)|us-ascii|ascii)$/.test(declared)) return 'utf-8';
  if (!ENCODINGS.has(declared)) throw new FeedFormatError('the document is in an encoding that is not read');
  return declared;
}
