/** `/p/:slug`: an owner's status page, its logo, and the embed that other sites show in a frame. */

import type { Service } from '../../domain/service.ts';
import type { PictureUse } from '../../domain/status-page.ts';
import { EMBED_HEADERS } from '../../http/complete-response.ts';
import { enumParameter, OFFSET_PARAMETER, readParameters } from '../../http/parameters.ts';
import { HttpError, prefersPage } from '../../http/problem.ts';
import { type HttpRequest, type HttpResponse, pageRoute, type Route } from '../../http/route.ts';
import { Type } from '../../json-schema.ts';
import { time } from '../../language/phrase.ts';
import type { BeginHistory } from '../../view/history-reads.ts';
import { pageUrl, pathFor, redirectToDomain } from '../../view/page-address.ts';
import type { SiteSources } from '../../view/site-sources.ts';
import {
  findLockedPage,
  findShownPage,
  INCIDENT_FILTERS,
  keepPrivate,
  type PageView,
  type PageViewSources,
  pageNotFound,
  readPageView,
} from '../../view/status-page-view.ts';
import { type ChosenLanguage, chooseLanguage } from '../language/language.ts';
import type { LiveChanges } from '../live/live-changes.ts';
import { cutTimeline, textsOf, viewPost } from '../parts/incidents.ts';
import { createUptimeBars, DAY_KINDS } from '../parts/uptime-bars.ts';
import type { RenderPage, ViewSources } from '../parts/views.ts';
import {
  brandStyle,
  describePage,
  findPost,
  framePage,
  metaOf,
  postPart,
  viewAnnounced,
  viewGroups,
  viewIncidents,
  viewMaintenances,
} from './page-content.ts';
import { showLocked, type UnlockSources, unlockRoute } from './page-readers.ts';

export interface StatusPageViewSources
  extends PageViewSources,
    UnlockSources,
    SiteSources,
    Pick<ViewSources, 'readiness' | 'isForMembers'> {
  /** The position of a page in the changes for open pages. */
  readonly changes: LiveChanges;
  readonly beginHistory: BeginHistory;
}

const MAX_INCIDENTS_SHOWN = 10;
/** Maximum number of running incidents on the first page; the filter shows the others. */
const MAX_RUNNING_SHOWN = 50;
const NAMED_IN_EMBED = 5;
const QUERY = {
  show: enumParameter(INCIDENT_FILTERS, 'Which incidents.', 'all'),
  service: Type.String({ default: '', description: 'Incidents of this service alone.' }),
  offset: OFFSET_PARAMETER,
};

const SAID_QUERY = { offset: OFFSET_PARAMETER };

export function statusPages(render: RenderPage, sources: StatusPageViewSources): Route[] {
  const views = new StatusPages(render, sources);
  const shown = { bucket: 'pages', access: 'everyone', open: 'page' } as const;
  return [
    { ...shown, path: '/p/:slug', handle: (request) => views.showPage(request) },
    unlockRoute(render, sources),
    { ...shown, path: '/p/:slug/incidents/:id', handle: (request) => views.showPost(request) },
    { ...shown, path: '/p/:slug/embed', handle: (request) => views.showEmbed(request) },
    pictureRoute(sources, 'logo'),
    pictureRoute(sources, 'favicon'),
    brandRoute(sources),
  ];
}

class StatusPages {
  readonly #render: RenderPage;
  readonly #sources: StatusPageViewSources;
  readonly #barsOf: ReturnType<typeof createUptimeBars>;

  constructor(render: RenderPage, sources: StatusPageViewSources) {
    this.#render = render;
    this.#sources = sources;
    this.#barsOf = createUptimeBars({ ...sources, registry: sources.pages });
  }

  async showPage(request: HttpRequest): Promise<HttpResponse> {
    const { samples, directory, siteUrl, changes } = this.#sources;
    const language = chooseLanguage(request);
    const { texts } = language;
    const query = readParameters(request.query, QUERY);
    // The position is read first, so that a change during the reads is sent to the open page again.
    const position = changes.position();
    const missingSince = samples.missingSince?.() ?? null;
    const look = await readPageView(request, this.#sources);
    if (look === null) return await this.#showUnread(request, request.params.slug ?? '', language);
    const redirect = redirectToDomain(request, siteUrl, look.page);
    if (redirect !== null) return redirect;
    const { page, services } = look;
    const only = services.find(({ service }) => service?.slug === query.service)?.service ?? null;
    const ids = services.map(({ id }) => id);
    const [bars, read] = await Promise.all([
      this.#barsOf(ids),
      this.#readIncidents(only === null ? ids : [only.id], query),
    ]);
    const { current, days } = await viewIncidents(this.#sources, read, look, { request, language });
    const frame = this.#frame(request, look, language);
    const headline = frame.headline.text;
    const shownPage = this.#render('./status-page', {
      ...frame,
      canonical: page.domain === undefined ? null : pageUrl(siteUrl, page),
      title: `${page.title}: ${headline}`,
      meta: metaOf(this.#sources, look, headline, directory.pageName),
      // A page without services has no updates.
      live: ids.length === 0 ? null : { page: page.slug, at: position },
      groups: viewGroups(directory, look, bars, language),
      announced: await viewAnnounced(look, language),
      json: pathFor(request, page.slug, 'page.json'),
      subscribe: request.atDomain === true ? '/subscribe' : `/subscribe?page=${page.slug}`,
      calendar: pathFor(request, page.slug, 'calendar.ics'),
      webcal: pageUrl(siteUrl, page, 'calendar.ics').replace(/^https?/, 'webcal'),
      maintenances: viewMaintenances(directory, look, language),
      missing: missingSince === null ? null : texts.page.samplesMissing(time(missingSince)),
      current,
      days,
      // What is open stands above the services.
      listHeading:
        query.show === 'all' && current[0]?.id === 'open'
          ? texts.statusPage.pastIncidents
          : texts.page.incidents,
      dayKinds: DAY_KINDS,
      hasUnreachedDays: [...bars.values()].some(({ unreached }) => unreached.size > 0),
      filters: INCIDENT_FILTERS,
      show: query.show,
      only: only?.slug ?? '',
      listed: services.flatMap(({ service, name }) =>
        service === null ? [] : [{ slug: service.slug, name }],
      ),
      ...pagesOf(query, only, read.hasOlder),
    });
    return keepPrivate(page, shownPage);
  }

  /** The page of an incident that the owner has written, with all its texts. */
  async showPost(request: HttpRequest): Promise<HttpResponse> {
    const { siteUrl, pages } = this.#sources;
    const language = chooseLanguage(request);
    const { id = '', slug = '' } = request.params;
    const { offset } = readParameters(request.query, SAID_QUERY);
    const look = await readPageView(request, this.#sources);
    if (look === null) return await this.#showUnread(request, slug, language);
    const { page } = look;
    const post = await findPost(pages, look, id);
    if (post === null)
      throw new HttpError('incident_not_found', `${page.title} has no incident "${id.slice(0, 100)}".`);
    const part = postPart(post);
    const redirect = redirectToDomain(request, siteUrl, page, part);
    if (redirect !== null) return redirect;
    const path = pathFor(request, page.slug, part);
    const { shown, next } = cutTimeline(
      textsOf(post, language).map((text) => ({ ...text, text: text.markdown })),
      offset,
    );
    const answer = this.#render('./status-page-incident', {
      ...framePage(request, siteUrl, page, language),
      title: `${post.title}: ${page.title}`,
      canonical: pageUrl(siteUrl, page, part),
      back: pathFor(request, page.slug),
      names: look.services.filter(({ id: listed }) => post.services.includes(listed)).map(({ name }) => name),
      post: await viewPost(post, look.at, language, { path: null, entries: shown }),
      newest: offset === 0 ? null : path,
      rest: next === null ? null : `${path}?offset=${next}`,
    });
    return keepPrivate(page, answer);
  }

  async showEmbed(request: HttpRequest): Promise<HttpResponse> {
    // The embedding site chooses the language of the frame, which does not change the language of the reader's cookie.
    const language = { ...chooseLanguage(request), keep: false };
    const look = await readPageView(request, this.#sources);
    const theme = new URLSearchParams(request.query).get('theme');
    const shown =
      look === null
        ? this.#render(
            './status-page-embed',
            { language, title: language.texts.statusPage.notFound, page: null },
            404,
          )
        : this.#render('./status-page-embed', {
            ...this.#frame(request, look, language),
            title: look.page.title,
            theme: theme === 'light' || theme === 'dark' ? theme : null,
            troubled: look.services
              .filter(({ standing }) => standing !== 'up' && standing !== 'unknown' && standing !== 'paused')
              .map(({ name, standing }) => ({ name, standing })),
            named: NAMED_IN_EMBED,
          });
    const { 'X-Frame-Options': _, ...headers } = shown.headers;
    const framed = { ...shown, headers: { ...headers, ...EMBED_HEADERS } };
    return look === null ? framed : keepPrivate(look.page, framed);
  }

  /** Reads the incidents of services. Running ones precede all past ones, whenever they began. */
  async #readIncidents(serviceIds: readonly number[], { show, offset }: ListQuery) {
    const { pages } = this.#sources;
    const [running, found] = await Promise.all([
      show === 'all' && offset === 0
        ? pages.incidentsOfServices({ serviceIds, running: true, limit: MAX_RUNNING_SHOWN, offset: 0 })
        : [],
      pages.incidentsOfServices({
        serviceIds,
        running: show === 'running',
        // One more than is shown, to determine whether there are older ones.
        limit: MAX_INCIDENTS_SHOWN + 1,
        offset,
      }),
    ]);
    const shown = found.slice(0, MAX_INCIDENTS_SHOWN);
    return { running, shown, hasOlder: found.length > MAX_INCIDENTS_SHOWN };
  }

  /** The common data of page and embed. */
  #frame(request: HttpRequest, look: PageView, language: ChosenLanguage) {
    const { verdict, services, page } = look;
    const { siteUrl, readiness } = this.#sources;
    const isLate =
      verdict.watched > 0 && services.every(({ stale, standing }) => stale || standing === 'paused');
    return {
      ...framePage(request, siteUrl, page, language),
      headline: describePage(verdict, readiness().prober.online && !isLate, language),
    };
  }

  /** The response about a page that the request may not see: the form for its password, or that there is none. */
  async #showUnread(request: HttpRequest, slug: string, language: ChosenLanguage): Promise<HttpResponse> {
    const { siteUrl } = this.#sources;
    const locked = await findLockedPage(request, this.#sources);
    if (locked !== null)
      return (
        redirectToDomain(request, siteUrl, locked) ?? showLocked(this.#render, request, { siteUrl, language })
      );
    if (!prefersPage(request.headers.accept)) throw pageNotFound(slug);
    const { notFound, noPage } = language.texts.statusPage;
    const message = noPage(slug.slice(0, 100));
    return this.#render(
      './status-page-missing',
      { language, title: notFound, message, atDomain: request.atDomain, home: siteUrl },
      404,
    );
  }
}

/** The part of the incidents that a request asks for. */
interface ListQuery {
  readonly show: (typeof INCIDENT_FILTERS)[number];
  readonly offset: number;
}

/** The links to newer and older incidents; null: there are none. */
function pagesOf({ show, offset }: ListQuery, only: Service | null, hasOlder: boolean) {
  const link = (start: number) => {
    const query = new URLSearchParams({ show, service: only?.slug ?? '', offset: String(start) });
    return `?${query}#incidents`;
  };
  return {
    newer: offset === 0 ? null : link(Math.max(0, offset - MAX_INCIDENTS_SHOWN)),
    older: hasOlder ? link(offset + MAX_INCIDENTS_SHOWN) : null,
  };
}

const YEAR_SECONDS = 31_536_000;

function pictureRoute(sources: PageViewSources, use: PictureUse): Route {
  return pageRoute({ path: `/p/:slug/${use}`, open: 'page' }, async (request) => {
    const page = await findShownPage(request, sources);
    const picture = page === null ? null : await sources.pages.findPicture(page.slug, use);
    if (page === null || picture === null) throw pageNotFound(request.params.slug ?? '');
    const headers = { 'Content-Type': picture.type, 'Cache-Control': ageOf(request, picture.mark) };
    return keepPrivate(page, { status: 200, headers, body: picture.bytes, etag: `"${picture.mark}"` });
  });
}

function brandRoute(sources: PageViewSources): Route {
  return pageRoute({ path: '/p/:slug/brand.css', open: 'page' }, async (request) => {
    const page = await findShownPage(request, sources);
    if (page?.colour === undefined) throw pageNotFound(request.params.slug ?? '');
    const age = ageOf(request, page.colour.slice(1));
    const headers = { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': age };
    return keepPrivate(page, { status: 200, headers, body: brandStyle(page.colour) });
  });
}

/** A URL with the mark identifies one version of a file and is cached; a URL without the mark is not. */
function ageOf({ query }: HttpRequest, mark: string): string {
  const isMarked = new URLSearchParams(query).get('v') === mark;
  return isMarked ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
}
