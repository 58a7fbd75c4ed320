/** Incidents as Atom feeds: of all services, of one service, of a status page (RFC 4287). */
import { formatTime } from '../domain/durations.ts';
import { type Incident, shortened } from '../domain/incident/incident.ts';
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

export interface AtomSources extends SiteSources {
  readonly registry: PublicReads;
  /** Status pages of owners; null: this site has none. */
  readonly pages: PageViewSources | null;
}

export function atomRoutes({ directory, finder, registry, pages, siteUrl, now }: AtomSources): Route[] {
  const answer = createFeedWriter(directory, siteUrl, now());
  return [
    {
      path: '/incidents.atom',
      bucket: 'api',
      access: 'everyone',
      describe: () => describeFeed('followIncidents', 'Incidents of all services as an Atom feed', []),
      async handle(request) {
        const shown = await finder.listedFor(request);
        return answer({
          name: 'incidents',
          title: 'Incidents of all services',
          url: `${siteUrl}/incidents.atom`,
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
      path: '/status/:slug/incidents.atom',
      bucket: 'api',
      access: 'everyone',
      describe: () =>
        describeFeed('followServiceIncidents', 'Incidents of one service as an Atom feed', [
          SLUG('The domain with each dot replaced by a dash.', 'github-com'),
        ]),
      async handle(request) {
        const service = await finder.named(request);
        const page = directory.pageName(service);
        return answer({
          name: `incidents/${service.slug}`,
          title: `Incidents of ${fullName(service)}`,
          url: `${siteUrl}/status/${page}/incidents.atom`,
          pageUrl: `${siteUrl}/status/${page}`,
          subjectOf: () => ({ name: fullName(service), url: `${siteUrl}/status/${page}` }),
          incidents: await registry.listIncidents({ serviceId: service.id, limit: MAX_ENTRIES, offset: 0 }),
        });
      },
    },
    ...(pages === null ? [] : [pageRoute(pages, siteUrl, answer)]),
  ];
}

function pageRoute(
  sources: PageViewSources,
  siteUrl: string,
  answer: (feed: IncidentFeed) => HttpResponse,
): Route {
  return {
    path: '/p/:slug/incidents.atom',
    bucket: 'api',
    access: 'everyone',
    open: 'page',
    describe: () =>
      describeFeed('followPageIncidents', 'Incidents of a status page as an Atom feed', [
        SLUG('The status page.', 'acme'),
      ]),
    async handle(request) {
      const view = await readPageView(request, sources);
      if (view === null) throw await pageRefused(request, sources);
      const { page, services } = view;
      const redirect = redirectToDomain(request, siteUrl, page, 'incidents.atom');
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
        url: pageUrl(siteUrl, page, 'incidents.atom'),
        pageUrl: pageUrl(siteUrl, page),
        madeAt: page.createdAt,
        posts: entriesOfPage(view, pageUrl(siteUrl, page)),
        incidents: told.map(({ incident }) => incident),
        subjectOf(incident) {
          const listed = told.find((one) => one.incident === incident)?.listed;
          if (listed === undefined) return null;
          const { name, service } = listed;
          const path = service === null ? null : sources.directory.pageName(service);
          return { name, url: path === null ? incident.sourceUrl : `${siteUrl}/status/${path}` };
        },
      });
      return keepPrivate(page, feed);
    },
  };
}

/** The name of the service of an incident, and the absolute address of a page about it; null: it is gone. */
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
  /** The name and the page of the service of an incident; null: it is gone. Absent: those of the services that its reader sees. */
  readonly subjectOf?: SubjectOf;
  /** In the order of the entries. */
  readonly incidents: readonly Incident[];
  /** The time at which it was made, epoch milliseconds. Absent: the start of the program. */
  readonly madeAt?: number;
  /** Of an owner's page: entries before them, whose ids lack the beginning that all have in common. */
  readonly posts?: readonly AtomEntry[];
}

/** Entries of the owner's posts about a page alone. */
function entriesOfPage(view: PageView, url: string): AtomEntry[] {
  const { posts, announced } = postsOfPage(view);
  const incidents = posts.map((one): AtomEntry => {
    const { status, severity, title } = one;
    const id = ownerIncidentId(one.id);
    const incident = asServiceIncident(one, { id, serviceId: 0, sourceUrl: url });
    return {
      id: `incident/${id}`,
      title: `${title} (${severity}, ${status})`,
      url,
      publishedAt: one.createdAt,
      updatedAt: incident.updates.at(-1)?.at ?? one.createdAt,
      text: textOf(incident),
      category: status,
    };
  });
  const maintenances = announced.map(({ occurrence, ...one }): AtomEntry => {
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
 * Creates the function that writes the feeds of a site. `siteUrl` has no slash at its end. `startedAt`: when the program started, which
 * dates feeds without entries, so that their tags stay.
 */
function createFeedWriter(
  directory: ShownDirectory,
  siteUrl: string,
  startedAt: number,
): (feed: IncidentFeed) => HttpResponse {
  const tag = `tag:${new URL(siteUrl).hostname},${TAG_YEAR}:`;

  const subjectAmong =
    (shown: ShownServices): SubjectOf =>
    ({ serviceId }) => {
      const service = shown.byId(serviceId);
      if (service === null) return null;
      return { name: fullName(service), url: `${siteUrl}/status/${directory.pageName(service)}` };
    };
  const entryOf = (incident: Incident, isOwnPage: boolean, subjectOf: SubjectOf): AtomEntry[] => {
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
    const body = writeAtom({
      id: tag + about.name,
      title: about.title,
      selfUrl: about.url,
      pageUrl: about.pageUrl,
      updatedAt: entries.length === 0 ? madeAt : Math.max(...entries.map(({ updatedAt }) => updatedAt)),
      entries,
    });
    return { status: 200, headers: { 'Content-Type': ATOM_MEDIA_TYPE, 'Cache-Control': 'no-cache' }, body };
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
  parameters: readonly OpenApiParameter[],
): OpenApiOperation {
  return describeFile({
    operationId,
    tags: ['Incidents'],
    summary,
    description:
      'RFC 4287, the newest 50. Ids never change; an entry is updated with each update of its incident.',
    parameters,
    mediaType: 'application/atom+xml',
    what: 'The feed',
    missing: parameters.length === 0 ? null : 'There is no such service.',
  });
}

/** Media type of what {@link writeAtom} writes. */
const ATOM_MEDIA_TYPE = 'application/atom+xml; charset=utf-8';

/** One entry of a feed. */
interface AtomEntry {
  /** A permanent IRI, such as `tag:status.example.com,2026:incident/1` (RFC 4151). */
  readonly id: string;
  readonly title: string;
  /** The page of the entry. */
  readonly url: string;
  /** Epoch milliseconds. */
  readonly publishedAt: number;
  /** Epoch milliseconds; readers detect changes by it alone. */
  readonly updatedAt: number;
  /** Plain text with line breaks. */
  readonly text: string;
  /** For example a status. */
  readonly category?: string;
}

export interface AtomFeed {
  readonly id: string;
  /** Also the name of the author, which a feed must have. */
  readonly title: string;
  /** URL of the document. */
  readonly selfUrl: string;
  /** The page of the feed. */
  readonly pageUrl: string;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
  /** Ids are unique. */
  readonly entries: readonly AtomEntry[];
}

/**
 * Writes an XML document in UTF-8. Escapes all texts, and removes characters that XML 1.0 does not allow. Throws RangeError
 * if a time is not valid.
 */
export function writeAtom({ id, title, selfUrl, pageUrl, updatedAt, entries }: AtomFeed): string {
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    element('id', id),
    element('title', title),
    `<link rel="self" type="application/atom+xml" href="${escapeXml(selfUrl)}"/>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(pageUrl)}"/>`,
    element('updated', new Date(updatedAt).toISOString()),
    `<author>${element('name', title)}</author>`,
    ...entries.map(writeEntry),
    '</feed>',
    '',
  ].join('\n');
}

function writeEntry({ id, title, url, publishedAt, updatedAt, text, category }: AtomEntry): string {
  return [
    '<entry>',
    element('id', id),
    element('title', title),
    `<link rel="alternate" type="text/html" href="${escapeXml(url)}"/>`,
    element('published', new Date(publishedAt).toISOString()),
    element('updated', new Date(updatedAt).toISOString()),
    ...(category === undefined ? [] : [`<category term="${escapeXml(category)}"/>`]),
    `<content type="text">${escapeXml(text)}</content>`,
    '</entry>',
  ].join('\n');
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // Unescaped, parsers replace it by a line feed, or by a space in an attribute.
  '\r': '&#13;',
};

/** For text and attributes. */
function escapeXml(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 (2.2) has no such characters
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
      .replace(/[&<>"'\r]/g, (sign) => ESCAPES[sign] ?? '')
  );
}
