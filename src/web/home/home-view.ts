/** The services of the home page: counts by status, services that are down or slow, and all services by category. */
import { getOrInsert } from '../../async/bounded-map.ts';
import { CATEGORIES, type Category, fullName, isOwn, type Service } from '../../domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../../domain/status/current.ts';
import type { ServiceStatus } from '../../domain/status.ts';
import type { StatusReads } from '../../store/ports/status.ts';
import type { ShownServices } from '../../view/shown-services.ts';

export interface HomeEntry {
  readonly service: Service;
  /** The displayed name; for a service of an owner it includes the domain. */
  readonly name: string;
  /** The name of its page. */
  readonly page: string;
  readonly status: ServiceStatus;
  readonly group: Group;
}

/** A service that is down or slow. */
export interface TroubledEntry extends HomeEntry {
  readonly current: CurrentStatus;
}

/** The group under which services are listed: those of the reader together, all others by category. */
export type Group = 'own' | Category;

/** A service in the filter. */
interface Found {
  readonly service: Service;
  readonly group: Group;
  readonly word: ServiceStatus;
  readonly isTroubled: boolean;
}

export interface HomeFilter {
  /** Part of a name or domain, in any case; empty: any. If it is in none, services with a similar name match. */
  readonly text: string;
  /** Empty: any. */
  readonly category: Category | '';
  /** `troubled`: down or slow, and not paused. Empty: any. */
  readonly status: ServiceStatus | 'troubled' | '';
}

export type HomeView = ReturnType<typeof readHomeView>;

/** Maximum number of services with a similar name. */
const MAX_SIMILAR = 8;

/** Maximum number of matching services of which all are listed. */
const MAX_WHOLE_LIST = 5_000;
/** Maximum number of services of a group in a longer list, the first ones by slug. */
const MAX_OF_GROUP = 200;

const GROUPS: readonly Group[] = ['own', ...CATEGORIES];

/** The filter that matches all services. */
export const NO_FILTER: HomeFilter = { text: '', category: '', status: '' };

/**
 * Reads the services of the home page for a reader; those of unverified domains of others are left out (decisions, Ownership).
 * `maxWholeList`: up to so many services that match, all of them are listed.
 */
export function readHomeView(
  shown: ShownServices,
  status: StatusReads,
  filter: HomeFilter,
  maxWholeList = MAX_WHOLE_LIST,
) {
  const text = filter.text.trim().toLowerCase();
  const counts: Record<ServiceStatus, number> = { up: 0, slow: 0, down: 0, unknown: 0 };
  /** Matching services that may be listed; all of a million would be a burden for the garbage collector. */
  const found: Found[] = [];
  let matching = 0;
  const countOf = new Map<Group, number>();
  /** Services in the filter that do not contain the text. */
  const others: Found[] = [];
  const troubled: TroubledEntry[] = [];
  let watched = 0;
  let checked = 0;
  let operational = 0;
  for (const service of shown.all()) {
    const isMine = isOwn(service, shown.accounts);
    if (!service.verified && !isMine) continue;
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
    const group = isMine ? 'own' : service.category;
    if (text !== '' && !`${service.name}\n${service.domain}`.toLowerCase().includes(text)) {
      others.push({ service, group, word, isTroubled });
      continue;
    }
    matching += 1;
    const ofGroup = countIn(countOf, group);
    if (isTroubled || ofGroup <= MAX_OF_GROUP || matching <= maxWholeList)
      found.push({ service, group, word, isTroubled });
  }
  const similar =
    found.length > 0 || text === '' ? [] : findSimilar(others, ({ service }) => service, text, MAX_SIMILAR);
  for (const { group } of similar) countIn(countOf, group);
  const isLong = matching > maxWholeList;
  const entryOf = ({ service, word, group }: Found): HomeEntry => {
    return { service, name: fullName(service), page: shown.pageName(service), status: word, group };
  };
  const listed = found.length > 0 ? found : similar;
  for (const one of listed) {
    if (!one.isTroubled) continue;
    const current = status.get(one.service.id) ?? unknownStatus(one.service.id);
    troubled.push({ ...entryOf(one), current });
  }
  const readGroups = () => {
    const byGroup = new Map<Group, HomeEntry[]>();
    for (const one of listed) {
      const entries = getOrInsert(byGroup, one.group, () => []);
      if (!isLong || entries.length < MAX_OF_GROUP) entries.push(entryOf(one));
    }
    return GROUPS.flatMap((group) => {
      const entries = byGroup.get(group);
      return entries === undefined
        ? []
        : [{ group, count: countOf.get(group) ?? 0, entries: entries.sort(byName) }];
    });
  };
  let groups: ReturnType<typeof readGroups> | null = null;
  return {
    /** The services that the reader sees. */
    shown,
    /** Number of services by status, matching or not. */
    counts,
    /**
     * Matching services that are not paused: those that are down, then those that are slow, the newest change first.
     */
    troubled: troubled.sort(worstFirst),
    /**
     * Matching services: those of the reader, then the others by category, with their number, of which very many are not all in
     * the list; no group is empty.
     */
    get groups() {
      // Updates of open pages have none, and to sort a thousand names takes longer than all else.
      groups ??= readGroups();
      return groups;
    },
    /** Number of services that are not paused, matching or not, and how many of these have been checked. */
    watched,
    checked,
    /** Number of services that are not paused and up, matching or not. */
    operational,
    /** Number of services that contain the text, or have a similar name. */
    total: matching + similar.length,
    /** True if the matching services do not contain the text, but have a similar name. */
    isSimilar: similar.length > 0,
  };
}

/** Counts a service of a group; the number of those that were counted. */
function countIn(countOf: Map<Group, number>, group: Group): number {
  const count = (countOf.get(group) ?? 0) + 1;
  countOf.set(group, count);
  return count;
}

function worstFirst(a: TroubledEntry, b: TroubledEntry): number {
  if (a.status !== b.status) return a.status === 'down' ? -1 : 1;
  return (b.current.since ?? 0) - (a.current.since ?? 0);
}

/** Null: nothing has been sorted yet. */
let names: Intl.Collator | null = null;

function byName(a: HomeEntry, b: HomeEntry): number {
  names ??= new Intl.Collator('en', { sensitivity: 'base', numeric: true });
  return names.compare(a.service.name, b.service.name);
}

/** Minimum length of a text in which slips are looked for; in shorter ones every word is like every other. */
const MIN_LENGTH = 4;
/** Minimum length of a text that may have two slips. */
const MIN_LENGTH_OF_TWO = 8;
/** Maximum number of services that are compared, which takes some 50 ms. */
const MAX_COMPARED = 100_000;

/**
 * The services that are like a text, the likest first, then in the given order: a word of the name, the name without
 * spaces or a label of the domain begins with the text but for a letter that is missing, added, wrong, or swapped with its
 * neighbour; two of them from eight letters on.
 */
export function findSimilar<Found>(
  services: readonly Found[],
  serviceOf: (found: Found) => Pick<Service, 'name' | 'domain'>,
  written: string,
  limit: number,
): readonly Found[] {
  const text = plain(written);
  if (text.length < MIN_LENGTH) return [];
  const most = text.length < MIN_LENGTH_OF_TWO ? 1 : 2;
  const byDistance: Found[][] = Array.from({ length: most + 1 }, () => []);
  for (const service of services.slice(0, MAX_COMPARED)) {
    const distance = Math.min(...wordsOf(serviceOf(service)).map((word) => distanceOf(text, word, most)));
    byDistance[distance]?.push(service);
  }
  return byDistance.flat().slice(0, limit);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .slice(0, 40);
}

function wordsOf({ name, domain }: Pick<Service, 'name' | 'domain'>): readonly string[] {
  return [...new Set([name, ...name.split(/[^\p{L}\p{N}]+/u), ...domain.split('.').slice(0, -1)].map(plain))];
}

/**
 * The number of slips (optimal string alignment) between the text and the likest beginning of the word; a number above
 * `most` if there are more.
 */
function distanceOf(text: string, word: string, most: number): number {
  if (word.length < text.length - most) return most + 1;
  const beginning = word.slice(0, text.length + most);
  let before: number[] = [];
  let last = Array.from({ length: beginning.length + 1 }, (_, column) => column);
  for (let row = 1; row <= text.length; row++) {
    const next = [row];
    for (let column = 1; column <= beginning.length; column++) {
      const isSame = text[row - 1] === beginning[column - 1];
      const isSwapped =
        row > 1 &&
        column > 1 &&
        text[row - 1] === beginning[column - 2] &&
        text[row - 2] === beginning[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    if (Math.min(...next) > most) return most + 1;
    before = last;
    last = next;
  }
  // The rest of a longer word costs nothing, since the reader may still be typing.
  return Math.min(...last.slice(Math.max(0, text.length - most)));
}
