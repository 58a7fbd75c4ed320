/** `/p/:slug`: an owner's status page, its logo, and the embed that other sites show in a frame. */

import { DAY_MS } from '../../domain/durations.ts';
import { type Incident, shortened } from '../../domain/incident/incident.ts';
import { ownerIncidentId, readOwnerIncidentId } from '../../domain/incident/owner-incident.ts';
import { fullName } from '../../domain/service.ts';
import type { PictureUse } from '../../domain/status-page.ts';
import { enumParameter, OFFSET_PARAMETER, readParameters } from '../../http/parameters.ts';
import { HttpError, prefersPage } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { EMBED_HEADERS } from '../../http/security-headers.ts';
import { Type } from '../../json-schema.ts';
import { time } from '../../language/phrase.ts';
import type { BeginHistory } from '../../view/history-reads.ts';
import { pageUrl, pathFor, placeOfPage, redirectToDomain } from '../../view/page-address.ts';
import type { SiteSources } from '../../view/site-sources.ts';
import {
  findLockedPage,
  findShownPage,
  INCIDENT_FILTERS,
  keepPrivate,
  type PageView,
  type PageViewSources,
  pageNotFound,
  picturePart,
  readPageView,
} from '../../view/status-page-view.ts';
import { type ChosenLanguage, chooseLanguage } from '../language/language.ts';
import type { LiveChanges } from '../live/live-changes.ts';
import {
  groupByDay,
  incidentPath,
  inLanguage,
  lookOf,
  reportedBy,
  stateWord,
  webAddress,
} from '../parts/incidents.ts';
import { openGraphTags } from '../parts/open-graph.ts';
import { cutTimeline, textsOf, viewPost, viewShortText } from '../parts/posts.ts';
import { createUptimeBars, DAY_KINDS } from '../parts/uptime-bars.ts';
import type { RenderPage, ViewSources } from '../parts/views.ts';
import { brandStyle } from './brand-style.ts';
import { framePage, postPart } from './page-frame.ts';
import { describePage } from './page-headline.ts';
import { showLocked, type UnlockSources, unlockRoute } from './unlock-page.ts';

/** Sources of these pages. */
export interface StatusPageViewSources
  extends PageViewSources,
    Pick<UnlockSources, 'unlock'>,
    Pick<SiteSources, 'samples' | 'siteUrl'>,
    Pick<ViewSources, 'readiness'> {
  /** The position of a page in the changes for open pages. */
  readonly changes: Pick<LiveChanges, 'position'>;
  readonly beginHistory: BeginHistory;
}

const MAX_INCIDENTS_SHOWN = 10;
/** Maximum number of running incidents on the first page; the filter shows the others. */
const MAX_RUNNING_SHOWN = 50;
/** How long a resolved incident of the owner is shown first, milliseconds. */
const POSTED_FOR_MS = 7 * DAY_MS;
const NAMED_IN_EMBED = 5;
const YEAR_SECONDS = 31_536_000;
const QUERY = {
  show: enumParameter(INCIDENT_FILTERS, 'Which incidents.', 'all'),
  service: Type.String({ default: '', description: 'Incidents of this service alone.' }),
  offset: OFFSET_PARAMETER,
};

const SAID_QUERY = { offset: OFFSET_PARAMETER };

/** The routes. */
export function statusPages(render: RenderPage, sources: StatusPageViewSources): Route[] {
  const { pages, directory, siteUrl } = sources;
  const barsOf = createUptimeBars({ ...sources, registry: pages });

  const missing = ({ atDomain, headers }: HttpRequest, slug: string, language: ChosenLanguage) => {
    if (!prefersPage(headers.accept)) throw pageNotFound(slug);
    const { notFound, noPage } = language.texts.statusPage;
    return render(
      './status-page-missing',
      { language, title: notFound, message: noPage(slug.slice(0, 100)), atDomain, home: siteUrl },
      404,
    );
  };

  /** The response about a page that the request may not see: the form for its password, or that there is none. */
  const showUnread = async (request: HttpRequest, slug: string, language: ChosenLanguage) => {
    const locked = await findLockedPage(request, sources);
    if (locked === null) return missing(request, slug, language);
    return redirectToDomain(request, siteUrl, locked) ?? showLocked(render, request, siteUrl, language);
  };

  /** The common data of page and embed. */
  const frame = (request: HttpRequest, look: PageView, language: ChosenLanguage) => ({
    ...framePage(request, siteUrl, look.page, language),
    headline: headlineOf(look, language),
  });

  const headlineOf = (
    { verdict, services }: Pick<PageView, 'verdict' | 'services'>,
    language: ChosenLanguage,
  ) => {
    const isLate = verdict.watched > 0 && services.every(({ service, stale }) => stale || service.paused);
    return describePage(verdict, sources.readiness().prober.online && !isLate, language);
  };

  const showPage = async (request: HttpRequest): Promise<HttpResponse> => {
    const language = chooseLanguage(request);
    const { formats, texts } = language;
    const { show, service: only, offset } = readParameters(request.query, QUERY);
    const slug = request.params.slug ?? '';
    // The position is read first, so that a change during the reads is sent to the open page again.
    const position = sources.changes.position();
    const missingSince = sources.samples.missingSince?.() ?? null;
    const look = await readPageView(request, sources);
    if (look === null) return await showUnread(request, slug, language);
    const redirect = redirectToDomain(request, siteUrl, look.page);
    if (redirect !== null) return redirect;
    const { page } = look;
    const ids = look.services.map(({ service }) => service.id);
    const chosen = look.services.find(({ service }) => service.slug === only) ?? null;
    const serviceIds = chosen === null ? ids : [chosen.service.id];
    // Running incidents precede all past ones, whenever they began.
    const isSplit = show === 'all';
    const [bars, running, found] = await Promise.all([
      barsOf(ids),
      isSplit && offset === 0
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
    const posts = look.posts.filter(({ resolvedAt }) => (resolvedAt ?? look.at) > look.at - POSTED_FOR_MS);
    const isPosted = ({ source, id }: Incident) =>
      source === 'owner' && posts.some((one) => id.startsWith(`${ownerIncidentId(one.id)}-`));
    const view = (incidents: readonly Incident[]) =>
      incidents.flatMap((incident) => (isPosted(incident) ? [] : showIncident(incident, look, language)));
    const open = view(running);
    const viewed = await Promise.all(
      posts.map((one) => {
        const path = pathFor(request, page.slug, postPart(one));
        return viewPost(one, look.at, language, path);
      }),
    );
    const current = [
      {
        id: 'open',
        heading: texts.statusPage.runningIncidents,
        posts: viewed.filter(({ isOpen }) => isOpen),
        incidents: open,
      },
      {
        id: 'resolved',
        heading: texts.statusPage.recentlyResolved,
        posts: viewed.filter(({ isOpen }) => !isOpen),
        incidents: [],
      },
    ].filter(({ posts, incidents }) => posts.length + incidents.length > 0);
    const days = groupByDay(view(shown)).map(({ at, incidents }) => ({ day: formats.day(at), incidents }));
    const link = (start: number) => {
      const query = new URLSearchParams({
        show,
        service: chosen?.service.slug ?? '',
        offset: String(start),
      });
      return `?${query}#incidents`;
    };
    const headline = headlineOf(look, language).text;
    const shownPage = render('./status-page', {
      ...frame(request, look, language),
      canonical: page.domain === undefined ? null : pageUrl(siteUrl, page),
      title: `${page.title}: ${headline}`,
      meta: openGraphTags(placeOfPage(siteUrl, page).origin, {
        title: page.title,
        description: page.text === '' ? headline : `${headline} ${page.text}`,
        path: placeOfPage(siteUrl, page).path,
        image:
          page.logo === null
            ? null
            : {
                path: placeOfPage(siteUrl, page, picturePart('logo', page.logo.mark)).path,
                type: page.logo.type,
                size: { width: page.logo.width, height: page.logo.height },
                alt: page.title,
                isLogo: true,
              },
      }),
      // A page without services has no updates.
      live:
        ids.length === 0
          ? null
          : { of: look.services.map(({ service }) => directory.pageName(service)), at: position },
      groups: look.groups
        .filter(({ services }) => services.length > 0)
        .map(({ name, services }) => ({
          name,
          services: services.map(({ service, standing, stale }) => {
            const days = bars.get(service.id);
            const ratio = days?.uptimeRatio ?? null;
            const uptime = ratio === null ? null : formats.percent(ratio);
            const without = days?.withoutMaintenance ?? null;
            const other = without === null ? null : formats.percent(without);
            return {
              service,
              name: fullName(service),
              page: directory.pageName(service),
              standing,
              stale,
              lines: days?.lines ?? [],
              uptime,
              without: other === null || other === uptime ? null : texts.page.withoutMaintenance(other),
              knownDays: days?.knownDays ?? 0,
            };
          }),
        })),
      announced: await Promise.all(
        look.announced.map(async ({ title, services, pages: named, occurrence, ...text }) => ({
          title,
          ...(await viewShortText(text)),
          phase: occurrence.startsAt <= look.at ? 'running' : 'planned',
          span: texts.page.from(time(occurrence.startsAt), time(occurrence.endsAt)),
          names: named.includes(look.page.id)
            ? []
            : look.services
                .filter(({ service }) => services.includes(service.id))
                .map(({ service }) => fullName(service)),
        })),
      ),
      json: pathFor(request, page.slug, 'page.json'),
      subscribe: request.atDomain === true ? '/subscribe' : `/subscribe?page=${page.slug}`,
      calendar: pathFor(request, page.slug, 'calendar.ics'),
      webcal: pageUrl(siteUrl, page, 'calendar.ics').replace(/^https?/, 'webcal'),
      maintenances: look.maintenances.flatMap((maintenance) => {
        // Those of the owner are announced once for all services.
        if (maintenance.ownerId !== undefined) return [];
        const service = directory.byId(maintenance.serviceId);
        if (service === null) return [];
        const { startsAt, endsAt } = maintenance;
        const span = texts.page.from(time(startsAt), endsAt === null ? null : time(endsAt));
        const url = webAddress(maintenance.sourceUrl);
        return [{ ...maintenance, url, name: fullName(service), page: directory.pageName(service), span }];
      }),
      missing: missingSince === null ? null : texts.page.samplesMissing(time(missingSince)),
      current,
      days,
      // What is open stands above the services.
      listHeading:
        show === 'all' && current[0]?.id === 'open' ? texts.statusPage.pastIncidents : texts.page.incidents,
      dayKinds: DAY_KINDS,
      filters: INCIDENT_FILTERS,
      show,
      only: chosen?.service.slug ?? '',
      listed: look.services.map(({ service }) => ({ slug: service.slug, name: fullName(service) })),
      newer: offset === 0 ? null : link(Math.max(0, offset - MAX_INCIDENTS_SHOWN)),
      older: found.length > MAX_INCIDENTS_SHOWN ? link(offset + MAX_INCIDENTS_SHOWN) : null,
    });
    return keepPrivate(page, shownPage);
  };

  /** The page of an incident that the owner has written, with all its texts. */
  const showPost = async (request: HttpRequest): Promise<HttpResponse> => {
    const language = chooseLanguage(request);
    const { id = '', slug = '' } = request.params;
    const { offset } = readParameters(request.query, SAID_QUERY);
    const look = await readPageView(request, sources);
    if (look === null) return await showUnread(request, slug, language);
    const { page } = look;
    const post = await findPost(look, id);
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
    const answer = render('./status-page-incident', {
      ...framePage(request, siteUrl, page, language),
      title: `${post.title}: ${page.title}`,
      canonical: pageUrl(siteUrl, page, part),
      back: pathFor(request, page.slug),
      names: look.services
        .filter(({ service }) => post.services.includes(service.id))
        .map(({ service }) => fullName(service)),
      post: await viewPost(post, look.at, language, null, shown),
      newest: offset === 0 ? null : path,
      rest: next === null ? null : `${path}?offset=${next}`,
    });
    return keepPrivate(page, answer);
  };

  const findPost = async ({ page, services }: PageView, id: string) => {
    const post = await pages.findOwnerIncident(page.accountId, readOwnerIncidentId(id) ?? 0);
    const isHere = (serviceId: number) => services.some(({ service }) => service.id === serviceId);
    return post !== null && (post.pages.includes(page.id) || post.services.some(isHere)) ? post : null;
  };

  const showIncident = (incident: Incident, { at }: PageView, { texts, formats }: ChosenLanguage) => {
    const service = directory.byId(incident.serviceId);
    if (service === null) return [];
    const translated = shortened(inLanguage(incident, { texts }));
    const { startedAt, resolvedAt, updates } = translated;
    const length = formats.length((resolvedAt ?? at) - startedAt);
    const { lasting, from } = texts.statusPage;
    return [
      {
        ...translated,
        // The whole page is the owner's word.
        reportedBy: incident.source === 'owner' ? null : reportedBy(incident, texts),
        name: fullName(service),
        page: directory.pageName(service),
        path: incidentPath(directory.pageName(service), incident.id),
        started: from(time(startedAt)),
        lasted: resolvedAt === null ? lasting(length) : texts.page.lasted(length),
        look: lookOf(incident),
        state: stateWord(incident, { texts }),
        updates: [...updates].reverse().map((update) => ({
          ...update,
          state: stateWord({ ...update, severity: incident.severity }, { texts }),
          time: [time(update.at)],
        })),
      },
    ];
  };

  const showEmbed = async (request: HttpRequest): Promise<HttpResponse> => {
    // The embedding site chooses the language of the frame, which does not change the language of the reader's cookie.
    const language = { ...chooseLanguage(request), keep: false };
    const look = await readPageView(request, sources);
    const theme = new URLSearchParams(request.query).get('theme');
    const shown =
      look === null
        ? render(
            './status-page-embed',
            { language, title: language.texts.statusPage.notFound, page: null },
            404,
          )
        : render('./status-page-embed', {
            ...frame(request, look, language),
            title: look.page.title,
            theme: theme === 'light' || theme === 'dark' ? theme : null,
            troubled: look.services
              .filter(({ standing }) => standing !== 'up' && standing !== 'unknown' && standing !== 'paused')
              .map(({ service, standing }) => ({ name: fullName(service), standing })),
            named: NAMED_IN_EMBED,
          });
    const { 'X-Frame-Options': _, ...headers } = shown.headers;
    const framed = { ...shown, headers: { ...headers, ...EMBED_HEADERS } };
    return look === null ? framed : keepPrivate(look.page, framed);
  };

  const pictureRoute = (use: PictureUse): Route => ({
    path: `/p/:slug/${use}`,
    bucket: 'pages',
    access: 'everyone',
    async handle(request) {
      const { params, query } = request;
      const page = await findShownPage(request, sources);
      const picture = page === null ? null : await pages.findPicture(page.slug, use);
      if (page === null || picture === null) throw pageNotFound(params.slug ?? '');
      // A URL with the mark identifies one picture and is cached; a URL without the mark is not.
      const isMarked = new URLSearchParams(query).get('v') === picture.mark;
      const age = isMarked ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
      const headers = { 'Content-Type': picture.type, 'Cache-Control': age };
      return keepPrivate(page, { status: 200, headers, body: picture.bytes, etag: `"${picture.mark}"` });
    },
  });

  return [
    { path: '/p/:slug', bucket: 'pages', access: 'everyone', handle: showPage },
    unlockRoute(render, sources),
    { path: '/p/:slug/incidents/:id', bucket: 'pages', access: 'everyone', handle: showPost },
    { path: '/p/:slug/embed', bucket: 'pages', access: 'everyone', handle: showEmbed },
    pictureRoute('logo'),
    pictureRoute('favicon'),
    {
      path: '/p/:slug/brand.css',
      bucket: 'pages',
      access: 'everyone',
      async handle(request) {
        const page = await findShownPage(request, sources);
        if (page?.colour === undefined) throw pageNotFound(request.params.slug ?? '');
        const isMarked = new URLSearchParams(request.query).get('v') === page.colour.slice(1);
        const age = isMarked ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
        const headers = { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': age };
        return keepPrivate(page, { status: 200, headers, body: brandStyle(page.colour) });
      },
    },
  ];
}
