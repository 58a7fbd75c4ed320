/**
 * The documents of Statuspage's public API, for programs that read it: of a status page below its address, and of a service below
 * `/status/:slug`.
 */
import { worstReported } from '../domain/incident/owner-incident.ts';
import { fullName, type Service } from '../domain/service.ts';
import { unknownStatus } from '../domain/status/current.ts';
import { standingOf } from '../domain/status/outage-verdict.ts';
import { SLUG } from '../http/openapi.ts';
import { type HttpRequest, json, type Route } from '../http/route.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import { pageUrl } from '../view/page-address.ts';
import type { SiteSources } from '../view/site-sources.ts';
import {
  keepPrivate,
  type PageView,
  type PageViewSources,
  pageRefused,
  readPageView,
  tellIncident,
} from '../view/status-page-view.ts';
import {
  createStatuspageWriter,
  MAX_LISTED,
  type ShownComponent,
  type ShownPage,
  shortId,
} from '../view/statuspage-documents.ts';
import { shownIncidents, shownMaintenances, subjectsOf } from '../view/statuspage-posts.ts';
import { readRoute } from './read-route.ts';
import {
  type ListedPosts,
  type ReadPosts,
  STATUSPAGE_DOCUMENTS,
  type StatuspageDocument,
} from './statuspage-schema.ts';

/** The beginnings of paths. */
const OF_PAGE = ['/p/:slug', '/pages/:slug'] as const;
const OF_SERVICE = '/status/:slug';

export interface StatuspageSources extends SiteSources {
  readonly registry: PublicReads;
  /** Status pages of owners; null: this site has none. */
  readonly pages: PageViewSources | null;
}

export function statuspageRoutes(sources: StatuspageSources): Route[] {
  const { finder, pages, now } = sources;
  // Dates what was never checked, so that tags stay.
  const startedAt = now();
  const ofService = STATUSPAGE_DOCUMENTS.map((document) =>
    readRoute({
      ...describe(document, 'Service', OF_SERVICE),
      slug: SLUG('The domain with each dot replaced by a dash.', 'github-com'),
      async handle(request) {
        const service = await finder.named(request);
        return json(write(document, await readService(service, { ...sources, startedAt }, document.reads)));
      },
    }),
  );
  if (pages === null) return ofService;
  const ofPages = OF_PAGE.flatMap((prefix) =>
    STATUSPAGE_DOCUMENTS.map((document): Route => {
      const { describe: described, ...route } = readRoute({
        ...describe(document, 'Page', prefix),
        open: 'page',
        slug: SLUG('The page, in any case.', 'acme'),
        problems: { 404: 'There is no such page.' },
        async handle(request) {
          const { view, ...read } = await readPage(request, pages, document.reads);
          return keepPrivate(view.page, json(write(document, read)));
        },
      });
      // The same documents are at both addresses.
      return prefix === '/pages/:slug' || described === undefined ? route : { ...route, describe: described };
    }),
  );
  return [...ofPages, ...ofService];
}

function describe({ id, name, summary, answer }: StatuspageDocument, of: 'Page' | 'Service', prefix: string) {
  return {
    path: `${prefix}/api/v2/${name}.json`,
    id: `getStatuspage${id}Of${of}`,
    tag: 'Statuspage',
    summary: `${summary} of a ${of === 'Page' ? 'status page' : 'service'}, as Statuspage does`,
    description: 'For programs that read the public API of Statuspage: its members and its words.',
    answer,
  };
}

function write(
  document: StatuspageDocument,
  { shown, posts }: { readonly shown: ShownPage; readonly posts: ListedPosts },
) {
  return document.write(createStatuspageWriter(shown), posts);
}

/** Reads what a document tells of a status page. Throws what {@link pageRefused} makes if the request may not see it. */
async function readPage(request: HttpRequest, sources: PageViewSources, reads: ReadPosts) {
  const { pages, siteUrl, directory } = sources;
  const view = await readPageView(request, sources);
  if (view === null) throw await pageRefused(request, sources);
  const { page, services, verdict } = view;
  const open = services.flatMap(({ service }) => (service === null ? [] : [service]));
  const listedIds = services.map(({ id }) => id);
  const openIds = open.map(({ id }) => id);
  const [found, past] = await readPosts(pages, reads, listedIds, openIds);
  const told = found.flatMap((one) => tellIncident(view, one, siteUrl)?.incident ?? []);
  const { incidents: wanted } = reads;
  const posts =
    wanted === 'none' ? [] : view.posts.filter(({ status }) => wanted === 'all' || status !== 'resolved');
  const subjects = subjectsOf({ siteUrl, directory, services: open });
  const incidents = await shownIncidents(told, posts, { ...subjects, pages, page });
  const maintenances = shownMaintenances(
    { planned: view.maintenances, announced: view.announced, past },
    { ...subjects, page, at: view.at },
  );
  const shown: ShownPage = {
    ...{ id: page.slug, name: page.title, url: pageUrl(siteUrl, page).replace(/\/$/, '') },
    ...{ createdAt: page.createdAt, updatedAt: page.updatedAt },
    groups: view.groups.map(({ name, services: inGroup }) => ({
      name,
      components: inGroup.map((one) => componentOf(view, one)),
    })),
    ...{ reported: verdict.reported, inMaintenance: verdict.inMaintenance },
  };
  return { view, shown, posts: { incidents, maintenances } };
}

/** Reads incidents of services, and of `announcedIds` the maintenance that is over. */
async function readPosts(
  registry: Pick<PublicReads, 'incidentsOfServices'>,
  { incidents, isOver }: ReadPosts,
  serviceIds: readonly number[],
  announcedIds: readonly number[],
) {
  const newest = { limit: MAX_LISTED, offset: 0 };
  const open = incidents === 'open' ? { running: true } : {};
  return await Promise.all([
    incidents === 'none'
      ? []
      : registry.incidentsOfServices({ serviceIds, isAnnounced: false, ...open, ...newest }),
    isOver
      ? registry.incidentsOfServices({
          serviceIds: announcedIds,
          isAnnounced: true,
          running: false,
          ...newest,
        })
      : [],
  ]);
}

/** A private service is shown by its name on the page alone. */
function componentOf({ page, services }: PageView, listed: PageView['services'][number]): ShownComponent {
  const { id, name, service, standing, current } = listed;
  const alike = services.filter((one) => one.service === null && one.name === name).indexOf(listed);
  return {
    id: service?.slug ?? shortId('component', page.id, name, alike),
    serviceId: id,
    name: service?.name ?? name,
    description: service?.domain ?? null,
    standing,
    isPartial: service !== null && current.scope === 'partial',
    createdAt: page.createdAt,
    updatedAt: Math.max(page.createdAt, current.since ?? page.createdAt),
  };
}

/** Reads what a document tells of a service. */
async function readService(
  service: Service,
  sources: StatuspageSources & { readonly startedAt: number },
  reads: ReadPosts,
) {
  const { registry, status, directory, siteUrl, now, startedAt } = sources;
  const { id, slug, name, domain, paused } = service;
  const current = status.get(id) ?? unknownStatus(id);
  // Its owner's open incidents are part of its status.
  const incidentsRead = reads.incidents === 'none' ? 'open' : reads.incidents;
  const [planned, [found, past]] = await Promise.all([
    registry.maintenancesOfServices([id], MAX_LISTED),
    readPosts(registry, { ...reads, incidents: incidentsRead }, [id], [id]),
  ]);
  const subjects = subjectsOf({ siteUrl, directory, services: [service] });
  const running = planned.filter(({ phase }) => phase === 'running');
  const since = current.since ?? startedAt;
  const component = {
    ...{ id: slug, serviceId: id, name, description: domain, createdAt: since, updatedAt: since },
    standing: standingOf(current.status, paused, running.length > 0),
    isPartial: current.scope === 'partial',
  };
  const shown: ShownPage = {
    ...{ id: slug, name: fullName(service), url: `${siteUrl}/status/${directory.pageName(service)}` },
    ...{ createdAt: since, updatedAt: since },
    groups: [{ name: '', components: [component] }],
    reported: worstReported(found.filter(({ source }) => source === 'owner')),
    inMaintenance: running.some(({ ownerId }) => ownerId !== undefined),
  };
  const incidents = await shownIncidents(found, [], { ...subjects, pages: registry, page: null });
  const maintenances = shownMaintenances(
    { planned, announced: [], past },
    { ...subjects, page: null, at: now() },
  );
  return { shown, posts: { incidents, maintenances } };
}
