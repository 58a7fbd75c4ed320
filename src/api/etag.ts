/** Strong entity tags and their comparison (RFC 9110, 8.8.3 and 13.1.2). */
import { hash } from 'node:crypto';

/** The tag of a content: the same bytes have the same tag in every process. */
export function etagOf(content: string | Uint8Array): string {
  return `"${hash('sha1', content, 'base64url')}"`;
}

/**
 * Whether an `If-None-Match` header names `etag`: a list, weak forms and `*` included. The comparison is the weak one,
 * as RFC 9110 wants it for this header.
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true;
  if (ifNoneMatch.trim() === '*') return true;
  for (const [tag] of ifNoneMatch.matchAll(/"[^"]*"/g)) if (tag === etag) return true;
  return false;
}
