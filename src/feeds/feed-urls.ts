/** Links of vendors, before they are shown. */

const MAX_LINK_LENGTH = 2_000;

/**
 * An absolute address to follow: http or https, without user or password, at most 2,000 characters. A relative one is
 * resolved against `base`. Null for anything else.
 */
export function safeLink(value: unknown, base: string): string | null {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_LINK_LENGTH) return null;
  const url = URL.parse(value.trim(), base);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  // The URL standard leaves quotation marks and the like in some parts; none of them needs to be there.
  const href = url.href.replace(/["'<>`]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return href.length > MAX_LINK_LENGTH ? null : href;
}

/** The address without query, fragment and slashes at its end: what paths of documents are appended to. */
export function pageBase(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  // Not by an expression: those take quadratic time for slashes that are not at the end.
  let end = url.href.length;
  while (url.href[end - 1] === '/') end--;
  return url.href.slice(0, end);
}
