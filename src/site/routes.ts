/** The whole URL table. */

import { atomRoutes } from '../api/atom.ts';
import { type DependencySources, dependencyRoutes } from '../api/dependencies.ts';
import { createEventStreams, type EventStreams } from '../api/events.ts';
import { type HeartbeatIntake, heartbeatRoutes } from '../api/heartbeats.ts';
import { historyRoute } from '../api/history.ts';
import { readingRoutes } from '../api/reading-routes.ts';
import { createServiceJson } from '../api/service-json.ts';
import { type StatusPageSources, statusPageRoutes } from '../api/status-pages.ts';
import { type VendorSources, vendorRoutes } from '../api/vendor-routes.ts';
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import type { Route } from '../http/route.ts';
import { type BadgeText, badgeRoutes } from '../images/badge.ts';
import { type PictureSources, pictureRoutes } from '../images/picture-routes.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { ApiLimits } from '../view/limits.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { createServiceSearch } from '../view/service-search.ts';
import type { ListenedAt } from '../view/service-view.ts';
import { type PageSources, pageRoutes } from '../web/page-routes.ts';
import { openApiRoute } from './openapi-route.ts';
import { type Readiness, systemRoutes } from './system.ts';

/** What the routes read from. */
export interface RouteSources {
  readonly settings: {
    /** Without a slash at its end. */
    readonly siteUrl: string;
    readonly intervalMs: number;
    /** A response that takes longer is slow. */
    readonly slowOverMs: number;
    readonly version: string;
  };
  readonly directory: ServiceDirectory;
  readonly status: StatusStore;
  readonly samples: Pick<SampleStore, 'query' | 'missingSince'>;
  readonly owners: PageSources['owners'];
  readonly ownedPages: StatusPageSources['pages'] | null;
  readonly registry: Pick<
    Registry,
    | 'listIncidents'
    | 'countIncidents'
    | 'transitionsAfter'
    | 'lastTransition'
    | keyof PageSources['registry']
    | keyof VendorSources['registry']
    | keyof DependencySources['registry']
  >;
  readonly vendorOf: VendorSources['vendorOf'];
  readonly renderBadge: (text: BadgeText) => Promise<Uint8Array>;
  readonly pictures: PictureSources['pictures'];
  /** What takes heartbeats. */
  readonly heartbeats: HeartbeatIntake;
  /** The limits in force; another object where they changed. */
  readonly limits: () => ApiLimits;
  readonly watchTransitions: (listener: (transition: Transition) => void) => () => void;
  readonly readiness: () => Readiness;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly now: () => number;
}

/** Every route, and the event streams that must be ended at the stop. */
export function createRoutes(sources: RouteSources): {
  readonly routes: readonly Route[];
  readonly streams: Pick<EventStreams, 'open' | 'close'>;
} {
  const {
    settings,
    directory,
    status,
    samples,
    registry,
    vendorOf,
    ownedPages,
    renderBadge,
    readiness,
    metrics,
    limits,
    now,
  } = sources;
  const { intervalMs, slowOverMs, siteUrl, version } = settings;
  /** The prober's connection is the one by which heartbeats come too; a copy of statuses knows nothing newer than itself. */
  const listenedAt: ListenedAt = () => {
    const { online, offlineSince } = readiness().prober;
    const heardAt = now() - (status.ageMs?.() ?? 0);
    return online || offlineSince === null ? heardAt : Math.min(heardAt, offlineSince);
  };
  const streams = createEventStreams(sources);
  const pages = pageRoutes({ ...sources, intervalMs, listenedAt, siteUrl, version });
  const bytes = createServiceJson({ status, intervalMs, now, listenedAt, vendorOf });
  const search = createServiceSearch({ directory, status, monotonic: () => sources.clock.monotonic() });
  return {
    streams: {
      get open() {
        return streams.open + pages.live.open;
      },
      close() {
        streams.close();
        pages.live.close();
      },
    },
    routes: [
      ...readingRoutes({ directory, search, bytes, registry }),
      ...vendorRoutes({ directory, registry, vendorOf, now }),
      ...atomRoutes({ directory, registry, siteUrl }),
      ...heartbeatRoutes(sources.heartbeats, { siteUrl, now }),
      ...dependencyRoutes({ directory, registry }),
      ...(ownedPages === null
        ? []
        : statusPageRoutes({ directory, status, pages: ownedPages, intervalMs, listenedAt, siteUrl, now })),
      historyRoute({ directory, samples, now }),
      streams.route,
      ...badgeRoutes({ directory, status, samples, renderBadge, intervalMs, listenedAt, slowOverMs, now }),
      ...pictureRoutes({ ...sources, intervalMs, listenedAt, siteUrl }),
      openApiRoute(siteUrl, version, limits),
      ...systemRoutes(readiness, metrics, sources.clock),
      ...pages.routes,
    ],
  };
}
