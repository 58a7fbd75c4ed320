/**
 * Maintenance that owners announce. The next occurrences of each have rows among the maintenances of vendors, one for each
 * service, so that everything that a vendor's maintenance does, these do.
 */
import { eventsOfMaintenance } from '../../../domain/alert/event.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import { type Maintenance, nextPhaseAt } from '../../../domain/incident/maintenance.ts';
import {
  maintenanceBytesOf,
  OCCURRENCES_AHEAD,
  type Occurrence,
  OWNER_MAINTENANCE_BOUNDS,
  type OwnerMaintenance,
  occurrenceId,
  occurrencesOf,
  ownerMaintenanceId,
} from '../../../domain/incident/owner-maintenance.ts';
import { ensureInstallation, getFact, setFact } from '../../database/fact-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { RegistryError, requireRevision } from '../../database/registry-error.ts';
import { fromRow, type RegistryStore, sql, statement } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import {
  MAX_ANNOUNCED_WINDOWS,
  type NewOwnerMaintenance,
  type OwnerMaintenanceStore,
} from '../../ports/incidents.ts';
import { addAlertEvents } from '../alerts/alert-rows.ts';
import { toMaintenance, writeMaintenance } from '../incidents/maintenance-rows.ts';
import { noteService } from '../services/service-rows.ts';
import { concerns, randomPostNumber, refuseLongPost, serviceMark } from './owner-incident-rows.ts';
import { ownedAmong, readPages, tellPagesOfMaintenance, tellPhase } from './page-posts.ts';

/** The time for which calendars still list a withdrawn maintenance, milliseconds. */
const SHOWN_CANCELLED_MS = 30 * DAY_MS;
/** Occurrences of a maintenance within a day, at most daily, that may begin or end between two looks. */
const OCCURRENCES_TOLD = 3;
/** Name of the fact with the time up to which the maintenance of pages was told, epoch milliseconds. */
const TOLD_FACT = 'page-maintenance-told';

// The literals let both databases use the partial indexes.
const OF_PAGES = "cancelled_at IS NULL AND pages <> '[]'";
/** Those of pages that happen once and may begin or end within a span. */
const ONCE_ON_PAGES = statement<Row<'owner_maintenances'>>(
  `SELECT * FROM owner_maintenances WHERE recurrence IS NULL AND ${OF_PAGES} AND starts_at > ? AND starts_at <= ?`,
);
const RECURRING_ON_PAGES = statement<Row<'owner_maintenances'>>(
  `SELECT * FROM owner_maintenances WHERE recurrence IS NOT NULL AND ${OF_PAGES} AND starts_at <= ?`,
);

const FORGET_WITHDRAWN = statement(
  'DELETE FROM owner_maintenances WHERE account_id = ? AND cancelled_at < ?',
);

export const OWNER_MAINTENANCE_CALLS: Calls<OwnerMaintenanceStore> = {
  addOwnerMaintenance: write(addOwnerMaintenance),
  ownerMaintenancesOf: read(ownerMaintenancesOf),
  findOwnerMaintenance: read(async (store, accountId, id) => {
    const row = await findRow(store, accountId, id);
    return row === undefined || row.cancelled_at !== null ? null : toOwnerMaintenance(row);
  }),
  putOwnerMaintenance: write(putOwnerMaintenance),
  maintenancesPostedOn: read(async (store, query, now) => {
    const rows = await store.queries.all(shown(store, now).where('account_id', '=', query.accountId));
    return rows.map(toOwnerMaintenance).filter((post) => concerns(post, query));
  }),
  maintenancesPostedOf: read(async (store, serviceId, now) => {
    const { kysely, queries } = store;
    const owner = kysely.selectFrom('services').select('account_id').where('id', '=', serviceId);
    const rows = await queries.all(shown(store, now).where('account_id', '=', owner));
    const posts = rows.map(toOwnerMaintenance);
    const [accountId] = posts.map((one) => one.accountId);
    if (accountId === undefined) return [];
    const pages = await readPages(store, accountId);
    const pageIds = new Set(pages.filter(({ services }) => services.includes(serviceId)).map(({ id }) => id));
    return posts.filter(
      (one) => one.services.includes(serviceId) || one.pages.some((pageId) => pageIds.has(pageId)),
    );
  }),
  announcedWindows: read(async ({ kysely, queries }, serviceId, from, to) => {
    const rows = await queries.all(
      kysely
        .selectFrom('maintenances')
        .select(['starts_at', 'ends_at', 'announced_at'])
        .where('service_id', '=', serviceId)
        .where('owner_id', 'is not', null)
        .where('starts_at', '<', to)
        .where('ends_at', '>', from)
        .whereRef('ends_at', '>', 'starts_at')
        .orderBy('starts_at', 'desc')
        .limit(MAX_ANNOUNCED_WINDOWS),
    );
    return rows
      .map((row) => ({
        from: Math.max(from, row.starts_at, row.announced_at ?? row.starts_at),
        to: Math.min(to, row.ends_at ?? row.starts_at),
      }))
      .filter((window) => window.to > window.from)
      .reverse();
  }),
};

/** Stores a maintenance inside the caller's transaction, as the port describes it. */
export async function addOwnerMaintenance(
  store: RegistryStore,
  { now, siteUrl, ...post }: NewOwnerMaintenance,
): Promise<OwnerMaintenance> {
  const { kysely, queries } = store;
  const max = OWNER_MAINTENANCE_BOUNDS.perAccount;
  if ((await ownerMaintenancesOf(store, post.accountId)).length >= max)
    throw new RegistryError('account_limit', { code: 'too_many_maintenances', max });
  await queries.run(FORGET_WITHDRAWN(post.accountId, now - SHOWN_CANCELLED_MS));
  const bytes = maintenanceBytesOf(post, (await servicesOf(store, post)).length);
  await refuseLongPost(store, post.accountId, 0, bytes);
  const row = await queries.first(
    kysely
      .insertInto('owner_maintenances')
      .values({
        ...toColumns({ ...post, changes: [], cancelledAt: null }),
        id: randomPostNumber(),
        ...{ account_id: post.accountId, site_url: siteUrl, revision: 1, created_at: now, updated_at: now },
        text_bytes: bytes,
      })
      .returningAll(),
  );
  if (row === undefined) throw new Error('the maintenance was not written');
  await planOccurrences(store, row, now);
  const made = toOwnerMaintenance(row);
  await tellPagesOfMaintenance(store, null, made, { siteUrl, now });
  return made;
}

/** Maintenances of an account in force, by their first start. */
export async function ownerMaintenancesOf(
  store: RegistryStore,
  accountId: number,
): Promise<OwnerMaintenance[]> {
  return (await maintenanceRowsOf(store, accountId)).map(toOwnerMaintenance);
}

function maintenanceRowsOf({ kysely, queries }: RegistryStore, accountId: number) {
  return queries.all(
    kysely
      .selectFrom('owner_maintenances')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('cancelled_at', 'is', null)
      .orderBy('starts_at')
      .orderBy('created_at')
      .orderBy('id'),
  );
}

/** Replaces a maintenance inside the caller's transaction, as the port describes it. */
export async function putOwnerMaintenance(
  store: RegistryStore,
  maintenance: OwnerMaintenance,
  now: number,
): Promise<void> {
  const { id, accountId, revision } = maintenance;
  const found = await findRow(store, accountId, id);
  const row = requireRevision(found?.cancelled_at === null ? found : undefined, [revision], {
    missing: { code: 'no_maintenance', id: ownerMaintenanceId(id) },
    stale: { code: 'maintenance_stale' },
  });
  const before = toOwnerMaintenance(row);
  const { text_bytes: textBytes } = row;
  const services = await servicesOf(store, maintenance);
  const bytes = maintenanceBytesOf(maintenance, services.length, { ...before, textBytes });
  // One that is withdrawn keeps its rows.
  const isWithdrawn = maintenance.cancelledAt !== null;
  if (!isWithdrawn) await refuseLongPost(store, accountId, textBytes, bytes);
  const changed = {
    ...toColumns(maintenance),
    ...{ text_bytes: isWithdrawn ? textBytes : bytes, revision: revision + 1, updated_at: now },
  };
  const { kysely, queries } = store;
  await queries.run(kysely.updateTable('owner_maintenances').set(changed).where('id', '=', id));
  await planOccurrences(store, { ...row, ...changed }, now);
  await tellPagesOfMaintenance(store, before, maintenance, { siteUrl: row.site_url, now });
}

/** Tells the subscribers of pages which maintenance of pages alone has begun and ended since the last call. */
export async function tellPageMaintenances(store: RegistryStore, now: number): Promise<void> {
  const known = await getFact(store, TOLD_FACT);
  const from = Math.max(known === null ? now : Number(known), now - DAY_MS);
  if (known === null || from < now) await setFact(store, TOLD_FACT, String(now));
  const rows = [
    ...(await store.queries.all(ONCE_ON_PAGES(from - OWNER_MAINTENANCE_BOUNDS.maxDurationMs, now))),
    ...(await store.queries.all(RECURRING_ON_PAGES(now))),
  ];
  for (const row of rows) {
    const post = toOwnerMaintenance(row);
    const isNew = (at: number) => at > from && at <= now && at >= post.createdAt;
    for (const occurrence of await occurrencesOf(post, from, OCCURRENCES_TOLD)) {
      const { startsAt, endsAt } = occurrence;
      const siteUrl = row.site_url;
      if (isNew(startsAt))
        await tellPhase(store, post, occurrence, { siteUrl, phase: 'running', at: startsAt });
      if (isNew(endsAt)) await tellPhase(store, post, occurrence, { siteUrl, phase: 'ended', at: endsAt });
    }
  }
}

/** Plans the next occurrences of the maintenances that concern a page, whose services or readers have changed. */
export async function planOccurrencesOfPage(
  store: RegistryStore,
  accountId: number,
  pageId: number,
  now: number,
): Promise<void> {
  for (const row of await maintenanceRowsOf(store, accountId))
    if (toOwnerMaintenance(row).pages.includes(pageId)) await planOccurrences(store, row, now);
}

/** Plans the next occurrences of the maintenances with these IDs, after some of them have ended. */
export async function planNextOccurrences(
  store: RegistryStore,
  ids: readonly number[],
  now: number,
): Promise<void> {
  if (ids.length === 0) return;
  const { kysely, queries } = store;
  const rows = await queries.all(kysely.selectFrom('owner_maintenances').selectAll().where('id', 'in', ids));
  for (const row of rows) await planOccurrences(store, row, now, true);
}

/**
 * Brings the rows of the next occurrences up to date. Rows that change are due at once: the monitor moves them to their phase
 * and writes their incidents, and its process learns of it by the feed of changes. `isMonitor`: the caller does that.
 */
async function planOccurrences(
  store: RegistryStore,
  row: Row<'owner_maintenances'>,
  now: number,
  isMonitor = false,
): Promise<void> {
  const { kysely, queries } = store;
  const post = toOwnerMaintenance(row);
  const occurrences = await occurrencesOf(post, now, OCCURRENCES_AHEAD);
  const wanted = new Map<string, Maintenance>();
  const installation = await ensureInstallation(store);
  for (const service of await servicesOf(store, post))
    for (const occurrence of occurrences) {
      const from = {
        siteUrl: row.site_url,
        announcedAt: now,
        mark: serviceMark(post.id, service.id, installation),
      };
      const one = asMaintenance(post, occurrence, service, from);
      wanted.set(one.id, one);
    }
  const stored = await queries.all(
    kysely
      .selectFrom('maintenances')
      .selectAll()
      .where('owner_id', '=', post.id)
      .where('phase', '<>', sql.lit('ended')),
  );
  const touched = new Set<number>();
  for (const before of stored.map(toMaintenance)) {
    const after = wanted.get(before.id);
    wanted.delete(before.id);
    if (after !== undefined) {
      const { announcedAt, updates, phase } = before;
      await put({ ...after, ...(announcedAt === undefined ? {} : { announcedAt }), updates, phase });
    } else if ((before.endsAt ?? now) > now) {
      // One that was cancelled before it began leaves no incident.
      const endsAt = before.startsAt >= now && before.phase === 'planned' ? before.startsAt - 1 : now;
      await put({ ...before, endsAt, reportedState: 'done' });
    }
  }
  for (const one of wanted.values()) {
    await put(one);
    // The later occurrences of a recurring one are not announced again.
    if (!isMonitor && one.startsAt === occurrences[0]?.startsAt)
      await addAlertEvents(store, eventsOfMaintenance(null, one, now));
  }
  if (!isMonitor) for (const serviceId of touched) await noteService(store, serviceId);

  async function put(maintenance: Maintenance): Promise<void> {
    touched.add(maintenance.serviceId);
    await writeMaintenance(store, maintenance, now, isMonitor ? nextPhaseAt(maintenance, now) : now);
  }
}

/** The account's services that a maintenance concerns: those that it names, and those on the pages that it names. */
async function servicesOf(
  store: RegistryStore,
  { accountId, services, pages }: Pick<OwnerMaintenance, 'accountId' | 'services' | 'pages'>,
) {
  const onPages =
    pages.length === 0
      ? []
      : (await readPages(store, accountId))
          .filter(({ id }) => pages.includes(id))
          .flatMap((page) => page.services);
  return await ownedAmong(store, accountId, [...new Set([...services, ...onPages])]);
}

function asMaintenance(
  post: OwnerMaintenance,
  { startsAt, endsAt }: Occurrence,
  service: { readonly id: number; readonly slug: string },
  from: { readonly siteUrl: string; readonly announcedAt: number; readonly mark: string },
): Maintenance {
  return {
    id: `${occurrenceId(post.id, startsAt)}-${from.mark}`,
    serviceId: service.id,
    title: post.title,
    description: post.plain,
    startsAt,
    endsAt,
    reportedState: 'planned',
    phase: 'planned',
    sourceUrl: `${from.siteUrl}/status/${service.slug}`,
    updates: [],
    ownerId: post.id,
    announcedAt: from.announcedAt,
  };
}

const FORGET_INCIDENTS = statement('DELETE FROM incidents WHERE service_id = ? AND by_owner = 1');
const END_MAINTENANCES = statement(
  `UPDATE maintenances SET told = 'done', ends_at = starts_at - 1, due_at = 0
   WHERE service_id = ? AND owner_id IS NOT NULL AND phase <> 'ended'`,
);

/** Removes what the former owner of a service posted of it. */
export async function forgetPosts({ queries }: RegistryStore, serviceId: number): Promise<void> {
  await queries.run(FORGET_INCIDENTS(serviceId));
  await queries.run(END_MAINTENANCES(serviceId));
}

function shown({ kysely }: RegistryStore, now: number) {
  return kysely
    .selectFrom('owner_maintenances')
    .selectAll()
    .where((eb) => eb.or([eb('cancelled_at', 'is', null), eb('cancelled_at', '>', now - SHOWN_CANCELLED_MS)]))
    .orderBy('starts_at')
    .orderBy('created_at')
    .orderBy('id');
}

async function findRow({ kysely, queries }: RegistryStore, accountId: number, id: number) {
  return await queries.first(
    kysely
      .selectFrom('owner_maintenances')
      .selectAll()
      .where('id', '=', id)
      .where('account_id', '=', accountId),
  );
}

function toColumns(
  post: Omit<NewOwnerMaintenance, 'accountId' | 'siteUrl' | 'now'> &
    Pick<OwnerMaintenance, 'changes' | 'cancelledAt'>,
) {
  return {
    title: post.title,
    markdown: post.markdown,
    plain: post.plain,
    starts_at: post.startsAt,
    duration_ms: post.durationMs,
    time_zone: post.timeZone,
    recurrence: post.recurrence,
    services: JSON.stringify(post.services),
    pages: JSON.stringify(post.pages),
    changes: JSON.stringify(post.changes),
    cancelled_at: post.cancelledAt,
  };
}

function toOwnerMaintenance(row: Row<'owner_maintenances'>): OwnerMaintenance {
  const { services, pages, changes, site_url: _, text_bytes: __, ...rest } = row;
  return {
    ...fromRow(rest),
    services: JSON.parse(services),
    pages: JSON.parse(pages),
    changes: JSON.parse(changes),
  };
}
