/**
 * Cookies that the hops of one request set, for the hops after them (RFC 6265): many sites set a cookie, redirect, and redirect again
 * to clients that do not send it. Cookies end with the request.
 */
import type { Destination } from './destination.ts';
import type { Headers } from './response-head.ts';

/** A cookie of a hop. Its texts have one character for each byte. */
export interface RedirectCookie {
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
export function takeCookies(
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
export function withCookies(
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
