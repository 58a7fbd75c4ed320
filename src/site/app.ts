/** The API and the pages as one Koa application over the URL table of `routes.ts`. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type KoaRouter from '@koa/router';
import Koa, { type Context } from 'koa';
import { andThen, attempt, type MaybeLater } from '../async/at-once.ts';
import type { Clock } from '../clock.ts';
import { domainOrigin } from '../domain/status-page.ts';
import { errorCodeOf, toError } from '../error.ts';
import { basePathOf, headersBelow, stripBasePath } from '../http/base-path.ts';
import { createBodyReader, createBodyStartReader } from '../http/body.ts';
import { createClientReader } from '../http/client-address.ts';
import type { CompleteResponse } from '../http/complete-response.ts';
import { createOverload } from '../http/overload.ts';
import { Pipeline, type PipelineOptions } from '../http/pipeline.ts';
import { HttpError, NOTHING_AT, retryLater } from '../http/problem.ts';
import { createChangeCharge, createRateLimiter, LimitMemory } from '../http/rate-limits.ts';
import { type HttpRequest, type Route, wrapReads } from '../http/route.ts';
import { createSharedRateLimiter, type LimitServer } from '../http/shared-rate-limits.ts';
import { createTurns } from '../http/turns.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { StatusStore } from '../store/ports/status.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import type { KeptReads } from '../view/kept-reads.ts';
import type { ApiLimits } from '../view/monitor.ts';
import { createDomainRoutes } from './domain-routes.ts';
import { createRoutes, type RouteSources } from './routes.ts';

/** Loaded by `require`, because its module for `import` loads `fetch` and WebSocket of Node.js, which take 6 MB. */
const Router: typeof KoaRouter = createRequire(import.meta.url)('@koa/router');

/** Options of the application. */
export interface AppOptions extends Omit<RouteSources, 'now' | 'limits' | 'limitForms' | 'chargeChange'> {
  readonly settings: RouteSources['settings'] & {
    readonly trustedProxies: readonly string[];
  } & ApiLimits;
  readonly authenticator: PipelineOptions['authenticator'];
  /**
   * The server on which processes share their rate limits; null: this process counts its own requests. Default null.
   */
  readonly limitServer?: LimitServer | null;
  /** Cached reads of the registry, for when its server is unavailable. Default null: the registry needs no server. */
  readonly kept?: KeptReads | null;
  /** Whether the process serves the site; false: only the routes about this process. Default true. */
  readonly serves?: boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Maximum number of requests per minute and address for pages and their files. */
const PAGES_PER_MINUTE = 600;
/** Methods whose requests have a body. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
/** Hot routes, which bypass Koa and its router where the slug needs no decoding; the response is the same. */
const HOT_ROUTES: ReadonlySet<string> = new Set(['/api/v1/status/:slug', '/api/badge/:slug']);
const PLAIN_SLUG = /^[A-Za-z0-9._-]{1,200}$/;

/** Creates the application. */
export function createApp(options: AppOptions) {
  const { settings, clock, metrics, log } = options;
  const now = () => clock.now();
  const { anonymousPerMinute, authenticatedPerMinute, changesPerAccount, silenceMs, domainsPerAccount } =
    settings;
  let limitsInForce: ApiLimits = {
    ...{ anonymousPerMinute, authenticatedPerMinute, changesPerAccount },
    ...{ silenceMs, domainsPerAccount },
  };
  const addresses = new LimitMemory(clock);
  const keys = new LimitMemory(clock);
  const { limitServer = null } = options;
  const limiter = (name: string, who: 'address' | 'key', max: number) => {
    const local = createRateLimiter(name, max, who === 'address' ? addresses : keys);
    if (limitServer === null) return local;
    return createSharedRateLimiter(`${name}:${who}`, max, { server: limitServer, local, clock });
  };
  const both = (name: string, ofAddress: number, ofKey: number) => ({
    anonymous: limiter(name, 'address', ofAddress),
    authenticated: limiter(name, 'key', ofKey),
  });
  const limiters = {
    api: both('api', anonymousPerMinute, authenticatedPerMinute),
    pictures: both('pictures', anonymousPerMinute, authenticatedPerMinute),
    pages: both('pages', PAGES_PER_MINUTE, PAGES_PER_MINUTE),
  };
  const changes = limiter('changes', 'key', changesPerAccount);
  const chargeChange = createChangeCharge(changes);
  const { siteUrl } = settings;
  const { host: siteHost } = new URL(siteUrl);
  const readClient = createClientReader(settings.trustedProxies);
  const table = createRoutes({
    ...options,
    now,
    limits: () => limitsInForce,
    limitForms: (name, max) => limiter(name, 'address', max),
    chargeChange,
  });
  const turns = createTurns(clock);
  const overload = createOverload({ clock, log, turns, onRefused: metrics.noteOverloadRefusal });
  const pipeline = new Pipeline({
    siteUrl,
    authenticator: options.authenticator,
    explain: explainRefusal,
    errorPage: table.errorPage,
    limiters,
    chargeChange,
    overload,
    turns,
    log,
  });
  const { streams } = table;
  const { serves = true } = options;
  const served = serves ? withCopyAge(table.routes, options.status) : table.ownRoutes;
  const { kept = null } = options;
  const routes = kept === null ? served : kept.withAge(served);
  kept?.keepFresh(served, ALWAYS_ANSWERED);

  const requestOf = (
    message: IncomingMessage,
    url: string,
    params: Readonly<Record<string, string>>,
    query: string,
  ): HttpRequest => ({
    method: message.method ?? 'GET',
    params,
    query,
    headers: message.headers,
    url,
    siteHost,
    client: readClient(message.socket.remoteAddress, message.headers['x-forwarded-for']?.toString()),
    // Node.js ends a connection whose client has ended it.
    isGone: () => !message.socket.writable,
    ...(WITH_BODY.has(message.method ?? '')
      ? { readBody: createBodyReader(message), readBodyStart: createBodyStartReader(message) }
      : {}),
  });

  const base = basePathOf(siteUrl);

  const answer = (route: Route, request: HttpRequest, response: ServerResponse): MaybeLater<void> => {
    const startedMs = clock.monotonic();
    return andThen(pipeline.run(route, request), (given) => {
      if (base !== '' && request.atDomain !== true) headersBelow(given, base);
      send(response, given, request.method);
      const ms = clock.monotonic() - startedMs;
      metrics.noteRequest(route.path, given.status, ms / 1_000);
      log.debug({ method: request.method, route: route.path, status: given.status, ms }, 'request');
    });
  };

  const respond = (path: string, route: Route, request: HttpRequest, response: ServerResponse) => {
    void attempt(
      () => answer(route, request, response),
      () => {},
      (thrown) => {
        const { message, stack } = toError(thrown);
        log.error({ path, problem: message, stack }, 'a request failed outside its handler');
        response.destroy();
      },
    );
  };

  const application = new Koa();
  const router = new Router();
  for (const route of routes) {
    router.all(route.path, (context: Context & { params: Record<string, string> }) => {
      context.respond = false;
      return answer(
        route,
        requestOf(context.req, siteUrl + context.path, context.params, context.querystring),
        context.res,
      );
    });
  }
  application.use(router.routes());
  application.use((context) => {
    context.respond = false;
    const { req, res, path } = context;
    return answer(UNKNOWN_ROUTE, requestOf(req, siteUrl + path, { path }, ''), res);
  });
  application.on('error', (error: Error, context?: Context) =>
    log.error({ path: context?.path, problem: error.message }, 'a request failed outside its handler'),
  );
  const koa = application.callback();

  const { pageDomains = null } = options;
  /** Whether a URL could also be one of this site without its base path. */
  const isAmbiguous = base !== '' && routes.some(({ path }) => path.split('/')[1] === base.split('/')[1]);
  const isRoute = (url: string) =>
    !isAmbiguous || router.match(url.replace(/\?.*/s, ''), 'GET').path.length > 0;
  const findAtDomain = createDomainRoutes(routes, options.owners?.proofs ?? null);
  /** By what precedes the slug, with its slash, in small letters. */
  const hotRoutes = new Map(
    routes
      .filter(({ path }) => HOT_ROUTES.has(path))
      .map((route) => [route.path.slice(0, -':slug'.length), route]),
  );

  return {
    /** The URL table that is served. */
    routes,
    /** The request listener for `http.createServer`. */
    listener(message: IncomingMessage, response: ServerResponse): void {
      const page = pageDomains?.find(message.headers.host) ?? null;
      if (base !== '' && page === null) message.url = stripBasePath(message.url ?? '/', base, isRoute);
      const url = message.url ?? '/';
      const mark = url.indexOf('?');
      const path = mark === -1 ? url : url.slice(0, mark);
      const query = mark === -1 ? '' : url.slice(mark + 1);
      if (page !== null) {
        const found = findAtDomain(page, path, query) ?? {
          route: UNKNOWN_ROUTE,
          params: { path },
          query: '',
        };
        const headers = withoutKey(message.headers);
        const request = {
          ...requestOf(message, domainOrigin(siteUrl, page.domain) + path, found.params, found.query),
          headers,
          atDomain: true,
        } as const;
        respond(path, found.route, request, response);
        return;
      }
      const slugAt = path.lastIndexOf('/') + 1;
      const route = hotRoutes.get(path.slice(0, slugAt).toLowerCase());
      const slug = path.slice(slugAt);
      if (route === undefined || !PLAIN_SLUG.test(slug)) void koa(message, response);
      else respond(path, route, requestOf(message, siteUrl + path, { slug }, query), response);
    },
    /** Number of open event streams. */
    get openStreams(): number {
      return streams.open;
    },
    /** Which requests are refused because the program is overloaded; null: none. */
    overload: () => overload.problem(),
    /** Changes the rate limits of the running application. */
    setLimits(
      limits: Pick<ApiLimits, 'anonymousPerMinute' | 'authenticatedPerMinute' | 'changesPerAccount'>,
    ): void {
      limitsInForce = { ...limitsInForce, ...limits };
      changes.setMax(limits.changesPerAccount);
      for (const bucket of [limiters.api, limiters.pictures]) {
        bucket.anonymous.setMax(limits.anonymousPerMinute);
        bucket.authenticated.setMax(limits.authenticatedPerMinute);
      }
    },
    /** Closes the event streams, so that the server can stop. */
    close(): void {
      overload.stop();
      streams.close();
    },
  };
}

/** The headers of a request at a domain: keys are for this site alone, while a page may ask for its password by HTTP Basic. */
function withoutKey({ authorization = '', ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return /^ *basic /i.test(authorization) ? { ...headers, authorization } : headers;
}

/** When a client may repeat a refused request, seconds. */
const REGISTRY_RETRY_SECONDS = 5;

/** The code of an error of the registry: another process is the monitor by now, and this one ends. */
const LEASE_LOST = 'lease_lost';

/** The error for a registry that refuses a request now (decisions, Keys and limits); null: it is another error. */
function explainRefusal(thrown: unknown): HttpError | null {
  const code = refusalOf(thrown)?.code ?? errorCodeOf(thrown);
  if (code === LEASE_LOST)
    return retryLater(
      'unavailable',
      REGISTRY_RETRY_SECONDS,
      'Another process takes over at present. Send the request again.',
    );
  if (refusalOf(thrown) === null) return null;
  return code === 'storage_full'
    ? retryLater(
        'storage_full',
        REGISTRY_RETRY_SECONDS,
        'The disk takes no writes at present. Send the request again.',
      )
    : retryLater(
        'unavailable',
        REGISTRY_RETRY_SECONDS,
        'The registry does not respond at present. Send the request again.',
      );
}

const UNKNOWN_ROUTE: Route = {
  path: 'unknown',
  bucket: 'pages',
  access: 'everyone',
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

/** Paths that respond while the registry's server is unavailable, even without an earlier request. */
const ALWAYS_ANSWERED = ['/', '/api/v1/incidents', '/api/v1/maintenance', '/incidents.atom'];

/** Routes whose responses are made from statuses. */
const FROM_STATUSES = new Set([
  '/api/v1/status/:slug',
  '/api/v1/services',
  '/api/badge/:slug',
  '/api/chart/:slug',
]);

/**
 * Adds `Age` (RFC 9111, 5.1) to responses made from statuses if they are at least one second old. A store without an
 * age is the monitor's own and always current.
 */
function withCopyAge(routes: readonly Route[], { ageMs }: Pick<StatusStore, 'ageMs'>): readonly Route[] {
  if (ageMs === undefined) return routes;
  return wrapReads(routes, (read, { path }) => {
    if (!FROM_STATUSES.has(path)) return read;
    return async (request) => {
      const answer = await read(request);
      const seconds = Math.floor(ageMs() / 1_000);
      return seconds < 1 ? answer : { ...answer, headers: { ...answer.headers, Age: String(seconds) } };
    };
  });
}
