/** A route, its request and its response, independent of a framework. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ReadBody } from './body.ts';
import type { OpenApiOperation } from './openapi.ts';
import type { Allowance } from './rate-limits.ts';

/** A request for a handler. */
export interface HttpRequest {
  readonly method: string;
  /** Path parameters, decoded. `secret` is never logged. */
  readonly params: Readonly<Record<string, string>>;
  /** Query without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The client in the form that rate limits count by. */
  readonly client: string;
  /** Absent for GET and HEAD. */
  readonly readBody?: ReadBody;
}

/** The owner of the key in a request. */
export interface KeyBearer {
  readonly id: number;
  readonly accountId: number;
}

/** A request with a body and a valid key. */
export interface PostRequest extends HttpRequest {
  readonly key: KeyBearer;
  readonly body: Uint8Array;
}

/** A response of a handler. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Strong entity tag with its quotes. Absent: computed from the body. */
  readonly etag?: string;
  /**
   * Takes over the connection and writes to it until it ends; `body` is then ignored. Called once, even if the client
   * has disconnected.
   */
  readonly stream?: (response: ServerResponse) => void;
}

/** Requests that share a rate limit (decisions, "What counts where"). `streams` limits the number of open streams. */
export type Bucket = 'api' | 'pictures' | 'pages' | 'streams' | 'none';

/** A route of the URL table. */
export interface Route {
  /** Path in the form of @koa/router. */
  readonly path: string;
  readonly bucket: Bucket;
  /** True: other origins may not read the response, as for pages behind the sign-in. Default false. */
  readonly sameOrigin?: boolean;
  readonly handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
  /** Returns the allowance of a client, if the route has a limit of its own. */
  readonly peek?: (client: string) => Allowance;
  /** For routes that accept only POST with a key and a JSON body. Absent: GET and HEAD. */
  readonly post?: {
    /** Maximum size of the body, bytes. */
    readonly maxBytes: number;
    readonly handle: (request: PostRequest) => Promise<HttpResponse>;
  };
  /** Called when a request failed with status 500 or more. */
  readonly onFault?: () => void;
  /**
   * Returns the name by which the limit of keys counts a request without a key, because its path has a secret; null: the
   * request counts by the client's address.
   */
  readonly payer?: (request: HttpRequest) => string | null;
  /** The description of the route for the OpenAPI document; absent: the document does not contain the route. */
  readonly describe?: () => OpenApiOperation;
  /** True: the handler takes every method. Absent: GET and HEAD. */
  readonly anyMethod?: boolean;
}

/** A response with status 200 and serialized JSON. */
export function jsonText(body: string | Uint8Array, etag?: string): HttpResponse {
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-cache' };
  return { status: 200, headers, body, ...(etag === undefined ? {} : { etag }) };
}

/** A response with status 200 and a value as JSON. */
export function json(value: object): HttpResponse {
  return jsonText(JSON.stringify(value));
}
