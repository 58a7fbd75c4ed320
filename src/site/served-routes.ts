/** The routes as they are served: the URL table with ages of copies, closed to strangers where the site is for its members alone. */
import { createSiteCookie } from '../http/cookies.ts';
import type { PipelineOptions } from '../http/pipeline.ts';
import type { LimitServer } from '../http/rate-limits.ts';
import { type Route, wrapReads } from '../http/route.ts';
import type { StatusReads } from '../store/ports/status.ts';
import type { KeptReads } from '../view/kept-reads.ts';
import type { ApiLimits } from '../view/monitor.ts';
import { closeToStrangers } from './members-only.ts';
import { createRoutes, type RouteSources, type ShownParts } from './routes.ts';

/** The parts of an application. */
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

/** Creates the routes, and the event streams to close when the program stops. */
export function createServedRoutes(options: AppOptions, sources: RouteSources) {
  const { settings, status, kept = null, serves = true } = options;
  const { routes: table, streams, errorPage } = createRoutes(sources);
  const served = serves ? withCopyAge(table, status) : sources.ownRoutes;
  const aged = kept === null ? served : kept.withAge(served);
  kept?.keepFresh(served, ALWAYS_ANSWERED);
  const routes = settings.isForMembers === true ? closeToStrangers(aged, membersOnly(options)) : aged;
  return { routes, streams, errorPage };
}

/** The parts that tell members from strangers. */
function membersOnly({ settings: { siteUrl }, authenticator, owners, ownedPages }: AppOptions) {
  const sessions = owners === null ? null : { ...owners, cookie: createSiteCookie(siteUrl) };
  return { siteUrl, authenticator, sessions, pages: ownedPages };
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
