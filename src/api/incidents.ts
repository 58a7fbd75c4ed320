/** Incidents as JSON: of all services, of one service, and one with its timeline (contract 2.3, 4.3, 4.4). */

import { formatTime } from '../domain/durations.ts';
import { INCIDENT_STATUSES, type Incident, SEVERITIES } from '../domain/incident.ts';
import { viewIncident } from '../domain/webhook-event.ts';
import { enumParameter, limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import { json, type Route } from '../http/route.ts';
import { enumOf, listOf, namedObject, nullable, PAGE_MEMBERS, TimeSchema, whole } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import { findService, type ServiceDirectory } from '../view/service-directory.ts';
import { readRoute } from './read-route.ts';
import { ServiceNameSchema, viewServiceName, viewWithServices } from './service-view.ts';

const INCIDENT_MEMBERS = {
  id: Type.String({ description: 'Stable and unique over all sources.' }),
  title: Type.String(),
  description: Type.String({ description: 'Plain text.' }),
  severity: enumOf(SEVERITIES),
  status: enumOf(INCIDENT_STATUSES),
  started_at: TimeSchema,
  resolved_at: nullable(TimeSchema, 'Null while it is unresolved.'),
  source_url: Type.String({
    description: 'The entry that it comes from; for our own incidents the page of the service.',
  }),
};

/** An incident without its service. */
const IncidentSchema = namedObject('Incident', INCIDENT_MEMBERS);

/** An incident with its service. */
const IncidentOfServiceSchema = namedObject('IncidentOfService', {
  ...INCIDENT_MEMBERS,
  service: ServiceNameSchema,
});

/** An incident with its timeline. */
const IncidentWithTimelineSchema = namedObject('IncidentWithTimeline', {
  ...INCIDENT_MEMBERS,
  source: enumOf(['own', 'vendor'], "Our own checks, or the vendor's status page."),
  timeline: listOf('Every update, oldest first.', {
    at: TimeSchema,
    status: enumOf(INCIDENT_STATUSES),
    text: Type.String(),
  }),
});

/** An incident with its source and its timeline, oldest first. */
function viewIncidentInFull(incident: Incident) {
  return {
    ...viewIncident(incident),
    source: incident.source,
    timeline: incident.updates.map(({ at, status, text }) => ({ at: formatTime(at), status, text })),
  };
}

/** Sources of these routes. */
export interface IncidentSources {
  readonly directory: ServiceDirectory;
  readonly registry: Pick<IncidentStore, 'listIncidents' | 'countIncidents' | 'findIncident'>;
}

/** The routes. */
export function incidentRoutes(sources: IncidentSources): Route[] {
  return [listRoute(sources), serviceRoute(sources), incidentRoute(sources)];
}

const LIST_QUERY = {
  status: enumParameter(INCIDENT_STATUSES, 'Only incidents in this state.'),
  limit: limitParameter(50, 100),
  offset: OFFSET_PARAMETER,
};

/** Incidents of all services. */
export const IncidentsSchema = namedObject('IncidentList', {
  incidents: Type.Array(IncidentOfServiceSchema, { description: 'Newest start first.' }),
  total: whole('Incidents that match the filter.'),
  ...PAGE_MEMBERS,
});

function listRoute({ directory, registry }: IncidentSources): Route {
  return readRoute({
    path: '/api/v1/incidents',
    id: 'listIncidents',
    tag: 'Incidents',
    summary: 'Recent incidents of all services',
    description: 'Newest start first, then by id.',
    query: LIST_QUERY,
    answer: IncidentsSchema,
    async handle({ query }) {
      const { status, limit, offset } = readParameters(query, LIST_QUERY);
      const filter = { ...(status === undefined ? {} : { status }), verifiedOnly: true };
      const [found, total] = await Promise.all([
        registry.listIncidents({ ...filter, limit, offset }),
        registry.countIncidents(filter),
      ]);
      const incidents = viewWithServices(directory, found, viewIncident);
      return json({ incidents, total, limit, offset });
    },
  });
}

const SERVICE_QUERY = { limit: limitParameter(20, 50) };

/** Incidents of one service. */
export const ServiceIncidentsSchema = namedObject('ServiceIncidents', {
  service: ServiceNameSchema,
  incidents: Type.Array(IncidentSchema),
  total: whole('Incidents of the service.'),
});

function serviceRoute({ directory, registry }: IncidentSources): Route {
  return readRoute({
    path: '/api/v1/incidents/:slug',
    id: 'listServiceIncidents',
    tag: 'Incidents',
    summary: 'Incidents of one service',
    description: 'Newest start first, then by id.',
    query: SERVICE_QUERY,
    answer: ServiceIncidentsSchema,
    async handle(request) {
      const service = findService(directory, request);
      const { limit } = readParameters(request.query, SERVICE_QUERY);
      const [found, total] = await Promise.all([
        registry.listIncidents({ serviceId: service.id, limit, offset: 0 }),
        registry.countIncidents({ serviceId: service.id }),
      ]);
      const incidents = found.map(viewIncident);
      return json({ service: viewServiceName(service), incidents, total });
    },
  });
}

/** One incident with its timeline, and its service. */
export const IncidentDetailSchema = namedObject('IncidentDetail', {
  service: ServiceNameSchema,
  incident: IncidentWithTimelineSchema,
});

function incidentRoute({ directory, registry }: IncidentSources): Route {
  return readRoute({
    path: '/api/v1/incidents/:slug/:id',
    id: 'getIncident',
    tag: 'Incidents',
    summary: 'One incident with its timeline',
    description: 'Every update is kept, with its time, status and text.',
    answer: IncidentDetailSchema,
    async handle(request) {
      const service = findService(directory, request);
      const id = request.params.id ?? '';
      const incident = await registry.findIncident(id);
      if (incident === null || incident.serviceId !== service.id)
        throw new HttpError('incident_not_found', `${service.name} has no incident "${id.slice(0, 200)}".`);
      return json({ service: viewServiceName(service), incident: viewIncidentInFull(incident) });
    },
  });
}
