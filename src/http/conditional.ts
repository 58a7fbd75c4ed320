/** Conditional requests (RFC 9110, 8.8 and 13). */
import { hash } from 'node:crypto';

/** The strong entity tag of a body, with its quotes. */
export function entityTag(body: string | Uint8Array): string {
  return `"${hash('sha1', body, 'base64url').slice(0, 22)}"`;
}

/** The strong entity tag of a body that shows a revision of something; it begins with the revision. */
export function revisionTag(revision: number, body: string | Uint8Array): string {
  return `"${revision}-${entityTag(body).slice(1)}`;
}

/**
 * The revisions in `If-Match`, a list or `*`, that a change may replace; null: any. The rest of a tag is not compared, since
 * bodies have parts that change by themselves. Weak tags and tags of others count for nothing (RFC 9110, 13.1.1).
 */
export function readRevisions(ifMatch: string | undefined): readonly number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null;
  return ifMatch.split(',').flatMap((tag) => {
    const revision = /^"(\d{1,15})-[^"]*"$/.exec(tag.trim())?.[1];
    return revision === undefined ? [] : [Number(revision)];
  });
}

/** Returns true if `If-None-Match`, a list or `*`, contains the tag, by weak comparison, as GET and HEAD require. */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
