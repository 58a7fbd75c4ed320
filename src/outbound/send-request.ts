/**
 * Sends a request and follows its redirects. Each hop is resolved and checked by the address guard like the first, and gets the cookies of
 * the hops before it (RFC 6265): many sites set a cookie, redirect, and redirect again to clients that do not send it.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Timing } from '../domain/result.ts';
import { type AddressGuard, type Destination, readDestination } from './address-guard.ts';
import { newPhaseTimings, type Trust } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { type DialParts, dial } from './dial.ts';
import { type Exchanged, type ExchangeOrder, ExchangeResult, exchange } from './exchange.ts';
import { type Fault, targetFault } from './fault.ts';
import { Inlet } from './inlet.ts';
import type { Headers } from './response-head.ts';

/** A cookie of a hop. Its texts have one character for each byte. */
interface RedirectCookie {
  readonly name: string;
  readonly value: string;
  /** The host that gets it. */
  readonly host: string;
  /** True if hosts below `host` get it too. */
  readonly below: boolean;
  readonly path: string;
  readonly secure: boolean;
}

/** Maximum number of cookies that a request keeps; the oldest is dropped. */
const MAX_COOKIES = 50;
/** Maximum size of the name and value of a cookie, bytes; a larger one is not kept, as in browsers. */
const MAX_COOKIE_BYTES = 4_096;
/** Maximum size of the header with the cookies of earlier hops, bytes; more is not sent. */
const MAX_HEADER_BYTES = 16_384;

/** The cookies after a response. `now`: epoch milliseconds. */
function takeCookies(
  known: readonly RedirectCookie[],
  { 'set-cookie': lines = [] }: Headers,
  destination: Destination,
  now: number,
): readonly RedirectCookie[] {
  let cookies = known;
  for (const line of typeof lines === 'string' ? [lines] : lines) {
    const set = readCookie(line, destination, now);
    if (set === null) continue;
    const others = cookies.filter(
      ({ name, host, path }) =>
        name !== set.cookie.name || host !== set.cookie.host || path !== set.cookie.path,
    );
    cookies = set.isGone ? others : [...others, set.cookie].slice(-MAX_COOKIES);
  }
  return cookies;
}

/** The headers with the cookies for a hop, which replace those of the same name; `headers` alternates names and values. */
function withCookies(
  headers: readonly string[],
  cookies: readonly RedirectCookie[],
  destination: Destination,
): readonly string[] {
  const fitting = cookies.filter((cookie) => isFor(cookie, destination));
  if (fitting.length === 0) return headers;
  // Longer paths come first (RFC 6265, 5.4).
  fitting.sort((one, other) => other.path.length - one.path.length);
  const isCookie = (index: number) => headers[index - (index % 2)]?.toLowerCase() === 'cookie';
  const own = headers
    .filter((_, index) => index % 2 === 1 && isCookie(index))
    .flatMap((text) => text.split(';'));
  const set = new Set(fitting.map(({ name }) => name));
  let line = own
    .map((pair) => pair.trim())
    .filter((pair) => !set.has(pair.split('=', 1)[0]?.trim() ?? ''))
    .join('; ');
  for (const { name, value } of fitting) {
    const longer = line === '' ? `${name}=${value}` : `${line}; ${name}=${value}`;
    if (longer.length <= MAX_HEADER_BYTES) line = longer;
  }
  return [...headers.filter((_, index) => !isCookie(index)), 'cookie', line];
}

/** Reads a `Set-Cookie` line (RFC 6265, 5.2 and 5.3); null: the cookie is not kept. `isGone`: it has expired already. */
function readCookie(
  line: string,
  destination: Destination,
  now: number,
): { readonly cookie: RedirectCookie; readonly isGone: boolean } | null {
  const [pair = '', ...attributes] = line.split(';');
  const at = pair.indexOf('=');
  const name = pair.slice(0, Math.max(0, at)).trim();
  const value = pair.slice(at + 1).trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a request with one of them could not be sent.
  if (name === '' || name.length + value.length > MAX_COOKIE_BYTES || /[\x00-\x1f\x7f]/.test(name + value))
    return null;
  const given = new Map(
    attributes.map((attribute) => {
      const [key = '', ...rest] = attribute.split('=');
      return [key.trim().toLowerCase(), rest.join('=').trim()] as const;
    }),
  );
  const domain = (given.get('domain') ?? '').replace(/^\./, '').toLowerCase();
  const host = domain === '' ? destination.host : domain;
  const isParent = !destination.literal && domain.includes('.') && destination.host.endsWith(`.${domain}`);
  if (host !== destination.host && !isParent) return null;
  const path = given.get('path') ?? '';
  return {
    cookie: {
      name,
      value,
      host,
      below: domain !== '' && !destination.literal,
      path: path.startsWith('/') ? path : folderOf(pathOf(destination)),
      secure: given.has('secure'),
    },
    isGone: hasExpired(given, now),
  };
}

/** `Max-Age` counts before `Expires`; what cannot be read does not count. */
function hasExpired(given: ReadonlyMap<string, string>, now: number): boolean {
  const maxAge = given.get('max-age') ?? '';
  if (/^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0;
  return Date.parse(given.get('expires') ?? '') <= now;
}

function isFor({ host, below, path, secure }: RedirectCookie, destination: Destination): boolean {
  const isHost = destination.host === host || (below && destination.host.endsWith(`.${host}`));
  const asked = pathOf(destination);
  const isPath = asked === path || asked.startsWith(path.endsWith('/') ? path : `${path}/`);
  return isHost && isPath && (destination.secure || !secure);
}

function pathOf({ path }: Destination): string {
  return path.split('?', 1)[0] ?? '/';
}

/** The default path of a cookie (RFC 6265, 5.1.4). */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

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
type ExchangeOverSocket = (
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
