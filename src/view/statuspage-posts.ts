/** Incidents and maintenance as Statuspage lists them: what an owner writes of several services is one entry. */
import { type Incident, type IncidentUpdate, incidentPath, noteOf } from '../domain/incident/incident.ts';
import { type Maintenance, phaseAt } from '../domain/incident/maintenance.ts';
import { type OwnerIncident, ownerIncidentId, readPostOf } from '../domain/incident/owner-incident.ts';
import { occurrenceId } from '../domain/incident/owner-maintenance.ts';
import type { Service } from '../domain/service.ts';
import type { OwnedPage } from '../domain/status-page.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import { pageUrl } from './page-address.ts';
import type { ShownDirectory } from './service-directory.ts';
import type { PageView } from './status-page-view.ts';
import { MAX_LISTED, type ShownIncident, type ShownMaintenance } from './statuspage-documents.ts';

/** Maximum number of owners' incidents in a document whose texts are read in full. */
const MAX_WHOLE = 20;

/** The services whose real names and addresses a document may show, and the links of their incidents. */
interface Subjects {
  readonly siteUrl: string;
  readonly services: readonly Service[];
  /** The address of an incident of a service. */
  readonly urlOf: (incident: Pick<Incident, 'id' | 'serviceId' | 'sourceUrl'>) => string;
}

/** The subjects of a document about these services. */
export function subjectsOf({
  siteUrl,
  directory,
  services,
}: Omit<Subjects, 'urlOf'> & { readonly directory: ShownDirectory }): Subjects {
  const byId = new Map(services.map((service) => [service.id, service]));
  return {
    siteUrl,
    services,
    urlOf({ id, serviceId, sourceUrl }) {
      const service = byId.get(serviceId);
      if (service === undefined) return sourceUrl;
      return siteUrl + incidentPath(directory.pageName(service), id);
    },
  };
}

/** The status page of a document; null: the document is about a service. */
interface OfPage {
  readonly page: OwnedPage | null;
}

/** The incidents of services and of the page, newest start first. `posts`: those of the page, which services have, too. */
export async function shownIncidents(
  found: readonly Incident[],
  posts: readonly OwnerIncident[],
  {
    pages,
    page,
    services,
    siteUrl,
    urlOf,
  }: Subjects & OfPage & { readonly pages: Pick<PublicReads, 'findOwnerIncident'> },
): Promise<ShownIncident[]> {
  const openIds = new Set(services.map(({ id }) => id));
  const byKey = new Map<string, ShownIncident>();
  for (const post of posts) {
    const id = ownerIncidentId(post.id);
    const url = page === null ? siteUrl : pageUrl(siteUrl, page, `incidents/${id}`);
    byKey.set(
      id,
      incidentOfPost(
        post,
        url,
        post.services.filter((one) => openIds.has(one)),
      ),
    );
  }
  const short = new Map<string, () => Promise<OwnerIncident | null>>();
  for (const post of posts.filter(isShort))
    short.set(ownerIncidentId(post.id), () => pages.findOwnerIncident(post.accountId, post.id));
  const postIds = new Set(byKey.keys());
  for (const incident of found) {
    const number = incident.source === 'owner' ? readPostOf(incident.id) : null;
    const id = number === null ? incident.id : ownerIncidentId(number);
    if (postIds.has(id)) continue;
    const told = byKey.get(id);
    const { serviceId } = incident;
    byKey.set(
      id,
      told === undefined ? incidentOf(incident, id, urlOf(incident)) : withService(told, serviceId),
    );
    const accountId = services.find((one) => one.id === serviceId)?.accountId ?? null;
    if (number !== null && accountId !== null)
      short.set(id, () => pages.findOwnerIncident(accountId, number));
  }
  await Promise.all(
    [...short].slice(0, MAX_WHOLE).map(async ([id, read]) => {
      const [whole, told] = [await read(), byKey.get(id)];
      if (whole !== null && told !== undefined)
        byKey.set(id, incidentOfPost(whole, told.url, told.serviceIds));
    }),
  );
  return newestFirst([...byKey.values()], ({ startedAt }) => startedAt);
}

/** Returns true if a post of a list lacks a part of its texts. */
function isShort({ earlier, updates, postMortem }: OwnerIncident): boolean {
  return earlier !== undefined || postMortem?.isCut === true || updates.some(({ isCut }) => isCut === true);
}

function incidentOfPost(post: OwnerIncident, url: string, serviceIds: readonly number[]): ShownIncident {
  const { postMortem, updates, id, title, createdAt, updatedAt, resolvedAt, severity, status, startedAt } =
    post;
  return {
    ...{ id: ownerIncidentId(id), title, url, createdAt, updatedAt, resolvedAt, serviceIds },
    ...{ isOwn: false, severity, status, startedAt },
    updates: updates.map(({ at, status, plain }) => ({ at, status, text: plain })),
    postMortem: postMortem === null ? null : { at: postMortem.at, text: postMortem.plain },
  };
}

function incidentOf(incident: Incident, id: string, url: string): ShownIncident {
  const { title, source, severity, status, startedAt, resolvedAt, serviceId, updates } = incident;
  return {
    ...{ id, title, url, severity, status, startedAt, resolvedAt, updates },
    createdAt: Math.max(startedAt, updates[0]?.at ?? startedAt),
    updatedAt: Math.max(startedAt, resolvedAt ?? startedAt, updates.at(-1)?.at ?? startedAt),
    serviceIds: [serviceId],
    isOwn: source === 'own',
    postMortem: null,
  };
}

function withService<Post extends ShownIncident | ShownMaintenance>(post: Post, serviceId: number): Post {
  const { serviceIds } = post;
  return serviceIds.includes(serviceId) ? post : { ...post, serviceIds: [...serviceIds, serviceId] };
}

/** Announced maintenance of services and of a page. */
interface AnnouncedMaintenance {
  /** Of services: planned and running. */
  readonly planned: readonly Maintenance[];
  /** Of a page, by its owner. */
  readonly announced: PageView['announced'];
  /** Incidents of services that are maintenance which is over. */
  readonly past: readonly Incident[];
}

/** The maintenance of services and of a page, newest start first. `at`: epoch milliseconds. */
export function shownMaintenances(
  { planned, announced, past }: AnnouncedMaintenance,
  { page, services, siteUrl, urlOf, at }: Subjects & OfPage & { readonly at: number },
): ShownMaintenance[] {
  const byKey = new Map<string, ShownMaintenance>();
  const add = (one: ShownMaintenance): void => {
    const told = byKey.get(one.id);
    byKey.set(one.id, one.serviceIds.reduce(withService<ShownMaintenance>, told ?? one));
  };
  for (const { occurrence, ...post } of announced) {
    const { id, title, plain, createdAt, updatedAt } = post;
    const { startsAt, endsAt } = occurrence;
    const isRunning = startsAt <= at;
    const concerned = services.filter(
      (service) =>
        post.services.includes(service.id) ||
        (page !== null && post.pages.includes(page.id) && service.accountId === page.accountId),
    );
    add({
      ...{ id: occurrenceId(id, startsAt), title, startsAt, endsAt, createdAt, resolvedAt: null },
      url: page === null ? siteUrl : pageUrl(siteUrl, page),
      updatedAt: isRunning ? Math.max(startsAt, updatedAt) : updatedAt,
      serviceIds: concerned.map((service) => service.id),
      updates: withAnnouncement([], plain, createdAt, isRunning ? startsAt : null),
      state: isRunning ? 'in_progress' : 'scheduled',
    });
  }
  for (const row of planned) {
    const { id, ownerId, title, description, startsAt, endsAt, serviceId, updates } = row;
    const createdAt = row.announcedAt ?? updates[0]?.at ?? startsAt;
    const isRunning = phaseAt(row, at) !== 'planned';
    add({
      ...{
        id: ownerId === undefined ? id : occurrenceId(ownerId, startsAt),
        title,
        startsAt,
        endsAt,
        createdAt,
      },
      ...{ resolvedAt: null, serviceIds: [serviceId], url: isRunning ? urlOf(row) : row.sourceUrl },
      updatedAt: Math.max(createdAt, updates.at(-1)?.at ?? createdAt, isRunning ? startsAt : createdAt),
      updates: withAnnouncement(updates, description, createdAt, isRunning ? startsAt : null),
      state: isRunning ? 'in_progress' : 'scheduled',
    });
  }
  for (const incident of past) {
    const { id, title, description, startedAt, resolvedAt, serviceId, updates } = incident;
    const createdAt = Math.min(startedAt, updates[0]?.at ?? startedAt);
    add({
      ...{
        id: /^owner-m\d+-\d+/.exec(id)?.[0] ?? id,
        title,
        startsAt: startedAt,
        endsAt: resolvedAt,
        createdAt,
      },
      ...{ resolvedAt, serviceIds: [serviceId], url: urlOf(incident) },
      updatedAt: Math.max(updates.at(-1)?.at ?? startedAt, resolvedAt ?? startedAt),
      updates: withAnnouncement(updates, description, createdAt, null),
      state: 'completed',
    });
  }
  return newestFirst([...byKey.values()], ({ startsAt }) => startsAt);
}

/** The timeline with what was announced, and with the beginning if nobody wrote of it. `beganAt`: null: it did not begin, or has its entries. */
function withAnnouncement(
  written: readonly IncidentUpdate[],
  text: string,
  createdAt: number,
  beganAt: number | null,
): readonly IncidentUpdate[] {
  const isTold = text === '' || written.some((update) => update.text === text);
  const updates = isTold ? written : [{ at: createdAt, status: 'identified' as const, text }, ...written];
  if (beganAt === null || updates.some(({ at }) => at >= beganAt)) return updates;
  return [...updates, { at: beganAt, status: 'identified', ...noteOf({ code: 'maintenance_began' }) }];
}

function newestFirst<Post extends { readonly id: string }>(
  posts: Post[],
  startOf: (post: Post) => number,
): Post[] {
  return posts.sort((a, b) => startOf(b) - startOf(a) || (a.id < b.id ? -1 : 1)).slice(0, MAX_LISTED);
}
