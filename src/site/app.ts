/** The application: the URL table of `routes.ts` with its limits, the steps of a request, and its server. Limits can change while it runs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { errorCodeOf } from '../error.ts';
import { createSiteCookie } from '../http/cookies.ts';
import { createOverload } from '../http/overload.ts';
import { type BucketLimiters, Pipeline, type PipelineOptions } from '../http/pipeline.ts';
import { type HttpError, retryLater } from '../http/problem.ts';
import {
  type ChargeChange,
  createChangeCharge,
  createRateLimiter,
  createSharedRateLimiter,
  LimitMemory,
  type LimitServer,
  type RateLimiter,
} from '../http/rate-limits.ts';
import { type Route, wrapReads } from '../http/route.ts';
import { createTurns } from '../http/turns.ts';
import type { StatusReads } from '../store/ports/status.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import type { KeptReads } from '../view/kept-reads.ts';
import type { ApiLimits } from '../view/monitor.ts';
import { closeToStrangers } from './members-only.ts';
import { RequestServer } from './request-server.ts';
import { createRoutes, type ShownParts } from './routes.ts';

export type ChangedLimits = Pick<
  ApiLimits,
  'anonymousPerMinute' | 'authenticatedPerMinute' | 'changesPerAccount'
>;

/** Maximum number of requests per minute and address for pages and their files. */
const PAGES_PER_MINUTE = 600;

/** The limiters of one application. */
class AppLimits {
  readonly #clock: Clock;
  readonly #server: LimitServer | null;
  readonly #addresses: LimitMemory;
  readonly #keys: LimitMemory;
  readonly #changes: RateLimiter;
  readonly limiters: Readonly<Record<'api' | 'pictures' | 'pages', BucketLimiters>>;
  readonly chargeChange: ChargeChange;
  inForce: ApiLimits;

  /** `server`: where processes share their limits; null: this process counts its own requests. */
  constructor(limits: ApiLimits, server: LimitServer | null, clock: Clock) {
    const { anonymousPerMinute, authenticatedPerMinute, changesPerAccount } = limits;
    const { silenceMs, domainsPerAccount } = limits;
    this.#clock = clock;
    this.#server = server;
    this.#addresses = new LimitMemory(clock);
    this.#keys = new LimitMemory(clock);
    this.#changes = this.#limiter('changes', 'key', changesPerAccount);
    this.chargeChange = createChangeCharge(this.#changes);
    this.inForce = {
      ...{ anonymousPerMinute, authenticatedPerMinute, changesPerAccount },
      ...{ silenceMs, domainsPerAccount },
    };
    this.limiters = {
      api: this.#both('api', anonymousPerMinute, authenticatedPerMinute),
      pictures: this.#both('pictures', anonymousPerMinute, authenticatedPerMinute),
      pages: this.#both('pages', PAGES_PER_MINUTE, PAGES_PER_MINUTE),
    };
  }

  /** The limit of a form, for each address of a client. */
  limitForms(name: string, max: number): RateLimiter {
    return this.#limiter(name, 'address', max);
  }

  set(limits: ChangedLimits): void {
    this.inForce = { ...this.inForce, ...limits };
    this.#changes.setMax(limits.changesPerAccount);
    for (const bucket of [this.limiters.api, this.limiters.pictures]) {
      bucket.anonymous.setMax(limits.anonymousPerMinute);
      bucket.authenticated.setMax(limits.authenticatedPerMinute);
    }
  }

  #limiter(name: string, who: 'address' | 'key', max: number): RateLimiter {
    const local = createRateLimiter(name, max, who === 'address' ? this.#addresses : this.#keys);
    if (this.#server === null) return local;
    return createSharedRateLimiter(`${name}:${who}`, max, {
      server: this.#server,
      local,
      clock: this.#clock,
    });
  }

  #both(name: string, ofAddress: number, ofKey: number): BucketLimiters {
    return {
      anonymous: this.#limiter(name, 'address', ofAddress),
      authenticated: this.#limiter(name, 'key', ofKey),
    };
  }
}

export interface AppOptions extends ShownParts {
  readonly settings: ShownParts['settings'] & {
    readonly trustedProxies: readonly string[];
  } & ApiLimits;
  readonly authenticator: PipelineOptions['authenticator'];
  /**
   * The server on which processes share their rate limits; null: this process counts its own requests. Default null.
   */
  readonly limitServer?: LimitServer | null;
  /** Cached reads of the registry, for when its server is unavailable. Default null: the registry needs no server. */
  readonly kept?: KeptReads | null;
  /** True if the process serves the site; false: only the routes about this process. Default true. */
  readonly serves?: boolean;
}

export function createApp(options: AppOptions) {
  const { settings, clock, metrics, log } = options;
  const now = () => clock.now();
  const limits = new AppLimits(settings, options.limitServer ?? null, clock);
  const { siteUrl } = settings;
  const table = createRoutes({
    ...options,
    now,
    limits: () => limits.inForce,
    limitForms: (name, max) => limits.limitForms(name, max),
    chargeChange: limits.chargeChange,
  });
  const turns = createTurns(clock);
  const overload = createOverload({ clock, log, turns, onRefused: metrics.noteOverloadRefusal });
  const pipeline = new Pipeline({
    siteUrl,
    authenticator: options.authenticator,
    explain: explainRefusal,
    errorPage: table.errorPage,
    limiters: limits.limiters,
    chargeChange: limits.chargeChange,
    overload,
    turns,
    log,
  });
  const { streams } = table;
  const { serves = true } = options;
  const served = serves ? withCopyAge(table.routes, options.status) : table.ownRoutes;
  const { kept = null } = options;
  const aged = kept === null ? served : kept.withAge(served);
  const routes = settings.isForMembers === true ? closeToStrangers(aged, membersOnly(options)) : aged;
  kept?.keepFresh(served, ALWAYS_ANSWERED);

  const server = new RequestServer({
    ...{ routes, pipeline, siteUrl, trustedProxies: settings.trustedProxies },
    pageDomains: options.pageDomains ?? null,
    proofs: options.owners?.proofs ?? null,
    ...{ metrics, clock, log },
  });
  return {
    /** The URL table that is served. */
    routes,
    /** The request listener for `http.createServer`. */
    listener: (message: IncomingMessage, response: ServerResponse): void => server.handle(message, response),
    /** Number of open event streams. */
    get openStreams(): number {
      return streams.open;
    },
    /** Which requests are refused because the program is overloaded; null: none. */
    overload: () => overload.problem(),
    /** Changes the rate limits of the running application. */
    setLimits: (changed: ChangedLimits): void => limits.set(changed),
    /** Closes the event streams, so that the server can stop. */
    close(): void {
      overload.stop();
      streams.close();
    },
  };
}

/** The parts that tell members from strangers. */
function membersOnly({ settings: { siteUrl }, authenticator, owners, ownedPages }: AppOptions) {
  const sessions = owners === null ? null : { ...owners, cookie: createSiteCookie(siteUrl) };
  return { siteUrl, authenticator, sessions, pages: ownedPages };
}

/** The time after which a client may repeat a refused request, seconds. */
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

/** Paths that respond while the registry's server is unavailable, even without an earlier request. */
const ALWAYS_ANSWERED = ['/', '/api/v1/incidents', '/api/v1/maintenance', '/incidents.atom'];

/** Routes whose responses are made from statuses. */
const FROM_STATUSES = new Set([
  '/api/v1/status/:slug',
  '/api/v1/services',
  '/api/badge/:slug',
  '/api/badge/:slug/:kind',
  '/api/badge/:slug/:kind/:duration',
  '/api/chart/:slug',
]);

/**
 * Adds `Age` (RFC 9111, 5.1) to responses made from statuses if they are at least one second old. A store without an
 * age is the monitor's own and always current.
 */
function withCopyAge(routes: readonly Route[], { ageMs }: StatusReads): readonly Route[] {
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
