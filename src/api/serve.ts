/**
 * The way of every request, in one place: method, key, limit, handler, validator, headers. Routes say what to answer;
 * this says whether and how. Used by the Koa application and by the shorter way of the hot routes alike.
 */
import { randomUUID } from 'node:crypto';
import type { Authentication } from '../auth/key-authenticator.ts';
import type { Log } from '../log.ts';
import { entityTag, matches } from './conditional.ts';
import type { ApiAnswer, ApiRequest, Bucket, Route } from './exchange.ts';
import { ApiError, PROBLEMS, problemBody } from './problem.ts';
import type { Allowance, RateLimiter } from './rate-limits.ts';

/** The limiters of a bucket: without a key, and with one. */
export interface BucketLimiters {
  readonly anonymous: RateLimiter;
  readonly authenticated: RateLimiter;
}

/** What serving needs. */
export interface ServeOptions {
  readonly siteUrl: string;
  readonly authenticator: {
    authenticate(authorization: string | undefined): Promise<Authentication>;
    peek(authorization: string | undefined): Authentication | undefined;
  };
  readonly limiters: Readonly<Record<Exclude<Bucket, 'none'>, BucketLimiters>>;
  readonly now: () => number;
  readonly log: Log;
}

/** Answers a request on a route. Never rejects. */
export type Serve = (route: Route, request: ApiRequest) => Promise<ApiAnswer>;

const ALLOWED = 'GET, HEAD, OPTIONS';
const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag';
const CORS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };
const PREFLIGHT: ApiAnswer = {
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

/** Makes the way of every request. */
export function createServe({ siteUrl, authenticator, limiters, now, log }: ServeOptions): Serve {
  const answerError = (thrown: unknown, request: ApiRequest): ApiAnswer => {
    const error = thrown instanceof ApiError ? thrown : hideFault(thrown, request, log);
    return {
      status: PROBLEMS[error.code].status,
      headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...error.headers },
      body: problemBody(error, siteUrl),
    };
  };

  /** Who pays for a request, and whether it is let in. */
  const admit = async (route: Route, request: ApiRequest): Promise<Admission> => {
    if (route.bucket === 'none') return { charge: null, look: null, refused: null };
    const header = request.headers.authorization;
    const who = authenticator.peek(header) ?? (await authenticator.authenticate(header));
    const bucket = limiters[route.bucket];
    const limiter = who.kind === 'key' ? bucket.authenticated : bucket.anonymous;
    const client = who.kind === 'key' ? `key:${who.key.id}` : request.client;
    const refused =
      who.kind === 'invalid'
        ? new ApiError(
            'invalid_key',
            'The API key is not valid: unknown, expired or revoked.',
            {},
            {
              'WWW-Authenticate': 'Bearer',
            },
          )
        : null;
    return { charge: () => limiter.charge(client), look: () => limiter.look(client), refused };
  };

  const handle = async (route: Route, request: ApiRequest): Promise<ApiAnswer> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ApiError(
        'method_not_allowed',
        `${request.method} is not possible here.`,
        {},
        { Allow: ALLOWED },
      );
    }
    return await route.handle(request);
  };

  return async (route, request) => {
    if (request.method === 'OPTIONS') return PREFLIGHT;
    let allowance: Allowance | null = null;
    let answer: ApiAnswer;
    try {
      const { charge, look, refused } = await admit(route, request);
      // A picture that the client has already costs nothing, so it is looked for before the charge.
      const early = route.bucket === 'pictures' && refused === null ? await handle(route, request) : null;
      if (early !== null && isUnchanged(early, request)) {
        allowance = look?.() ?? null;
        answer = early;
      } else {
        allowance = (await charge?.()) ?? null;
        if (allowance !== null && !allowance.allowed) throw rateLimited(allowance, now());
        if (refused !== null) throw refused;
        answer = early ?? (await handle(route, request));
      }
    } catch (thrown) {
      // An error of a picture's own was thrown before its charge.
      if (allowance === null && route.bucket === 'pictures')
        allowance = await limiters.pictures.anonymous.charge(request.client);
      answer = answerError(thrown, request);
    }
    return complete(answer, request, allowance);
  };
}

interface Admission {
  /** Takes a request off; null: the route is not limited. */
  readonly charge: (() => Promise<Allowance>) | null;
  readonly look: (() => Allowance) | null;
  /** Why the request is refused, after it was charged; null: it is not. */
  readonly refused: ApiError | null;
}

function isUnchanged(answer: ApiAnswer, { headers }: ApiRequest): boolean {
  return answer.etag !== undefined && matches(headers['if-none-match'], answer.etag);
}

/** Adds the validator and the headers that every answer carries; turns an answer that the client has into a 304. */
function complete(answer: ApiAnswer, request: ApiRequest, allowance: Allowance | null): ApiAnswer {
  const headers: Record<string, string> = { ...CORS, ...answer.headers };
  if (allowance !== null) {
    headers['X-RateLimit-Limit'] = String(allowance.limit);
    headers['X-RateLimit-Remaining'] = String(allowance.remaining);
    headers['X-RateLimit-Reset'] = String(allowance.resetAtSeconds);
  }
  if (answer.status !== 200 || answer.stream !== undefined) return { ...answer, headers };
  const etag = answer.etag ?? entityTag(answer.body);
  headers.ETag = etag;
  if (!matches(request.headers['if-none-match'], etag)) return { ...answer, headers };
  const { 'Content-Type': _type, ...rest } = headers;
  return { status: 304, headers: rest, body: '' };
}

function rateLimited({ limit, resetAtSeconds }: Allowance, now: number): ApiError {
  const seconds = Math.max(1, resetAtSeconds - Math.floor(now / 1_000));
  return new ApiError(
    'rate_limited',
    `More than ${limit} requests in a minute. Wait ${seconds} s.`,
    { retry_after: seconds },
    { 'Retry-After': String(seconds) },
  );
}

/** A fault of ours: the client gets a number to report, the log gets the story. */
function hideFault(thrown: unknown, request: ApiRequest, log: Log): ApiError {
  const requestId = randomUUID();
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  log.error(
    { requestId, method: request.method, problem: error.message, stack: error.stack },
    'a request failed',
  );
  return new ApiError('internal_error', `Something failed here. Report it with request id ${requestId}.`, {
    request_id: requestId,
  });
}
