/** Incidents that owners write, and their rows in the lists of their services, which have the beginnings of the newest texts. */
import { createHmac, randomInt } from 'node:crypto';
import type { SelectQueryBuilder } from 'kysely';
import {
  asServiceIncident,
  OWNER_INCIDENT_BOUNDS,
  type OwnerIncident,
  ownerIncidentId,
} from '../../../domain/incident/owner-incident.ts';
import { incidentBytesOf, MAX_POST_BYTES } from '../../../domain/incident/owner-maintenance.ts';
import { ensureInstallation } from '../../database/fact-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { RegistryError, requireRevision } from '../../database/registry-error.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';
import type { RegistrySchema } from '../../database/schema.ts';
import type { NewOwnerIncident, OwnerIncidentStore, PagePostsQuery } from '../../ports/incidents.ts';
import { addAlertEvents } from '../alerts/alert-rows.ts';
import { addUpdates, countUpdates, readShort, readWhole, writeIncident } from '../incidents/incident-rows.ts';
import { ownedAmong, type Posting, tellPagesOfIncident } from './page-posts.ts';

/** The numbers of posts begin here; earlier versions counted from 1. */
export const MIN_RANDOM_NUMBER = 100_000_000_000_000;

const TAKEN = statement<{ readonly bytes: number }>(
  `SELECT coalesce((SELECT sum(text_bytes) FROM owner_incidents WHERE account_id = ?), 0)
     + coalesce((SELECT sum(text_bytes) FROM owner_maintenances WHERE account_id = ?), 0) AS bytes`,
);

/** Maximum number of incidents that a page shows. */
const MAX_ON_PAGE = 20;

export const OWNER_INCIDENT_CALLS: Calls<OwnerIncidentStore> = {
  addOwnerIncident: write(async (store, incident) => {
    const { kysely, queries } = store;
    const { accountId, now, siteUrl, ...post } = incident;
    const counted = kysely
      .selectFrom('owner_incidents')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('account_id', '=', accountId);
    const max = OWNER_INCIDENT_BOUNDS.perAccount;
    if (((await queries.first(counted))?.total ?? 0) >= max)
      throw new RegistryError('account_limit', { code: 'too_many_incidents', max });
    const bytes = incidentBytesOf({ ...post, postMortem: null });
    await refuseLongPost(store, accountId, 0, bytes);
    const row = await queries.first(
      kysely
        .insertInto('owner_incidents')
        .values({
          ...toColumns({ ...post, postMortem: null }),
          id: randomPostNumber(),
          ...{ account_id: accountId, site_url: siteUrl, revision: 1, created_at: now, updated_at: now },
          text_bytes: bytes,
        })
        .returningAll(),
    );
    if (row === undefined) throw new Error('the incident was not written');
    await addUpdates(store, row.id, 0, post.updates);
    const made = await readWhole(store, row);
    const posting = { siteUrl: row.site_url, now, hasNews: true };
    await showOnServices(store, made, posting);
    await tellPagesOfIncident(store, null, made, posting);
    return made;
  }),
  ownerIncidentsOf: read(async (store, accountId) => {
    return await readShort(store, await store.queries.all(ofAccount(store, accountId)));
  }),
  findOwnerIncident: read(async (store, accountId, id) => {
    const row = await findRow(store, accountId, id);
    return row === undefined ? null : await readWhole(store, row);
  }),
  putOwnerIncident: write(async (store, incident, now) => {
    const { kysely, queries } = store;
    const { id, accountId, revision, createdAt: _, updatedAt: __, ...post } = incident;
    const row = await requireRow(store, accountId, id, [revision]);
    const bytes = incidentBytesOf(incident);
    await refuseLongPost(store, accountId, row.text_bytes, bytes);
    await queries.run(
      kysely
        .updateTable('owner_incidents')
        .set({ ...toColumns(post), text_bytes: bytes, revision: revision + 1, updated_at: now })
        .where('id', '=', id),
    );
    const stored = await countUpdates(store, id);
    const added = incident.updates.slice(stored);
    await addUpdates(store, id, stored, added);
    const dropped = servicesIn(row).filter((serviceId) => !incident.services.includes(serviceId));
    for (const serviceId of dropped) await removeFromService(store, id, serviceId);
    const posting = { siteUrl: row.site_url, now, hasNews: added.length > 0 };
    await showOnServices(store, incident, posting);
    await tellPagesOfIncident(store, row.status, incident, posting);
  }),
  removeOwnerIncident: write(async (store, accountId, id, revision) => {
    const row = await requireRow(store, accountId, id, revision === undefined ? undefined : [revision]);
    for (const serviceId of servicesIn(row)) await removeFromService(store, id, serviceId);
    await store.queries.run(store.kysely.deleteFrom('owner_incidents').where('id', '=', id));
  }),
  incidentsPostedOn: read(async (store, query) => {
    const { kysely, queries } = store;
    // Texts are read of those alone that are shown.
    const all = await queries.all(
      newestFirst(kysely.selectFrom('owner_incidents').select(['id', 'status', 'services', 'pages'])).where(
        'account_id',
        '=',
        query.accountId,
      ),
    );
    const concerned = all.filter(({ services, pages }) =>
      concerns({ services: JSON.parse(services), pages: JSON.parse(pages) }, query),
    );
    const open = concerned.filter(({ status }) => status !== 'resolved');
    const over = concerned.filter(({ status }) => status === 'resolved');
    const ids = [...open, ...over].slice(0, MAX_ON_PAGE).map(({ id }) => id);
    if (ids.length === 0) return [];
    const rows = newestFirst(kysely.selectFrom('owner_incidents').selectAll()).where('id', 'in', ids);
    return await readShort(store, await queries.all(rows));
  }),
};

/** Returns true if an incident or a maintenance concerns a page or services on it. */
export function concerns(
  { services, pages }: Pick<OwnerIncident, 'services' | 'pages'>,
  { pageId, serviceIds }: PagePostsQuery,
): boolean {
  return pages.includes(pageId) || services.some((id) => serviceIds.includes(id));
}

/** Writes the incident into the lists of its services. */
async function showOnServices(
  store: RegistryStore,
  post: OwnerIncident,
  { siteUrl, now, hasNews }: Posting,
): Promise<void> {
  for (const { id, slug } of await ownedAmong(store, post.accountId, post.services)) {
    const listedId = await listedIdOf(store, post.id, id);
    const sourceUrl = `${siteUrl}/status/${slug}/incidents/${listedId}`;
    const listed = asServiceIncident(post, { id: listedId, serviceId: id, sourceUrl });
    await addAlertEvents(store, await writeIncident(store, listed, now, hasNews));
  }
}

const REMOVE = statement('DELETE FROM incidents WHERE id = ? AND by_owner = 1');

async function removeFromService(store: RegistryStore, id: number, serviceId: number): Promise<void> {
  await store.queries.run(REMOVE(await listedIdOf(store, id, serviceId)));
}

/** The ID of an incident in the list of a service. */
async function listedIdOf(store: RegistryStore, id: number, serviceId: number): Promise<string> {
  return `${ownerIncidentId(id)}-${serviceMark(id, serviceId, await ensureInstallation(store))}`;
}

/**
 * The last part of the IDs that a post has at one of its services. Only those who know the installation's identity can find the number of the
 * service in it, which would tell how many services there are. Posts with small numbers end in that number.
 */
export function serviceMark(post: number, serviceId: number, installation: string): string {
  if (post < MIN_RANDOM_NUMBER) return `${serviceId}`;
  return createHmac('sha256', installation).update(`${post}-${serviceId}`).digest('hex').slice(0, 12);
}

/** The number of a new post. It is random, because running numbers would count the posts of other accounts. */
export function randomPostNumber(): number {
  return randomInt(MIN_RANDOM_NUMBER, MIN_RANDOM_NUMBER + 2 ** 47);
}

function ofAccount({ kysely }: RegistryStore, accountId: number) {
  return newestFirst(kysely.selectFrom('owner_incidents').selectAll()).where('account_id', '=', accountId);
}

function newestFirst<Found>(
  found: SelectQueryBuilder<RegistrySchema, 'owner_incidents', Found>,
): SelectQueryBuilder<RegistrySchema, 'owner_incidents', Found> {
  return found.orderBy('started_at', 'desc').orderBy('created_at', 'desc').orderBy('id');
}

/** IDs of the services that an incident names. */
function servicesIn({ services }: { readonly services: string }): readonly number[] {
  return JSON.parse(services);
}

async function findRow({ kysely, queries }: RegistryStore, accountId: number, id: number) {
  return await queries.first(
    kysely.selectFrom('owner_incidents').selectAll().where('id', '=', id).where('account_id', '=', accountId),
  );
}

async function requireRow(store: RegistryStore, accountId: number, id: number, revisions?: number[]) {
  return requireRevision(await findRow(store, accountId, id), revisions, {
    missing: { code: 'no_incident', id: ownerIncidentId(id) },
    stale: { code: 'incident_stale' },
  });
}

function toColumns(
  post: Omit<NewOwnerIncident, 'accountId' | 'siteUrl' | 'now'> & Pick<OwnerIncident, 'postMortem'>,
) {
  return {
    title: post.title,
    severity: post.severity,
    status: post.status,
    started_at: post.startedAt,
    resolved_at: post.resolvedAt,
    services: JSON.stringify(post.services),
    pages: JSON.stringify(post.pages),
    // Updates have a table of their own.
    updates: '[]',
    post_mortem: post.postMortem === null ? null : JSON.stringify(post.postMortem),
  };
}

/** Throws `account_limit` if a post that took `before` bytes and takes `after` would exceed the bound of its account. */
export async function refuseLongPost(
  { queries }: RegistryStore,
  accountId: number,
  before: number,
  after: number,
): Promise<void> {
  if (after <= before) return;
  const taken = Number((await queries.first(TAKEN(accountId, accountId)))?.bytes ?? 0);
  if (taken - before + after > MAX_POST_BYTES)
    throw new RegistryError('account_limit', { code: 'too_much_text', max: MAX_POST_BYTES });
}
