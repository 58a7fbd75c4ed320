/**
 * `GET /api/v1/services` and `GET /api/v1/status/:slug`: services with their current status (contract 4.1, 4.2). The
 * JSON of a service is created at the first read after a change and cached until the next change; a list joins cached
 * items.
 */

import { andThen } from '../async/at-once.ts';
import { BoundedMap } from '../async/bounded-map.ts';
import type { ServiceVendorStatus } from '../domain/incident/vendor-incident.ts';
import { CATEGORIES, type Service } from '../domain/service.ts';
import { type CurrentStatus, isSameObservation, unknownStatus } from '../domain/status/current.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import { entityTag } from '../http/conditional.ts';
import { CURSOR_PARAMETER, readCursor, withLinks, writeCursor } from '../http/cursor.ts';
import { enumParameter, limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { jsonText, type Route } from '../http/route.ts';
import { namedObject, nullable, PAGE_MEMBERS, whole } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import { causeOfDown } from '../view/cause-of-down.ts';
import type { ServiceFinder } from '../view/service-finder.ts';
import { placeTypes, SERVICE_SORTS, type ServicePlace, type ServiceSort } from '../view/service-order.ts';
import type { ServiceSearch, ServiceWindow } from '../view/service-search.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { intervalOf, isStale } from '../view/staleness.ts';
import { readRoute } from './read-route.ts';
import {
  LatestCheckSchema,
  REGION_MEMBERS,
  SERVICE_MEMBERS,
  ServiceSchema,
  viewLatestCheck,
  viewRegions,
  viewService,
} from './service-view.ts';
import { VendorStatusSchema, viewVendorStatus } from './vendor.ts';

const QUERY = {
  category: enumParameter(CATEGORIES, 'Only services of this category.'),
  status: enumParameter(SERVICE_STATUSES, 'Only services with this status.'),
  q: Type.String({
    description:
      'Only services with this part in their name, domain or slug, in any case; blanks around it are ignored, and an empty one matches all.',
    examples: ['hub'],
  }),
  sort: enumParameter(
    SERVICE_SORTS,
    'The order; a minus reverses it. Names without regard to case; statuses from down to slow to up; response times from the fastest. Services that were never checked, or have no response time, come last both ways, and equal ones follow each other by slug. The order of statuses and response times is at most a second old.',
    'slug',
  ),
  limit: limitParameter(100, 500),
  offset: OFFSET_PARAMETER,
  cursor: CURSOR_PARAMETER,
};
const PATH = '/api/v1/services';

export const ServicesSchema = namedObject('ServiceList', {
  services: Type.Array(ServiceSchema, { description: 'In the order of `sort`.' }),
  total: whole('Services that match the filter.'),
  ...PAGE_MEMBERS,
});

export function servicesRoute(finder: ServiceFinder, search: ServiceSearch, services: ServiceJson): Route {
  return readRoute({
    path: PATH,
    id: 'listServices',
    tag: 'Services',
    summary: 'List services with their status',
    description:
      'In the order of slugs by default; filters are combined, and `total` counts what matches all of them. Pages by cursor neither overlap nor miss a service while services come and go. With a key, the list has the services of its account whatever their visibility; without one, public services alone.',
    query: QUERY,
    answer: ServicesSchema,
    handle(request) {
      const { category, status, q, sort, limit, ...given } = readParameters(request.query, QUERY);
      const filter = { category: category ?? null, status: status ?? null, text: q ?? null };
      const from = readServiceCursor(sort, given) ?? given.offset;
      return andThen(finder.listedFor(request), (shown) => {
        const { total, offset, first, last, ...page } = search.list(filter, { sort, limit, from }, shown);
        const items = page.services.map(services.listItem).join(',');
        const answer = jsonText(
          `{"services":[${items}],"total":${total},"limit":${limit},"offset":${offset}}`,
        );
        const beside = {
          next: last === null ? null : writeServiceCursor(sort, last, false),
          prev: first === null ? null : writeServiceCursor(sort, first, true),
        };
        return withLinks(answer, request, { path: PATH, query: QUERY }, beside);
      });
    },
  });
}

/** The cursor of the page after a place in an order, or with `isBefore` of the page before it. */
function writeServiceCursor(sort: ServiceSort, { key, slug }: ServicePlace, isBefore: boolean): string {
  return writeCursor(`services ${sort}`, { isBefore, offset: 0, place: [key, slug] });
}

/** The beginning or the end of a page by its cursor; null: there is none. Throws `invalid_parameter`. */
function readServiceCursor(
  sort: ServiceSort,
  given: { readonly cursor?: string | undefined; readonly offset?: number },
): Exclude<ServiceWindow['from'], number> | null {
  const cursor = readCursor(`services ${sort}`, { types: placeTypes(sort), goesBack: true }, given);
  if (cursor === null) return null;
  const [key = '', slug = ''] = cursor.place;
  return { place: { key, slug: String(slug) }, isBefore: cursor.isBefore };
}

/** The single status (contract 4.1). */
export const StatusSchema = namedObject('ServiceStatus', {
  ...SERVICE_MEMBERS,
  latest_check: nullable(LatestCheckSchema, 'Null before the first check.'),
  vendor: nullable(VendorStatusSchema, 'What the vendor says of itself; null where no status page is read.'),
  ...REGION_MEMBERS,
});

export function statusRoute(finder: ServiceFinder, services: ServiceJson): Route {
  return readRoute({
    path: '/api/v1/status/:slug',
    id: 'getStatus',
    tag: 'Services',
    summary: 'Get the status of a service',
    description:
      'up: the newest check was answered in time, up to and including 3,000 ms unless the operator set another bound; slow: later than that; down: an error or no answer, confirmed by further attempts; unknown: not yet checked. Where more than one region checks, the service is down when the quorum of them has confirmed it; `regions` and `scope` say from where it fails.',
    answer: StatusSchema,
    handle: (request) =>
      andThen(finder.ofPath(request), (service) => {
        const { body, etag } = services.status(service);
        return jsonText(body, etag);
      }),
  });
}

export type ServiceJson = ReturnType<typeof createServiceJson>;

export interface ServiceMoment {
  readonly current: CurrentStatus;
  readonly stale: boolean;
}

interface Kept extends ServiceMoment {
  readonly service: Service;
  readonly because: Service | null;
  readonly item: string;
  status: { readonly body: string; readonly etag: string } | null;
  /** The vendor status in `status`. */
  vendor: ServiceVendorStatus | null;
}

/** Maximum number of services whose JSON is cached, about 1 KiB each; when there are more, the oldest is dropped. */
const MAX_CACHED_SERVICES = 50_000;

/** Creates an empty cache over the status store. */
export function createServiceJson(sources: SiteSources) {
  const { status, intervalMs, now, listenedAt, vendorOf } = sources;
  const kept = new BoundedMap<number, Kept>(MAX_CACHED_SERVICES);
  /** The status that is kept, if the store has no other one: its head says so, and costs less to read. */
  const unchangedOf = (known: Kept | undefined): CurrentStatus | null => {
    if (known === undefined || known.current.regions !== undefined) return null;
    const { current } = known;
    const head = status.headOf(current.serviceId);
    return head?.seq === current.seq && head.observedAt === current.observedAt ? current : null;
  };
  const find = (service: Service): Kept => {
    const known = kept.get(service.id);
    const current = unchangedOf(known) ?? status.get(service.id) ?? unknownStatus(service.id);
    const stale = isStale(current, intervalOf(service, intervalMs), now(), listenedAt);
    const because = causeOfDown(sources, service, current);
    if (
      known !== undefined &&
      isSameObservation(known.current, current) &&
      known.service === service &&
      known.stale === stale &&
      known.because === because
    )
      return known;
    const item = JSON.stringify(viewService(service, current, stale, because));
    const fresh: Kept = { service, current, stale, because, item, status: null, vendor: null };
    kept.set(service.id, fresh);
    return fresh;
  };
  return {
    /** The present status of a service, and whether it is stale: what {@link viewService} needs beside the service. */
    momentOf(service: Service): ServiceMoment {
      const { current, stale } = find(service);
      return { current, stale };
    },
    listItem: (service: Service): string => find(service).item,
    /** The JSON of the single status with its latest check, and its entity tag. */
    status(service: Service): { readonly body: string; readonly etag: string } {
      const entry = find(service);
      const vendor = vendorOf(service);
      if (entry.status === null || !isSameVendorStatus(entry.vendor, vendor)) {
        const rest = JSON.stringify({
          latest_check: viewLatestCheck(entry.current.latest, entry.service.check),
          vendor: viewVendorStatus(vendor),
          ...viewRegions(entry.current),
        });
        // A string: Node.js sends it with the headers by one plain write, and bytes by a vectored one, which costs more.
        const body = `${entry.item.slice(0, -1)},${rest.slice(1)}`;
        entry.vendor = vendor;
        entry.status = { body, etag: entityTag(body) };
      }
      return entry.status;
    },
  };
}

function isSameVendorStatus(a: ServiceVendorStatus | null, b: ServiceVendorStatus | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.readAt === b.readAt &&
    a.status === b.status &&
    a.incidentId === b.incidentId &&
    a.since === b.since &&
    a.stale === b.stale
  );
}
