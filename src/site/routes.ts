/** The whole URL table. */
import { atomRoutes } from '../api/atom.ts';
import { type DependencySources, dependencyRoutes } from '../api/dependencies.ts';
import { createEventStreams, type EventSources, type EventStreams } from '../api/events.ts';
import { type HeartbeatIntake, heartbeatRoutes } from '../api/heartbeats.ts';
import { historyRoute } from '../api/history.ts';
import { type IncidentSources, incidentRoutes } from '../api/incidents.ts';
import { createServiceJson, servicesRoute, statusRoute } from '../api/services.ts';
import { statusPageRoutes } from '../api/status-pages.ts';
import { type MaintenanceSources, maintenanceRoute, type VendorSources, vendorRoute } from '../api/vendor.ts';
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import type { Route } from '../http/route.ts';
import { type BadgeText, badgeRoutes } from '../images/badge.ts';
import { type ChartSources, chartRoute } from '../images/chart.ts';
import { type HeatmapSources, heatmapRoute } from '../images/heatmap.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { ApiLimits, Readiness } from '../view/monitor.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { createServiceSearch } from '../view/service-search.ts';
import type { ListenedAt } from '../view/staleness.ts';
import type { PageReader } from '../view/status-page-view.ts';
import { type PageSources, pageRoutes } from '../web/page-routes.ts';
import { createOpenApi } from './openapi.ts';
import { systemRoutes } from './system.ts';

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
  readonly ownedPages: PageReader | null;
  readonly registry: Pick<
    Registry,
    | keyof EventSources['registry']
    | keyof IncidentSources['registry']
    | keyof VendorSources['registry']
    | keyof MaintenanceSources['registry']
    | keyof DependencySources['registry']
    | keyof PageSources['registry']
  >;
  readonly vendorOf: VendorSources['vendorOf'];
  readonly renderBadge: (text: BadgeText) => Promise<Uint8Array>;
  readonly pictures: ChartSources['pictures'] & HeatmapSources['pictures'];
  /** What accepts heartbeats. */
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

/** Every route, and the event streams to close when the program stops. */
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
  /** Heartbeats arrive by the prober's connection; a copy of statuses knows nothing newer than itself. */
  const listenedAt: ListenedAt = () => {
    const { online, offlineSince } = readiness().prober;
    const heardAt = now() - (status.ageMs?.() ?? 0);
    return online || offlineSince === null ? heardAt : Math.min(heardAt, offlineSince);
  };
  const services = createServiceJson({ status, intervalMs, now, listenedAt, vendorOf });
  const search = createServiceSearch({ directory, status, monotonic: () => sources.clock.monotonic() });
  const streams = createEventStreams(sources);
  const ownersPages =
    ownedPages === null ? null : { directory, status, pages: ownedPages, intervalMs, listenedAt, now };
  /** In the order of the OpenAPI document. */
  const described = [
    statusRoute(directory, services),
    servicesRoute(search, services),
    historyRoute({ directory, samples, now }),
    ...incidentRoutes({ directory, registry }),
    vendorRoute({ directory, registry, vendorOf, now }),
    maintenanceRoute({ directory, registry }),
    ...heartbeatRoutes({ heartbeats: sources.heartbeats, limits, siteUrl, now }),
    ...dependencyRoutes({ directory, registry }),
    ...(ownersPages === null ? [] : statusPageRoutes({ ...ownersPages, siteUrl })),
    streams.route,
    ...atomRoutes({ directory, registry, pages: ownersPages, siteUrl }),
    ...badgeRoutes({ directory, status, samples, renderBadge, intervalMs, listenedAt, slowOverMs, now }),
    chartRoute({ ...sources, intervalMs, listenedAt, siteUrl }),
    heatmapRoute(sources),
  ];
  const openApi = createOpenApi({ siteUrl, version, limits, routes: described });
  const pages = pageRoutes({
    ...sources,
    intervalMs,
    listenedAt,
    siteUrl,
    version,
    apiDocument: openApi.document,
  });
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
    // Pages come last: some of their paths match those of the API as well.
    routes: [
      ...described,
      openApi.route,
      ...systemRoutes(readiness, metrics, sources.clock),
      ...pages.routes,
    ],
  };
}
