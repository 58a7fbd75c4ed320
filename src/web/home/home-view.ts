/** The services of the home page: counts by status, services that are down or slow, and all services by category. */
import { getOrInsert } from '../../async/bounded-map.ts';
import { CATEGORIES, type Category } from '../../domain/category.ts';
import { fullName, type Service } from '../../domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../../domain/status/current.ts';
import type { ServiceStatus } from '../../domain/status.ts';
import type { StatusStore } from '../../store/ports/status.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import { findSimilar } from './similar-names.ts';

/** A service of the home page. */
export interface HomeEntry {
  readonly service: Service;
  /** The displayed name; for a service of an owner it includes the domain. */
  readonly name: string;
  /** The name of its page. */
  readonly page: string;
  readonly status: ServiceStatus;
}

/** A service that is down or slow. */
export interface TroubledEntry extends HomeEntry {
  readonly current: CurrentStatus;
}

/** A service in the filter. */
interface Found {
  readonly service: Service;
  readonly word: ServiceStatus;
  readonly isTroubled: boolean;
}

/** A filter of services. */
export interface HomeFilter {
  /** Part of a name or domain, in any case; empty: any. If it is in none, services with a similar name match. */
  readonly text: string;
  /** Empty: any. */
  readonly category: Category | '';
  /** `troubled`: down or slow, and not paused. Empty: any. */
  readonly status: ServiceStatus | 'troubled' | '';
}

/** The services of the home page. */
export type HomeView = ReturnType<typeof readHomeView>;

/** Maximum number of services with a similar name. */
const MAX_SIMILAR = 8;

/** Maximum number of matching services of which all are listed. */
const MAX_WHOLE_LIST = 5_000;
/** Maximum number of services of a category in a longer list, the first ones by slug. */
const MAX_OF_CATEGORY = 200;

/** The filter that matches all services. */
export const NO_FILTER: HomeFilter = { text: '', category: '', status: '' };

/**
 * Reads the services of the home page; those of unverified domains are left out (decisions, Ownership). `maxWholeList`: up to
 * so many services that match, all of them are listed.
 */
export function readHomeView(
  directory: Pick<ShownDirectory, 'all' | 'pageName'>,
  status: Pick<StatusStore, 'get' | 'headOf'>,
  filter: HomeFilter,
  maxWholeList = MAX_WHOLE_LIST,
) {
  const text = filter.text.trim().toLowerCase();
  const counts: Record<ServiceStatus, number> = { up: 0, slow: 0, down: 0, unknown: 0 };
  /** Matching services that may be listed; all of a million would be a burden for the garbage collector. */
  const found: Found[] = [];
  let matching = 0;
  const countOf = new Map<Category, number>();
  /** Services in the filter that do not contain the text. */
  const others: Found[] = [];
  const troubled: TroubledEntry[] = [];
  let watched = 0;
  let checked = 0;
  let operational = 0;
  for (const service of directory.all()) {
    if (!service.verified) continue;
    const word = status.headOf(service.id)?.status ?? 'unknown';
    counts[word] += 1;
    if (!service.paused) {
      watched += 1;
      if (word !== 'unknown') checked += 1;
      if (word === 'up') operational += 1;
    }
    if (filter.category !== '' && service.category !== filter.category) continue;
    // The status of a paused service is not current (as on status pages).
    const isTroubled = !service.paused && (word === 'down' || word === 'slow');
    if (filter.status === 'troubled' ? !isTroubled : filter.status !== '' && word !== filter.status) continue;
    if (text !== '' && !`${service.name}\n${service.domain}`.toLowerCase().includes(text)) {
      others.push({ service, word, isTroubled });
      continue;
    }
    matching += 1;
    const ofCategory = countIn(countOf, service.category);
    if (isTroubled || ofCategory <= MAX_OF_CATEGORY || matching <= maxWholeList)
      found.push({ service, word, isTroubled });
  }
  const similar =
    found.length > 0 || text === '' ? [] : findSimilar(others, ({ service }) => service, text, MAX_SIMILAR);
  for (const { service } of similar) countIn(countOf, service.category);
  const isLong = matching > maxWholeList;
  const byCategory = new Map<Category, HomeEntry[]>();
  for (const { service, word, isTroubled } of found.length > 0 ? found : similar) {
    const entries = getOrInsert(byCategory, service.category, () => []);
    if (isLong && entries.length >= MAX_OF_CATEGORY && !isTroubled) continue;
    const entry = { service, name: fullName(service), page: directory.pageName(service), status: word };
    if (!isLong || entries.length < MAX_OF_CATEGORY) entries.push(entry);
    if (isTroubled) troubled.push({ ...entry, current: status.get(service.id) ?? unknownStatus(service.id) });
  }
  return {
    /** Number of services by status, matching or not. */
    counts,
    /**
     * Matching services that are not paused: those that are down, then those that are slow, the newest change first.
     */
    troubled: troubled.sort(worstFirst),
    /**
     * Matching services by category, with their number, of which very many are not all in the list; no category is empty.
     */
    groups: CATEGORIES.flatMap((category) => {
      const entries = byCategory.get(category);
      return entries === undefined
        ? []
        : [{ category, count: countOf.get(category) ?? 0, entries: entries.sort(byName) }];
    }),
    /** Number of services that are not paused, matching or not, and how many of these have been checked. */
    watched,
    checked,
    /** Number of services that are not paused and up, matching or not. */
    operational,
    /** Number of services that contain the text, or have a similar name. */
    total: matching + similar.length,
    /** Whether the matching services do not contain the text, but have a similar name. */
    isSimilar: similar.length > 0,
  };
}

/** Counts a service of a category; the number of those that were counted. */
function countIn(countOf: Map<Category, number>, category: Category): number {
  const count = (countOf.get(category) ?? 0) + 1;
  countOf.set(category, count);
  return count;
}

function worstFirst(a: TroubledEntry, b: TroubledEntry): number {
  if (a.status !== b.status) return a.status === 'down' ? -1 : 1;
  return (b.current.since ?? 0) - (a.current.since ?? 0);
}

const NAMES = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

function byName(a: HomeEntry, b: HomeEntry): number {
  return NAMES.compare(a.service.name, b.service.name);
}
