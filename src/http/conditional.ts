/** Conditional requests (RFC 9110, 8.8 and 13). */
import { hash } from 'node:crypto';
import type { HttpResponse } from './route.ts';

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

/** The response with its tag, made from the body if it has none; 304 without a body if the client has it already. */
export function withValidator(response: HttpResponse, ifNoneMatch: string | undefined): HttpResponse {
  const etag = response.etag ?? entityTag(response.body);
  const headers = { ...response.headers, ETag: etag };
  if (!matches(ifNoneMatch, etag)) return { ...response, headers };
  const { 'Content-Type': _type, ...rest }: Readonly<Record<string, string>> = headers;
  return { status: 304, headers: rest, body: '' };
}
