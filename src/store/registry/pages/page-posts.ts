/**
 * The services and status pages that an owner's posts concern. Subscribers of a page are told what is posted of the page alone; where
 * a service is on the page, the news of the service tell them.
 */
import { eventsOfIncident, eventsOfMaintenance } from '../../../domain/alert/event.ts';
import type { IncidentStatus } from '../../../domain/incident/incident.ts';
import type { Maintenance } from '../../../domain/incident/maintenance.ts';
import {
  asServiceIncident,
  type OwnerIncident,
  ownerIncidentId,
} from '../../../domain/incident/owner-incident.ts';
import {
  type Occurrence,
  type OwnerMaintenance,
  occurrenceId,
  occurrencesOf,
} from '../../../domain/incident/owner-maintenance.ts';
import type { PageGroup } from '../../../domain/status-page.ts';
import { type RegistryStore, sql } from '../../database/registry-store.ts';
import { addSubscriptionChanges, pageSubject } from '../alerts/subscription-changes.ts';

interface PublicPage {
  readonly id: number;
  readonly slug: string;
  /** IDs of the services on it. */
  readonly services: readonly number[];
}

/**
 * The live pages of an account that everyone may see, with the services on them. What is posted of a page for members alone is
 * told on that page alone, since services and their calendars are public.
 */
export async function readPages(
  { kysely, queries }: RegistryStore,
  accountId: number,
): Promise<PublicPage[]> {
  const rows = await queries.all(
    kysely
      .selectFrom('status_pages')
      .select(['id', 'slug', 'groups'])
      .where('account_id', '=', accountId)
      .where('removed', '=', 0)
      .where('members_only', '=', 0),
  );
  return rows.map(({ id, slug, groups }) => {
    const listed: readonly PageGroup[] = JSON.parse(groups);
    return { id, slug, services: listed.flatMap(({ services }) => services) };
  });
}

/** Live services that belong to the account, of those given. */
export async function ownedAmong(
  { kysely, queries }: RegistryStore,
  accountId: number,
  serviceIds: readonly number[],
) {
  if (serviceIds.length === 0) return [];
  return await queries.all(
    kysely
      .selectFrom('services')
      .select(['id', 'slug', 'visibility'])
      .where('id', 'in', serviceIds)
      .where('account_id', '=', accountId)
      .where('removed', '=', sql.lit(0))
      .orderBy('id'),
  );
}

/** Those of {@link ownedAmong} whose news subscribers are told: what is said of private ones is for members. */
async function toldAmong(store: RegistryStore, accountId: number, serviceIds: readonly number[]) {
  const owned = await ownedAmong(store, accountId, serviceIds);
  return owned.filter(({ visibility }) => visibility !== 'private');
}

/** The writing of an owner's incident. */
export interface Posting {
  /** Without a slash at its end. */
  readonly siteUrl: string;
  /** The time at which it is recorded, epoch milliseconds. */
  readonly now: number;
  /** True if an update was added. */
  readonly hasNews: boolean;
}

/** Tells of an incident that was written. `before`: its status; null: it is new. */
export async function tellPagesOfIncident(
  store: RegistryStore,
  before: IncidentStatus | null,
  post: OwnerIncident,
  { siteUrl, now, hasNews }: Posting,
): Promise<void> {
  if (post.pages.length === 0) return;
  for (const { id, slug, services } of await readPages(store, post.accountId)) {
    const shared = services.filter((service) => post.services.includes(service));
    if (!post.pages.includes(id) || (await toldAmong(store, post.accountId, shared)).length > 0) continue;
    const incident = asServiceIncident(post, {
      id: ownerIncidentId(post.id),
      serviceId: pageSubject(id),
      sourceUrl: `${siteUrl}/p/${slug}`,
    });
    await addSubscriptionChanges(store, eventsOfIncident(before, incident, now, hasNews));
  }
}

/** Tells of the next occurrence of a maintenance that was announced or withdrawn. */
export async function tellPagesOfMaintenance(
  store: RegistryStore,
  before: OwnerMaintenance | null,
  post: OwnerMaintenance,
  { siteUrl, now }: Omit<Posting, 'hasNews'>,
): Promise<void> {
  if (post.pages.length === 0 || (before !== null && post.cancelledAt === null)) return;
  const [next] = await occurrencesOf(before ?? post, now, 1);
  if (next === undefined) return;
  const phase = post.cancelledAt === null ? 'planned' : 'ended';
  await tellPhase(store, post, next, { siteUrl, phase, at: now });
}

/** A phase of an occurrence, and its beginning, epoch milliseconds. */
interface BegunPhase {
  readonly siteUrl: string;
  readonly phase: Maintenance['phase'];
  readonly at: number;
}

export async function tellPhase(
  store: RegistryStore,
  post: OwnerMaintenance,
  { startsAt, endsAt }: Occurrence,
  { siteUrl, phase, at }: BegunPhase,
): Promise<void> {
  for (const { id, slug, services } of await readPages(store, post.accountId)) {
    if (!post.pages.includes(id) || (await toldAmong(store, post.accountId, services)).length > 0) continue;
    const maintenance: Maintenance = {
      id: occurrenceId(post.id, startsAt),
      serviceId: pageSubject(id),
      title: post.title,
      description: post.plain,
      startsAt,
      endsAt,
      reportedState: 'planned',
      phase,
      sourceUrl: `${siteUrl}/p/${slug}`,
      updates: [],
      ownerId: post.id,
    };
    const before = phase === 'planned' ? null : phase === 'running' ? 'planned' : 'running';
    await addSubscriptionChanges(store, eventsOfMaintenance(before, maintenance, at));
  }
}
