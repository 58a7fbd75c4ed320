/** Owners' status pages as JSON: `/api/v1/pages/:slug`, and the same at `/p/:slug.json`. */

import { formatTime, formatTimeOrNull } from '../domain/durations.ts';
import { INCIDENT_STATUSES } from '../domain/incident/incident.ts';
import { OWNER_SEVERITIES, ownerIncidentId } from '../domain/incident/owner-incident.ts';
import { ownerMaintenanceId } from '../domain/incident/owner-maintenance.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import { PAGE_STATUSES } from '../domain/status/outage-verdict.ts';
import { type OwnedPage, PAGE_BOUNDS, type PictureUse } from '../domain/status-page.ts';
import { viewIncident } from '../domain/webhook-event.ts';
import { revisionTag } from '../http/conditional.ts';
import { CURSOR_PARAMETER, withLinks } from '../http/cursor.ts';
import { SLUG } from '../http/openapi.ts';
import { enumParameter, limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { type HttpRequest, type HttpResponse, json, type Route } from '../http/route.ts';
import { enumOf, listOf, namedObject, nullable, PAGE_MEMBERS, TimeSchema, whole } from '../http/schema.ts';
import { strictObject, Type } from '../json-schema.ts';
import { PageDefinitionSchema } from '../resources/pages/page-routes.ts';
import { definePage } from '../resources/pages/pages.ts';
import type { IncidentKey } from '../store/ports/incidents.ts';
import { pageUrl, redirectToDomain } from '../view/page-address.ts';
import type { SiteSources } from '../view/site-sources.ts';
import {
  INCIDENT_FILTERS,
  keepPrivate,
  type PageView,
  type PageViewSources,
  pageRefused,
  picturePart,
  postsOfPage,
  readFilter,
  readPageView,
  tellIncident,
  toldId,
} from '../view/status-page-view.ts';
import { cutIncidents, IncidentsSchema, readIncidentCursor } from './incidents.ts';
import { readRoute } from './read-route.ts';
import { ServiceSchema, viewService, viewServiceName, viewWithServices } from './service-view.ts';
import { MaintenancesSchema, viewMaintenance } from './vendor.ts';

const QUERY = {
  incidents: enumParameter(INCIDENT_FILTERS, 'Running incidents, past ones, or both.', 'all'),
  limit: limitParameter(20, 100),
  offset: OFFSET_PARAMETER,
  cursor: CURSOR_PARAMETER,
};

/** An incident about the page alone. */
const OwnerWordSchema = namedObject('PageIncident', {
  id: Type.String(),
  title: Type.String(),
  severity: enumOf(OWNER_SEVERITIES),
  status: enumOf(INCIDENT_STATUSES),
  started_at: TimeSchema,
  resolved_at: nullable(TimeSchema, 'Null while it is unresolved.'),
  url: Type.String({ description: 'Its page, which has all of its texts.' }),
  updates: listOf('The newest three, oldest first.', {
    at: TimeSchema,
    status: enumOf(INCIDENT_STATUSES),
    text: Type.String({ description: 'Without markup, the first 1,000 characters.' }),
  }),
  updates_total: whole('Number of all updates.'),
  post_mortem: nullable(Type.String(), 'Without markup, the first 1,000 characters.'),
});

/** Maintenance of the page alone. */
const OwnerAnnouncementSchema = namedObject('PageMaintenance', {
  id: Type.String(),
  title: Type.String(),
  description: Type.String({ description: 'Without markup.' }),
  state: enumOf(['planned', 'running']),
  starts_at: TimeSchema,
  ends_at: TimeSchema,
});

const STANDING_MEMBERS = {
  paused: Type.Boolean(),
  in_maintenance: Type.Boolean({ description: 'Down or slow within an announced maintenance.' }),
};
const { status, stale, since } = ServiceSchema.properties;

const PRIVATE_MEMBERS = {
  name: Type.String({ description: 'Its name on this page. Nothing else tells which service it is.' }),
  private: Type.Literal(true),
  ...{ status, stale, since, ...STANDING_MEMBERS },
};

const PageIncidentSchema = strictObject({
  ...IncidentsSchema.properties.incidents.items.properties,
  service: namedObject('PageServiceName', {
    name: Type.String(),
    slug: Type.Optional(Type.String({ description: 'Absent: the service is private.' })),
  }),
});

const PageSchema = namedObject('StatusPage', {
  page: strictObject({
    slug: Type.String(),
    title: Type.String(),
    text: Type.String({ description: 'Plain text.' }),
    url: Type.String(),
    logo_url: nullable(Type.String(), 'Null where it has none.'),
    favicon_url: nullable(Type.String(), 'Null where it has none.'),
    updated_at: TimeSchema,
  }),
  status: enumOf(PAGE_STATUSES, 'The worst of its services; those that are paused do not count.'),
  reported: nullable(
    enumOf(OWNER_SEVERITIES),
    'Severity of the worst open incident that its owner reports, whatever checks see; null: none is open.',
  ),
  counts: strictObject({
    up: whole('Operational.'),
    slow: whole('Slow.'),
    down: whole('Down.'),
    unknown: whole('Never checked.'),
    maintenance: whole('Down or slow within an announced maintenance.'),
    paused: whole('Not watched now.'),
  }),
  groups: listOf('In the order of their owner.', {
    name: Type.String({ description: 'Empty for services without a heading.' }),
    services: Type.Array(
      Type.Union([
        strictObject({ ...ServiceSchema.properties, ...STANDING_MEMBERS }),
        namedObject('PrivatePageService', PRIVATE_MEMBERS),
      ]),
    ),
  }),
  maintenance: MaintenancesSchema.properties.maintenance,
  incidents: Type.Array(PageIncidentSchema, {
    description:
      'Newest start first. Of a private service there is what our own checks saw, without texts, and its name alone.',
  }),
  owner_incidents: Type.Array(OwnerWordSchema, {
    description:
      'What its owner writes of the page alone: unresolved ones and the newest resolved ones, newest start first.',
  }),
  owner_maintenances: Type.Array(OwnerAnnouncementSchema, {
    description:
      'What its owner announces of the page alone, each with the occurrence that runs or comes next.',
  }),
  ...PAGE_MEMBERS,
  definition: Type.Optional(PageDefinitionSchema),
});

const API_PATH = '/api/v1/pages/:slug';
const PAGE_PATH = '/p/:slug.json';

/** The routes. Those below `/p/` must precede the page itself. */
export function statusPageRoutes(sources: PageViewSources & Pick<SiteSources, 'siteUrl'>): Route[] {
  const { directory, pages, siteUrl } = sources;

  const find = async (request: HttpRequest): Promise<PageView> => {
    const view = await readPageView(request, sources);
    if (view === null) throw await pageRefused(request, sources);
    return view;
  };

  const pictureUrl = (page: OwnedPage, use: PictureUse) => {
    const mark = page[use]?.mark;
    return mark === undefined ? null : pageUrl(siteUrl, page, picturePart(use, mark));
  };

  /** The place of an incident in the registry, which has another id for it than the page. */
  const placeOf = async (view: PageView, told: IncidentKey): Promise<IncidentKey> => {
    const { startedAt, id } = told;
    const serviceIds = view.services.flatMap((one) => (one.service === null ? one.id : []));
    const after = { startedAt, id: '' };
    const found = await pages.incidentsOfServices({
      serviceIds,
      after,
      offset: 0,
      limit: PAGE_BOUNDS.services,
    });
    return found.findLast((one) => one.startedAt === startedAt && toldId(view, one) === id) ?? told;
  };

  const asJson = (path: string) => async (request: HttpRequest) => {
    const { incidents: filter, limit, ...given } = readParameters(request.query, QUERY);
    const cursor = readIncidentCursor(given);
    const { offset } = cursor ?? given;
    const view = await find(request);
    const redirect = path === PAGE_PATH ? redirectToDomain(request, siteUrl, view.page, 'page.json') : null;
    if (redirect !== null) return redirect;
    const found = await pages.incidentsOfServices({
      serviceIds: view.services.map(({ id }) => id),
      ...readFilter(filter),
      ...(cursor === null ? { offset } : { offset: 0, after: await placeOf(view, cursor.after) }),
      limit: limit + 1,
    });
    const { items, beside } = cutIncidents(found, { limit, offset, total: null }, (one) => toldId(view, one));
    const { page, verdict } = view;
    const isOwn = request.key?.accountId === page.accountId;
    const answer = json({
      page: {
        slug: page.slug,
        title: page.title,
        text: page.text,
        url: pageUrl(siteUrl, page),
        logo_url: pictureUrl(page, 'logo'),
        favicon_url: pictureUrl(page, 'favicon'),
        updated_at: formatTime(page.updatedAt),
      },
      status: verdict.status,
      reported: verdict.reported,
      counts: verdict.counts,
      groups: view.groups.map(({ name, services }) => ({
        name,
        services: services.map(({ name: shownName, service, current, standing, stale, cause }) => ({
          ...(service === null
            ? viewPrivate(shownName, current, stale)
            : viewService(service, current, stale, cause)),
          paused: standing === 'paused',
          in_maintenance: standing === 'maintenance',
        })),
      })),
      maintenance: viewWithServices(directory, view.maintenances, viewMaintenance),
      incidents: items.flatMap((item) => viewTold(tellIncident(view, item, siteUrl))),
      ...viewPost(view, siteUrl),
      limit,
      offset,
      ...(isOwn ? { definition: definePage({ findServiceById: directory.whole.byId }, page) } : {}),
    });
    const linked = withLinks(answer, request, { path, query: QUERY }, beside);
    return keepPrivate(page, withRevision(linked, page));
  };

  return [
    readRoute({
      path: API_PATH,
      open: 'page',
      id: 'getPage',
      tag: 'Status pages',
      summary: 'Get a status page',
      description:
        'Its services as they stand, what is planned for them, and their incidents, newest start first, then by id. The same is at /p/{slug}.json. A key of the account that owns it also gets the definition, without its pictures. The ETag begins with the revision.',
      slug: SLUG('The page, in any case.', 'acme'),
      query: QUERY,
      answer: PageSchema,
      problems: { 404: 'There is no such page.' },
      handle: asJson(API_PATH),
    }),
    { path: PAGE_PATH, bucket: 'api', access: 'everyone', open: 'page', handle: asJson(PAGE_PATH) },
  ];
}

/** A private service: what its page shows of it. */
function viewPrivate(name: string, { status, since }: CurrentStatus, stale: boolean) {
  return { name, private: true as const, status, stale, since: formatTimeOrNull(since) };
}

function viewTold(told: ReturnType<typeof tellIncident>) {
  if (told === null) return [];
  const { incident, listed } = told;
  const service = listed.service === null ? { name: listed.name } : viewServiceName(listed.service);
  return [{ ...viewIncident(incident), service }];
}

/** The owner's posts about the page alone. */
function viewPost(view: PageView, siteUrl: string) {
  const { posts, announced } = postsOfPage(view);
  return {
    owner_incidents: posts.map((one) => ({
      id: ownerIncidentId(one.id),
      title: one.title,
      severity: one.severity,
      status: one.status,
      started_at: formatTime(one.startedAt),
      resolved_at: one.resolvedAt === null ? null : formatTime(one.resolvedAt),
      url: pageUrl(siteUrl, view.page, `incidents/${ownerIncidentId(one.id)}`),
      updates: one.updates.map(({ at, status, plain }) => ({ at: formatTime(at), status, text: plain })),
      updates_total: one.updates.length + (one.earlier ?? 0),
      post_mortem: one.postMortem?.plain ?? null,
    })),
    owner_maintenances: announced.map(({ id, title, plain, occurrence: { startsAt, endsAt } }) => ({
      id: ownerMaintenanceId(id),
      title,
      description: plain,
      state: startsAt <= view.at ? ('running' as const) : ('planned' as const),
      starts_at: formatTime(startsAt),
      ends_at: formatTime(endsAt),
    })),
  };
}

/** Shared caches keep the response for the account apart. */
function withRevision(answer: HttpResponse, { revision }: OwnedPage): HttpResponse {
  const headers = { ...answer.headers, Vary: 'Authorization' };
  return { ...answer, headers, etag: revisionTag(revision, answer.body) };
}
