/** Sends a request and follows its redirects. Each hop is resolved and checked by the address guard like the first. */
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Timing } from '../domain/result.ts';
import type { AddressGuard } from './address-guard.ts';
import { newPhaseTimings, type Trust } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { type Destination, readDestination } from './destination.ts';
import { type DialParts, dial } from './dial.ts';
import { type Exchanged, type ExchangeOrder, ExchangeResult, exchange } from './exchange.ts';
import { type Fault, targetFault } from './fault.ts';
import { Inlet } from './inlet.ts';
import { type RedirectCookie, takeCookies, withCookies } from './redirect-cookies.ts';
import type { Headers } from './response-head.ts';

export interface WebRequest extends ExchangeOrder {
  /** Maximum number of redirects; one more is a failure. 0: redirects are not followed, and a 3xx is a normal response. */
  readonly redirects: number;
  readonly guard: AddressGuard;
  /** Names in lower case of headers that belong to the service, so that no other origin gets them; absent: none. */
  readonly ownHeaders?: ReadonlySet<string>;
  /**
   * Returns how certificates are verified; called for each hop that uses https. `own`: the hop is at the first origin, which alone gets the
   * client certificate.
   */
  readonly trust: (own: boolean) => Trust;
  readonly fresh: boolean;
}

/** The final response, or the fault that prevented it. */
export interface WebResponse
  extends Pick<Exchanged, 'statusCode' | 'headers' | 'body' | 'overlong' | 'fault'> {
  /** The sums of the phases of all hops; `totalMs` is from the first name resolution or connection to the final headers. */
  readonly timing: Timing;
  readonly certificateExpiresAt: number | null;
  /** Time that delays of our own event loop may have added to `totalMs`, milliseconds. */
  readonly lostMs: number;
  /** URL of the last hop. */
  readonly url: string;
}

const NOTHING: Exchanged = new ExchangeResult();
const REDIRECT_CODES = new Set([301, 302, 303, 307, 308]);
/** Headers that are not sent to another origin. */
const PRIVATE_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** Headers about the body, which end with it. */
const BODY_HEADERS = new Set(['content-type', 'content-encoding', 'content-language', 'content-location']);

/** Exchanges one request and response over a socket, which is closed afterwards. */
export type ExchangeOverSocket = (
  clock: Clock,
  socket: Socket,
  order: ExchangeOrder,
  deadline: Deadline,
) => Promise<Exchanged>;

/**
 * Sends the request. Resolves for every outcome of the target. `overSocket` exchanges one request and response; absent: the
 * lenient parser of checks does.
 */
export async function sendRequest(
  parts: DialParts,
  request: WebRequest,
  deadline: Deadline,
  overSocket?: ExchangeOverSocket,
): Promise<WebResponse> {
  const timings = newPhaseTimings();
  const startedAt = parts.clock.monotonic();
  const lostBefore = deadline.lostMs;
  const respond = (exchanged: Exchanged, fault: Fault | null, { url }: Destination): WebResponse => ({
    statusCode: exchanged.statusCode,
    headers: exchanged.headers,
    body: exchanged.body,
    overlong: exchanged.overlong,
    fault,
    timing: {
      dnsMs: timings.dnsMs,
      connectMs: timings.connectMs,
      tlsMs: timings.tlsMs,
      firstByteMs: timings.firstByteMs,
      totalMs: exchanged.headersAt === null ? null : exchanged.headersAt - (timings.beganAt ?? startedAt),
    },
    certificateExpiresAt: timings.certificateExpiresAt,
    lostMs: deadline.lostMs - lostBefore,
    url,
  });

  const wantsBody = (statusCode: number, headers: Headers) =>
    redirectOf(request, statusCode, headers) === null && request.wantsBody(statusCode, headers);
  let { destination, method, headers, body } = request;
  let cookies: readonly RedirectCookie[] = [];
  for (let hop = 0; ; hop++) {
    let trust: Trust | null = null;
    try {
      if (destination.secure) trust = request.trust(destination.origin === request.destination.origin);
    } catch {
      const fault = targetFault('tls', 'tls', { code: 'authorities_unreadable' });
      return respond(NOTHING, { ...fault, suspect: 'own_fault' }, destination);
    }
    const inlet = new Inlet();
    const reading = overSocket === undefined ? inlet : undefined;
    const target = { destination, guard: request.guard, trust, fresh: request.fresh, inlet: reading };
    const dialled = await dial(parts, target, deadline, timings);
    if (dialled.fault !== null) return respond(NOTHING, dialled.fault, destination);
    const sent = cookies.length === 0 ? headers : withCookies(headers, cookies, destination);
    const order = { destination, method, headers: sent, body, maxBodyBytes: request.maxBodyBytes, wantsBody };
    const { socket } = dialled;
    const exchanged = await (overSocket === undefined
      ? exchange(parts.clock, { socket, inlet, offersCertificate: trust?.offersCertificate }, order, deadline)
      : overSocket(parts.clock, socket, order, deadline));
    if (exchanged.firstByteMs !== null)
      timings.firstByteMs = (timings.firstByteMs ?? 0) + exchanged.firstByteMs;
    if (exchanged.fault !== null) return respond(exchanged, exchanged.fault, destination);
    const location = redirectOf(request, exchanged.statusCode, exchanged.headers);
    if (location === null) return respond(exchanged, null, destination);
    if (hop === request.redirects) {
      const cause = { code: 'too_many_redirects', maxRedirects: request.redirects } as const;
      return respond(exchanged, targetFault('protocol', 'first_byte', cause), destination);
    }
    const next = readDestination(location, destination.url);
    if ('problem' in next) {
      const cause = { code: 'redirect_invalid', problem: next.problem } as const;
      return respond(exchanged, targetFault('protocol', 'first_byte', cause), destination);
    }
    cookies = takeCookies(cookies, exchanged.headers, destination, parts.clock.now());
    const leaves = next.origin !== destination.origin;
    if (leaves) headers = withoutPrivate(headers, request.ownHeaders);
    const isGet = becomesGet(method, exchanged.statusCode);
    if (isGet) method = 'GET';
    // A body belongs to the service as its headers do.
    if (isGet || leaves) {
      headers = withoutNamed(headers, (name) => BODY_HEADERS.has(name));
      body = null;
    }
    destination = next;
  }
}

/** The URL that a response redirects to; null: it does not redirect, or redirects are not followed. */
function redirectOf(request: WebRequest, statusCode: number, headers: Headers): string | null {
  if (request.redirects === 0 || !REDIRECT_CODES.has(statusCode)) return null;
  const { location } = headers;
  // An empty one does not redirect, as in browsers.
  return (typeof location === 'string' ? location : location?.[0]) || null;
}

/** Returns true if a redirect changes the method to GET and drops the body (Fetch, "HTTP-redirect fetch"). */
function becomesGet(method: string, statusCode: number): boolean {
  if (statusCode === 303) return method !== 'GET' && method !== 'HEAD';
  return (statusCode === 301 || statusCode === 302) && method === 'POST';
}

function withoutPrivate(headers: readonly string[], own?: ReadonlySet<string>): string[] {
  return withoutNamed(headers, (name) => PRIVATE_HEADERS.has(name) || own?.has(name) === true);
}

/** The headers without those for whose names, in lower case, `isDropped` is true. */
function withoutNamed(headers: readonly string[], isDropped: (name: string) => boolean): string[] {
  return headers.filter((_, index) => !isDropped((headers[index - (index % 2)] ?? '').toLowerCase()));
}

/** `Upbeat/<version> (+<siteUrl>)`; characters that are invalid in the header are percent-encoded or removed. */
export function userAgentOf(version: string, siteUrl: string): string {
  const safeUrl = siteUrl.replace(/[^\x21-\x7e]|[()\\]/g, (character) => encodeURIComponent(character));
  const comment = safeUrl.replace(/[()\\]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return `Upbeat/${version.replace(/[^\w.+-]/g, '')} (+${comment})`;
}
