/** The orders of the list of services: keys, sorted lists, and places in them. */

import type { Service } from '../domain/service.ts';
import { responseTimeOf } from '../domain/status/agree.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import type { ServiceStatus } from '../domain/status.ts';

type SortKey = string | number;

/** The place of a service in an order: services with equal keys follow each other by slug. */
export interface ServicePlace {
  readonly key: SortKey;
  readonly slug: string;
}

interface KeySources {
  /** Null: never checked. */
  readonly current: (service: Service) => CurrentStatus | null;
  /** The name with its case folded. */
  readonly foldedName: (service: Service) => string;
}

interface Order {
  /** A key without a value is greater than all others, and last both ways. */
  readonly keyOf: (service: Service, sources: KeySources) => SortKey;
  /** True if keys are texts; false: numbers, smaller ones first. */
  readonly isText: boolean;
  /** True if greater texts come first. */
  readonly isReversed: boolean;
}

/** The key of a service without a number. With up to four million services, it fits into a double with an index. */
const NO_NUMBER = 2 ** 31;

const byText = (keyOf: (service: Service, sources: KeySources) => string, isReversed = false): Order => ({
  keyOf,
  isText: true,
  isReversed,
});
const byNumber = (keyOf: (current: CurrentStatus | null) => number | null, sign: 1 | -1 = 1): Order => ({
  keyOf(service, { current }) {
    const number = keyOf(current(service));
    return number === null ? NO_NUMBER : sign * number;
  },
  isText: false,
  isReversed: false,
});

const slugOf = ({ slug }: Service) => slug;
const nameOf = (service: Service, { foldedName }: KeySources) => foldedName(service);
/** The worst first, and services that were never checked last. */
const STATUS_RANKS: Readonly<Record<ServiceStatus, number | null>> = {
  down: 0,
  slow: 1,
  up: 2,
  unknown: null,
};
const rankOf = (current: CurrentStatus | null) => STATUS_RANKS[current?.status ?? 'unknown'];
const timeOf = (current: CurrentStatus | null) => {
  if (current === null) return null;
  // Without regions, which is the usual case, nothing needs to be computed.
  return current.regions === undefined ? (current.latest?.responseTimeMs ?? null) : responseTimeOf(current);
};

const ORDERS = {
  slug: byText(slugOf),
  '-slug': byText(slugOf, true),
  name: byText(nameOf),
  '-name': byText(nameOf, true),
  status: byNumber(rankOf),
  '-status': byNumber(rankOf, -1),
  response_time: byNumber(timeOf),
  '-response_time': byNumber(timeOf, -1),
} as const satisfies Readonly<Record<string, Order>>;

/** The name of an order. A minus reverses it. */
export type ServiceSort = keyof typeof ORDERS;

/** The names of all orders. */
export const SERVICE_SORTS: readonly ServiceSort[] = [
  'slug',
  '-slug',
  'name',
  '-name',
  'status',
  '-status',
  'response_time',
  '-response_time',
];

/** The types of key and slug in the places of an order. */
export function placeTypes(sort: ServiceSort): readonly ['string' | 'number', 'string'] {
  return [ORDERS[sort].isText ? 'string' : 'number', 'string'];
}

/** Returns true if an order changes with checks, and not only with services. */
export function followsChecks(sort: ServiceSort): boolean {
  return !ORDERS[sort].isText;
}

/** Services in an order, with the keys that they were sorted by. */
export interface SortedServices {
  readonly services: readonly Service[];
  /** Null: the slugs. */
  readonly keys: ArrayLike<SortKey> | null;
}

export function sortServices(
  services: readonly Service[],
  sort: ServiceSort,
  sources: KeySources,
): SortedServices {
  if (sort === 'slug') return { services, keys: null };
  if (sort === '-slug') return { services: services.toReversed(), keys: null };
  const { keyOf, isText } = ORDERS[sort];
  if (!isText) return sortByNumber(services, (service) => Number(keyOf(service, sources)));
  const keys = services.map((service) => keyOf(service, sources));
  const compare = comparator(sort);
  // The sort is stable, so equal keys stay in the order of slugs.
  const order = keys.map((_, index) => index).sort((a, b) => compare(keys[a] ?? '', keys[b] ?? ''));
  return {
    services: order.map((index) => services[index] as Service),
    keys: order.map((index) => keys[index] as SortKey),
  };
}

/**
 * Sorts by whole numbers, those with equal ones in their order. Numbers are packed with the indexes of their services, since a sort
 * without a comparator is native, and nothing is allocated for a service: there may be a million of them.
 */
function sortByNumber(services: readonly Service[], numberOf: (service: Service) => number): SortedServices {
  const count = services.length;
  const packed = new Float64Array(count);
  for (let index = 0; index < count; index++)
    packed[index] = numberOf(services[index] as Service) * count + index;
  packed.sort();
  const sorted = new Array<Service>(count);
  for (let place = 0; place < count; place++) {
    const value = packed[place] as number;
    const key = Math.floor(value / count);
    sorted[place] = services[value - key * count] as Service;
    packed[place] = key;
  }
  return { services: sorted, keys: packed };
}

export function placeAt({ services, keys }: SortedServices, index: number): ServicePlace | null {
  const service = services[index];
  return service === undefined ? null : { key: keys?.[index] ?? service.slug, slug: service.slug };
}

/** The number of services before a place in a list of this order; with `isAfter`, a service at the place counts too. */
export function countBefore(
  list: SortedServices,
  sort: ServiceSort,
  place: ServicePlace,
  isAfter: boolean,
): number {
  const compareKeys = comparator(sort);
  let low = 0;
  let high = list.services.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { key, slug } = placeAt(list, middle) ?? place;
    const order = compareKeys(key, place.key) || compareTexts(slug, place.slug);
    if (order < 0 || (isAfter && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function comparator(sort: ServiceSort): (a: SortKey, b: SortKey) => number {
  const { isText, isReversed } = ORDERS[sort];
  if (!isText) return (a, b) => Number(a) - Number(b);
  return isReversed
    ? (a, b) => compareTexts(String(b), String(a))
    : (a, b) => compareTexts(String(a), String(b));
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
