/** The pages and what they load. */
import type { ApiLimits } from '../api/api-limits.ts';
import type { Route } from '../api/exchange.ts';
import type { ServiceDirectory } from '../api/service-directory.ts';
import type { ListenedAt } from '../api/service-view.ts';
import type { Readiness } from '../api/system-routes.ts';
import type { Clock } from '../clock.ts';
import type { Service } from '../domain/service.ts';
import type { VendorWord } from '../domain/vendor-word.ts';
import type { Log } from '../log.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';
import { createAssets } from './assets.ts';
import { badgeBuilder } from './badge-builder.ts';
import { withCompression } from './compression.ts';
import { createSiteCookie } from './cookies.ts';
import { dashboardPages } from './dashboard/dashboard-pages.ts';
import type { DashboardSources } from './dashboard/dashboard-sources.ts';
import { docsPage } from './docs-page.ts';
import { embedScript } from './embed-script.ts';
import { homeNews, monitorNews } from './home-news.ts';
import { homePage } from './home-page.ts';
import { incidentPage } from './incident-page.ts';
import { createLiveBoard, type LiveBoard } from './live/live-board.ts';
import { createLiveStreams, type LiveStreams } from './live/live-streams.ts';
import { searchIndex } from './search-index.ts';
import { servicePages } from './service-page.ts';
import { signInPages } from './sign-in-pages.ts';
import { type StatusPageViewSources, statusPages } from './status-page.ts';
import { createViews, type RenderPage } from './views.ts';

/** What pages read from. */
export interface PageSources {
  readonly directory: ServiceDirectory;
  readonly status: Pick<StatusStore, 'get' | 'watch'>;
  readonly samples: Pick<SampleStore, 'query' | 'missingSince'>;
  readonly registry: Pick<
    Registry,
    | 'listIncidents'
    | 'findIncident'
    | 'incidentsSince'
    | 'incidentsBeside'
    | 'listMaintenances'
    | 'dependenciesOf'
    | 'failingDependencies'
  >;
  /** What the dashboard of owners works on; null: this site has none. */
  readonly owners: Pick<
    DashboardSources,
    'providers' | 'sessions' | 'proofs' | 'registry' | 'samples'
  > | null;
  readonly log: Log;
  /** Where status pages of owners are; null: this site has none. */
  readonly ownedPages: StatusPageViewSources['pages'] | null;
  readonly vendorOf: (service: Service) => VendorWord | null;
  readonly limits: () => ApiLimits;
  readonly readiness: () => Readiness;
  readonly intervalMs: number;
  readonly listenedAt: ListenedAt;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  readonly version: string;
  readonly clock: Clock;
  readonly now: () => number;
}

/** What pages that stay true while they are open read from beside it. */
export interface LivePageSources extends PageSources {
  readonly board: LiveBoard;
}

/** Every page, and the streams of pages that are open, which must be ended at the stop. */
export function pageRoutes(sources: PageSources): {
  readonly routes: readonly Route[];
  readonly live: LiveStreams;
} {
  const assets = createAssets();
  const { renderPage: render, renderPart } = createViews({ ...sources, assets: assets.addresses });
  const board = createLiveBoard(sources);
  const news = { ...sources, board };
  const live = createLiveStreams({
    ...news,
    homeNews: (language, serviceIds) => homeNews(news, renderPart, language, serviceIds),
    monitorNews: (language) => monitorNews(news, renderPart, language),
  });
  const routes = [
    homePage(render, { ...news, assets: assets.addresses }),
    ...servicePages(render, news, assets.addresses),
    incidentPage(render, sources, assets.addresses),
    docsPage(render, sources.siteUrl, sources.version, sources.limits),
    ...badgeBuilder(render, sources, assets.addresses),
    ...ownersPages(render, news),
    ...ownerRoutes(render, sources),
    searchIndex(sources),
    live.route,
    assets.route,
  ];
  return { routes: withCompression(routes), live };
}

function ownersPages(render: RenderPage, sources: PageSources & { readonly board: LiveBoard }): Route[] {
  const { ownedPages: pages } = sources;
  return pages === null ? [] : [...statusPages(render, { ...sources, pages }), embedScript()];
}

function ownerRoutes(render: RenderPage, sources: PageSources): Route[] {
  if (sources.owners === null) return [];
  const dashboard = { ...sources, ...sources.owners, cookie: createSiteCookie(sources.siteUrl) };
  return [...signInPages(render, dashboard), ...dashboardPages(render, dashboard)].map((route) => ({
    ...route,
    sameOrigin: true,
  }));
}
