/** The routes of the pages and their files. */

import type { Clock } from '../clock.ts';
import type { Service } from '../domain/service.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import { basePathOf, linkBelow, pageBelow, pagesBelow } from '../http/base-path.ts';
import { seeOther } from '../http/body.ts';
import { withCompression } from '../http/compression.ts';
import { createSiteCookie } from '../http/cookies.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import { type HttpError, prefersPage } from '../http/problem.ts';
import type { ChargeChange } from '../http/rate-limits.ts';
import type { HttpRequest, Route } from '../http/route.ts';
import type { Log } from '../log.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import { whyUnreached } from '../view/cause-of-down.ts';
import type { ReadHeatmapCells } from '../view/heatmap-cells.ts';
import type { ReadHonesty } from '../view/honesty.ts';
import type { ApiLimits, Readiness } from '../view/monitor.ts';
import type { ReaderWatch } from '../view/service-finder.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { findLockedPage, findShownPage, pageNotFound, shownOn } from '../view/status-page-view.ts';
import { type AboutSettings, aboutPage } from './about-page.ts';
import { badgeBuilder } from './badge-builder.ts';
import { acknowledgePage } from './dashboard/acknowledge-page.ts';
import type { OwnerSources } from './dashboard/dashboard-forms.ts';
import { dashboardPages } from './dashboard/dashboard-pages.ts';
import { localSignInPages } from './dashboard/local-sign-in-pages.ts';
import { setupPages } from './dashboard/setup-pages.ts';
import {
  findSession,
  HOME,
  providerPages,
  type SignInSources,
  signInPage,
} from './dashboard/sign-in-pages.ts';
import { docsPage } from './docs-page.ts';
import { heatmapPage } from './heatmap-page.ts';
import { type HomeSources, homePage, searchIndex } from './home/home-page.ts';
import { homeUpdate, monitorUpdate } from './home/home-updates.ts';
import { createLogos } from './home/logos.ts';
import { sparklines } from './home/sparklines.ts';
import { honestyPage } from './honesty-page.ts';
import { incidentsPage } from './incidents-page.ts';
import { chooseLanguage, LANGUAGES } from './language/language.ts';
import { createLiveChanges, type LiveChanges } from './live/live-changes.ts';
import { LiveStreams } from './live/live-streams.ts';
import { maintenancePage } from './maintenance-page.ts';
import { type AssetAddresses, createAssets, embedScript } from './parts/assets.ts';
import { pillMarkup } from './parts/verdict.ts';
import {
  createErrorPage,
  createViews,
  listPath,
  type RenderPage,
  type RenderPart,
  type ViewSources,
} from './parts/views.ts';
import { incidentPage } from './service/incident-page.ts';
import { servicePages } from './service/service-page.ts';
import { type StatusPageViewSources, statusPages } from './status-page/status-page.ts';
import { type SubscribeSources, subscribePages } from './subscribe/subscribe-pages.ts';
import { wellKnownFiles } from './well-known.ts';

/** The tokens of `assets/web/tokens.css` that the page shows. */
const TOKENS = {
  colours: [
    { title: 'Surfaces and text', names: ['page', 'card', 'line', 'edge', 'text', 'soft', 'link'] },
    ...['up', 'slow', 'down', 'unknown', 'maintenance'].map((name) => ({
      title: name,
      names: [name, `${name}-text`, `${name}-fill`],
    })),
  ],
  sizes: [
    { name: 'size-1', use: 'Notes, labels of figures, axes' },
    { name: 'size-2', use: 'Secondary text, tables, navigation' },
    { name: 'size-3', use: 'Running text' },
    { name: 'size-4', use: 'Headings of sections, verdicts' },
    { name: 'size-5', use: 'Titles and large figures' },
  ],
  spaces: ['space-1', 'space-2', 'space-3', 'space-4', 'space-5', 'space-6'],
};

export interface PageSources extends SiteSources {
  readonly registry: PublicReads;
  readonly readiness: () => Readiness;
  readonly limits: () => ApiLimits;
  /** Returns the OpenAPI document; a new object after each change. */
  readonly apiDocument: () => OpenApiDocument;
  readonly readCells: ReadHeatmapCells;
  readonly about: AboutSettings;
  /** Maximum response time of a check that is not slow, milliseconds. */
  readonly slowOverMs: number;
  readonly version: string;
  /** The contact for vulnerabilities; null or absent: the operator names none. */
  readonly securityContact?: string | null;
  /** The content of `/`: `services`, `sign-in` or `page:<slug>`. Default `services`. */
  readonly home?: string;
  /** True if the site is for its members alone. Default false. */
  readonly isForMembers?: boolean;
  /** Sources of the owners' dashboard; null: this site has none. */
  readonly owners: OwnerSources | null;
  /** Source of the owners' status pages; null: this site has none. */
  readonly ownedPages: StatusPageViewSources['pages'] | null;
  readonly mayRead: StatusPageViewSources['mayRead'];
  readonly unlock: StatusPageViewSources['unlock'];
  readonly limitForms: SubscribeSources['limitForms'];
  readonly readers: ReaderWatch;
  readonly readHonesty: ReadHonesty;
  readonly chargeChange: ChargeChange;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Creates the routes of all pages, what renders errors for browsers, and the streams of open pages, which must be closed when
 * the program stops.
 */
export function pageRoutes(sources: PageSources) {
  const assets = createAssets();
  const base = basePathOf(sources.siteUrl);
  const logos = createLogos();
  const { renderPage: render, renderPart: renderBare } = createViews({
    ...sources,
    assets: assets.addresses,
    offersMail: sources.owners?.sendsMail === true,
    notice: sources.about.notice ?? null,
    logoOf: logos.pathOfName,
  });
  const renderPart: RenderPart = (...part) => linkBelow(renderBare(...part), base);
  const { all, whole } = sources.directory;
  const changes = createLiveChanges({ ...sources, directory: { all, every: whole.all, byId: whole.byId } });
  const unreached: HomeSources['whyUnreached'] = (...known) =>
    whyUnreached({ ...sources, now: () => sources.clock.now() }, ...known);
  const news = { ...sources, changes, logos, whyUnreached: unreached };
  const live = new LiveStreams({
    ...news,
    servicesOfPage: (request, slug) => servicesOfPage({ ...request, params: { slug } }, sources),
    isOnline: () => sources.readiness().prober.online,
    homeUpdate: (...asked) => homeUpdate({ ...news, renderPart }, ...asked),
    monitorUpdate: (...asked) => monitorUpdate(news, renderPart, ...asked),
  });
  const list = homePage(render, { ...news, assets: assets.addresses });
  const pages = ownersPages(render, news);
  const routes = [
    ...frontPage(render, list, pages, { ...sources, cookie: createSiteCookie(sources.siteUrl) }),
    ...servicePages(render, news, assets.addresses),
    incidentPage(render, news, assets.addresses),
    incidentsPage(render, { ...sources, logos, assets: assets.addresses }),
    maintenancePage(render, { ...sources, assets: assets.addresses }),
    heatmapPage(render, { ...sources, now: () => sources.clock.now(), assets: assets.addresses }),
    honestyPage(render, { ...sources, logos, assets: assets.addresses }),
    aboutPage(render, { ...sources, assets: assets.addresses }),
    docsPage(render, sources),
    designPage(render, assets.addresses),
    ...badgeBuilder(
      render,
      { ...sources, badgeAddresses: sources.owners?.badgeAddresses ?? null },
      assets.addresses,
    ),
    ...pages,
    ...ownerRoutes(render, news),
    ...(sources.owners?.sendsMail === true
      ? subscribePages(render, { ...sources, registry: sources.owners.registry })
      : []),
    searchIndex(sources),
    sparklines(sources),
    logos.route,
    live.route,
    assets.route,
    ...wellKnownFiles(sources),
  ];
  const errorPage = createErrorPage(render, sources.siteUrl, sources.clock);
  return {
    routes: withCompression(pagesBelow(routes, base)),
    live,
    errorPage: (error: HttpError, request: HttpRequest) =>
      pageBelow(errorPage(error, request), request.atDomain === true ? '' : base),
  };
}

type SharedSources = PageSources & { readonly changes: LiveChanges };

/** The services of the status page of a request; none: the sender may not see it. */
async function servicesOfPage(
  request: HttpRequest,
  { ownedPages: pages, mayRead, directory }: PageSources,
): Promise<Service[]> {
  const page = pages === null ? null : await findShownPage(request, { pages, mayRead });
  if (page === null) return [];
  return page.groups.flatMap((group) => shownOn(directory, page, group).map(({ service }) => service));
}

function ownersPages(render: RenderPage, sources: SharedSources): Route[] {
  const { ownedPages: pages } = sources;
  return pages === null ? [] : [...statusPages(render, { ...sources, pages }), embedScript()];
}

function ownerRoutes(render: RenderPage, sources: SharedSources): Route[] {
  if (sources.owners === null) return [];
  const dashboard = { ...sources, ...sources.owners, cookie: createSiteCookie(sources.siteUrl) };
  const page = signInPage(render, dashboard);
  return [
    ...localSignInPages(page, dashboard),
    ...providerPages(page, dashboard),
    ...setupPages(render, dashboard),
    ...dashboardPages(render, dashboard),
    acknowledgePage(render, dashboard),
  ].map((route) => ({
    ...route,
    sameOrigin: true,
  }));
}

function designPage(render: RenderPage, assets: AssetAddresses): Route {
  return {
    path: '/design',
    bucket: 'pages',
    access: 'everyone',
    handle: (request) =>
      render('./design', {
        language: chooseLanguage(request),
        title: 'Upbeat design',
        meta: [{ attribute: 'name', key: 'robots', content: 'noindex' }],
        styles: [assets.serviceStyle, assets.designStyle],
        ...TOKENS,
        pills: SERVICE_STATUSES.map((word) => {
          const text = LANGUAGES.en.texts.status[word];
          return { word, text, pill: pillMarkup(word, text) };
        }),
      }),
  };
}

interface FrontPageSources extends Pick<ViewSources, 'home'> {
  readonly siteUrl: string;
  /** Null: nobody can sign in. */
  readonly owners: Pick<SignInSources, 'sessions'> | null;
  /** Null: this site has no status pages. */
  readonly ownedPages: StatusPageViewSources['pages'] | null;
  readonly mayRead: StatusPageViewSources['mayRead'];
}

/** The routes of the first page and of the list of services, which has another path if it is not the first page. */
function frontPage(
  render: RenderPage,
  list: Route,
  statusPages: readonly Route[],
  { cookie, ...sources }: FrontPageSources & Pick<SignInSources, 'cookie'>,
): Route[] {
  const { home = 'services', owners, ownedPages } = sources;
  if (home === 'services') return [list];
  const front = { path: '/', bucket: 'pages', access: 'everyone' } as const;
  const moved: Route = { ...list, path: listPath(sources) };
  if (home === 'sign-in') {
    const find = async (request: HttpRequest) =>
      owners === null ? null : await findSession(request, { ...owners, cookie });
    const handle = async (request: HttpRequest) =>
      seeOther((await find(request)) === null ? '/sign-in' : HOME);
    return [{ ...front, open: true, handle }, moved];
  }
  const slug = home.slice('page:'.length);
  const page = statusPages.find(({ path }) => path === '/p/:slug');
  return [
    {
      ...front,
      open: `page:${slug}`,
      async handle(given) {
        const request = { ...given, params: { slug } };
        const isShown = ownedPages !== null && (await isThere(request, { ...sources, pages: ownedPages }));
        if (isShown && page?.handle !== undefined) return await page.handle(request);
        if (!prefersPage(request.headers.accept)) throw pageNotFound(slug);
        const language = chooseLanguage(request);
        const { notFound, noHome } = language.texts.statusPage;
        return render('./status-page-missing', { language, title: notFound, message: noHome(slug) }, 404);
      },
    },
    moved,
  ];
}

async function isThere(
  request: HttpRequest,
  sources: Pick<StatusPageViewSources, 'pages' | 'mayRead'>,
): Promise<boolean> {
  return (
    (await findShownPage(request, sources)) !== null || (await findLockedPage(request, sources)) !== null
  );
}
