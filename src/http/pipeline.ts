/**
 * The steps that every request passes: method, key, limit, handler, validator, headers. A route decides what to respond;
 * the pipeline decides whether and how. The Koa application and the short cut for hot routes use the same pipeline.
 */
import { randomUUID } from 'node:crypto';
import { BoundedMap } from '../async/bounded-map.ts';
import { toError } from '../error.ts';
import type { Log } from '../log.ts';
import { requireJson } from './body.ts';
import { createClientCounts } from './client-address.ts';
import { matches, withValidator } from './conditional.ts';
import { HttpError, PROBLEMS, problemBody, retryLater } from './problem.ts';
import type { Allowance, RateLimiter } from './rate-limits.ts';
import type { Bucket, HttpRequest, HttpResponse, KeyBearer, Route } from './route.ts';
import { guardsOf, NO_SNIFFING } from './security-headers.ts';

/** The limiters of a bucket: without a key, and with one. */
export interface BucketLimiters {
  readonly anonymous: RateLimiter;
  readonly authenticated: RateLimiter;
}

/** Whose request it is: of a client without a key, of the bearer of a valid key, or of one whose key is not valid. */
export type Authentication =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly key: KeyBearer }
  | { readonly kind: 'invalid' };

/** What the pipeline needs. */
export interface PipelineOptions {
  readonly siteUrl: string;
  readonly authenticator: {
    authenticate(authorization: string | undefined): Promise<Authentication>;
    peek(authorization: string | undefined): Authentication | undefined;
  };
  /** The error that a client gets for what a handler threw; null: it is a fault of ours. */
  readonly explain: (thrown: unknown) => HttpError | null;
  readonly limiters: Readonly<Record<Exclude<Bucket, 'none' | 'streams'>, BucketLimiters>>;
  readonly log: Log;
}

const ALLOWED = 'GET, HEAD, OPTIONS';
const ALLOWED_POST = 'POST, OPTIONS';
const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag';
const CORS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };
const PREFLIGHT: HttpResponse = {
  status: 204,
  headers: {
    Allow: ALLOWED,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET, HEAD',
    'Access-Control-Allow-Headers': 'Authorization, If-None-Match, Last-Event-ID',
    'Access-Control-Max-Age': '86400',
  },
  body: '',
};
/** No other origin may post: without CORS headers, a browser ends a preflight here (decisions, Errors). */
const PREFLIGHT_POST: HttpResponse = { status: 204, headers: { Allow: ALLOWED_POST }, body: '' };

const PREFLIGHT_SAME_ORIGIN: HttpResponse = { status: 204, headers: { Allow: ALLOWED }, body: '' };

/** Makes the pipeline, which handles a request for a route. It never rejects. */
export function createPipeline({ siteUrl, authenticator, explain, limiters, log }: PipelineOptions) {
  const uncharged = createUnchargedRequests();
  const answerError = (thrown: unknown, route: Route, request: HttpRequest): HttpResponse => {
    const error =
      thrown instanceof HttpError ? thrown : (explain(thrown) ?? hideFault(thrown, route, request, log));
    return {
      status: PROBLEMS[error.code].status,
      headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...error.headers },
      body: problemBody(error, siteUrl),
    };
  };

  const bucketOf = ({ bucket }: Route): BucketLimiters | null =>
    bucket === 'none' ? null : limiters[bucket === 'streams' ? 'api' : bucket];

  /** What an address has left if nothing is charged; null: the route has no limit. */
  const peekAt = async (route: Route, { client }: HttpRequest): Promise<Allowance | null> =>
    route.peek?.(client) ?? (await bucketOf(route)?.anonymous.peek(client)) ?? null;

  /** Which limiter counts a request, and whether the request is admitted. */
  const admit = async (route: Route, request: HttpRequest): Promise<Admission> => {
    const bucket = bucketOf(route);
    if (bucket === null) return FREE;
    const header = request.headers.authorization;
    const who = authenticator.peek(header) ?? (await authenticator.authenticate(header));
    if (who.kind === 'invalid')
      return {
        payer: [bucket.anonymous, request.client],
        refused: invalidKey('The API key is not valid: unknown, expired or revoked.'),
        key: null,
      };
    // Streams count by how many are open, not by requests.
    if (route.bucket === 'streams') return FREE;
    return who.kind === 'key'
      ? { payer: [bucket.authenticated, String(who.key.id)], refused: null, key: who.key }
      : { payer: [bucket.anonymous, request.client], refused: null, key: null };
  };

  const handle = async (route: Route, request: HttpRequest, key: KeyBearer | null): Promise<HttpResponse> => {
    if (route.post !== undefined) return await handlePost(route.post, request, key);
    if (request.method !== 'GET' && request.method !== 'HEAD' && route.anyMethod !== true)
      throw wrongMethod(request, ALLOWED);
    return await route.handle(request);
  };

  /** The 304 of a picture that the client has, found before the charge because it costs nothing; null: none. */
  const findUnchanged = async (
    route: Route,
    request: HttpRequest,
    [limiter, name]: Payer,
  ): Promise<HttpResponse | null> => {
    const wanted = request.headers['if-none-match'];
    if (route.bucket !== 'pictures' || wanted === undefined) return null;
    const find = async () => {
      try {
        const answer = await handle(route, request, null);
        return isUnchanged(answer, request) ? answer : null;
      } catch {
        // An error is charged and answered by the usual steps.
        return null;
      }
    };
    if (uncharged.isKnown(targetOf(route, request), wanted)) return await find();
    return await uncharged.attempt(name, (await limiter.peek(name)).remaining, find);
  };

  return async (route: Route, request: HttpRequest): Promise<HttpResponse> => {
    if (request.method === 'OPTIONS' && route.anyMethod !== true) {
      const preflight =
        route.post !== undefined
          ? PREFLIGHT_POST
          : route.sameOrigin === true
            ? PREFLIGHT_SAME_ORIGIN
            : PREFLIGHT;
      return complete(preflight, route, request, await peekAt(route, request));
    }
    let allowance: Allowance | null = null;
    let answer: HttpResponse;
    try {
      const { payer, refused, key } = await admit(route, request);
      const unchanged =
        refused === null && payer !== null ? await findUnchanged(route, request, payer) : null;
      if (unchanged !== null && payer !== null)
        return complete(unchanged, route, request, await payer[0].peek(payer[1]));
      if (payer !== null) allowance = await payer[0].charge(payer[1]);
      if (allowance?.allowed === false) throw rateLimited(allowance);
      if (refused !== null) throw refused;
      answer = await handle(route, request, key);
      if (route.bucket === 'pictures' && answer.etag !== undefined)
        uncharged.note(targetOf(route, request), answer.etag);
    } catch (thrown) {
      answer = answerError(thrown, route, request);
      if (answer.status >= 500) route.post?.onFault();
    }
    return complete(answer, route, request, allowance ?? (await peekAt(route, request)));
  };
}

type Payer = readonly [limiter: RateLimiter, name: string];

interface Admission {
  /** The limiter that counts the request, and the name it counts by; null: no limiter does. */
  readonly payer: Payer | null;
  /** Why the request is refused after it was counted; null: it is admitted. */
  readonly refused: HttpError | null;
  /** Whose key the request carries; null: none, or the route has no limit. */
  readonly key: KeyBearer | null;
}

const FREE: Admission = { payer: null, refused: null, key: null };

function invalidKey(detail: string): HttpError {
  return new HttpError('invalid_key', detail, {}, { 'WWW-Authenticate': 'Bearer' });
}

function wrongMethod({ method }: HttpRequest, allowed: string): HttpError {
  return new HttpError('method_not_allowed', `${method} is not possible here.`, {}, { Allow: allowed });
}

/** Reads the body last, so that a client without a valid key is refused before it has sent one. */
async function handlePost(
  { maxBytes, handle }: NonNullable<Route['post']>,
  request: HttpRequest,
  key: KeyBearer | null,
): Promise<HttpResponse> {
  const { method, headers, readBody } = request;
  if (method !== 'POST' || readBody === undefined) throw wrongMethod(request, ALLOWED_POST);
  if (key === null) throw invalidKey('An API key is needed, in the header Authorization: Bearer <API_KEY>.');
  requireJson(headers);
  return await handle({ ...request, key, body: await readBody(maxBytes) });
}

function targetOf({ path }: Route, { params, query }: HttpRequest): string {
  return `${path} ${params.slug?.toLowerCase() ?? ''}?${query}`;
}

function isUnchanged(answer: HttpResponse, { headers }: HttpRequest): boolean {
  return answer.etag !== undefined && matches(headers['if-none-match'], answer.etag);
}

/** Adds the validator and the headers of every response; a response that the client has already becomes a 304. */
function complete(
  answer: HttpResponse,
  { post, sameOrigin = false }: Route,
  request: HttpRequest,
  allowance: Allowance | null,
): HttpResponse {
  const isReading = post === undefined && (request.method === 'GET' || request.method === 'HEAD');
  const { 'Content-Security-Policy': policy, 'Content-Type': type = '' } = answer.headers;
  const guards = guardsOf(policy, type);
  const headers: Record<string, string> = {
    ...(isReading && !sameOrigin ? CORS : {}),
    ...NO_SNIFFING,
    ...guards,
    ...answer.headers,
  };
  if (allowance !== null) {
    headers['X-RateLimit-Limit'] = String(allowance.limit);
    headers['X-RateLimit-Remaining'] = String(allowance.remaining);
    headers['X-RateLimit-Reset'] = String(allowance.resetAtSeconds);
  }
  if (answer.status !== 200 || answer.stream !== undefined || post !== undefined)
    return { ...answer, headers };
  return withValidator({ ...answer, headers }, request.headers['if-none-match']);
}

function rateLimited({ limit, retryAfterSeconds }: Allowance): HttpError {
  const detail = `More than ${limit} requests in a minute. Wait ${retryAfterSeconds} s.`;
  return retryLater('rate_limited', retryAfterSeconds, detail, { retry_after: retryAfterSeconds });
}

/** A fault of ours: the client gets an id to report, the log gets the error. */
function hideFault(thrown: unknown, { path: pattern }: Route, request: HttpRequest, log: Log): HttpError {
  const requestId = randomUUID();
  const error = toError(thrown);
  log.error(
    {
      requestId,
      method: request.method,
      path: pathOf(pattern, request.params),
      problem: error.message,
      stack: error.stack,
    },
    'a request failed',
  );
  return new HttpError('internal_error', `Something failed here. Report it with request id ${requestId}.`, {
    request_id: requestId,
  });
}

/** The path of the request without its query: the route's pattern with its parameters, cut at 200 characters. */
function pathOf(pattern: string, params: HttpRequest['params']): string {
  const path = pattern.replace(/:(\w+)/g, (named, name: string) => params[name] ?? named);
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

/** Targets that are remembered, at most 500 bytes each; beyond, the one sent first is dropped. */
const MAX_TARGETS = 20_000;
/** Unknown query parameters are ignored, however long they are; nothing is remembered for longer targets. */
const MAX_TARGET_LENGTH = 400;

/**
 * Requests for pictures that are answered before they are charged. A 304 of a picture costs nothing (decisions, Keys and
 * limits), but the picture must be drawn to know whether a request is one. So a client gets at most
 * as many uncharged attempts at a time as it has requests left; beyond them, only a tag that was sent for that address.
 */
function createUnchargedRequests() {
  const sent = new BoundedMap<string, string>(MAX_TARGETS);
  const inFlight = createClientCounts();
  return {
    /** Remembers the tag that was sent for a target, its path and query. */
    note(target: string, etag: string): void {
      if (target.length <= MAX_TARGET_LENGTH) sent.set(target, etag);
    },
    /** Whether `If-None-Match` names the tag that was sent last for the target: the picture is likely to be cached. */
    isKnown(target: string, ifNoneMatch: string): boolean {
      const etag = sent.get(target);
      return etag !== undefined && ifNoneMatch.trim() !== '*' && matches(ifNoneMatch, etag);
    },
    /** Calls `find`; null if the payer has `remaining` calls in flight already. */
    async attempt<Found>(
      payer: string,
      remaining: number,
      find: () => Promise<Found>,
    ): Promise<Found | null> {
      if (inFlight.of(payer) >= remaining) return null;
      inFlight.add(payer);
      try {
        return await find();
      } finally {
        inFlight.remove(payer);
      }
    },
  };
}
