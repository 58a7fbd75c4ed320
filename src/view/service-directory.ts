/** All services in memory, sorted and indexed for reads; it follows the registry's feed of changes. */
import { getOrInsert } from '../async/bounded-map.ts';
import type { Category } from '../domain/category.ts';
import { dashDomain, type Service } from '../domain/service.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpRequest } from '../http/route.ts';
import type { ServiceChange } from '../store/ports/services.ts';

/** A page of services, and the total number of services. */
export interface ServicePage {
  readonly services: readonly Service[];
  readonly total: number;
}

/** The list of services. Reads cost the same with ten services as with a million. */
export type ServiceDirectory = ReturnType<typeof createServiceDirectory>;

/** Creates an empty directory. */
export function createServiceDirectory() {
  const byId = new Map<number, Service>();
  const bySlug = new Map<string, Service>();
  const byDashed = new Map<string, Service>();
  const byFormerSlug = new Map<string, Service>();
  const byCatalogueDomain = new Map<string, Service>();
  const byAddressHash = new Map<string, Service>();
  const byCategory = new Map<Category, Service[]>();
  let sorted: Service[] = [];
  let version = 0;

  const put = (service: Service) => {
    byId.set(service.id, service);
    bySlug.set(service.slug, service);
    for (const slug of service.formerSlugs ?? []) byFormerSlug.set(slug, service);
    if (service.check.addressHash !== undefined) byAddressHash.set(service.check.addressHash, service);
    if (service.origin !== 'catalogue') return;
    byDashed.set(dashDomain(service.domain), service);
    byCatalogueDomain.set(service.domain, service);
  };
  const take = (service: Service) => {
    byId.delete(service.id);
    const drop = (names: Map<string, Service>, name: string) => {
      if (names.get(name)?.id === service.id) names.delete(name);
    };
    drop(bySlug, service.slug);
    for (const slug of service.formerSlugs ?? []) drop(byFormerSlug, slug);
    if (service.check.addressHash !== undefined) drop(byAddressHash, service.check.addressHash);
    drop(byDashed, dashDomain(service.domain));
    drop(byCatalogueDomain, service.domain);
    removeFrom(sorted, service);
    removeFrom(byCategory.get(service.category) ?? [], service);
  };
  const categoryList = (category: Category) => getOrInsert(byCategory, category, () => []);
  const findBySlug = (slug: string): Service | null => {
    const wanted = slug.toLowerCase();
    return bySlug.get(slug) ?? bySlug.get(wanted) ?? byFormerSlug.get(wanted) ?? null;
  };
  const findByPageName = (name: string): Service | null =>
    byDashed.get(name.toLowerCase()) ?? findBySlug(name);

  return {
    /** Replaces the whole list. */
    load(services: readonly Service[]): void {
      version++;
      for (const map of [byId, bySlug, byDashed, byFormerSlug, byCatalogueDomain, byAddressHash, byCategory])
        map.clear();
      sorted = [...services].sort(inOrder);
      for (const service of sorted) {
        put(service);
        categoryList(service.category).push(service);
      }
    },
    /** Applies a change; an older revision than the known one is ignored. */
    apply({ serviceId, service }: ServiceChange): void {
      const known = byId.get(serviceId);
      if (known !== undefined) {
        if (service !== null && service.revision < known.revision) return;
        take(known);
      }
      version++;
      if (service === null) return;
      put(service);
      insertInto(sorted, service);
      insertInto(categoryList(service.category), service);
    },
    byId: (serviceId: number): Service | null => byId.get(serviceId) ?? null,
    /** The service with a slug or former slug, in any case; null: there is none. */
    bySlug: findBySlug,
    /** The service with the heartbeat address whose secret has this hash; null: there is none. */
    byAddressHash: (hash: string): Service | null => byAddressHash.get(hash) ?? null,
    /**
     * The service with a name on badges and pages: the catalogue service with that dashed domain, then the catalogue
     * service with that slug, then the owner's service with that slug (decisions, Badge). Null: there is none.
     */
    byPageName: findByPageName,
    /** The catalogue service whose domain equals this domain or is a parent of it; null: there is none. */
    byCatalogueDomain(domain: string): Service | null {
      for (let at = 0; at !== -1; ) {
        const service = byCatalogueDomain.get(domain.slice(at));
        if (service !== undefined) return service;
        const dot = domain.indexOf('.', at);
        at = dot === -1 ? -1 : dot + 1;
      }
      return null;
    },
    /** The name by which `byPageName` finds this service. */
    pageName(service: Service): string {
      const dashed = dashDomain(service.domain);
      return findByPageName(dashed)?.id === service.id ? dashed : service.slug;
    },
    /** A page in the order of slugs, and the total number of matching services. */
    page(category: Category | null, offset: number, limit: number): ServicePage {
      const list = category === null ? sorted : (byCategory.get(category) ?? []);
      return { services: list.slice(offset, offset + limit), total: list.length };
    },
    /** Every service in the order of slugs. */
    all: (): readonly Service[] => sorted,
    /** Every service of a category in the order of slugs. */
    ofCategory: (category: Category): readonly Service[] => byCategory.get(category) ?? [],
    /** Grows with every change of the list. */
    get version() {
      return version;
    },
  };
}

/** Compares by slug in code unit order, the order of the API. */
function inOrder(a: Service, b: Service): number {
  return a.slug < b.slug ? -1 : a.slug > b.slug ? 1 : 0;
}

/** The index of a slug in a sorted list, or the index at which to insert it. */
function placeOf(list: readonly Service[], slug: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.slug ?? '') < slug) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insertInto(list: Service[], service: Service): void {
  list.splice(placeOf(list, service.slug), 0, service);
}

function removeFrom(list: Service[], service: Service): void {
  const place = placeOf(list, service.slug);
  if (list[place]?.id === service.id) list.splice(place, 1);
}

/** Finds the service of a path. Throws `service_not_found`. */
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
