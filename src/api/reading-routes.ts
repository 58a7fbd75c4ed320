/** The reading endpoints of the contract: status, services, incidents (4.1 to 4.4). */
import { CATEGORIES, type Category } from '../domain/category.ts';
import { INCIDENT_STATUSES, type IncidentStatus } from '../domain/incident.ts';
import type { Service } from '../domain/service.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../domain/status.ts';
import {
  limitParameter,
  OFFSET_PARAMETER,
  readParameters,
  textParameter,
  wordParameter,
} from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import { type HttpRequest, json, type Route } from '../http/route.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import type { ServiceFilter, ServiceSearch } from '../view/service-search.ts';
import { viewIncident, viewIncidentService } from './incident-view.ts';
import type { ServiceJson } from './service-json.ts';

/** Query parameters of `GET /services` (contract 4.2). */
export const SERVICES_QUERY = {
  category: wordParameter(CATEGORIES, 'Only services of this category.'),
  status: wordParameter(SERVICE_STATUSES, 'Only services with this status.'),
  q: textParameter(
    'Only services with this part in their name, domain or slug, in any case; blanks around it are ignored, and an empty one matches all.',
    'hub',
  ),
  limit: limitParameter(100, 500),
  offset: OFFSET_PARAMETER,
};

/** Query parameters of `GET /incidents` (contract 4.3). */
export const INCIDENTS_QUERY = {
  status: wordParameter(INCIDENT_STATUSES, 'Only incidents in this state.'),
  limit: limitParameter(50, 100),
  offset: OFFSET_PARAMETER,
};

/** Query parameters of `GET /incidents/:slug` (contract 4.4). */
export const SERVICE_INCIDENTS_QUERY = { limit: limitParameter(20, 50) };

/** What these routes read from. */
export interface ReadingSources {
  readonly directory: ServiceDirectory;
  readonly search: ServiceSearch;
  readonly bytes: ServiceJson;
  readonly registry: Pick<IncidentStore, 'listIncidents' | 'countIncidents'>;
}

/** The routes. */
export function readingRoutes({ directory, search, bytes, registry }: ReadingSources): Route[] {
  return [
    {
      path: '/api/v1/status/:slug',
      bucket: 'api',
      handle(request) {
        const { body, etag } = bytes.status(findService(directory, request));
        return json(body, etag);
      },
    },
    {
      path: '/api/v1/services',
      bucket: 'api',
      handle({ query }) {
        const { category, status, q, limit, offset } = readParameters(query, SERVICES_QUERY);
        const filter: ServiceFilter = {
          category: (category as Category | undefined) ?? null,
          status: (status as ServiceStatus | undefined) ?? null,
          text: q === undefined ? null : String(q),
        };
        const page = search.page(filter, Number(offset), Number(limit));
        const items = page.services.map(bytes.listItem).join(',');
        return json(`{"services":[${items}],"total":${page.total},"limit":${limit},"offset":${offset}}`);
      },
    },
    {
      path: '/api/v1/incidents',
      bucket: 'api',
      async handle({ query }) {
        const { status, limit, offset } = readParameters(query, INCIDENTS_QUERY);
        const filter = {
          ...(status === undefined ? {} : { status: status as IncidentStatus }),
          verifiedOnly: true,
        };
        const [found, total] = await Promise.all([
          registry.listIncidents({ ...filter, limit: Number(limit), offset: Number(offset) }),
          registry.countIncidents(filter),
        ]);
        const incidents = found.flatMap((incident) => {
          const service = directory.byId(incident.serviceId);
          return service === null
            ? []
            : [{ ...viewIncident(incident), service: viewIncidentService(service) }];
        });
        return json(JSON.stringify({ incidents, total, limit, offset }));
      },
    },
    {
      path: '/api/v1/incidents/:slug',
      bucket: 'api',
      async handle(request) {
        const service = findService(directory, request);
        const { limit } = readParameters(request.query, SERVICE_INCIDENTS_QUERY);
        const [found, total] = await Promise.all([
          registry.listIncidents({ serviceId: service.id, limit: Number(limit), offset: 0 }),
          registry.countIncidents({ serviceId: service.id }),
        ]);
        const incidents = found.map(viewIncident);
        return json(JSON.stringify({ service: viewIncidentService(service), incidents, total }));
      },
    },
  ];
}

/** The service that a path names. Throws `service_not_found`. */
export function findService(directory: ServiceDirectory, { params }: HttpRequest): Service {
  const slug = params.slug ?? '';
  const service = directory.bySlug(slug);
  if (service === null) throw serviceNotFound(slug);
  return service;
}

/** The error for a name that no service has. */
export function serviceNotFound(name: string): HttpError {
  return new HttpError('service_not_found', `There is no service "${name.slice(0, 100)}".`);
}
