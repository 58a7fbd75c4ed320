/** Incidents as feeds: of all services, of one service, of a status page; each as Atom and as JSON Feed. */
import { formatTime } from '../domain/durations.ts';
import { type Incident, incidentPath, shortened } from '../domain/incident/incident.ts';
import { asServiceIncident, ownerIncidentId } from '../domain/incident/owner-incident.ts';
import { ownerMaintenanceId } from '../domain/incident/owner-maintenance.ts';
import { fullName, titleWithName } from '../domain/service.ts';
import { describeFile, type OpenApiOperation, type OpenApiParameter, SLUG } from '../http/openapi.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import { everyonesAnd } from '../store/ports/incidents.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import { pageUrl, redirectToDomain } from '../view/page-address.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import type { ShownServices } from '../view/shown-services.ts';
import type { SiteSources } from '../view/site-sources.ts';
import {
  keepPrivate,
  type PageView,
  type PageViewSources,
  pageRefused,
  postsOfPage,
  readPageView,
  tellIncident,
} from '../view/status-page-view.ts';
import { FEED_FORMATS, type Feed, type FeedEntry, type FeedFormat } from './feed-documents.ts';

export interface IncidentFeedSources extends SiteSources {
  readonly registry: PublicReads;
  /** Status pages of owners; null: this site has none. */
  readonly pages: PageViewSources | null;
}

export function incidentFeedRoutes(sources: IncidentFeedSources): Route[] {
  const { directory, pages, siteUrl, now } = sources;
  const compose = createFeedComposer(directory, siteUrl, now());
  return FEED_FORMATS.flatMap((format) => {
    const answer = (feed: IncidentFeed): HttpResponse => ({
      status: 200,
      headers: { 'Content-Type': `${format.mediaType}; charset=utf-8`, 'Cache-Control': 'no-cache' },
      body: format.write(compose(feed)),
    });
    return [
      ...serviceFeeds(sources, format, answer),
      ...(pages === null ? [] : [pageFeed(pages, siteUrl, format, answer)]),
    ];
  });
}

function serviceFeeds(
  { directory, finder, registry, siteUrl }: IncidentFeedSources,
  format: FeedFormat,
  answer: (feed: IncidentFeed) => HttpResponse,
): Route[] {
  const file = `incidents.${format.ending}`;
  return [
    {
      path: `/${file}`,
      bucket: 'api',
      access: 'everyone',
      describe: () => describeFeed('followIncidents', 'Incidents of all services', format, []),
      async handle(request) {
        const shown = await finder.listedFor(request);
        return answer({
          name: 'incidents',
          title: 'Incidents of all services',
          url: `${siteUrl}/${file}`,
          pageUrl: `${siteUrl}/`,
          shown,
          incidents: await registry.listIncidents({
            ...everyonesAnd(shown.accounts),
            limit: MAX_ENTRIES,
            offset: 0,
          }),
        });
      },
    },
    {
      path: `/status/:slug/${file}`,
      bucket: 'api',
      access: 'everyone',
      describe: () =>
        describeFeed('followServiceIncidents', 'Incidents of one service', format, [
          SLUG('The domain with each dot replaced by a dash.', 'github-com'),
        ]),
      async handle(request) {
        const service = await finder.named(request);
        const page = directory.pageName(service);
        return answer({
          name: `incidents/${service.slug}`,
          title: `Incidents of ${fullName(service)}`,
          url: `${siteUrl}/status/${page}/${file}`,
          pageUrl: `${siteUrl}/status/${page}`,
          subjectOf: ({ id }) => ({ name: fullName(service), url: siteUrl + incidentPath(page, id) }),
          incidents: await registry.listIncidents({ serviceId: service.id, limit: MAX_ENTRIES, offset: 0 }),
        });
      },
    },
  ];
}

function pageFeed(
  sources: PageViewSources,
  siteUrl: string,
  format: FeedFormat,
  answer: (feed: IncidentFeed) => HttpResponse,
): Route {
  const file = `incidents.${format.ending}`;
  return {
    path: `/p/:slug/${file}`,
    bucket: 'api',
    access: 'everyone',
    open: 'page',
    describe: () =>
      describeFeed('followPageIncidents', 'Incidents of a status page', format, [
        SLUG('The status page.', 'acme'),
      ]),
    async handle(request) {
      const view = await readPageView(request, sources);
      if (view === null) throw await pageRefused(request, sources);
      const { page, services } = view;
      const redirect = redirectToDomain(request, siteUrl, page, file);
      if (redirect !== null) return redirect;
      const found = await sources.pages.incidentsOfServices({
        serviceIds: services.map(({ id }) => id),
        limit: MAX_ENTRIES,
        offset: 0,
      });
      const told = found.flatMap((one) => tellIncident(view, one, siteUrl) ?? []);
      const feed = answer({
        name: `pages/${page.slug}/incidents`,
        title: `Incidents of ${page.title}`,
        url: pageUrl(siteUrl, page, file),
        pageUrl: pageUrl(siteUrl, page),
        madeAt: page.createdAt,
        posts: entriesOfPage(view, siteUrl),
        incidents: told.map(({ incident }) => incident),
        subjectOf(incident) {
          const listed = told.find((one) => one.incident === incident)?.listed;
          if (listed === undefined) return null;
          const { name, service } = listed;
          const path = service === null ? null : sources.directory.pageName(service);
          return {
            name,
            url: path === null ? incident.sourceUrl : siteUrl + incidentPath(path, incident.id),
          };
        },
      });
      return keepPrivate(page, feed);
    },
  };
}

/** The name of the service of an incident, and the absolute address of the incident's page; null: the service is gone. */
type SubjectOf = (incident: Incident) => { readonly name: string; readonly url: string } | null;

interface IncidentFeed {
  /** Part of the feed's id, which must never change. */
  readonly name: string;
  readonly title: string;
  /** Absolute address of the feed. */
  readonly url: string;
  readonly pageUrl: string;
  /** The services that its reader sees; absent: the public ones. */
  readonly shown?: ShownServices;
  /** Absent: for the services that its reader sees. */
  readonly subjectOf?: SubjectOf;
  /** In the order of the entries. */
  readonly incidents: readonly Incident[];
  /** The time at which it was made, epoch milliseconds. Absent: the start of the program. */
  readonly madeAt?: number;
  /** Of an owner's page: entries before them, whose ids lack the beginning that all have in common. */
  readonly posts?: readonly FeedEntry[];
}

/** Entries of the owner's posts about a page alone. */
function entriesOfPage(view: PageView, siteUrl: string): FeedEntry[] {
  const url = pageUrl(siteUrl, view.page);
  const { posts, announced } = postsOfPage(view);
  const incidents = posts.map((one): FeedEntry => {
    const { status, severity, title } = one;
    const id = ownerIncidentId(one.id);
    const incident = asServiceIncident(one, { id, serviceId: 0, sourceUrl: url });
    return {
      id: `incident/${id}`,
      title: `${title} (${severity}, ${status})`,
      url: pageUrl(siteUrl, view.page, `incidents/${id}`),
      publishedAt: one.createdAt,
      updatedAt: incident.updates.at(-1)?.at ?? one.createdAt,
      text: textOf(incident),
      category: status,
    };
  });
  const maintenances = announced.map(({ occurrence, ...one }): FeedEntry => {
    const { startsAt, endsAt } = occurrence;
    const phase = startsAt <= view.at ? 'running' : 'planned';
    return {
      id: `maintenance/${ownerMaintenanceId(one.id)}-${Math.round(startsAt / 1_000)}`,
      title: `${one.title} (maintenance, ${phase})`,
      url,
      publishedAt: one.createdAt,
      updatedAt: phase === 'running' ? Math.max(startsAt, one.updatedAt) : one.updatedAt,
      text: [`${formatTime(startsAt)} - ${formatTime(endsAt)}`, one.plain, url]
        .filter((line) => line !== '')
        .join('\n'),
      category: phase,
    };
  });
  return [...incidents, ...maintenances];
}

/** Maximum number of entries of a feed; feed readers poll often enough to miss none. */
const MAX_ENTRIES = 50;
/** The year in the ids of feeds and entries (tag scheme, RFC 4151). It never changes, because ids must not change. */
const TAG_YEAR = 2026;

/** The title of an incident with the name of its service. */
function namedTitle({ source, title }: Incident, name: string, isOwnPage: boolean): string {
  if (source === 'owner' && !isOwnPage) return `${name}: the owner says: ${title}`;
  return titleWithName(title, name);
}

/**
 * Creates the function that composes the feeds of a site. `siteUrl` has no slash at its end. `startedAt`: when the program started, which
 * dates feeds without entries, so that their tags stay.
 */
function createFeedComposer(
  directory: ShownDirectory,
  siteUrl: string,
  startedAt: number,
): (feed: IncidentFeed) => Feed {
  const tag = `tag:${new URL(siteUrl).hostname},${TAG_YEAR}:`;

  const subjectAmong =
    (shown: ShownServices): SubjectOf =>
    ({ id, serviceId }) => {
      const service = shown.byId(serviceId);
      if (service === null) return null;
      return { name: fullName(service), url: siteUrl + incidentPath(directory.pageName(service), id) };
    };
  const entryOf = (incident: Incident, isOwnPage: boolean, subjectOf: SubjectOf): FeedEntry[] => {
    const subject = subjectOf(incident);
    if (subject === null) return [];
    const { id, status, severity, startedAt, updates } = incident;
    return [
      {
        id: `${tag}incident/${id}`,
        title: `${namedTitle(incident, subject.name, isOwnPage)} (${severity}, ${status})`,
        url: subject.url,
        // The first update of an owner's incident may precede those of the list.
        publishedAt: incident.source === 'owner' ? startedAt : (updates[0]?.at ?? startedAt),
        updatedAt: updates.at(-1)?.at ?? startedAt,
        text: textOf(incident),
        category: status,
      },
    ];
  };

  return ({ shown = directory, subjectOf = subjectAmong(shown), ...feed }) => {
    const { incidents, madeAt = startedAt, posts, ...about } = feed;
    const entries = [
      ...(posts ?? []).map((entry) => ({ ...entry, id: tag + entry.id })),
      ...incidents.flatMap((incident) => entryOf(incident, posts !== undefined, subjectOf)),
    ].slice(0, MAX_ENTRIES);
    return {
      id: tag + about.name,
      title: about.title,
      selfUrl: about.url,
      pageUrl: about.pageUrl,
      updatedAt: entries.length === 0 ? madeAt : Math.max(...entries.map(({ updatedAt }) => updatedAt)),
      entries,
    };
  };
}

/** The text of an entry: the newest updates, the newest first, and the URL of the source. */
function textOf(incident: Incident): string {
  const { description, updates, sourceUrl } = shortened(incident);
  const lines = [...updates]
    .reverse()
    .map(({ at, status, text }) => `${formatTime(at)} ${status}${text === '' ? '' : `: ${text}`}`);
  return [...(lines.length === 0 ? [description] : lines), sourceUrl].join('\n');
}

function describeFeed(
  operationId: string,
  summary: string,
  { ending, mediaType, name, source, schema }: FeedFormat,
  parameters: readonly OpenApiParameter[],
): OpenApiOperation {
  return describeFile({
    operationId: ending === 'atom' ? operationId : `${operationId}AsJson`,
    tags: ['Incidents'],
    summary: `${summary} as ${name}`,
    description: `${source}, the newest 50. Ids never change; an entry is updated with each update of its incident.`,
    parameters,
    mediaType,
    schema,
    what: 'The feed',
    missing: parameters.length === 0 ? null : 'There is no such service.',
  });
}
