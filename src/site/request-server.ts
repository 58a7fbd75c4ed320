/** The server of requests: one Koa application over the URL table, with a short way for hot routes. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type KoaRouter from '@koa/router';
import type { Context, default as KoaApplication } from 'koa';
import { andThen, attempt, type MaybeLater } from '../async/at-once.ts';
import type { Clock } from '../clock.ts';
import { UUID_FORM } from '../domain/heartbeat/heartbeat-rules.ts';
import { domainOrigin } from '../domain/status-page.ts';
import { toError } from '../error.ts';
import { basePathOf, headersBelow, stripBasePath } from '../http/base-path.ts';
import { createBodyReader, createBodyStartReader } from '../http/body.ts';
import { createClientReader } from '../http/client-address.ts';
import type { CompleteResponse } from '../http/complete-response.ts';
import type { Pipeline } from '../http/pipeline.ts';
import { HttpError, NOTHING_AT } from '../http/problem.ts';
import type { HttpRequest, Route } from '../http/route.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createDomainRoutes } from './page-domains.ts';
import type { RouteSources } from './routes.ts';

const loadKoa = (): typeof KoaApplication => createRequire(import.meta.url)('koa');
/** Loaded by `require`, because its module for `import` loads `fetch` and WebSocket of Node.js, which take 6 MB. */
const loadRouter = (): typeof KoaRouter => createRequire(import.meta.url)('@koa/router');

/** Methods whose requests have a body. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
/** Hot routes, which bypass Koa and its router where the slug needs no decoding; the response is the same. */
const HOT_ROUTES: ReadonlySet<string> = new Set(['/api/v1/status/:slug', '/api/badge/:slug']);
const PLAIN_SLUG = /^[A-Za-z0-9._-]{1,200}$/;

/** All routes, and what finds one of them. */
interface Table {
  readonly koa: ReturnType<KoaApplication['callback']>;
  /** Returns true if there is a route for a URL below the site. */
  readonly isRoute: (url: string) => boolean;
  readonly findAtDomain: ReturnType<typeof createDomainRoutes>;
  /** By what precedes the slug, with its slash, in small letters. */
  readonly hotRoutes: ReadonlyMap<string, Route>;
}

export class RequestServer {
  readonly #pipeline: Pipeline;
  readonly #siteUrl: string;
  readonly #pageDomains: NonNullable<RouteSources['pageDomains']> | null;
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #siteHost: string;
  readonly #readClient: ReturnType<typeof createClientReader>;
  readonly #base: string;
  /** The routes about this process, which load no others, by their paths. */
  readonly #ownRoutes: Map<string, Route>;
  readonly #routes: () => readonly Route[];
  readonly #proofs: Parameters<typeof createDomainRoutes>[1];
  #table: Table | null = null;

  constructor(options: {
    /** Answered without a look at the others. */
    readonly ownRoutes: readonly Route[];
    /** Returns all routes; called once, by the first request for another one. */
    readonly routes: () => readonly Route[];
    readonly pipeline: Pipeline;
    readonly siteUrl: string;
    readonly trustedProxies: readonly string[];
    /** The owners' domains; null: there are none. */
    readonly pageDomains: NonNullable<RouteSources['pageDomains']> | null;
    readonly proofs: Parameters<typeof createDomainRoutes>[1];
    readonly metrics: Metrics;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    const { siteUrl } = options;
    this.#pipeline = options.pipeline;
    this.#siteUrl = siteUrl;
    this.#pageDomains = options.pageDomains;
    this.#proofs = options.proofs;
    this.#metrics = options.metrics;
    this.#clock = options.clock;
    this.#log = options.log;
    const { host: siteHost } = new URL(siteUrl);
    this.#siteHost = siteHost;
    this.#readClient = createClientReader(options.trustedProxies);
    this.#base = basePathOf(siteUrl);
    this.#ownRoutes = new Map(options.ownRoutes.map((route) => [this.#base + route.path, route]));
    this.#routes = options.routes;
  }

  #loadTable(): Table {
    const routes = this.#routes();
    const router = new (loadRouter())();
    const application = new (loadKoa())();
    for (const route of routes) {
      router.all(route.path, (context: Context & { params: Record<string, string> }) => {
        context.respond = false;
        return this.#answer(
          route,
          this.#requestOf(context.req, this.#siteUrl + context.path, context.params, context.querystring),
          context.res,
        );
      });
    }
    application.use(router.routes());
    application.use((context) => {
      context.respond = false;
      const { req, res, path } = context;
      return this.#answer(UNKNOWN_ROUTE, this.#requestOf(req, this.#siteUrl + path, { path }, ''), res);
    });
    application.on('error', (error: Error, context?: Context) =>
      this.#log.error(
        { path: context?.path, problem: error.message },
        'a request failed outside its handler',
      ),
    );
    /** True if a URL could also be one of this site without its base path. */
    const isAmbiguous =
      this.#base !== '' && routes.some(({ path }) => path.split('/')[1] === this.#base.split('/')[1]);
    return {
      koa: application.callback(),
      isRoute: (url: string) => !isAmbiguous || router.match(url.replace(/\?.*/s, ''), 'GET').path.length > 0,
      findAtDomain: createDomainRoutes(routes, this.#proofs),
      hotRoutes: new Map(
        routes
          .filter(({ path }) => HOT_ROUTES.has(path))
          .map((route) => [route.path.slice(0, -':slug'.length), route]),
      ),
    };
  }

  /** Handles a request of `http.createServer`. */
  handle(message: IncomingMessage, response: ServerResponse): void {
    const page = this.#pageDomains?.find(message.headers.host) ?? null;
    let [path, query] = splitUrl(message.url);
    const own = page === null ? this.#ownRoutes.get(path) : undefined;
    if (own !== undefined) {
      const request = this.#requestOf(message, this.#siteUrl + own.path, {}, query);
      this.#respond(own.path, own, request, response);
      return;
    }
    try {
      this.#table ??= this.#loadTable();
    } catch (thrown) {
      // The monitor goes on; the next request tries again.
      this.#fail(path, thrown, response);
      return;
    }
    const { koa, isRoute, findAtDomain, hotRoutes } = this.#table;
    if (this.#base !== '' && page === null)
      message.url = stripBasePath(message.url ?? '/', this.#base, isRoute);
    message.url = routedForm(message.url ?? '/', message.headers);
    [path, query] = splitUrl(message.url);
    if (page !== null) {
      const found = findAtDomain(page, path, query) ?? {
        route: UNKNOWN_ROUTE,
        params: { path },
        query: '',
      };
      const headers = withoutKey(message.headers);
      const request = {
        ...this.#requestOf(
          message,
          domainOrigin(this.#siteUrl, page.domain) + path,
          found.params,
          found.query,
        ),
        headers,
        atDomain: true,
      } as const;
      this.#respond(path, found.route, request, response);
      return;
    }
    const slugAt = path.lastIndexOf('/') + 1;
    const route = hotRoutes.get(path.slice(0, slugAt).toLowerCase());
    const slug = path.slice(slugAt);
    if (route === undefined || !PLAIN_SLUG.test(slug)) void koa(message, response);
    else
      this.#respond(path, route, this.#requestOf(message, this.#siteUrl + path, { slug }, query), response);
  }

  #requestOf(
    message: IncomingMessage,
    url: string,
    params: Readonly<Record<string, string>>,
    query: string,
  ): HttpRequest {
    const { method = 'GET', headers, socket } = message;
    const request = {
      method,
      params,
      query,
      headers,
      url,
      siteHost: this.#siteHost,
      client: this.#readClient(socket.remoteAddress, headers['x-forwarded-for']?.toString()),
      // Node.js ends a connection whose client has ended it.
      isGone: () => !socket.writable,
    };
    return WITH_BODY.has(method)
      ? { ...request, readBody: createBodyReader(message), readBodyStart: createBodyStartReader(message) }
      : request;
  }

  #answer(route: Route, request: HttpRequest, response: ServerResponse): MaybeLater<void> {
    const startedMs = this.#clock.monotonic();
    return andThen(this.#pipeline.run(route, request), (given) => {
      if (this.#base !== '' && request.atDomain !== true) headersBelow(given, this.#base);
      send(response, given, request.method);
      const ms = this.#clock.monotonic() - startedMs;
      this.#metrics.noteRequest(route.path, given.status, ms / 1_000);
      this.#log.debug({ method: request.method, route: route.path, status: given.status, ms }, 'request');
    });
  }

  #respond(path: string, route: Route, request: HttpRequest, response: ServerResponse) {
    void attempt(
      () => this.#answer(route, request, response),
      () => {},
      (thrown) => this.#fail(path, thrown, response),
    );
  }

  #fail(path: string, thrown: unknown, response: ServerResponse) {
    const { message, stack } = toError(thrown);
    this.#log.error({ path, problem: message, stack }, 'a request failed outside its handler');
    response.destroy();
  }
}

/** A path that begins with a UUID: a heartbeat address in the form of hc-ping.com, which has no other paths. */
const PING_PATH = new RegExp(`^/${UUID_FORM}(?=[/?]|$)`);

/** The channels of our own API, and of version 1 of that of Healthchecks. */
const CHANNELS_PATH = /^\/api\/v1\/channels\/?(?=\?|$)/;

/**
 * The URL that has a route in place of one that clients of Healthchecks send: below `/ping` for a heartbeat address without that, and
 * that of version 2 for channels, where the key is in Healthchecks' header.
 */
function routedForm(url: string, headers: IncomingHttpHeaders): string {
  if (url[9] === '-' && PING_PATH.test(url)) return `/ping${url}`;
  return headers['x-api-key'] === undefined ? url : url.replace(CHANNELS_PATH, '/api/v2/channels');
}

/** The path, and the query without the question mark. */
function splitUrl(url = '/'): [path: string, query: string] {
  const mark = url.indexOf('?');
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

/** The headers of a request at a domain: keys are for this site alone, while a page may ask for its password by HTTP Basic. */
function withoutKey({ authorization = '', ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return /^ *basic /i.test(authorization) ? { ...headers, authorization } : headers;
}

const UNKNOWN_ROUTE: Route = {
  path: 'unknown',
  bucket: 'pages',
  access: 'everyone',
  open: true,
  anyMethod: true,
  handle({ params }) {
    throw new HttpError('route_not_found', `${NOTHING_AT}${(params.path ?? '').slice(0, 200)}.`);
  },
};

function send(
  response: ServerResponse,
  { status, headers, body, bodyBytes, stream }: CompleteResponse,
  method: string,
): void {
  if (stream !== undefined) {
    if (!response.destroyed) response.writeHead(status, headers);
    stream(response);
    return;
  }
  if (response.destroyed) return;
  response.writeHead(status, headers);
  if (method === 'HEAD' || status === 204 || status === 304) response.end();
  // Text in ASCII goes out with the headers by one write, without a conversion to UTF-8.
  else if (typeof body === 'string') response.end(body, bodyBytes === body.length ? 'latin1' : 'utf8');
  else if (body.byteLength <= ONE_WRITE_BYTES) response.end(asText(body), 'latin1');
  else response.end(body);
}

/**
 * Bytes up to this size, such as badges, go out with the headers by one write too. Node.js sends at most 16 KiB, headers included, without
 * an allocation; half of it leaves room for the headers.
 */
const ONE_WRITE_BYTES = 8_192;

/** One character for each byte. */
function asText(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
}
