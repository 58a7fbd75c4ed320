/** The URL table. */

import { randomBytes } from 'node:crypto';
import { applyRoute } from '../api/apply.ts';
import { calendarRoutes } from '../api/calendars.ts';
import { dependencyRoutes } from '../api/dependencies.ts';
import {
  createEventIds,
  createEventStreams,
  type EventIds,
  type EventSources,
  type EventStreams,
} from '../api/events.ts';
import { checkRoutes } from '../api/healthchecks/check-routes.ts';
import { pingRoutes } from '../api/healthchecks/ping-routes.ts';
import { addressRoutes } from '../api/heartbeat-addresses.ts';
import { type HeartbeatIntake, heartbeatRoutes } from '../api/heartbeats.ts';
import { historyRoute } from '../api/history.ts';
import { honestyRoute } from '../api/honesty.ts';
import { incidentFeedRoutes } from '../api/incident-feeds.ts';
import { incidentRoutes } from '../api/incidents.ts';
import { ownedServiceRoutes, serviceRoute } from '../api/owned-services.ts';
import { probeRoute } from '../api/probe.ts';
import { regionsRoute } from '../api/regions.ts';
import { createServiceJson, type ServiceJson, servicesRoute, statusRoute } from '../api/services.ts';
import { statusPageRoutes } from '../api/status-pages.ts';
import { statuspageRoutes } from '../api/statuspage.ts';
import { maintenanceRoute, vendorRoute } from '../api/vendor.ts';
import { describeCallback } from '../api/webhook-payloads.ts';
import type { Clock } from '../clock.ts';
import type { PipelineOptions } from '../http/pipeline.ts';
import type { ChargeChange } from '../http/rate-limits.ts';
import { type HttpRequest, includesScope, joinRoutes, type Route } from '../http/route.ts';
import { type BadgeSources, badgeRoutes } from '../images/badge.ts';
import { type ChartSources, chartRoute } from '../images/chart.ts';
import { type HeatmapSources, heatmapRoute } from '../images/heatmap.ts';
import type { Log } from '../log.ts';
import { mcpRoute } from '../mcp/mcp-route.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { alertRoutes } from '../resources/alerts/open-alerts.ts';
import { channelRoutes } from '../resources/channels/channel-routes.ts';
import { ownerIncidentRoutes } from '../resources/incidents/incident-routes.ts';
import { keyRoutes } from '../resources/keys/key-routes.ts';
import { ownerMaintenanceRoutes } from '../resources/maintenances/maintenance-routes.ts';
import { ownedPageRoutes } from '../resources/pages/page-routes.ts';
import { ruleRoutes } from '../resources/rules/rule-routes.ts';
import { webhookRoutes } from '../resources/webhooks/webhooks.ts';
import type { HeartbeatStore } from '../store/ports/heartbeats.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { FactStore, PublicReads } from '../store/ports/registry.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { TransitionReads } from '../store/ports/updates.ts';
import { createHeatmapReader } from '../view/heatmap-cells.ts';
import { createHistoryReads } from '../view/history-reads.ts';
import { createHonestyReader } from '../view/honesty.ts';
import type { ApiLimits, Readiness } from '../view/monitor.ts';
import { createSampleRegionReader } from '../view/sample-region-reader.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { createReaderWatch, createServiceFinder, type ServiceFinder } from '../view/service-finder.ts';
import type { ServiceSearch } from '../view/service-search.ts';
import type { SiteSources } from '../view/site-sources.ts';
import type { ListenedAt } from '../view/staleness.ts';
import type { AboutSettings } from '../web/about-page.ts';
import { type PageSources, pageRoutes } from '../web/page-routes.ts';
import type { ErrorPage } from '../web/parts/views.ts';
import { createPageReaders } from '../web/status-page/page-readers.ts';
import { createOpenApi } from './openapi.ts';
import { type PageDomains, tlsAskRoute } from './page-domains.ts';

/** The methods of the registry that endpoints and pages use. */
type SiteRegistry = PublicReads & IncidentStore & TransitionReads & HeartbeatStore & FactStore;

/** The parts of the program that the site shows. */
export interface ShownParts {
  readonly settings: {
    /** Without a slash at its end. */
    readonly siteUrl: string;
    /** The content of `/`: `services`, `sign-in` or `page:<slug>`. Default `services`. */
    readonly home?: string;
    /** True if the site is for its members alone. Default false. */
    readonly isForMembers?: boolean;
    /** The contact for vulnerabilities; null: the operator names no contact. */
    readonly securityContact?: string | null;
    readonly intervalMs: number;
    /** Maximum response time of a check that is not slow, milliseconds. */
    readonly slowOverMs: number;
    readonly version: string;
    /** The settings that the page about this installation shows. */
    readonly about: AboutSettings;
  };
  readonly directory: ServiceDirectory;
  readonly status: StatusStore;
  readonly samples: SiteSources['samples'];
  readonly registry: SiteRegistry;
  readonly heartbeats: HeartbeatIntake;
  readonly vendorOf: SiteSources['vendorOf'];
  readonly watchTransitions: EventSources['watchTransitions'];
  /** The ids of events. Absent: those of a key that this process forgets. */
  readonly eventIds?: EventIds | undefined;
  readonly readiness: () => Readiness;
  /** The parts for owners; null: this site has none. */
  readonly owners: PageSources['owners'];
  /** The status pages of owners; null: this site shows none. */
  readonly ownedPages: PageSources['ownedPages'];
  /** Domains of owners that lead to status pages. Default null: there are none. */
  readonly pageDomains?: PageDomains | null;
  readonly renderBadge: BadgeSources['renderBadge'];
  readonly pictures: ChartSources['pictures'] & HeatmapSources['pictures'];
  /** The time of the clock that all nodes share, epoch milliseconds; default: the clock of this process. */
  readonly sharedNow?: () => number;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RouteSources extends ShownParts {
  readonly search: ServiceSearch;
  /** The routes about this process: `/healthz`, `/readyz` and `/metrics`. */
  readonly ownRoutes: readonly Route[];
  readonly now: () => number;
  readonly limits: () => ApiLimits;
  readonly limitForms: PageSources['limitForms'];
  readonly chargeChange: ChargeChange;
  readonly authenticator: PipelineOptions['authenticator'];
}

/** The context of changes by owners; null if this site has no owners. */
function changeContextOf({ owners, directory, settings: { siteUrl }, now }: RouteSources) {
  if (owners === null) return null;
  const { registry, proofs, destinations, bounds, kinds, charge } = owners;
  // Changes look for services of their account, and refuse those of others.
  const found = { findService: directory.bySlug, findServiceById: directory.byId, resolve: proofs.addresses };
  return { registry, proofs, destinations, bounds, kinds, charge, siteUrl, now, ...found };
}

/** The routes by which owners make changes; none if this site has no owners. */
function ownedRoutes(
  { owners, directory, settings: { siteUrl }, clock }: RouteSources,
  context: ReturnType<typeof changeContextOf>,
  services: ServiceJson,
  finder: ServiceFinder,
): Route[] {
  if (owners === null || context === null) return [];
  const { badgeAddresses } = owners;
  const owned = { directory: directory.shown, finder, services, siteUrl, context, badgeAddresses };
  return [
    serviceRoute(owned),
    ...ownedServiceRoutes(owned),
    ...ownedPageRoutes(owned),
    ...ownerIncidentRoutes(owned),
    ...ownerMaintenanceRoutes(owned),
    ...keyRoutes(context),
    ...alertRoutes(owned),
    ...channelRoutes({
      context,
      callbacks: describeCallback('onMessage', 'settings/url', (type) => type === 'alert'),
    }),
    ...ruleRoutes(owned),
    ...webhookRoutes({
      ...context,
      callbacks: describeCallback('onEvent', 'url', (type) => type !== 'alert'),
    }),
    applyRoute(owned),
    probeRoute({ ...owners, monotonic: () => clock.monotonic() }),
  ];
}

/** Creates all routes, and the event streams to close when the program stops. */
export function createRoutes(sources: RouteSources): {
  readonly routes: readonly Route[];
  readonly streams: Pick<EventStreams, 'open' | 'close'>;
  /** Renders an error for a browser. */
  readonly errorPage: ErrorPage;
} {
  const { status, ownedPages, readiness, search, ownRoutes, clock, now } = sources;
  // Whatever routes read by themselves is for everyone; what is for some is found for a request.
  const directory = sources.directory.shown;
  /** Heartbeats arrive over the prober's connection. A copy of the statuses knows nothing newer than itself. */
  const listenedAt: ListenedAt = () => {
    const { online, offlineSince } = readiness().prober;
    const copiedAt = now() - (status.ageMs?.() ?? 0);
    return online || offlineSince === null ? copiedAt : Math.min(copiedAt, offlineSince);
  };
  const regions = createSampleRegionReader(sources);
  const { mayRead, unlock, accountsOf } = createPageReaders({ ...sources, ...sources.settings });
  /** The accounts of a request whose stream is open: its key may be revoked since. */
  const accountsNow = async (request: HttpRequest): Promise<ReadonlySet<number>> => {
    if (request.key === undefined) return await accountsOf(request);
    const who = await sources.authenticator.authenticate(request.headers.authorization);
    const isReader = who.kind === 'key' && includesScope(who.key.scopes, 'read');
    return new Set(isReader ? [who.key.accountId] : []);
  };
  const finder = createServiceFinder(directory, accountsOf, accountsNow);
  // Shared, so that heat maps and sparklines read the samples of a service once.
  const readCells = createHeatmapReader(sources.samples);
  // Shared, so that a store that hangs has few reads to answer when it is back.
  const beginHistory = createHistoryReads(clock);
  const readHonesty = createHonestyReader({ ...sources, directory, intervalMs: sources.settings.intervalMs });
  const parts = {
    ...sources,
    ...sources.settings,
    directory,
    finder,
    readers: createReaderWatch(clock),
    listenedAt,
    regions,
    beginHistory,
    mayRead,
    unlock,
    readCells,
    readHonesty,
  };
  const services = createServiceJson(parts);
  const context = changeContextOf(sources);
  const eventIds = sources.eventIds ?? createEventIds(randomBytes(32));
  const streams = createEventStreams({ ...parts, eventIds });
  const pages = ownedPages === null ? null : { ...parts, pages: ownedPages };
  /** In the order of the OpenAPI document. */
  const described = joinRoutes([
    statusRoute(finder, services),
    servicesRoute(finder, search, services),
    ...ownedRoutes(sources, context, services, finder),
    historyRoute(parts),
    ...incidentRoutes(parts),
    vendorRoute(parts),
    honestyRoute(readHonesty),
    maintenanceRoute(parts),
    ...heartbeatRoutes(parts),
    ...addressRoutes(parts),
    ...dependencyRoutes(parts),
    ...(pages === null ? [] : statusPageRoutes(pages)),
    regionsRoute(parts),
    streams.route,
    ...incidentFeedRoutes({ ...parts, pages }),
    ...calendarRoutes({ ...parts, pages }),
    ...statuspageRoutes({ ...parts, pages }),
    ...badgeRoutes({ ...parts, badgeAddresses: sources.owners?.badgeAddresses ?? null }),
    chartRoute(parts),
    heatmapRoute(parts),
  ]);
  const openApi = createOpenApi({ ...parts, routes: described });
  const mcp = mcpRoute({ ...parts, search, services, routes: described });
  const site = pageRoutes({ ...parts, apiDocument: openApi.document });
  return {
    streams: {
      get open() {
        return streams.open + site.live.open;
      },
      close() {
        streams.close();
        site.live.close();
      },
    },
    // Pages come last, because some of their paths also match paths of the API.
    routes: finder.guard([
      ...described,
      openApi.route,
      mcp,
      ...pingRoutes({ ...parts, context }),
      ...(context === null || sources.owners === null
        ? []
        : checkRoutes({ ...parts, context, badgeAddresses: sources.owners.badgeAddresses })),
      ...ownRoutes,
      tlsAskRoute(sources.pageDomains ?? null),
      ...site.routes,
    ]),
    errorPage: site.errorPage,
  };
}
