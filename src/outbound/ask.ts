/** A question to the web: a request, and where it is redirected the next, each hop resolved and judged like the first. */
import type { Timing } from '../domain/result.ts';
import type { AddressGuard } from './address-guard.ts';
import type { Headers } from './answer-head.ts';
import type { Budget } from './budget.ts';
import { type Destination, readDestination } from './destination.ts';
import { type DialParts, dial } from './dial.ts';
import { type Exchanged, type ExchangeOrder, exchange } from './exchange.ts';
import { type Fault, targetFault } from './fault.ts';
import { newStamps } from './stamps.ts';
import type { Trust } from './trust.ts';

/** What is asked, of whom, and how far one goes for the answer. */
export interface Question extends ExchangeOrder {
  /** Redirects that are followed; one more is a failure. 0: none is followed, a 3xx is an answer like any other. */
  readonly redirects: number;
  readonly guard: AddressGuard;
  /** Judges certificates; called where the first hop with https needs it. */
  readonly trust: () => Trust;
  readonly fresh: boolean;
}

/** What came of it. */
export interface Reply {
  /** Status code of the answer that decides; 0: none came. */
  readonly statusCode: number;
  readonly headers: Headers;
  readonly body: Buffer | null;
  readonly overlong: boolean;
  /** Why no answer came, or not all of it; null: an answer came, whatever its status. */
  readonly fault: Fault | null;
  /** Phases of all hops added up; `totalMs` from the first resolution to the deciding headers. */
  readonly timing: Timing;
  readonly certificateExpiresAt: number | null;
  /** What late turns of our own event loop may have added to `totalMs`, milliseconds. */
  readonly lostMs: number;
  /** Where the answer came from in the end. */
  readonly url: string;
}

const REDIRECT_CODES = new Set([301, 302, 303, 307, 308]);
/** Not handed on to another origin. */
const PRIVATE_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);

/**
 * Asks. Resolves for everything that the target does. `converse` sends each request: by the reader of checks, unless
 * another way is given.
 */
export async function ask(
  parts: DialParts,
  question: Question,
  budget: Budget,
  converse: typeof exchange = exchange,
): Promise<Reply> {
  const stamps = newStamps();
  const startedAt = parts.clock.monotonic();
  const lostBefore = budget.lostMs;
  const reply = (answer: Exchanged | null, fault: Fault | null, destination: Destination): Reply => ({
    statusCode: answer?.statusCode ?? 0,
    headers: answer?.headers ?? {},
    body: answer?.body ?? null,
    overlong: answer?.overlong ?? false,
    fault,
    timing: {
      dnsMs: stamps.dnsMs,
      connectMs: stamps.connectMs,
      tlsMs: stamps.tlsMs,
      firstByteMs: stamps.firstByteMs,
      totalMs: answer === null || answer.headersAt === null ? null : answer.headersAt - startedAt,
    },
    certificateExpiresAt: stamps.certificateExpiresAt,
    lostMs: budget.lostMs - lostBefore,
    url: destination.url,
  });

  const wantsBody = (statusCode: number, headers: Headers) =>
    redirectOf(question, statusCode, headers) === null && question.wantsBody(statusCode, headers);
  let { destination, headers } = question;
  for (let hop = 0; ; hop++) {
    let trust: Trust | null = null;
    try {
      if (destination.secure) trust = question.trust();
    } catch {
      const fault = targetFault('tls', 'tls', { code: 'authorities_unreadable' });
      return reply(null, { ...fault, suspect: 'own_fault' }, destination);
    }
    const order = { destination, guard: question.guard, trust, fresh: question.fresh };
    const dialled = await dial(parts, order, budget, stamps);
    if (dialled.fault !== null) return reply(null, dialled.fault, destination);
    const { method, body, maxBodyBytes } = question;
    const spoken = { destination, method, headers, body, maxBodyBytes, wantsBody };
    const answer = await converse(parts.clock, dialled.socket, spoken, budget);
    if (answer.firstByteMs !== null) stamps.firstByteMs = (stamps.firstByteMs ?? 0) + answer.firstByteMs;
    if (answer.fault !== null) return reply(answer, answer.fault, destination);
    const location = redirectOf(question, answer.statusCode, answer.headers);
    if (location === null) return reply(answer, null, destination);
    if (hop === question.redirects) {
      const cause = { code: 'too_many_redirects', maxRedirects: question.redirects } as const;
      return reply(answer, targetFault('protocol', 'first_byte', cause), destination);
    }
    const next = readDestination(location, destination.url);
    if ('problem' in next) {
      const cause = { code: 'redirect_invalid', problem: next.problem } as const;
      return reply(answer, targetFault('protocol', 'first_byte', cause), destination);
    }
    if (next.origin !== destination.origin) headers = withoutPrivate(headers);
    destination = next;
  }
}

/** The address that an answer redirects to; null: it does not, or redirects are not followed. */
function redirectOf(question: Question, statusCode: number, headers: Headers): string | null {
  if (question.redirects === 0 || !REDIRECT_CODES.has(statusCode)) return null;
  const { location } = headers;
  return typeof location === 'string' ? location : (location?.[0] ?? null);
}

function withoutPrivate(headers: readonly string[]): string[] {
  return headers.filter(
    (_, index) => !PRIVATE_HEADERS.has((headers[index - (index % 2)] ?? '').toLowerCase()),
  );
}
