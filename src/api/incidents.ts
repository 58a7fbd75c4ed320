/** Incidents as JSON: of all services, of one service, and one with its timeline (contract 2.3, 4.3, 4.4). */

import { formatTime } from '../domain/durations.ts';
import { INCIDENT_STATUSES, type Incident, SEVERITIES } from '../domain/incident/incident.ts';
import { viewIncident } from '../domain/webhook-event.ts';
import { CURSOR_PARAMETER, cutPage, type PlaceForm, readCursor, withLinks } from '../http/cursor.ts';
import { enumParameter, limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import { json, type Route } from '../http/route.ts';
import { enumOf, named, namedObject, nullable, PAGE_MEMBERS, TimeSchema, whole } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import { everyonesAnd, type IncidentStore } from '../store/ports/incidents.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import type { ServiceFinder } from '../view/service-finder.ts';
import { readRoute } from './read-route.ts';
import { ServiceNameSchema, viewServiceName, viewWithServices } from './service-view.ts';

const IncidentStatusSchema = named('IncidentStatus', enumOf(INCIDENT_STATUSES));
const SeveritySchema = named('Severity', enumOf(SEVERITIES));

const INCIDENT_MEMBERS = {
  id: Type.String({ description: 'Stable and unique over all sources.' }),
  title: Type.String(),
  description: Type.String({ description: 'Plain text.' }),
  severity: SeveritySchema,
  status: IncidentStatusSchema,
  started_at: TimeSchema,
  resolved_at: nullable(TimeSchema, 'Null while it is unresolved.'),
  source_url: Type.String({
    description: 'The entry that it comes from; for our own incidents the page of the service.',
  }),
};

const OwnerSourceSchema = Type.Optional(
  enumOf(['owner'], 'The owner of the service says so; absent: our own checks or the vendor do.'),
);

/** An incident without its service. */
export const IncidentSchema = namedObject('Incident', { ...INCIDENT_MEMBERS, source: OwnerSourceSchema });

const IncidentOfServiceSchema = namedObject('IncidentOfService', {
  ...INCIDENT_MEMBERS,
  source: OwnerSourceSchema,
  service: ServiceNameSchema,
});

const IncidentWithTimelineSchema = namedObject('IncidentWithTimeline', {
  ...INCIDENT_MEMBERS,
  source: enumOf(
    ['own', 'vendor', 'owner'],
    "Our own checks, the vendor's status page, or the owner of the service.",
  ),
  timeline: Type.Array(
    namedObject('IncidentUpdate', { at: TimeSchema, status: IncidentStatusSchema, text: Type.String() }),
    { description: 'Every update, oldest first.' },
  ),
});

/** An incident with its source and its timeline, oldest first. */
function viewIncidentInFull(incident: Incident) {
  return {
    ...viewIncident(incident),
    source: incident.source,
    timeline: incident.updates.map(({ at, status, text }) => ({ at: formatTime(at), status, text })),
  };
}

export interface IncidentSources {
  readonly finder: ServiceFinder;
  readonly registry: PublicReads;
}

export function incidentRoutes(sources: IncidentSources): Route[] {
  return [listRoute(sources), serviceRoute(sources), incidentRoute(sources)];
}

const LIST_QUERY = {
  status: enumParameter(INCIDENT_STATUSES, 'Only incidents in this state.'),
  limit: limitParameter(50, 100),
  offset: OFFSET_PARAMETER,
  cursor: CURSOR_PARAMETER,
};

/** The name of all lists of incidents in their cursors, and the place of an incident in them. */
const LIST = 'incidents';
const PLACE: PlaceForm = { types: ['number', 'string'] };

/** The place after which a page of incidents begins, and the number of incidents before it. */
export function readIncidentCursor(given: {
  readonly cursor?: string | undefined;
  readonly offset?: number;
}) {
  const cursor = readCursor(LIST, PLACE, given);
  if (cursor === null) return null;
  const [startedAt, id] = cursor.place;
  return { offset: cursor.offset, after: { startedAt: Number(startedAt), id: String(id) } };
}

/** The incidents of a page among those found, as {@link cutPage} cuts it. */
export function cutIncidents(
  found: readonly Incident[],
  page: Parameters<typeof cutPage>[2],
  idOf: (incident: Incident) => string = ({ id }) => id,
): ReturnType<typeof cutPage<Incident>> {
  return cutPage(LIST, found, page, (incident) => [incident.startedAt, idOf(incident)]);
}

export const IncidentsSchema = namedObject('IncidentList', {
  incidents: Type.Array(IncidentOfServiceSchema, { description: 'Newest start first.' }),
  total: whole('Incidents that match the filter.'),
  ...PAGE_MEMBERS,
});

const LIST_PATH = '/api/v1/incidents';
const SERVICE_PATH = '/api/v1/incidents/:slug';

function listRoute({ finder, registry }: IncidentSources): Route {
  return readRoute({
    path: LIST_PATH,
    id: 'listIncidents',
    tag: 'Incidents',
    summary: 'List recent incidents',
    description:
      'Newest start first, then by id. With a key also those of services of its account that are not public.',
    query: LIST_QUERY,
    answer: IncidentsSchema,
    async handle(request) {
      const { status, limit, ...given } = readParameters(request.query, LIST_QUERY);
      const shown = await finder.listedFor(request);
      const filter = { ...(status === undefined ? {} : { status }), ...everyonesAnd(shown.accounts) };
      const { items, total, offset, beside } = await readPage(registry, filter, limit, given);
      const incidents = viewWithServices(shown, items, viewIncident);
      const answer = json({ incidents, total, limit, offset });
      return withLinks(answer, request, { path: LIST_PATH, query: LIST_QUERY }, beside);
    },
  });
}

/** Reads a page: from a cursor, or from an offset. */
async function readPage(
  registry: IncidentSources['registry'],
  filter: Parameters<IncidentStore['countIncidents']>[0],
  limit: number,
  given: { readonly cursor?: string | undefined; readonly offset?: number },
) {
  const cursor = readIncidentCursor(given);
  const { offset = 0 } = cursor ?? given;
  const window = cursor === null ? { limit, offset } : { limit: limit + 1, offset: 0, after: cursor.after };
  const [found, total] = await Promise.all([
    registry.listIncidents({ ...filter, ...window }),
    registry.countIncidents(filter),
  ]);
  const page = { limit, offset, total: cursor === null ? total : null };
  return { ...cutIncidents(found, page), total, offset };
}

const SERVICE_QUERY = { limit: limitParameter(20, 50), cursor: CURSOR_PARAMETER };

export const ServiceIncidentsSchema = namedObject('ServiceIncidents', {
  service: ServiceNameSchema,
  incidents: Type.Array(IncidentSchema),
  total: whole('Incidents of the service.'),
});

function serviceRoute({ finder, registry }: IncidentSources): Route {
  return readRoute({
    path: SERVICE_PATH,
    id: 'listServiceIncidents',
    tag: 'Incidents',
    summary: 'List incidents of a service',
    description: 'Newest start first, then by id.',
    query: SERVICE_QUERY,
    answer: ServiceIncidentsSchema,
    async handle(request) {
      const service = await finder.ofPath(request);
      const { limit, ...given } = readParameters(request.query, SERVICE_QUERY);
      const { items, total, beside } = await readPage(registry, { serviceId: service.id }, limit, given);
      const answer = json({ service: viewServiceName(service), incidents: items.map(viewIncident), total });
      return withLinks(answer, request, { path: SERVICE_PATH, query: SERVICE_QUERY }, beside);
    },
  });
}

/** One incident with its timeline, and its service. */
export const IncidentDetailSchema = namedObject('IncidentDetail', {
  service: ServiceNameSchema,
  incident: IncidentWithTimelineSchema,
});

function incidentRoute({ finder, registry }: IncidentSources): Route {
  return readRoute({
    path: '/api/v1/incidents/:slug/:id',
    id: 'getIncident',
    tag: 'Incidents',
    summary: 'Get an incident with its timeline',
    description: 'Every update is kept, with its time, status and text.',
    answer: IncidentDetailSchema,
    async handle(request) {
      const service = await finder.ofPath(request);
      const id = request.params.id ?? '';
      const incident = await registry.findIncident(id);
      if (incident === null || incident.serviceId !== service.id)
        throw new HttpError('incident_not_found', `${service.name} has no incident "${id.slice(0, 200)}".`);
      return json({ service: viewServiceName(service), incident: viewIncidentInFull(incident) });
    },
  });
}
