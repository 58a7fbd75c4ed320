/** The list of services filtered by category, status and text (contract 4.2; decisions, Services). */
import { domainToUnicode } from 'node:url';
import { BoundedMap } from '../async/bounded-map.ts';
import type { Category } from '../domain/category.ts';
import type { Service } from '../domain/service.ts';
import type { ServiceStatus } from '../domain/status.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { ServiceDirectory, ServicePage } from './service-directory.ts';

/** Conditions for services; null: any value. */
export interface ServiceFilter {
  readonly category: Category | null;
  readonly status: ServiceStatus | null;
  /** A part of the name, domain or slug in any case, without surrounding spaces; empty: all services match. */
  readonly text: string | null;
}

/** Finds services. */
export type ServiceSearch = ReturnType<typeof createServiceSearch>;

/** Cached matches of a filter. */
interface FoundList {
  readonly services: readonly Service[];
  readonly directoryVersion: number;
  /** Version of the statuses that were searched; null: the filter has no status. */
  readonly statusVersion: number | null;
  /** Monotonic milliseconds. */
  readonly foundMs: number;
}

/** Maximum number of filters with cached matches, so that clients that poll with the same filter share a search. */
const MAX_LISTS = 16;
/** How long matches by status are cached, milliseconds: a copy of the statuses may change without a notification. */
const MAX_LIST_AGE_MS = 1_000;

/** Creates a search over the directory. A search finds every write that was answered before it. */
export function createServiceSearch(sources: {
  readonly directory: ServiceDirectory;
  readonly status: Pick<StatusStore, 'get' | 'watch'>;
  /** Milliseconds of the monotonic clock. */
  readonly monotonic: () => number;
}) {
  const { directory, status, monotonic } = sources;
  const lists = new BoundedMap<string, FoundList>(MAX_LISTS);
  const words = new Map<number, ServiceStatus>();
  const textOf = new WeakMap<Service, string>();
  /** The texts of all services in the order of the directory. */
  let texts: readonly string[] = [];
  let textsVersion = -1;
  let statusVersion = 0;
  status.watch(({ serviceId, status: word }) => {
    if (words.get(serviceId) === word) return;
    words.set(serviceId, word);
    statusVersion++;
  });

  const statusOf = ({ id }: Service): ServiceStatus => status.get(id)?.status ?? 'unknown';

  const readTexts = (): readonly string[] => {
    if (textsVersion === directory.version) return texts;
    texts = directory.all().map((service) => {
      const text = textOf.get(service) ?? searchTextOf(service);
      textOf.set(service, text);
      return text;
    });
    textsVersion = directory.version;
    return texts;
  };

  const search = ({ category, status: wanted, text }: ServiceFilter): readonly Service[] => {
    let found: readonly Service[];
    if (text === null) {
      found = category === null ? directory.all() : directory.ofCategory(category);
    } else {
      const known = readTexts();
      const isMatch = ({ category: its }: Service, place: number) =>
        known[place]?.includes(text) && (category === null || its === category);
      // A line break separates the searched texts of a service, so no text contains one.
      found = text.includes('\n') ? [] : directory.all().filter(isMatch);
    }
    return wanted === null ? found : found.filter((service) => statusOf(service) === wanted);
  };

  const find = (filter: ServiceFilter, anew: boolean): FoundList => {
    const key = JSON.stringify([filter.category, filter.status, filter.text]);
    const known = lists.get(key);
    const list = known !== undefined && !anew && isCurrent(known) ? known : searchAnew(filter);
    lists.set(key, list);
    return list;
  };

  const searchAnew = (filter: ServiceFilter): FoundList => ({
    services: search(filter),
    directoryVersion: directory.version,
    statusVersion: filter.status === null ? null : statusVersion,
    foundMs: monotonic(),
  });

  const isCurrent = (list: FoundList): boolean =>
    list.directoryVersion === directory.version &&
    (list.statusVersion === null ||
      (list.statusVersion === statusVersion && monotonic() - list.foundMs < MAX_LIST_AGE_MS));

  return {
    /** A page of the matches in the order of slugs, and the total number of matches. */
    page({ category, status: wanted, text }: ServiceFilter, offset: number, limit: number): ServicePage {
      const folded = text === null ? '' : foldText(text).trim();
      const filter = { category, status: wanted, text: folded === '' ? null : folded };
      if (filter.status === null && filter.text === null) return directory.page(category, offset, limit);
      const pageOf = ({ services }: FoundList): ServicePage => ({
        services: services.slice(offset, offset + limit),
        total: services.length,
      });
      const page = pageOf(find(filter, false));
      const isTrue = wanted === null || page.services.every((service) => statusOf(service) === wanted);
      return isTrue ? page : pageOf(find(filter, true));
    },
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
function searchTextOf({ name, domain, slug }: Pick<Service, 'name' | 'domain' | 'slug'>): string {
  const written = domain.includes('xn--') ? `${domain}\n${domainToUnicode(domain)}` : domain;
  return foldText(`${name}\n${written}\n${slug}`);
}
