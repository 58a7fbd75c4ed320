/** What the status and headers of a response say about a service (decisions, "What a check is"). Pure rules. */
import { type Failure, failureOf } from '../domain/failure.ts';
import type { AcceptRule } from '../domain/service.ts';
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
export function accepts(accept: readonly AcceptRule[], statusCode: number): boolean {
  const family = `${Math.floor(statusCode / 100)}xx`;
  return accept.some((rule) => rule === statusCode || rule === family);
}

/** The failure of a response whose status is an error. */
export function statusFailure(statusCode: number): Failure {
  return failureOf('status', 'first_byte', { code: 'status', statusCode });
}
