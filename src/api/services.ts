/** `GET /api/v1/services`: services with their current status (contract 4.2). */
import { Type } from '@sinclair/typebox';
import { CATEGORIES, type Category } from '../domain/category.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../domain/status.ts';
import {
  limitParameter,
  OFFSET_PARAMETER,
  readParameters,
  textParameter,
  wordParameter,
} from '../http/parameters.ts';
import { json, type Route } from '../http/route.ts';
import { named, PAGE_MEMBERS, strict, whole } from '../http/schema.ts';
import type { ServiceFilter, ServiceSearch } from '../view/service-search.ts';
import { readOperation } from './operation.ts';
import type { ServiceJson } from './service-json.ts';
import { ServiceSchema } from './service-view.ts';

const QUERY = {
  category: wordParameter(CATEGORIES, 'Only services of this category.'),
  status: wordParameter(SERVICE_STATUSES, 'Only services with this status.'),
  q: textParameter(
    'Only services with this part in their name, domain or slug, in any case; blanks around it are ignored, and an empty one matches all.',
    'hub',
  ),
  limit: limitParameter(100, 500),
  offset: OFFSET_PARAMETER,
};

/** A page of services. */
export const ServicesSchema = named(
  'ServiceList',
  Type.Object(
    {
      services: Type.Array(ServiceSchema, { description: 'In the order of slugs.' }),
      total: whole('Services that match the filter.'),
      ...PAGE_MEMBERS,
    },
    strict,
  ),
);

/** The route. */
export function servicesRoute(search: ServiceSearch, services: ServiceJson): Route {
  return {
    path: '/api/v1/services',
    bucket: 'api',
    handle({ query }) {
      const { category, status, q, limit, offset } = readParameters(query, QUERY);
      const filter: ServiceFilter = {
        category: (category as Category | undefined) ?? null,
        status: (status as ServiceStatus | undefined) ?? null,
        text: q === undefined ? null : String(q),
      };
      const page = search.page(filter, Number(offset), Number(limit));
      const items = page.services.map(services.listItem).join(',');
      return json(`{"services":[${items}],"total":${page.total},"limit":${limit},"offset":${offset}}`);
    },
    describe: () =>
      readOperation({
        id: 'listServices',
        tag: 'Services',
        summary: 'Services with their current status',
        description:
          'In the order of slugs; filters are combined, and `total` counts what matches all of them.',
        query: QUERY,
        answer: ServicesSchema,
      }),
  };
}
