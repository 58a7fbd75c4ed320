/** The services that a reader may see, in memory: those that are public, and those of the reader's accounts. */
import { BoundedMap } from '../async/bounded-map.ts';
import { type Category, maySee, type Service } from '../domain/service.ts';

/**
 * The services that a reader may see: everything that is public, and the services of the reader's accounts, whatever their
 * visibility.
 */
export interface ShownServices {
  /** Empty for everyone. */
  readonly accounts: ReadonlySet<number>;
  /** The reader in the keys of caches. Empty for everyone. */
  readonly reader: string;
  byId(serviceId: number): Service | null;
  bySlug(slug: string): Service | null;
  byPageName(name: string): Service | null;
  /** The name by which `byPageName` finds a service. */
  pageName(service: Service): string;
  /** The services of lists, in the order of slugs. */
  all(): readonly Service[];
  /** Those of a category, in the order of slugs. */
  ofCategory(category: Category): readonly Service[];
  /** Those of `all` that not everyone finds in lists, in the order of slugs. */
  hidden(): readonly Service[];
  /** Grows with every change of the list. */
  readonly version: number;
  /** Grows when somebody may see a service no longer: what was made of the lists before may show it. */
  readonly withdrawals: number;
}

const NONE: readonly Service[] = [];
/** Maximum number of cached lists with services that not everyone sees, one for each reader or category of a reader. */
const MAX_MERGED_LISTS = 16;

/** Creates what finds the services of readers, and the list of all services. */
export function createShownServices(
  sources: Pick<ShownServices, 'byId' | 'bySlug' | 'byPageName' | 'pageName'> & {
    readonly lists: () => {
      readonly sorted: readonly Service[];
      readonly byCategory: ReadonlyMap<Category, readonly Service[]>;
      /** Those that are not public. */
      readonly hidden: readonly Service[];
      /** The same by account. */
      readonly hiddenOf: ReadonlyMap<number, readonly Service[]>;
    };
    readonly version: () => number;
    readonly withdrawals: () => number;
  },
) {
  const { byId, bySlug, byPageName, pageName, lists, version, withdrawals } = sources;
  const merged = new BoundedMap<string, { readonly version: number; readonly services: readonly Service[] }>(
    MAX_MERGED_LISTS,
  );
  /** A list with the hidden services that belong to it; `key` names it. */
  const mergeHidden = (key: string, list: readonly Service[], hidden: readonly Service[]) => {
    if (hidden.length === 0) return list;
    const known = merged.get(key);
    if (known?.version === version()) return known.services;
    const services = mergeInOrder(list, hidden);
    merged.set(key, { version: version(), services });
    return services;
  };

  return {
    /** Every service, whoever may see it. */
    all: () => mergeHidden('all', lists().sorted, lists().hidden),
    /** Returns the services that members of these accounts see. */
    to(accounts: ReadonlySet<number>): ShownServices {
      const reader = [...accounts].sort((a, b) => a - b).join();
      const shown = (service: Service | null) =>
        service !== null && maySee(service, accounts) ? service : null;
      const hidden = () =>
        [...accounts].reduce(
          (joined, account) => mergeInOrder(lists().hiddenOf.get(account) ?? NONE, joined),
          NONE,
        );
      return {
        accounts,
        reader,
        byId: (serviceId) => shown(byId(serviceId)),
        bySlug: (slug) => shown(bySlug(slug)),
        byPageName: (name) => shown(byPageName(name)),
        pageName,
        all: () => mergeHidden(reader, lists().sorted, hidden()),
        ofCategory: (category) =>
          mergeHidden(
            `${reader} ${category}`,
            lists().byCategory.get(category) ?? NONE,
            hidden().filter((service) => service.category === category),
          ),
        hidden,
        get version() {
          return version();
        },
        get withdrawals() {
          return withdrawals();
        },
      };
    },
  };
}

/** Joins two lists that are in the order of slugs. */
export function mergeInOrder(list: readonly Service[], others: readonly Service[]): readonly Service[] {
  if (others.length === 0) return list;
  const joined: Service[] = [];
  let next = 0;
  for (const other of others) {
    for (let one = list[next]; one !== undefined && inOrder(one, other) < 0; one = list[++next])
      joined.push(one);
    joined.push(other);
  }
  for (; next < list.length; next++) joined.push(list[next] as Service);
  return joined;
}

/** Compares by slug in code unit order, the order of the API. */
export function inOrder(a: Service, b: Service): number {
  return a.slug < b.slug ? -1 : a.slug > b.slug ? 1 : 0;
}
