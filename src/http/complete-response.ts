/** The last step of a request: the validator and the common headers, in the form in which Node.js sends them at the least cost. */
import { entityTag, matches } from './conditional.ts';
import type { Allowance } from './rate-limits.ts';
import { type HttpRequest, type HttpResponse, operationOf, type Route } from './route.ts';

/** For every response: browsers must not guess its type from its content. */
const NO_SNIFFING: Readonly<Record<string, string>> = { 'X-Content-Type-Options': 'nosniff' };

/**
 * The headers to add to a response with the given policy and media type. A response keeps its own policy; frames are
 * forbidden unless that policy allows them.
 */
function guardsOf(policy: string | undefined, type: string): Readonly<Record<string, string>> | null {
  if (policy === undefined) return type.startsWith('image/') ? PICTURE_HEADERS : DATA_HEADERS;
  return policy.includes('frame-ancestors') ? null : FRAMELESS;
}

const FRAMELESS = { 'X-Frame-Options': 'DENY' };

/** For pages of this site: only scripts, styles and pictures of this site, and no frames. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy('none', "'self'"),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  ...NO_SNIFFING,
};

/** For the embed of a status page, the only page that other sites may frame. It has no forms and sends no requests. */
export const EMBED_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy('any', "'none'"),
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  ...NO_SNIFFING,
};

/**
 * For every picture, including uploaded ones. A picture that is opened by itself is a document of our origin; `sandbox`
 * removes that origin in case a browser treats the picture as a page. Styles are allowed, because browsers style the
 * document in which they show a picture.
 */
const PICTURE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};

/** The content security policy of pages. `active`: where forms and scripts may send requests. */
function policy(framing: Framing, active: "'self'" | "'none'"): string {
  return [
    "default-src 'none'",
    `img-src 'self'${active === "'self'" ? ' data:' : ''}`,
    "style-src 'self'",
    "font-src 'self'",
    "script-src 'self'",
    `connect-src ${active}`,
    `manifest-src 'self'`,
    `form-action ${active}`,
    "base-uri 'none'",
    `frame-ancestors ${framing === 'any' ? '*' : "'none'"}`,
  ].join('; ');
}

export interface CompleteResponse extends Pick<HttpResponse, 'status' | 'body' | 'stream'> {
  /** Names and values in turn, as `writeHead` takes them. */
  readonly headers: (string | number | string[])[];
  /** Size of the body. */
  readonly bodyBytes: number;
}

const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, Link';
/** For what any origin may read. */
const OPEN_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
  ...NO_SNIFFING,
};

/** Completes a response. One that the client already has becomes a 304. `allowance` null: the request is not limited. */
export function completeResponse(
  answer: HttpResponse,
  route: Route,
  request: HttpRequest,
  allowance: Allowance | null,
): CompleteResponse {
  const { status, body, stream, cookies = NO_COOKIES } = answer;
  const isReading = route.handle !== undefined && (request.method === 'GET' || request.method === 'HEAD');
  const headers = listHeaders(answer.headers, isReading && route.sameOrigin !== true);
  if (allowance !== null)
    headers.push(
      'X-RateLimit-Limit',
      String(allowance.limit),
      'X-RateLimit-Remaining',
      String(allowance.remaining),
      'X-RateLimit-Reset',
      String(allowance.resetAtSeconds),
    );
  const isChange = route.handle === undefined || operationOf(route, request) !== undefined;
  const etag = isChange ? answer.etag : tagOf(answer);
  if (etag !== undefined) headers.push('ETag', etag);
  if (!isChange && etag !== undefined && matches(request.headers['if-none-match'], etag)) {
    const typeAt = indexOfName(headers, 'Content-Type');
    if (typeAt !== -1) headers.splice(typeAt, 2);
    return { status: 304, headers, body: '', bodyBytes: 0 };
  }
  if (stream !== undefined) return { status, headers, body, bodyBytes: 0, stream };
  if (cookies.length > 0) addCookies(headers, cookies);
  const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (status !== 204 && status !== 304) headers.push('Content-Length', bodyBytes);
  return { status, headers, body, bodyBytes };
}

const NO_COOKIES: readonly string[] = [];

/** The validator of what is read; undefined: it has none. */
function tagOf({ status, stream, etag, body }: HttpResponse): string | undefined {
  return status === 200 && stream === undefined ? (etag ?? entityTag(body)) : undefined;
}

/** The lists of frozen headers, for responses that any origin may read and for others. */
const LISTS = {
  open: new WeakMap<object, readonly string[]>(),
  closed: new WeakMap<object, readonly string[]>(),
};

/** Names and values of the headers of a response and of the common ones, in a list of its own. */
function listHeaders(headers: HttpResponse['headers'], isOpen: boolean): CompleteResponse['headers'] {
  const lists = isOpen ? LISTS.open : LISTS.closed;
  const known = lists.get(headers);
  if (known !== undefined) return known.slice();
  const { 'Content-Security-Policy': policy, 'Content-Type': type = '' } = headers;
  const common = isOpen ? OPEN_HEADERS : NO_SNIFFING;
  const list = Object.entries({ ...common, ...guardsOf(policy, type), ...headers }).flat();
  if (Object.isFrozen(headers)) lists.set(headers, list.slice());
  return list;
}

/** Adds cookies to the one in the headers, if there is one. */
function addCookies(headers: CompleteResponse['headers'], cookies: readonly string[]): void {
  const at = indexOfName(headers, 'Set-Cookie');
  if (at === -1) headers.push('Set-Cookie', [...cookies]);
  else headers[at + 1] = [String(headers[at + 1]), ...cookies];
}

function indexOfName(headers: CompleteResponse['headers'], name: string): number {
  return headers.findIndex((text, at) => at % 2 === 0 && text === name);
}

/** The sites that may show a page in a frame. */
type Framing = 'none' | 'any';

/** For responses without a policy of their own: data, which browsers need neither run nor frame. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};
