/** The list of services filtered by category, status and text, and sorted (contract 4.2; decisions, Services). */
import { domainToUnicode } from 'node:url';
import { BoundedMap } from '../async/bounded-map.ts';
import type { Category, Service } from '../domain/service.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../domain/status.ts';
import type { StatusReads } from '../store/ports/status.ts';
import type { ShownDirectory } from './service-directory.ts';
import {
  countBefore,
  followsChecks,
  placeAt,
  type ServicePlace,
  type ServiceSort,
  type SortedServices,
  sortServices,
} from './service-order.ts';
import { mergeInOrder, type ShownServices } from './shown-services.ts';

/** Services of a chunk. */
const CHUNK = 4_096;

/** Creates an empty map. Services are whole numbers from 0. */
export function createStatusWords() {
  /** By the number of the chunk. A byte is 0 without a status, otherwise the index of the status and one. */
  const chunks = new Map<number, Uint8Array>();
  return {
    /** Undefined: the service has none. */
    get: (serviceId: number): ServiceStatus | undefined =>
      SERVICE_STATUSES[(chunks.get(Math.floor(serviceId / CHUNK))?.[serviceId % CHUNK] ?? 0) - 1],
    set(serviceId: number, status: ServiceStatus): void {
      const number = Math.floor(serviceId / CHUNK);
      let chunk = chunks.get(number);
      if (chunk === undefined) {
        chunk = new Uint8Array(CHUNK);
        chunks.set(number, chunk);
      }
      chunk[serviceId % CHUNK] = SERVICE_STATUSES.indexOf(status) + 1;
    },
  };
}

/** Conditions for services; null: any value. */
interface ServiceFilter {
  readonly category: Category | null;
  readonly status: ServiceStatus | null;
  /** A part of the name, domain or slug in any case, without surrounding spaces; empty: all services match. */
  readonly text: string | null;
}

export interface ServiceWindow {
  readonly sort: ServiceSort;
  readonly limit: number;
  /** The number of services before the page, or the place after which it begins or before which it ends. */
  readonly from: number | { readonly place: ServicePlace; readonly isBefore: boolean };
}

interface SortedPage {
  readonly services: readonly Service[];
  /** The number of services on all pages. */
  readonly total: number;
  /** The number of services before the page. */
  readonly offset: number;
  /** The place of the first service if there is a page before this one. */
  readonly first: ServicePlace | null;
  /** The place of the last service if there is a page after this one. */
  readonly last: ServicePlace | null;
}

export type ServiceSearch = ReturnType<typeof createServiceSearch>;

/** Cached matches of a filter in an order. */
interface FoundList extends SortedServices {
  readonly directoryVersion: number;
  /** Version of the statuses that were searched; null: neither filter nor order read them. */
  readonly statusVersion: number | null;
  /** Monotonic milliseconds. */
  readonly foundMs: number;
}

/** Maximum number of filters with cached matches, so that clients that poll with the same filter share a search. */
const MAX_LISTS = 16;
/** The time for which matches by status are cached, milliseconds: a copy of the statuses may change without a notification. */
const MAX_LIST_AGE_MS = 1_000;

/** Creates a search over the directory. A search finds every write that was answered before it. */
export function createServiceSearch(sources: {
  readonly directory: ShownDirectory;
  readonly status: StatusReads;
  /** Milliseconds of the monotonic clock. */
  readonly monotonic: () => number;
}) {
  const { directory, status, monotonic } = sources;
  const lists = new BoundedMap<string, FoundList>(MAX_LISTS);
  /** Those of readers who see more than everyone. */
  const ownLists = new BoundedMap<string, FoundList>(MAX_LISTS);
  const words = createStatusWords();
  /** The services at the time of the newest search by text, and their texts; both in the order of slugs. */
  let known: readonly Service[] = [];
  let texts: readonly string[] = [];
  let textsVersion = -1;
  let statusVersion = 0;
  status.watch(({ serviceId, status: word }) => {
    if (words.get(serviceId) === word) return;
    words.set(serviceId, word);
    statusVersion++;
  });

  const statusOf = ({ id }: Service): ServiceStatus => status.headOf(id)?.status ?? 'unknown';

  const readTexts = (): readonly string[] => {
    if (textsVersion === directory.version) return texts;
    // Both lists are in the order of slugs, so that one walk finds the texts of services that are as they were.
    let at = 0;
    const present = [...directory.all()];
    const next = present.map((service) => {
      while ((known[at]?.slug ?? service.slug) < service.slug) at++;
      return known[at] === service ? (texts[at] ?? searchTextOf(service)) : searchTextOf(service);
    });
    known = present;
    texts = next;
    textsVersion = directory.version;
    return texts;
  };

  const search = (
    { category, status: wanted, text }: ServiceFilter,
    shown: ShownServices,
  ): readonly Service[] => {
    let found: readonly Service[];
    if (text === null) {
      found = category === null ? shown.all() : shown.ofCategory(category);
    } else if (text.includes('\n')) {
      // A line break separates the searched texts of a service, so no text contains one.
      found = [];
    } else {
      const searched = readTexts();
      const isMatch = ({ category: its }: Service, written: string | undefined) =>
        written?.includes(text) && (category === null || its === category);
      const everyones = directory.all().filter((service, place) => isMatch(service, searched[place]));
      const own = shown.hidden().filter((service) => isMatch(service, searchTextOf(service)));
      found = mergeInOrder(everyones, own);
    }
    return wanted === null ? found : found.filter((service) => statusOf(service) === wanted);
  };

  const keySources = {
    current: ({ id }: Service) => status.get(id),
    foldedName: ({ name }: Service) => foldText(name),
  };

  const find = (filter: ServiceFilter, sort: ServiceSort, shown: ShownServices, anew: boolean): FoundList => {
    const kept = shown.accounts.size === 0 ? lists : ownLists;
    const key = JSON.stringify([filter.category, filter.status, filter.text, sort, shown.reader]);
    const known = kept.get(key);
    const list = known !== undefined && !anew && isCurrent(known) ? known : searchAnew(filter, sort, shown);
    kept.set(key, list);
    return list;
  };

  const searchAnew = (filter: ServiceFilter, sort: ServiceSort, shown: ShownServices): FoundList => ({
    ...sortServices(search(filter, shown), sort, keySources),
    directoryVersion: directory.version,
    statusVersion: filter.status === null && !followsChecks(sort) ? null : statusVersion,
    foundMs: monotonic(),
  });

  const isCurrent = (list: FoundList): boolean =>
    list.directoryVersion === directory.version &&
    (list.statusVersion === null ||
      (list.statusVersion === statusVersion && monotonic() - list.foundMs < MAX_LIST_AGE_MS));

  /** A page of the matches for a reader. Its order by status or response time is at most a second old. */
  const list = (
    asked: ServiceFilter,
    window: ServiceWindow,
    shown: ShownServices = directory,
  ): SortedPage => {
    const folded = asked.text === null ? '' : foldText(asked.text).trim();
    const filter = { ...asked, text: folded === '' ? null : folded };
    if (filter.status === null && filter.text === null && window.sort === 'slug')
      return cut({ services: search(filter, shown), keys: null }, window);
    const page = cut(find(filter, window.sort, shown, false), window);
    const isTrue =
      filter.status === null || page.services.every((service) => statusOf(service) === filter.status);
    return isTrue ? page : cut(find(filter, window.sort, shown, true), window);
  };

  return { list };
}

function cut(found: SortedServices, { sort, from, limit }: ServiceWindow): SortedPage {
  const total = found.services.length;
  let start = 0;
  let end = 0;
  if (typeof from === 'number') {
    start = from;
    end = from + limit;
  } else if (from.isBefore) {
    end = countBefore(found, sort, from.place, false);
    start = Math.max(0, end - limit);
  } else {
    start = countBefore(found, sort, from.place, true);
    end = start + limit;
  }
  return {
    services: found.services.slice(start, end),
    total,
    offset: start,
    first: start > 0 ? placeAt(found, start) : null,
    last: end < total ? placeAt(found, end - 1) : null,
  };
}

/** A text that needs no Unicode rules. */
const IS_ASCII = /^[\0-\x7f]*$/;

/**
 * Folds the case of `text` after NFKC normalization: "STRASSE" equals "straße", and a letter with a combining accent
 * equals the composed letter. Accents are kept. Lower, upper and again lower case is Unicode's full case folding,
 * except for the Greek final sigma.
 */
export function foldText(text: string): string {
  if (IS_ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFKC');
}

/**
 * The searched text of a service, folded: name, domain (an internationalized one also in Unicode) and slug, each on its
 * own line, so that no match spans two of them.
 */
function searchTextOf({ name, domain, slug }: Service): string {
  const written = domain.includes('xn--') ? `${domain}\n${domainToUnicode(domain)}` : domain;
  return foldText(`${name}\n${written}\n${slug}`);
}
