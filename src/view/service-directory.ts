/** All services in memory, sorted and indexed for reads; it follows the registry's feed of changes. */
import { getOrInsert } from '../async/bounded-map.ts';
import { IdMap } from '../async/id-map.ts';
import { inParts, runAtOnce, runInParts, sortInParts } from '../async/in-parts.ts';
import { NameIndex } from '../async/name-index.ts';
import { type Category, dashDomain, isPublic, type Service } from '../domain/service.ts';
import { HttpError } from '../http/problem.ts';
import type { ServiceChange } from '../store/ports/services.ts';
import { createShownServices, inOrder } from './shown-services.ts';

/**
 * The list of all services, whoever may see them. Reads cost the same with ten services as with a million. What is shown to
 * others is read from {@link ServiceDirectory.shown}.
 */
export type ServiceDirectory = ReturnType<typeof createServiceDirectory>;

/** The services that everyone may see; lists have those alone that are public. */
export type ShownDirectory = ServiceDirectory['shown'];

/** Creates an empty directory. */
export function createServiceDirectory() {
  let index = createIndex();
  let version = 0;
  let withdrawals = 0;

  const takeNames = (service: Service) => {
    const { byId, bySlug, byFormerSlug, byAddressHash, byDashed, byCatalogueDomain } = index;
    const { id } = service;
    const drop = (names: Map<string, Service>, name: string) => {
      if (names.get(name)?.id === id) names.delete(name);
    };
    bySlug.delete(service.slug, id);
    for (const slug of service.formerSlugs ?? []) drop(byFormerSlug, slug);
    if (service.check.addressHash !== undefined) drop(byAddressHash, service.check.addressHash);
    if (service.origin === 'catalogue') {
      byDashed.delete(dashDomain(service.domain), id);
      byCatalogueDomain.delete(service.domain, id);
    }
    byId.delete(id);
  };
  const listsWith = (service: Service) =>
    isPublic(service)
      ? [index.sorted, listOf(index, service.category)]
      : [index.hidden, hiddenOf(index, service)];
  const findBySlug = (slug: string): Service | null => {
    const wanted = slug.toLowerCase();
    const { byId, bySlug, byFormerSlug } = index;
    // Slugs are in lower case, so that a name which is not found in it is not found otherwise.
    const id = bySlug.get(wanted);
    return (id === undefined ? byFormerSlug.get(wanted) : byId.get(id)) ?? null;
  };
  const findByPageName = (name: string): Service | null => {
    const id = index.byDashed.get(name.toLowerCase());
    return (id === undefined ? undefined : index.byId.get(id)) ?? findBySlug(name);
  };
  const replace = (loaded: ServiceIndex) => {
    index = loaded;
    version++;
    withdrawals++;
  };
  const byId = (serviceId: number): Service | null => index.byId.get(serviceId) ?? null;
  /** The service with the heartbeat address whose secret has this hash; null: there is none. */
  const byAddressHash = (hash: string): Service | null => index.byAddressHash.get(hash) ?? null;
  /** The catalogue service whose domain equals this domain or is a parent of it; null: there is none. */
  const byCatalogueDomain = (domain: string): Service | null => findByDomain(index, domain);
  /** The name by which `byPageName` finds this service. */
  const pageName = (service: Service): string => {
    const dashed = dashDomain(service.domain);
    return findByPageName(dashed)?.id === service.id ? dashed : service.slug;
  };

  const { all, to } = createShownServices({
    ...{ byId, bySlug: findBySlug, byPageName: findByPageName, pageName },
    lists: () => index,
    version: () => version,
    withdrawals: () => withdrawals,
  });
  const shown = Object.assign(to(new Set()), {
    ...{ byAddressHash, byCatalogueDomain },
    /** Returns the services that members of these accounts see. */
    to,
    /** All services, for what an account does with its own. */
    whole: { byId, bySlug: findBySlug, all },
  });

  return {
    load: (services: readonly Service[]): void => replace(runAtOnce(indexServices(services))),
    /**
     * The same over several turns of the event loop. Until it resolves, reads find the former list, and changes that are
     * applied are lost: the caller applies those since it read the services.
     */
    loadInParts: async (services: readonly Service[]): Promise<void> =>
      replace(await runInParts(indexServices(services))),
    /** Applies a change; an older revision than the known one is ignored. */
    apply({ serviceId, service }: ServiceChange): void {
      const known = index.byId.get(serviceId);
      if (known !== undefined) {
        if (service !== null && service.revision < known.revision) return;
        takeNames(known);
      }
      version++;
      if (known !== undefined && isWithdrawn(known, service)) withdrawals++;
      // Taking out of a list of a million and putting in again moves megabytes, and an edited catalogue has many changes.
      const staysInPlace =
        known?.slug === service?.slug &&
        known?.category === service?.category &&
        known?.visibility === service?.visibility &&
        known?.accountId === service?.accountId;
      if (known !== undefined && !staysInPlace) for (const list of listsWith(known)) removeFrom(list, known);
      if (service === null) return;
      addNames(index, service);
      for (const list of listsWith(service)) {
        if (staysInPlace) replaceIn(list, service);
        else insertInto(list, service);
      }
    },
    byId,
    /** The service with a slug or former slug, in any case; null: there is none. */
    bySlug: findBySlug,
    byAddressHash,
    /**
     * The service with a name on badges and pages: the catalogue service with that dashed domain, then the catalogue
     * service with that slug, then the owner's service with that slug (decisions, Badge). Null: there is none.
     */
    byPageName: findByPageName,
    byCatalogueDomain,
    pageName,
    /** Every service in the order of slugs. */
    all,
    ofCategory: shown.ofCategory,
    /** Those that are not public. */
    hidden: (): readonly Service[] => index.hidden,
    /** Grows with every change of the list. */
    get version() {
      return version;
    },
    shown,
  };
}

/** The services in their order and by their names. */
interface ServiceIndex {
  readonly byId: IdMap<Service>;
  readonly bySlug: NameIndex;
  /** Services of the catalogue only, as in the index by their domains. */
  readonly byDashed: NameIndex;
  readonly byCatalogueDomain: NameIndex;
  readonly byFormerSlug: Map<string, Service>;
  readonly byAddressHash: Map<string, Service>;
  /** Public ones, as in `sorted`. */
  readonly byCategory: Map<Category, Service[]>;
  readonly sorted: Service[];
  /** Those that are not public. */
  readonly hidden: Service[];
  /** The same by account; 0: of none. */
  readonly hiddenOf: Map<number, Service[]>;
}

function createIndex(sorted: Service[] = [], hidden: Service[] = []): ServiceIndex {
  const byId = new IdMap<Service>();
  return {
    byId,
    bySlug: new NameIndex((id) => byId.get(id)?.slug),
    byDashed: new NameIndex((id) => dashedOf(byId.get(id))),
    byCatalogueDomain: new NameIndex((id) => byId.get(id)?.domain),
    byFormerSlug: new Map(),
    byAddressHash: new Map(),
    byCategory: new Map(),
    sorted,
    hidden,
    hiddenOf: new Map(),
  };
}

function* indexServices(services: readonly Service[]): Generator<void, ServiceIndex> {
  const sorted = yield* sortInParts(services, inOrder);
  const hidden = sorted.filter((service) => !isPublic(service));
  const index = createIndex(hidden.length === 0 ? sorted : sorted.filter(isPublic), hidden);
  yield* inParts(sorted, (service) => {
    addNames(index, service);
    (isPublic(service) ? listOf(index, service.category) : hiddenOf(index, service)).push(service);
  });
  return index;
}

function dashedOf(service: Service | undefined): string | undefined {
  return service === undefined ? undefined : dashDomain(service.domain);
}

function addNames(index: ServiceIndex, service: Service): void {
  index.byId.set(service.id, service);
  index.bySlug.set(service.slug, service.id);
  for (const slug of service.formerSlugs ?? []) index.byFormerSlug.set(slug, service);
  if (service.check.addressHash !== undefined) index.byAddressHash.set(service.check.addressHash, service);
  if (service.origin !== 'catalogue') return;
  index.byDashed.set(dashDomain(service.domain), service.id);
  index.byCatalogueDomain.set(service.domain, service.id);
}

function listOf({ byCategory }: ServiceIndex, category: Category): Service[] {
  return getOrInsert(byCategory, category, () => []);
}

function hiddenOf({ hiddenOf: lists }: ServiceIndex, { accountId }: Service): Service[] {
  return getOrInsert(lists, accountId ?? 0, () => []);
}

/** Returns true if somebody may see a service no longer after a change. */
function isWithdrawn(known: Service, service: Service | null): boolean {
  if (service === null) return true;
  return isPublic(known) ? !isPublic(service) : known.accountId !== service.accountId;
}

function findByDomain({ byCatalogueDomain, byId }: ServiceIndex, domain: string): Service | null {
  for (let at = 0; at !== -1; ) {
    const id = byCatalogueDomain.get(domain.slice(at));
    if (id !== undefined) return byId.get(id) ?? null;
    const dot = domain.indexOf('.', at);
    at = dot === -1 ? -1 : dot + 1;
  }
  return null;
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

/** Puts a service into the place of its former self. */
function replaceIn(list: Service[], service: Service): void {
  const place = placeOf(list, service.slug);
  if (list[place]?.id === service.id) list[place] = service;
  else insertInto(list, service);
}

function removeFrom(list: Service[], service: Service): void {
  const place = placeOf(list, service.slug);
  if (list[place]?.id === service.id) list.splice(place, 1);
}

export function serviceNotFound(name: string): HttpError {
  return new HttpError('service_not_found', `There is no service "${name.slice(0, 100)}".`);
}
