/** Validators of answers (RFC 9110, 8.8 and 13). */
import { hash } from 'node:crypto';

/** A strong entity tag for these bytes, with its quotes. */
export function entityTag(body: string | Uint8Array): string {
  return `"${hash('sha1', body, 'base64url').slice(0, 22)}"`;
}

/** Whether `If-None-Match` names this tag: a list, `*`, and weak forms, which compare alike for GET and HEAD. */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
