/**
 * The interface between the poller and the readers of vendors' status pages. Each kind of page is a {@link FeedKind} in
 * `kinds/`; nothing outside its file knows the vendor's format.
 */
import type { FeedEntry } from '../domain/incident/feed-entry.ts';
import { feedIdOf, type Service, type StatusPage, type StatusPageKind } from '../domain/service.ts';

export type FeedKindName = Exclude<StatusPageKind, 'custom'>;

/** A feed to be polled. Plain data that crosses threads. */
export interface Feed {
  /** Kind and address; stable over restarts. */
  readonly id: string;
  readonly kind: FeedKindName;
  readonly source: FeedSource;
}

/** The addresses of a feed, from the catalogue. */
export interface FeedSource {
  /** The page for people. */
  readonly pageUrl: string;
  /** Null: the address of the feed follows from `pageUrl`. */
  readonly feedUrl: string | null;
}

export interface FeedKind {
  /**
   * The documents to request, in this order, at least one. Each is requested and parsed on its own, so that an unchanged
   * one costs nothing. If several documents list an entry, the last one counts.
   */
  readonly addresses: (source: FeedSource) => readonly FeedAddress[];
}

/** One document of a feed, and its parser. */
export interface FeedAddress {
  /** Stable and unique within the kind, such as `incidents`. */
  readonly name: string;
  readonly url: string;
  /** The document lists only what is open: an incident that is no longer listed has ended. */
  readonly listsOnlyOpen: boolean;
  /** Pages may lack the document or serve something else in its place: what is wrong with it is no fault of the page. */
  readonly isOptional?: true;
  /**
   * The document has no entries, but what those of the others refer to, and is read before them. All documents of such a
   * kind are requested in full at every poll.
   */
  readonly isReference?: true;
  /**
   * Parses a body of at most 2 MiB, without content coding, which may be hostile. `now` (epoch milliseconds) is for kinds
   * whose entries carry no state. Null stands for an entry that cannot be read. Throws {@link FeedFormatError} if the
   * document is of another kind; nothing is concluded from it then.
   */
  readonly read: (body: Uint8Array, now: number) => Iterable<FeedEntry | null>;
}

/** The document is not of the expected kind. The message says what was found and quotes little of the document. */
export class FeedFormatError extends Error {
  override readonly name = 'FeedFormatError';
  readonly code = 'feed_format';
}

/** The feed of a status page; null: the page has none. */
export function feedOf(page: StatusPage | null): Feed | null {
  const id = feedIdOf(page);
  if (page === null || page.kind === 'custom' || id === null) return null;
  const { kind, url: pageUrl, feedUrl } = page;
  return { id, kind, source: { pageUrl, feedUrl } };
}

/** The feeds of all services, each once: services with the same status page share its feed. */
export function feedsOf(services: Iterable<Service>): Feed[] {
  const feeds = new Map<string, Feed>();
  for (const { statusPage } of services) {
    const feed = feedOf(statusPage);
    if (feed !== null && !feeds.has(feed.id)) feeds.set(feed.id, feed);
  }
  return [...feeds.values()];
}

const MAX_LINK_LENGTH = 2_000;

/**
 * An absolute http or https URL without user and password, of at most 2,000 characters. A relative one is resolved against
 * `base`. Null for anything else.
 */
export function safeLink(value: unknown, base: string): string | null {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_LINK_LENGTH) return null;
  const url = URL.parse(value.trim(), base);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  // The URL standard does not escape these characters everywhere.
  const href = url.href.replace(/["'<>`]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return href.length > MAX_LINK_LENGTH ? null : href;
}

/** A URL without query, fragment and slashes at its end, to which the paths of documents are appended. */
export function pageBase(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  // A regular expression would take quadratic time if there are many slashes elsewhere.
  let end = url.href.length;
  while (url.href[end - 1] === '/') end--;
  return url.href.slice(0, end);
}

/** Scheme, host and port of a URL, without a slash at the end. */
export function originOf(address: string): string {
  return new URL(address).origin;
}

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
