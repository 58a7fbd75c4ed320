/** A route, its request and its response, independent of a framework. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { OpenApiOperation, OpenApiPath } from './openapi.ts';
import { HttpError } from './problem.ts';
import type { Allowance } from './rate-limits.ts';

/**
 * Reads the body. Call it at most once. Rejects with `body_too_large` if the body is longer than `maxBytes`; then up to
 * `maxDiscardedBytes` more, by default 1 MiB, are read and dropped before the connection is closed.
 */
export type ReadBody = (maxBytes: number, maxDiscardedBytes?: number) => Promise<Buffer>;

export interface BodyStart {
  readonly bytes: Buffer;
  /** False: the body was longer, or its client left before the end. */
  readonly isWhole: boolean;
}

/**
 * Reads the first `maxBytes` of a body, without waiting for the rest, which is dropped. Call it at most once. Never rejects: what
 * arrived before the client left counts. The response to a body that is not whole ends by `endWhileReceiving`.
 */
export type ReadBodyStart = (maxBytes: number) => Promise<BodyStart>;

export interface HttpRequest {
  readonly method: string;
  /** Path parameters, decoded. `secret` is never logged. */
  readonly params: Readonly<Record<string, string>>;
  /** Query without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The absolute URL of what is requested, without its query: below this site's URL, or at the domain of a status page. */
  readonly url?: string;
  /** The host of this site's configured address, with its port. Absent: the one of the request alone is known. */
  readonly siteHost?: string;
  /** The client in the form that rate limits count by. */
  readonly client: string;
  /** Absent for methods that have no body. */
  readonly readBody?: ReadBody;
  /** Instead of `readBody`, where the start of a body is enough. Absent for methods that have no body. */
  readonly readBodyStart?: ReadBodyStart;
  /** Returns true if the client has closed its connection, so that nobody reads the answer. Absent: it is not known. */
  readonly isGone?: () => boolean;
  /** The bearer of the request's key; absent: there is no key, or the route has no limit. */
  readonly key?: KeyBearer;
  /** The request came by the domain of the status page in its parameters, not by this site's. */
  readonly atDomain?: true;
}

/** A request that changes something, with a valid key. */
export interface WriteRequest extends HttpRequest {
  readonly key: KeyBearer;
  /** Empty if there is none. */
  readonly body: Uint8Array;
}

export interface HttpResponse {
  readonly status: number;
  /** Frozen if they are those of many responses: what is sent for them is then made once. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Strong entity tag with its quotes. Absent: computed from the body. */
  readonly etag?: string;
  /** Values of `Set-Cookie` headers beside the one in `headers`. */
  readonly cookies?: readonly string[];
  /**
   * Takes over the connection and writes to it until it ends; `body` is then ignored. Called once, even if the client
   * has disconnected.
   */
  readonly stream?: (response: ServerResponse) => void;
}

/** Requests that share a rate limit (decisions, "What counts where"). `streams` limits the number of open streams. */
export type Bucket = 'api' | 'pictures' | 'pages' | 'streams' | 'none';

export type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The operation of a route for a method that changes something. */
export interface WriteOperation {
  /** The scope that the key needs. */
  readonly access: KeyAccess;
  /** Maximum size of the body, bytes; 0: there is none to read. */
  readonly maxBytes: number;
  /** Media types of the body; `*\/*`: any. Default `application/json`. */
  readonly types?: readonly string[];
  /** True: the request may come without a body. Default false. */
  readonly isBodyOptional?: boolean;
  readonly handle: (request: WriteRequest) => Promise<HttpResponse>;
  /** The description for the OpenAPI document; absent: the document does not contain the operation. */
  readonly describe?: () => OpenApiOperation;
}

export interface Route {
  /** Path in the form of @koa/router. */
  readonly path: string;
  readonly bucket: Bucket;
  /** Who may read it. */
  readonly access: Access;
  /**
   * The answer to strangers where the site is for its members alone: true: the response; `page`: the response if the status
   * page that the request names by `:slug` or `?page=`, or the route by `page:<slug>`, is public; a function: another
   * response. Absent: the way to sign in, or 401. Says nothing where the access is not `everyone`.
   */
  readonly open?: true | 'page' | `page:${string}` | ((request: HttpRequest) => HttpResponse);
  /** True: other origins may not read the response, as for pages behind the sign-in. Default false. */
  readonly sameOrigin?: boolean;
  /** The response to GET and HEAD. Absent: the route cannot be read. */
  readonly handle?: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
  /** Returns the allowance of a client, if the route has a limit of its own. */
  readonly peek?: (client: string) => Allowance;
  /** Methods that change something. */
  readonly writes?: Readonly<Partial<Record<WriteMethod, WriteOperation>>>;
  /**
   * Makes the reads on which the response depends, without the response, where that costs more. Absent: a request makes them.
   */
  readonly readAhead?: () => Promise<unknown>;
  /** True: the last to be refused under overload. Default false. */
  readonly isHeartbeat?: boolean;
  /** Called when a request failed with status 500 or more. */
  readonly onFault?: () => void;
  /**
   * Returns the name by which the limit of keys counts a request whose path has a secret, or a key that {@link keyIn} finds; null: the
   * request counts by that key, or else by the client's address. Not asked where the header has a key.
   */
  readonly payer?: (request: HttpRequest) => string | null;
  /**
   * The value of `Authorization` that counts for a request, where clients have a key elsewhere; undefined: the request has none.
   * Absent: the header.
   */
  readonly keyIn?: (request: HttpRequest) => string | undefined;
  /** The response to a request that failed, where clients expect another form than that of the API. */
  readonly answerError?: (error: HttpError, request: HttpRequest) => HttpResponse;
  /** The description of GET for the OpenAPI document; absent: the document does not contain it. */
  readonly describe?: () => OpenApiOperation;
  /** True: the handler takes every method. Absent: GET and HEAD. */
  readonly anyMethod?: boolean;
  /** The descriptions of such methods besides GET for the OpenAPI document. */
  readonly describeOthers?: () => OpenApiPath;
}

/** The route of a page, which everyone may read unless `access` says otherwise. */
export function pageRoute(
  page: Pick<Route, 'path' | 'open' | 'anyMethod' | 'sameOrigin'> & { readonly access?: Access },
  handle: NonNullable<Route['handle']>,
): Route {
  return { bucket: 'pages', access: 'everyone', handle, ...page };
}

/** The methods of a route, as `Allow` lists them. */
export function methodsOf({ handle, writes = {} }: Route): string[] {
  return [...(handle === undefined ? [] : ['GET', 'HEAD']), ...Object.keys(writes), 'OPTIONS'];
}

/** Returns true if the route changes something by a method. */
export function isWrite({ writes }: Route, method: string | undefined): method is WriteMethod {
  return writes !== undefined && method !== undefined && Object.hasOwn(writes, method);
}

/** The operation for a request that changes something; undefined: the method only reads, or is not possible. */
export function operationOf(route: Route, { method }: HttpRequest): WriteOperation | undefined {
  return isWrite(route, method) ? route.writes?.[method] : undefined;
}

/** Replaces the handler of each route that can be read by what `wrap` makes of it. */
export function wrapReads(
  routes: readonly Route[],
  wrap: (handle: NonNullable<Route['handle']>, route: Route) => NonNullable<Route['handle']>,
): Route[] {
  return routes.map((route) =>
    route.handle === undefined ? route : { ...route, handle: wrap(route.handle, route) },
  );
}

/** Joins routes of the same path, each with methods of its own, in the order of the first of each path. */
export function joinRoutes(routes: readonly Route[]): Route[] {
  const joined = new Map<string, Route>();
  for (const route of routes) {
    const known = joined.get(route.path);
    joined.set(route.path, known === undefined ? route : join(known, route));
  }
  return [...joined.values()];
}

function join(one: Route, other: Route): Route {
  const twice = methodsOf(one).filter((method) => method !== 'OPTIONS' && methodsOf(other).includes(method));
  if (twice.length > 0 || one.bucket !== other.bucket)
    throw new Error(`two routes of ${one.path} have ${twice.join(', ') || 'different limits'}`);
  const reader = one.handle === undefined ? other : one;
  return { ...one, ...other, ...reader, writes: { ...one.writes, ...other.writes } };
}

/** A response with status 200 and serialized JSON. */
export function jsonText(body: string | Uint8Array, etag?: string): HttpResponse {
  const answer = { status: 200, headers: JSON_HEADERS, body };
  return etag === undefined ? answer : { ...answer, etag };
}

const JSON_HEADERS = Object.freeze({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-cache',
});

/** A response with status 200 and a value as JSON. */
export function json(value: object): HttpResponse {
  return jsonText(JSON.stringify(value));
}

/**
 * `everyone`: no key is needed; a key that is sent must have the scope `read`. `secret`: every client that knows the secret in the path.
 * `members`: people who are signed in, for whom the handler looks. A member: those whose role in their account includes it. A
 * scope: bearers of a key that has it.
 */
export type Access = 'everyone' | 'secret' | 'members' | { readonly member: string } | KeyAccess;

type KeyAccess = { readonly scope: string };

/** The scope of a key for routes that everyone may read. */
const READING_SCOPE = 'read';

export interface KeyBearer {
  readonly id: number;
  readonly accountId: number;
  /** The scopes of the key. */
  readonly scopes: readonly string[];
}

/** Throws `invalid_key` if the access needs a key and there is none, and `insufficient_scope` if the key lacks the scope. */
export function requireAccess(access: Access, key: KeyBearer | null): void {
  const scope = scopeOf(access);
  if (scope === null || (key === null && access === 'everyone')) return;
  if (key === null) throw invalidKey('An API key is needed, in the header Authorization: Bearer <API_KEY>.');
  if (includesScope(key.scopes, scope)) return;
  throw new HttpError(
    'insufficient_scope',
    `The API key has the scope ${key.scopes.join(' ')}; this needs ${scope}.`,
    { scope },
    // RFC 6750, 3.1.
    { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  );
}

/** Returns true if a key with the scopes may do what needs `scope`. Who may change something may read it. */
export function includesScope(scopes: readonly string[], scope: string): boolean {
  return scopes.includes(scope) || (scope === READING_SCOPE && scopes.includes('write'));
}

/** The scope that a key needs; null: none. */
export function scopeOf(access: Access): string | null {
  if (typeof access === 'object') return 'scope' in access ? access.scope : null;
  return access === 'everyone' ? READING_SCOPE : null;
}

export function invalidKey(detail: string): HttpError {
  return new HttpError('invalid_key', detail, {}, { 'WWW-Authenticate': 'Bearer' });
}
