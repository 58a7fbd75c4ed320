/** What a response says about a service, to a root check and to a health check (decisions, "What a check is"). Pure rules. */
import { type Failure, type FailureCause, failureOf } from '../domain/failure.ts';
import type { AcceptRule } from '../domain/service.ts';
import { readStatusWord } from '../domain/status.ts';
import type { Fault } from '../outbound/fault.ts';

/** The part of a response that rules look at. Header names in lower case. */
export interface ResponseHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Whether a bot wall or a rate limit responded: the service is reachable, never down. */
export function isBlocked({ statusCode, headers }: ResponseHead): boolean {
  if (statusCode === 429) return true;
  const mitigated = headers['cf-mitigated'];
  const values = typeof mitigated === 'string' ? [mitigated] : (mitigated ?? []);
  return values.some((value) => value.trim().toLowerCase() === 'challenge');
}

/**
 * Whether a root check by HEAD is repeated by GET: any 4xx, or 501. A 429 and a bot wall's 403 are no exception:
 * many limits and walls are made for HEAD alone.
 */
export function refusesHead({ statusCode }: ResponseHead): boolean {
  return (statusCode >= 400 && statusCode < 500) || statusCode === 501;
}

/**
 * Whether a request went out over a good connection and no response came back. Where that was a HEAD, GET may fare better:
 * some servers let it hang, close the connection, or answer it with what is no HTTP.
 */
export function isUnanswered({ statusCode, fault }: { statusCode: number; fault: Fault | null }): boolean {
  return statusCode === 0 && fault !== null && fault.suspect === null && fault.failure.phase === 'first_byte';
}

/** Judges a root check's answer; null: reachable. Without `accept`, errors are 5xx, 404 and 410. */
export function judgeRoot(head: ResponseHead, accept: readonly AcceptRule[] | null): Failure | null {
  const { statusCode } = head;
  if (isBlocked(head)) return null;
  const good =
    accept === null
      ? statusCode < 500 && statusCode !== 404 && statusCode !== 410
      : accepts(accept, statusCode);
  return good ? null : statusFailure(statusCode);
}

/** Whether a status code is in a list such as `['2xx', 401]`. */
function accepts(accept: readonly AcceptRule[], statusCode: number): boolean {
  const family = `${Math.floor(statusCode / 100)}xx`;
  return accept.some((rule) => rule === statusCode || rule === family);
}

/** The failure of a response whose status is an error. */
function statusFailure(statusCode: number): Failure {
  return failureOf('status', 'first_byte', { code: 'status', statusCode });
}

/** Most bytes of a health body that are read, before and after decoding. */
export const MAX_HEALTH_BYTES = 65_536;

/** Most characters of a health body's word that are kept; control characters in it become blanks. */
const MAX_WORD_LENGTH = 64;

/** The body as far as it was read. */
export type HealthBody =
  | { readonly kind: 'text'; readonly text: string }
  /** Longer than may be read; `beginning` tells a page from data. */
  | { readonly kind: 'overlong'; readonly beginning: string }
  /** In a coding that cannot be undone. */
  | { readonly kind: 'unreadable' };

/** The outcome of a health check. */
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
