/** The content of an owner's status page: its services with their standing, in the owner's order, and the next occurrences of its maintenance. */
import { createHash } from 'node:crypto';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { DAY_MS } from '../domain/durations.ts';
import { type Incident, withoutTexts } from '../domain/incident/incident.ts';
import type { Maintenance } from '../domain/incident/maintenance.ts';
import { type OwnerIncident, worstReported } from '../domain/incident/owner-incident.ts';
import {
  type Occurrence,
  type OwnerMaintenance,
  occurrencesOf,
} from '../domain/incident/owner-maintenance.ts';
import { fullName, type Service } from '../domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../domain/status/current.ts';
import {
  judgePage,
  type PageStanding,
  type PageVerdict,
  standingOf,
} from '../domain/status/outage-verdict.ts';
import {
  isListable,
  isShown,
  nameOfEntry,
  type OwnedPage,
  type PageGroup,
  type PictureUse,
  readPageSlug,
} from '../domain/status-page.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpRequest, HttpResponse } from '../http/route.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import type { PageReads } from '../store/ports/status-pages.ts';
import { causeOfDown, type Unreached, whyUnreached } from './cause-of-down.ts';
import { pageUrl } from './page-address.ts';
import type { ShownDirectory } from './service-directory.ts';
import type { SiteSources } from './site-sources.ts';
import { intervalOf, isStale } from './staleness.ts';

/** Maximum number of maintenances whose occurrences are cached. */
const MAX_CACHED = 2_000;
const cachedOccurrences = new BoundedMap<string, Promise<readonly Occurrence[]>>(MAX_CACHED);
let lastSearch: Promise<unknown> = Promise.resolve();

/** Searches in a separate turn of the event loop, one after the other: a page may have hundreds that recur. */
function searchOccurrences(...of: Parameters<typeof occurrencesOf>): Promise<readonly Occurrence[]> {
  const found = lastSearch
    .catch(() => {})
    .then(() => new Promise((resolve) => setImmediate(resolve)))
    .then(() => occurrencesOf(...of));
  lastSearch = found;
  return found;
}

/** The occurrences of a maintenance that end after `at`, at most `limit`. They are searched for once a day. */
export async function nextOccurrences(
  maintenance: OwnerMaintenance,
  at: number,
  limit: number,
): Promise<readonly Occurrence[]> {
  const day = Math.floor(at / DAY_MS);
  const { startsAt, durationMs, timeZone, recurrence, changes, cancelledAt } = maintenance;
  const key = JSON.stringify([
    ...[startsAt, durationMs, timeZone, recurrence, changes, cancelledAt, limit, day],
  ]);
  // One begins in a day at most, and another may end then, as may those whose ends were changed.
  const wanted = limit + 2 + changes.length;
  const found = await getOrInsert(cachedOccurrences, key, () =>
    searchOccurrences(maintenance, day * DAY_MS, wanted),
  );
  return found.filter(({ endsAt }) => endsAt > at).slice(0, limit);
}

/** The part of the registry that status pages use. */
type PageReader = PageReads & PublicReads;

export interface PageViewSources extends SiteSources {
  readonly pages: PageReader;
  /**
   * Returns true if the sender of a request may see a page that not everyone sees. Throws `rate_limited` after too many wrong
   * passwords.
   */
  readonly mayRead: (request: HttpRequest, page: OwnedPage) => Promise<boolean>;
}

interface ListedService {
  /** For reads alone: no page shows it. */
  readonly id: number;
  /** As the page shows it. */
  readonly name: string;
  /** With the name that it has on the page. Null: it is private, and the page shows nothing else of it than that name, its standing and its uptime. */
  readonly service: Service | null;
  /** Its interval, milliseconds. */
  readonly intervalMs: number;
  readonly current: CurrentStatus;
  readonly standing: PageStanding;
  /** True if the service was last seen more than two intervals ago. */
  readonly stale: boolean;
  /** The service without which it cannot be reached and that is down, where everyone may know of it; null: none. */
  readonly cause: Service | null;
  /** Why it cannot be reached; null: it can, as far as that is known. */
  readonly unreached: Unreached | null;
}

export interface PageView {
  readonly page: OwnedPage;
  readonly groups: readonly { readonly name: string; readonly services: readonly ListedService[] }[];
  /** Every service of the page. */
  readonly services: readonly ListedService[];
  readonly verdict: PageVerdict;
  /** Planned and running maintenances of vendors and of single services, by their start. */
  readonly maintenances: readonly Maintenance[];
  /** Incidents that the owner writes about the page or services on it, newest start first. */
  readonly posts: readonly OwnerIncident[];
  /** Maintenance that the owner announces, each with the occurrence that runs or comes next, by its start. */
  readonly announced: readonly (OwnerMaintenance & { readonly occurrence: Occurrence })[];
  /** The time at which the page was read, epoch milliseconds. */
  readonly at: number;
}

const MAX_MAINTENANCES = 20;
const TOLD_ID_CHARACTERS = 16;

/** The owner's posts about the page alone: in no list of a service on it. */
export function postsOfPage({ page, services, posts, announced }: PageView) {
  const hasOwn = services.some(({ service }) => service?.accountId === page.accountId);
  const isListed = (id: number) => services.some(({ service }) => service?.id === id);
  return {
    posts: posts.filter((one) => one.pages.includes(page.id) && !one.services.some(isListed)),
    announced: hasOwn ? [] : announced.filter(({ pages }) => pages.includes(page.id)),
  };
}

/** The page that a request may see, by the slug in its path, in any case; null: there is none. */
export async function findShownPage(
  request: HttpRequest,
  { pages, mayRead }: Pick<PageViewSources, 'pages' | 'mayRead'>,
): Promise<OwnedPage | null> {
  const page = await findPageOf(request, pages);
  if (page?.access === undefined) return page;
  return (await mayRead(request, page)) ? page : null;
}

async function findPageOf({ params }: HttpRequest, pages: PageReader) {
  const reading = readPageSlug(params.slug ?? '');
  return reading.ok ? await pages.findPage(reading.value) : null;
}

/** The page of a request that asks for its password; null: there is none that does. */
export async function findLockedPage(
  request: HttpRequest,
  { pages }: { readonly pages: PageReader },
): Promise<OwnedPage | null> {
  const page = await findPageOf(request, pages);
  return page?.access === 'password' ? page : null;
}

/**
 * The error for a request whose page is not shown, for programs: `page_password_required` for one that asks for its password, which
 * HTTP Basic brings with any user name, and else `page_not_found`.
 */
export async function pageRefused(
  request: HttpRequest,
  sources: { readonly pages: PageReader },
): Promise<HttpError> {
  const page = await findLockedPage(request, sources);
  if (page === null) return pageNotFound(request.params.slug ?? '');
  return new HttpError(
    'page_password_required',
    'This status page needs its password: by HTTP Basic with any user name, or entered on the page.',
    {},
    {
      'WWW-Authenticate': `Basic realm="${page.slug}", charset="UTF-8"`,
      'Cache-Control': 'private, no-store',
    },
  );
}

/** A response about a page. No cache keeps one that not everyone may see. */
export function keepPrivate(page: OwnedPage, answer: HttpResponse): HttpResponse {
  if (page.access === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'private, no-store' } };
}

/** Reads the page of a request; null: there is none that it may see. */
export async function readPageView(request: HttpRequest, sources: PageViewSources): Promise<PageView | null> {
  const page = await findShownPage(request, sources);
  if (page === null) return null;
  const { directory, status, pages, intervalMs, now, listenedAt } = sources;
  const at = now();
  const groups = page.groups.map((group) => ({
    name: group.name,
    services: shownOn(directory, page, group),
  }));
  const shown = groups.flatMap(({ services }) => services);
  // What is said of a private service is for members; what is said of the page is for its readers.
  const open = shown.filter(({ service }) => service.visibility !== 'private');
  const serviceIds = open.map(({ service }) => service.id);
  const query = { accountId: page.accountId, pageId: page.id, serviceIds };
  const [maintenances, posts, announced] = await Promise.all([
    pages.maintenancesOfServices(
      shown.map(({ service }) => service.id),
      MAX_MAINTENANCES,
    ),
    pages.incidentsPostedOn(query),
    pages.maintenancesPostedOn(query, at).then((all) => withNext(all, at)),
  ]);
  const running = new Set(
    maintenances.filter(({ phase }) => phase === 'running').map(({ serviceId }) => serviceId),
  );
  const listed = groups.map(({ name, services }) => ({
    name,
    services: services.map(({ service, own }): ListedService => {
      const { id, paused } = service;
      const current = status.get(id) ?? unknownStatus(id);
      const ownIntervalMs = intervalOf(service, intervalMs);
      const stale = isStale(current, ownIntervalMs, at, listenedAt);
      const standing = standingOf(current.status, paused, running.has(id));
      const named = nameEntry(service, own);
      const known = [{ ...sources, isPublished: true }, service, current] as const;
      return {
        ...{ id, ...named, intervalMs: ownIntervalMs, current, standing, stale },
        cause: named.service === null ? null : causeOfDown(...known),
        unreached: named.service === null ? null : whyUnreached(...known),
      };
    }),
  }));
  const all = listed.flatMap(({ services }) => services);
  const verdict = judgePage(
    all.map(({ standing }) => standing),
    {
      reported: worstReported(posts),
      inMaintenance: announced.some(({ occurrence }) => occurrence.startsAt <= at),
    },
  );
  const told = maintenances.filter(({ serviceId }) => serviceIds.includes(serviceId));
  return { page, groups: listed, services: all, verdict, maintenances: told, posts, announced, at };
}

/** The services of a group that its page shows, with the names that they have on it alone; empty: none. */
export function shownOn(
  directory: ShownDirectory,
  { accountId }: OwnedPage,
  group: PageGroup,
): { readonly service: Service; readonly own: string }[] {
  return group.services.flatMap((id) => {
    const service = findListed(directory, accountId, id);
    const own = nameOfEntry(group, id);
    return service === null || !isShown(service, own) ? [] : [{ service, own }];
  });
}

/** A service by its name on a page. The domain follows a name that an owner chose, but for private services. */
function nameEntry(service: Service, own: string) {
  if (service.visibility === 'private') return { name: own, service: null };
  if (own === '') return { name: fullName(service), service };
  const { domain } = service;
  return { name: fullName({ name: own, domain, origin: 'owner' }), service: { ...service, name: own } };
}

/**
 * An incident of a service on a page, as the page shows it. Of a private service that is what our own checks saw, without its texts and
 * under another id; null: it is not shown.
 */
export function tellIncident(
  { page, services }: Pick<PageView, 'page' | 'services'>,
  incident: Incident,
  siteUrl: string,
): { readonly incident: Incident; readonly listed: ListedService } | null {
  const listed = services.find(({ id }) => id === incident.serviceId);
  if (listed === undefined) return null;
  if (listed.service !== null) return { incident, listed };
  if (incident.source !== 'own') return null;
  const id = toldId({ page, services }, incident);
  return { incident: withoutTexts(incident, id, listed.name, pageUrl(siteUrl, page)), listed };
}

/**
 * The id of an incident on a page. That of a private service is made only of what the page shows of it: from a number of the service,
 * which has few digits, everyone could find it.
 */
export function toldId(
  { page, services }: Pick<PageView, 'page' | 'services'>,
  { id, serviceId, startedAt }: Incident,
): string {
  const listed = services.find((one) => one.id === serviceId);
  if (listed === undefined || listed.service !== null) return id;
  const told = JSON.stringify([page.id, listed.name, startedAt]);
  return createHash('sha256').update(told).digest('base64url').slice(0, TOLD_ID_CHARACTERS);
}

/** Maintenances with an occurrence ahead, by its start. */
async function withNext(all: readonly OwnerMaintenance[], at: number) {
  const found = await Promise.all(
    all.map(async (maintenance) => {
      const [occurrence] = await nextOccurrences(maintenance, at, 1);
      return occurrence === undefined ? [] : [{ ...maintenance, occurrence }];
    }),
  );
  return found
    .flat()
    .sort((a, b) => a.occurrence.startsAt - b.occurrence.startsAt)
    .slice(0, MAX_MAINTENANCES);
}

/**
 * Finds a service that an account may show: one of the catalogue, or its own. Null: the service was removed, or another
 * account has verified its domain since.
 */
export function findListed({ whole }: ShownDirectory, accountId: number, id: number): Service | null {
  const service = whole.byId(id);
  return service !== null && isListable(service, accountId) ? service : null;
}

export const INCIDENT_FILTERS = ['all', 'running', 'past'] as const;

/** The name of a picture within its page. It contains the mark, so that each picture has its own URL. */
export function picturePart(use: PictureUse, mark: string): string {
  return `${use}?v=${mark}`;
}

export function readFilter(filter: string): { readonly running?: boolean } {
  return filter === 'all' ? {} : { running: filter === 'running' };
}

export function pageNotFound(slug: string): HttpError {
  return new HttpError('page_not_found', `There is no status page "${slug.slice(0, 100)}".`);
}
