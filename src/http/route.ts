/** A route, its request and its response, without a framework: every way into the program shares one behaviour. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ReadBody } from './body.ts';
import type { OpenApiOperation } from './openapi.ts';
import type { Allowance } from './rate-limits.ts';

/** A request as handlers see it. */
export interface HttpRequest {
  readonly method: string;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Query without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The client's address in the form that limits count by. */
  readonly client: string;
  /** Absent for GET and HEAD. */
  readonly readBody?: ReadBody;
}

/** Whose key a request carries. */
export interface KeyBearer {
  readonly id: number;
  readonly accountId: number;
}

/** A request with a body, from the bearer of a valid key. */
export interface PostRequest extends HttpRequest {
  readonly key: KeyBearer;
  readonly body: Uint8Array;
}

/** A response as handlers return it. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Strong validator with its quotes. Absent: made from the body. */
  readonly etag?: string;
  /**
   * Takes over the connection and writes to it until it ends; `body` is not used then. Called once, even if the client
   * has left meanwhile.
   */
  readonly stream?: (response: ServerResponse) => void;
}

/** Which requests are counted together (decisions, "What counts where"); `streams` counts by itself. */
export type Bucket = 'api' | 'pictures' | 'pages' | 'streams' | 'none';

/** A line of the URL table. */
export interface Route {
  /** Path in the form of @koa/router. */
  readonly path: string;
  readonly bucket: Bucket;
  /** True for pages behind the sign-in: no other origin may read their responses. Default false. */
  readonly sameOrigin?: boolean;
  readonly handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
  /** What a client has left, if the route counts by itself. */
  readonly peek?: (client: string) => Allowance;
  /** For routes that accept POST with a key and a JSON body, and nothing else. Absent: GET and HEAD. */
  readonly post?: {
    /** Longest body, bytes. */
    readonly maxBytes: number;
    readonly handle: (request: PostRequest) => Promise<HttpResponse>;
    /** Called when a request failed by a fault of ours: status 500 or more. */
    readonly onFault: () => void;
  };
  /** How the OpenAPI document describes the route; absent: it does not. */
  readonly describe?: () => OpenApiOperation;
  /** True: the handler takes every method. Absent: GET and HEAD. */
  readonly anyMethod?: boolean;
}

/** A response of JSON that is text already, with status 200. */
export function jsonText(body: string | Uint8Array, etag?: string): HttpResponse {
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-cache' };
  return { status: 200, headers, body, ...(etag === undefined ? {} : { etag }) };
}

/** A JSON response with status 200. */
export function json(value: object): HttpResponse {
  return jsonText(JSON.stringify(value));
}
