/** Addresses of documents that lie beside or below a status page. */

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
