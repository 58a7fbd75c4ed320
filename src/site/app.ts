/** The application: the URL table of `routes.ts` with its limits, the steps of a request, and its server. Limits can change while it runs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Clock } from '../clock.ts';
import { errorCodeOf } from '../error.ts';
import { createOverload } from '../http/overload.ts';
import { type BucketLimiters, Pipeline } from '../http/pipeline.ts';
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
import type { Route } from '../http/route.ts';
import { createTurns } from '../http/turns.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import type { ApiLimits } from '../view/monitor.ts';
import { createServiceSearch } from '../view/service-search.ts';
import { RequestServer } from './request-server.ts';
import type { AppOptions, createServedRoutes } from './served-routes.ts';
import { systemRoutes } from './system.ts';

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

/** Pages and endpoints with their packages are 4 MB, which a program that nobody looks at does not hold. */
const loadRoutes = (): { readonly createServedRoutes: typeof createServedRoutes } =>
  createRequire(import.meta.url)('./served-routes.ts');

/** Creates the application. The first request for another route than those about this process loads the others. */
export function createApp(options: AppOptions) {
  const { settings, clock, metrics, log, serves = true } = options;
  const now = () => clock.now();
  const limits = new AppLimits(settings, options.limitServer ?? null, clock);
  const { siteUrl } = settings;
  const search = createServiceSearch({
    directory: options.directory.shown,
    status: options.status,
    monotonic: () => clock.monotonic(),
  });
  const ownRoutes = systemRoutes({ ...options, directory: options.directory.shown, search });
  let table: ReturnType<typeof createServedRoutes> | null = null;
  const served = () =>
    (table ??= loadRoutes().createServedRoutes(options, {
      ...options,
      search,
      ownRoutes,
      now,
      limits: () => limits.inForce,
      limitForms: (name, max) => limits.limitForms(name, max),
      chargeChange: limits.chargeChange,
    }));
  const turns = createTurns(clock);
  const overload = createOverload({ clock, log, turns, onRefused: metrics.noteOverloadRefusal });
  const pipeline = new Pipeline({
    siteUrl,
    authenticator: options.authenticator,
    explain: explainRefusal,
    errorPage: (...refused) => served().errorPage(...refused),
    limiters: limits.limiters,
    chargeChange: limits.chargeChange,
    overload,
    turns,
    log,
  });
  // Reads are kept fresh before the first request; and a site for members closes the routes about this process, too.
  const isWhole = (options.kept ?? null) !== null || settings.isForMembers === true;
  const routes = () => (serves || isWhole ? served().routes : ownRoutes);
  if (isWhole) routes();
  const server = new RequestServer({
    ...{ ownRoutes: isWhole ? [] : ownRoutes, routes },
    ...{ pipeline, siteUrl, trustedProxies: settings.trustedProxies },
    pageDomains: options.pageDomains ?? null,
    proofs: options.owners?.proofs ?? null,
    ...{ metrics, clock, log },
  });
  return {
    /** The URL table that is served. */
    get routes(): readonly Route[] {
      return routes();
    },
    /** The request listener for `http.createServer`. */
    listener: (message: IncomingMessage, response: ServerResponse): void => server.handle(message, response),
    /** Number of open event streams. */
    get openStreams(): number {
      return table?.streams.open ?? 0;
    },
    /** Which requests are refused because the program is overloaded; null: none. */
    overload: () => overload.problem(),
    /** Changes the rate limits of the running application. */
    setLimits: (changed: ChangedLimits): void => limits.set(changed),
    /** Closes the event streams, so that the server can stop. */
    close(): void {
      overload.stop();
      table?.streams.close();
    },
  };
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
