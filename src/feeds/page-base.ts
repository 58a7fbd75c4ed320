/** Addresses of documents that lie beside or below a status page. */

/** The address without query, fragment and slashes at its end: what paths of documents are appended to. */
export function pageBase(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  return url.href.replace(/\/+$/, '');
}
