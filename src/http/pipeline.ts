/**
 * The steps that every request passes: overload, key, rate limit, method, access, handler, validator, headers. A route decides what to
 * respond; the pipeline decides whether and how. The Koa application and the fast path for hot routes share it.
 */
import { randomUUID } from 'node:crypto';
import { andThen, attempt, type MaybeLater } from '../async/at-once.ts';
import { toError } from '../error.ts';
import type { Log } from '../log.ts';
import { requireType } from './body.ts';
import { type CompleteResponse, completeResponse } from './complete-response.ts';
import { matches } from './conditional.ts';
import { classOf, type Overload, overloaded } from './overload.ts';
import { HttpError, PROBLEMS, prefersPage, problemBody, retryLater } from './problem.ts';
import {
  type Allowance,
  type ChargeChange,
  createUnchargedRequests,
  type RateLimiter,
} from './rate-limits.ts';
import {
  type Bucket,
  type HttpRequest,
  type HttpResponse,
  invalidKey,
  isWrite,
  type KeyBearer,
  methodsOf,
  operationOf,
  type Route,
  requireAccess,
  type WriteOperation,
} from './route.ts';
import { type Lane, MAX_TURN_MS, type Turns } from './turns.ts';

/** The limiters of a bucket: for clients without a key and for keys. */
export interface BucketLimiters {
  readonly anonymous: RateLimiter;
  readonly authenticated: RateLimiter;
}

/** The result of authentication: the client has no key, a valid key or an invalid key. */
export type Authentication =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly key: KeyBearer }
  | { readonly kind: 'invalid' };

export interface PipelineOptions {
  readonly siteUrl: string;
  readonly authenticator: {
    authenticate(authorization: string | undefined): Promise<Authentication>;
    peek(authorization: string | undefined): Authentication | undefined;
  };
  /** Converts an error of a handler to the error for the client; null: it is an internal error. */
  readonly explain: (thrown: unknown) => HttpError | null;
  /** Renders an error for a browser; absent: browsers get the same body as other clients. */
  readonly errorPage?: (error: HttpError, request: HttpRequest) => HttpResponse;
  readonly limiters: Readonly<Record<Exclude<Bucket, 'none' | 'streams'>, BucketLimiters>>;
  /** Counts changes by API but heartbeats, which their keys alone limit. */
  readonly chargeChange: ChargeChange;
  readonly overload: Overload;
  readonly turns: Turns;
  readonly log: Log;
}

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Allow-Headers': 'Authorization, X-Api-Key, If-None-Match, Last-Event-ID',
  'Access-Control-Max-Age': '86400',
};

/** The steps, with the limits and the overload that all requests share. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #uncharged = createUnchargedRequests();

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** Handles a request for a route, at once if all that it needs is at hand. Never rejects. */
  run(route: Route, request: HttpRequest): MaybeLater<CompleteResponse> {
    const requestClass = classOf(route);
    if (requestClass === null) return this.#handleNow(route, request);
    const isRefused = this.#options.overload.refuses(requestClass);
    const isGone = request.isGone ?? isNeverGone;
    const next = (waitedMs: number): MaybeLater<CompleteResponse> => {
      // Its answer would be read by nobody.
      if (isGone()) return GONE;
      if (!isRefused && waitedMs <= MAX_TURN_MS) return this.#handleNow(route, request);
      if (!isRefused) this.#options.overload.refuseLate(requestClass);
      return this.#refuse(route, request);
    };
    if (requestClass === 'heartbeats') return next(0);
    const lane = isRefused ? 'refused' : requestClass === 'api' ? 'api' : laneOf(route);
    return this.#options.turns.run(lane, isGone, next);
  }

  #answerError(thrown: unknown, route: Route, request: HttpRequest): HttpResponse {
    const error =
      thrown instanceof HttpError
        ? thrown
        : (this.#options.explain(thrown) ?? hideFault(thrown, route, request, this.#options.log));
    if (route.answerError !== undefined) {
      const own = route.answerError(error, request);
      return { ...own, headers: { 'Cache-Control': 'no-store', ...error.headers, ...own.headers } };
    }
    const headers = { 'Cache-Control': 'no-store', Vary: 'Accept', ...error.headers };
    if (this.#options.errorPage !== undefined && prefersPage(request.headers.accept)) {
      const page = this.#options.errorPage(error, request);
      return { ...page, headers: { ...page.headers, ...headers, Vary: varyOf(page) } };
    }
    return {
      status: PROBLEMS[error.code].status,
      headers: { 'Content-Type': 'application/problem+json', ...headers },
      body: problemBody(error, this.#options.siteUrl),
    };
  }

  #bucketOf({ bucket }: Route): BucketLimiters | null {
    return bucket === 'none' ? null : this.#options.limiters[bucket === 'streams' ? 'api' : bucket];
  }

  /** The allowance of the client's address, without a charge; null: the route has no limit. */
  #peekAt(route: Route, { client }: HttpRequest): MaybeLater<Allowance | null> {
    return route.peek?.(client) ?? this.#bucketOf(route)?.anonymous.peek(client) ?? null;
  }

  /** Charges a request to its limiter and determines whether it is admitted. */
  #admit(route: Route, request: HttpRequest): MaybeLater<Admission> {
    const bucket = this.#bucketOf(route);
    if (bucket === null) return FREE;
    const header = route.keyIn === undefined ? request.headers.authorization : route.keyIn(request);
    const known = this.#options.authenticator.peek(header);
    const admitAs = (who: Authentication) => this.#admissionOf(who, bucket, route, request);
    return known === undefined
      ? this.#options.authenticator.authenticate(header).then(admitAs)
      : admitAs(known);
  }

  #admissionOf(who: Authentication, bucket: BucketLimiters, route: Route, request: HttpRequest): Admission {
    if (who.kind === 'invalid')
      return {
        payer: [bucket.anonymous, request.client],
        refused: invalidKey('The API key is not valid: unknown, expired or revoked.'),
        key: null,
      };
    const key = who.kind === 'key' ? who.key : null;
    // Streams are limited by the number of open ones, not by requests.
    if (route.bucket === 'streams') return { ...FREE, key };
    const name = payerOf(route, request, key);
    if (name !== null) return { payer: [bucket.authenticated, name], refused: null, key };
    return key === null
      ? { payer: [bucket.anonymous, request.client], refused: null, key }
      : { payer: [bucket.authenticated, String(key.id)], refused: null, key };
  }

  #handle(route: Route, request: HttpRequest, key: KeyBearer | null): MaybeLater<HttpResponse> {
    const operation = operationOf(route, request);
    if (operation !== undefined)
      return handleWrite(
        operation,
        request,
        key,
        route.isHeartbeat === true ? undefined : this.#options.chargeChange,
      );
    const isReading = request.method === 'GET' || request.method === 'HEAD' || route.anyMethod === true;
    if (route.handle === undefined || !isReading) throw wrongMethod(request, route);
    requireAccess(route.access, key);
    return route.handle(key === null ? request : { ...request, key });
  }

  /** The 304 for a picture that the client has; null: there is none. */
  async #findUnchanged(
    route: Route,
    request: HttpRequest,
    key: KeyBearer | null,
  ): Promise<HttpResponse | null> {
    try {
      const answer = await this.#handle(route, request, key);
      return isUnchanged(answer, request) ? answer : null;
    } catch {
      // The usual steps charge and handle errors.
      return null;
    }
  }

  #serve(route: Route, request: HttpRequest): MaybeLater<CompleteResponse> {
    let allowance: Allowance | null = null;
    const finish = (given: HttpResponse): MaybeLater<CompleteResponse> =>
      andThen(allowance ?? this.#peekAt(route, request), (known) =>
        completeResponse(given, route, request, known),
      );
    if (request.method === 'OPTIONS' && route.anyMethod !== true)
      return finish(answerPreflight(route, request));
    const answer = ({ refused, key }: Admission, charged: Allowance | null): MaybeLater<HttpResponse> => {
      allowance = charged;
      if (charged?.allowed === false) throw rateLimited(charged);
      if (refused !== null) throw refused;
      return this.#handle(route, request, key);
    };
    const answerCharged = (admission: Admission): MaybeLater<HttpResponse> => {
      const { payer } = admission;
      if (payer === null) return answer(admission, null);
      return andThen(payer[0].charge(payer[1]), (charged) => answer(admission, charged));
    };
    const answerNewPicture = (admission: Admission): MaybeLater<HttpResponse> =>
      andThen(answerCharged(admission), (picture) => {
        if (picture.etag !== undefined) this.#uncharged.note(targetOf(route, request), picture.etag);
        return picture;
      });
    const answerKnownPicture = async (
      admission: Admission,
      [limiter, name]: Payer,
      wanted: string,
    ): Promise<HttpResponse> => {
      // A 304 is not charged, so it is found before the charge.
      const find = () => this.#findUnchanged(route, request, admission.key);
      const unchanged = this.#uncharged.isKnown(targetOf(route, request), wanted)
        ? await find()
        : await this.#uncharged.attempt(name, (await limiter.peek(name)).remaining, find);
      if (unchanged === null) return await answerNewPicture(admission);
      allowance = await limiter.peek(name);
      return unchanged;
    };
    const answerPicture = (admission: Admission): MaybeLater<HttpResponse> => {
      const { payer, refused } = admission;
      const wanted = request.headers['if-none-match'];
      return wanted === undefined || refused !== null || payer === null
        ? answerNewPicture(admission)
        : answerKnownPicture(admission, payer, wanted);
    };
    return attempt(
      () => andThen(this.#admit(route, request), route.bucket === 'pictures' ? answerPicture : answerCharged),
      finish,
      (thrown) => {
        const refusal = this.#answerError(thrown, route, request);
        if (refusal.status >= 500) route.onFault?.();
        return finish(refusal);
      },
    );
  }

  #refuse(route: Route, request: HttpRequest): MaybeLater<CompleteResponse> {
    route.onFault?.();
    const refusal = this.#answerError(overloaded(), route, request);
    return andThen(this.#peekAt(route, request), (allowance) =>
      completeResponse(refusal, route, request, allowance),
    );
  }

  #handleNow(route: Route, request: HttpRequest): MaybeLater<CompleteResponse> {
    this.#options.overload.enter();
    return attempt(
      () => this.#serve(route, withoutWaiting(request, this.#options.overload)),
      (answer) => {
        this.#options.overload.leave();
        return answer;
      },
      (thrown) => {
        this.#options.overload.leave();
        throw thrown;
      },
    );
  }
}

/** The name of the secret in the path by which a request counts; null: there is none, or a key in a header counts. */
function payerOf({ payer, keyIn }: Route, request: HttpRequest, key: KeyBearer | null): string | null {
  if (payer === undefined || (key !== null && keyIn === undefined)) return null;
  return payer(key === null ? request : { ...request, key });
}

/** The lane of a route that is no part of the API. */
function laneOf({ bucket }: Route): Lane {
  return bucket === 'pages' ? 'page' : 'small';
}

const isNeverGone = () => false;
/** For a client that is gone. The status, which metrics count, is that of nginx for it. */
const GONE: CompleteResponse = { status: 499, headers: ['Content-Length', 0], body: '', bodyBytes: 0 };

/** The request, which is not in flight while its client sends the body: slow clients are no overload. */
function withoutWaiting(request: HttpRequest, overload: Overload): HttpRequest {
  const { readBody, readBodyStart } = request;
  if (readBody === undefined || readBodyStart === undefined) return request;
  const outside =
    <A extends readonly unknown[], R>(read: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      overload.leave();
      try {
        return await read(...given);
      } finally {
        overload.enter();
      }
    };
  return { ...request, readBody: outside(readBody), readBodyStart: outside(readBodyStart) };
}

/** `Vary` of an error page: also other clients ask at its URL. */
function varyOf({ headers }: HttpResponse): string {
  return headers.Vary === undefined ? 'Accept' : `Accept, ${headers.Vary}`;
}

type Payer = readonly [limiter: RateLimiter, name: string];

interface Admission {
  /** The limiter that counts the request and the name that it counts by; null: the request is not limited. */
  readonly payer: Payer | null;
  /** Why the request is refused after it was counted; null: it is admitted. */
  readonly refused: HttpError | null;
  /** The bearer of the request's key; null: there is no key, or the route has no limit. */
  readonly key: KeyBearer | null;
}

const FREE: Admission = { payer: null, refused: null, key: null };

/**
 * The response to a preflight. Without CORS headers, browsers do not let other origins write, nor read what is for this site
 * (decisions, Errors).
 */
function answerPreflight(route: Route, { headers }: HttpRequest): HttpResponse {
  const method = headers['access-control-request-method'];
  const isOpen = route.sameOrigin !== true && route.handle !== undefined && !isWrite(route, method);
  const allowed = { Allow: methodsOf(route).join(', ') };
  return { status: 204, headers: isOpen ? { ...allowed, ...PREFLIGHT_HEADERS } : allowed, body: '' };
}

function wrongMethod({ method }: HttpRequest, route: Route): HttpError {
  const headers = { Allow: methodsOf(route).join(', ') };
  return new HttpError('method_not_allowed', `${method} is not possible here.`, {}, headers);
}

/**
 * Handles a request that changes something. The body is read last, so that a client without a valid key is refused before it
 * has sent the body.
 */
async function handleWrite(
  { access, maxBytes, types, isBodyOptional = false, handle }: WriteOperation,
  request: HttpRequest,
  key: KeyBearer | null,
  chargeChange: ChargeChange | undefined,
): Promise<HttpResponse> {
  const { headers, readBody } = request;
  requireAccess(access, key);
  if (key === null) throw new Error('a change needs a key');
  await chargeChange?.(key.accountId);
  if (maxBytes === 0 || readBody === undefined) return await handle({ ...request, key, body: NO_BODY });
  const isBare = isBodyOptional && headers['content-type'] === undefined;
  if (!isBare) requireType(headers, types);
  return await handle({ ...request, key, body: await readBody(maxBytes) });
}

const NO_BODY = new Uint8Array();

function targetOf({ path }: Route, { params, query }: HttpRequest): string {
  return `${path} ${Object.values(params).join('/').toLowerCase()}?${query}`;
}

function isUnchanged(answer: HttpResponse, { headers }: HttpRequest): boolean {
  return answer.etag !== undefined && matches(headers['if-none-match'], answer.etag);
}

function rateLimited({ limit, retryAfterSeconds }: Allowance): HttpError {
  const detail = `More than ${limit} requests in a minute. Wait ${retryAfterSeconds} s.`;
  return retryLater('rate_limited', retryAfterSeconds, detail, { retry_after: retryAfterSeconds });
}

/** Converts an internal error: the client gets an id to report, and the error is logged under that id. */
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

/** The path without query and secret, at most 200 characters: the route's pattern with its parameters. */
function pathOf(pattern: string, params: HttpRequest['params']): string {
  const path = pattern.replace(/:(\w+)/g, (named, name: string) =>
    name === 'secret' ? named : (params[name] ?? named),
  );
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
