/** Judges the responses to root checks and health checks (decisions, "What a check is"). Pure. */
import { type Failure, type FailureCause, failureOf } from '../domain/failure.ts';
import type { AcceptRule } from '../domain/service.ts';
import { readStatusWord } from '../domain/status.ts';
import type { Fault } from '../outbound/fault.ts';
import { type BodyReading, parseJson } from '../outbound/read-body.ts';

/** The part of a response that rules look at. Header names in lower case. */
export interface ResponseHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Status codes of rate limits and bot walls: 429, and 999, "Request denied". */
const BLOCKED_CODES = new Set([429, 999]);

/** Headers by which bot walls say that they answered in place of the service: Cloudflare, AWS, Vercel, DataDome, Sucuri. */
const BOT_WALLS: readonly (readonly [header: string, value: RegExp])[] = [
  ['cf-mitigated', /^challenge$/i],
  ['x-amzn-waf-action', /^(?:challenge|captcha)$/i],
  ['x-vercel-mitigated', /^challenge$/i],
  ['x-dd-b', /^[1-3]$/],
  ['x-sucuri-block', /./],
];

/** Returns true if a bot wall or a rate limit responded. The service is then reachable, so it is not down. */
export function isBlocked({ statusCode, headers }: ResponseHead): boolean {
  if (BLOCKED_CODES.has(statusCode)) return true;
  return BOT_WALLS.some(([name, pattern]) => {
    const value = headers[name];
    if (value === undefined) return false;
    return [value].flat().some((text) => pattern.test(text.trim()));
  });
}

/**
 * Returns true if a root check by HEAD is repeated by GET: after any 4xx or 5xx. That includes a 429 and a bot wall's 403,
 * because many rate limits and bot walls affect only HEAD.
 */
export function refusesHead({ statusCode }: ResponseHead): boolean {
  return statusCode >= 400 && statusCode < 600;
}

/**
 * Returns true if a request over a working connection got no response. GET may work where HEAD does not, because some servers
 * do not respond to HEAD, close the connection, or send a response that is not HTTP.
 */
export function isUnanswered({ statusCode, fault }: { statusCode: number; fault: Fault | null }): boolean {
  return statusCode === 0 && fault !== null && fault.suspect === null && fault.failure.phase === 'first_byte';
}

/** Judges the response to a root check; null: reachable. If `accept` is null, errors are 500 to 599, 404 and 410. */
export function judgeRoot(head: ResponseHead, accept: readonly AcceptRule[] | null): Failure | null {
  const { statusCode } = head;
  if (isBlocked(head)) return null;
  const good =
    accept === null
      ? (statusCode < 500 || statusCode >= 600) && statusCode !== 404 && statusCode !== 410
      : accepts(accept, statusCode);
  return good ? null : statusFailure(statusCode);
}

/** Returns true if a status code is in a list such as `['2xx', 401]`. */
function accepts(accept: readonly AcceptRule[], statusCode: number): boolean {
  const family = `${Math.floor(statusCode / 100)}xx`;
  return accept.some((rule) => rule === statusCode || rule === family);
}

/** Judges the status of a response by the statuses that are expected; null: it is one of them. */
export function judgeStatus({ statusCode }: ResponseHead, expected: readonly AcceptRule[]): Failure | null {
  return accepts(expected, statusCode) ? null : statusFailure(statusCode);
}

/** The failure of a response whose status is an error. */
function statusFailure(statusCode: number): Failure {
  return failureOf('status', 'first_byte', { code: 'status', statusCode });
}

/** Maximum size of a health body before and after decoding, bytes. */
export const MAX_HEALTH_BYTES = 65_536;

/** Maximum length of a status word in a health body, characters; the rest is cut off. Control characters become spaces. */
const MAX_WORD_LENGTH = 64;

export type HealthVerdict =
  /** The service is reachable behind a bot wall or rate limit; its health is unknown. */
  | { readonly kind: 'blocked' }
  /** There is no health endpoint, so the root check decides. */
  | { readonly kind: 'missing' }
  /** A valid health body with its original status word. `reported` null: the latency decides. */
  | {
      readonly kind: 'health';
      readonly reported: 'slow' | 'down' | null;
      readonly word: string;
      readonly failure: Failure | null;
    }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Status codes that mean that there is no health endpoint, until a valid health body was seen once. */
const MISSING_CODES = new Set([404, 405, 410, 501]);

/** Judges the response to a health check. `healthSeen`: a valid health body was seen before, so its absence is a failure. */
export function judgeHealth(head: ResponseHead, body: BodyReading, healthSeen: boolean): HealthVerdict {
  const { statusCode } = head;
  // A number that HTTP does not define says nothing of health, so the root check decides.
  if (statusCode >= 600 && !healthSeen) return { kind: 'missing' };
  if (isBlocked(head)) return { kind: 'blocked' };
  if (statusCode >= 400) {
    const missing = MISSING_CODES.has(statusCode) && !healthSeen;
    return missing ? { kind: 'missing' } : { kind: 'failed', failure: statusFailure(statusCode) };
  }
  if (statusCode >= 300) {
    // A redirect that was not followed: neither an error status nor a health body.
    return healthSeen ? { kind: 'failed', failure: statusFailure(statusCode) } : { kind: 'missing' };
  }
  return judgeBody(body, healthSeen, isPage(head));
}

function judgeBody(body: BodyReading, healthSeen: boolean, page: boolean): HealthVerdict {
  if (body.kind === 'unreadable') return bodyFailure({ code: 'body_undecodable', coding: body.coding });
  if (!body.whole) {
    // A page that is too long is still a page, from an application that responds to every path with HTML.
    const missing = !healthSeen && (page || body.text.trimStart().startsWith('<'));
    return missing
      ? { kind: 'missing' }
      : bodyFailure({ code: 'health_too_long', maxBytes: MAX_HEALTH_BYTES });
  }
  const word = readStatus(body.text);
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

/** The `status` of a JSON object; null: the text is not JSON, or its status is not a string. */
function readStatus(text: string): string | null {
  try {
    const value = parseJson(text);
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
