/** What a handler gets and gives: an HTTP exchange without a framework, so that every way in shares one behaviour. */
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

/** An answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Strong validator with its quotes; absent: made from the body where the route has one. */
  readonly etag?: string;
  /**
   * Takes the response over and writes to it for as long as it likes; `body` is not used then. Called once, also where
   * the client has left meanwhile.
   */
  readonly stream?: (response: ServerResponse) => void;
}

/** Whose requests are counted together (decisions, "What counts where"); `streams` counts by itself. */
export type Bucket = 'api' | 'pictures' | 'pages' | 'streams' | 'none';

/** A line of the URL table. */
export interface Route {
  /** Path in the form of @koa/router. */
  readonly path: string;
  readonly bucket: Bucket;
  /** For the signed-in pages of this site alone: no other origin may read the answers. Default false. */
  readonly sameOrigin?: boolean;
  readonly handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
  /** What a client has left, where the route counts by itself. */
  readonly look?: (client: string) => Allowance;
  /** How the route is posted to: with a key and a JSON body; it is then not read. Absent: it is read alone. */
  readonly post?: {
    /** Longest body. */
    readonly maxBytes: number;
    readonly handle: (request: PostRequest) => Promise<HttpResponse>;
    /** A request was refused by a fault of ours: an answer of 500 or more. */
    readonly onFault: () => void;
  };
  /** How the OpenAPI document describes the route; absent: it does not. */
  readonly describe?: () => OpenApiOperation;
  /** True: the handler is asked for every method. Absent: for GET and HEAD. */
  readonly anyMethod?: boolean;
}

/** A JSON answer. */
export function json(body: string | Uint8Array, etag?: string): HttpResponse {
  const answer = {
    status: 200,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-cache' },
    body,
  };
  return etag === undefined ? answer : { ...answer, etag };
}
