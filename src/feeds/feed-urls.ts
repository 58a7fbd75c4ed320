/** URLs of vendors' pages and documents. */

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
