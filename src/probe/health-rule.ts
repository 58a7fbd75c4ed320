/** What the response of `/api/health` says (decisions, "Health check"). Pure rules. */

import { type Failure, type FailureCause, failureOf } from '../domain/failure.ts';
import { readStatusWord } from '../domain/status.ts';
import { isBlocked, type ResponseHead, statusFailure } from './response-rules.ts';

/** Most bytes of a health body that are read, before and after decoding. */
export const MAX_HEALTH_BYTES = 65_536;

/** Most characters of a health body's word that are kept; control characters in it become blanks. */
const MAX_WORD_LENGTH = 64;

/** What was read of the body. */
export type HealthBody =
  | { readonly kind: 'text'; readonly text: string }
  /** Longer than may be read; `beginning` tells a page from data. */
  | { readonly kind: 'overlong'; readonly beginning: string }
  /** In a coding that cannot be undone. */
  | { readonly kind: 'unreadable' };

/** What a health check comes to. */
export type HealthVerdict =
  /** Reachable behind a bot wall or rate limit; nothing is known of its health. */
  | { readonly kind: 'blocked' }
  /** No health endpoint is there: the root check decides. */
  | { readonly kind: 'missing' }
  /** A valid health body, with its word as it said it. `reported` null: judged by latency alone. */
  | {
      readonly kind: 'health';
      readonly reported: 'slow' | 'down' | null;
      readonly word: string;
      readonly failure: Failure | null;
    }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Statuses that mean that there is no health endpoint, until a valid body was seen once. */
const MISSING_CODES = new Set([404, 405, 410, 501]);

/** Judges a response. `healthSeen`: a valid health body was given once, so that its absence is a failure. */
export function judgeHealth(head: ResponseHead, body: HealthBody | null, healthSeen: boolean): HealthVerdict {
  const { statusCode } = head;
  if (isBlocked(head)) return { kind: 'blocked' };
  if (statusCode >= 400) {
    const missing = MISSING_CODES.has(statusCode) && !healthSeen;
    return missing ? { kind: 'missing' } : { kind: 'failed', failure: statusFailure(statusCode) };
  }
  if (statusCode >= 300) {
    // A redirect that leads nowhere: no error status, and no health either.
    return healthSeen ? { kind: 'failed', failure: statusFailure(statusCode) } : { kind: 'missing' };
  }
  return judgeBody(body ?? { kind: 'text', text: '' }, healthSeen, isPage(head));
}

function judgeBody(body: HealthBody, healthSeen: boolean, page: boolean): HealthVerdict {
  if (body.kind === 'overlong') {
    // A page longer than may be read is still a page: an application that answers every path with HTML.
    const missing = !healthSeen && (page || body.beginning.trimStart().startsWith('<'));
    return missing
      ? { kind: 'missing' }
      : bodyFailure({ code: 'health_too_long', maxBytes: MAX_HEALTH_BYTES });
  }
  const word = body.kind === 'text' ? readStatus(body.text) : null;
  if (word === null) {
    return healthSeen ? bodyFailure({ code: 'health_invalid' }) : { kind: 'missing' };
  }
  const verdict = readStatusWord(word);
  const shown = word
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, MAX_WORD_LENGTH);
  if (verdict === 'up') return { kind: 'health', reported: null, word: shown, failure: null };
  if (verdict === 'slow') return { kind: 'health', reported: 'slow', word: shown, failure: null };
  const code = verdict === 'down' ? 'reported_down' : 'reported_unknown';
  return {
    kind: 'health',
    reported: 'down',
    word: shown,
    failure: failureOf('body', 'body', { code, word: shown }),
  };
}

/** The `status` of a JSON object; null: not JSON, or without a status that is a string. */
function readStatus(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
    if (typeof value !== 'object' || value === null || !('status' in value)) return null;
    return typeof value.status === 'string' ? value.status : null;
  } catch {
    return null;
  }
}

function bodyFailure(cause: FailureCause): HealthVerdict {
  return { kind: 'failed', failure: failureOf('body', 'body', cause) };
}

function isPage({ headers }: ResponseHead): boolean {
  const type = headers['content-type'];
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(
    typeof type === 'string' ? type : (type?.[0] ?? ''),
  );
}
