/** Incidents. Each is written by one statement, and each list is read by one index scan. */
import type { SelectQueryBuilder } from 'kysely';
import { eventsOfIncident, type NewAlertEvent } from '../../../domain/alert/event.ts';
import {
  fromStoredUpdates,
  type Incident,
  type IncidentStatus,
  SHORT_TIMELINE,
  shortened,
} from '../../../domain/incident/incident.ts';
import {
  asServiceIncident,
  type OwnerIncident,
  type OwnerUpdate,
  readPostOf,
  shortText,
} from '../../../domain/incident/owner-incident.ts';
import { incidentEventType } from '../../../domain/webhook-event.ts';
import { type Calls, read } from '../../database/registry-calls.ts';
import { fromRow, type RegistryStore, sql, statement } from '../../database/registry-store.ts';
import type { RegistrySchema, Row } from '../../database/schema.ts';
import type { IncidentFilter, IncidentKey, IncidentQuery, IncidentStore } from '../../ports/incidents.ts';
import { deliverEvent } from './webhook-rows.ts';

export async function readWhole(store: RegistryStore, row: Row<'owner_incidents'>): Promise<OwnerIncident> {
  const { kysely, queries } = store;
  const rows = await queries.all(
    kysely
      .selectFrom('owner_updates')
      .select(['at', 'status', 'markdown', 'plain'])
      .where('incident_id', '=', row.id)
      .orderBy('place'),
  );
  return { ...toOwnerIncident(row), updates: rows };
}

/** The incidents of rows as lists show them. */
export async function readShort(
  { kysely, queries }: RegistryStore,
  rows: readonly Row<'owner_incidents'>[],
): Promise<OwnerIncident[]> {
  if (rows.length === 0) return [];
  const last = kysely
    .selectFrom('owner_updates')
    .select(({ fn }) => ['incident_id', fn.max('place').as('last')])
    .where(
      'incident_id',
      'in',
      rows.map(({ id }) => id),
    )
    .groupBy('incident_id');
  // One character more than is shown, by which a text is known to be longer.
  const characters = sql.lit(SHORT_TIMELINE.characters + 1);
  const found = await queries.all(
    kysely
      .selectFrom('owner_updates as u')
      .innerJoin(last.as('l'), 'l.incident_id', 'u.incident_id')
      .select(({ fn }) => [
        'u.incident_id',
        'u.place',
        'u.at',
        'u.status',
        fn<string>('substr', ['u.markdown', sql.lit(1), characters]).as('markdown'),
        fn<string>('substr', ['u.plain', sql.lit(1), characters]).as('plain'),
      ])
      .where((eb) => eb('u.place', '>', eb('l.last', '-', sql.lit(SHORT_TIMELINE.updates))))
      .orderBy('u.incident_id')
      .orderBy('u.place'),
  );
  const byIncident = Map.groupBy(found, ({ incident_id }) => incident_id);
  return rows.map((row) => {
    const { postMortem, ...incident } = toOwnerIncident(row);
    const newest = byIncident.get(row.id) ?? [];
    const earlier = (newest[0]?.place ?? 1) - 1;
    return {
      ...incident,
      postMortem: postMortem === null ? null : shortText(postMortem),
      updates: newest.map(({ incident_id: _, place: __, ...update }) => shortText(update)),
      ...(earlier === 0 ? {} : { earlier }),
    };
  });
}

/** Number of updates of an incident that are stored. */
export async function countUpdates({ kysely, queries }: RegistryStore, id: number): Promise<number> {
  const last = kysely
    .selectFrom('owner_updates')
    .select(({ fn }) => fn.max<number | null>('place').as('last'))
    .where('incident_id', '=', id);
  return (await queries.first(last))?.last ?? 0;
}

/** Adds updates behind the `stored` ones of an incident. */
export async function addUpdates(
  { kysely, queries }: RegistryStore,
  id: number,
  stored: number,
  updates: readonly OwnerUpdate[],
): Promise<void> {
  if (updates.length === 0) return;
  const rows = updates.map(({ at, status, markdown, plain }, index) => ({
    ...{ incident_id: id, place: stored + index + 1, at, status, markdown, plain },
  }));
  await queries.run(kysely.insertInto('owner_updates').values(rows));
}

/** An incident without its updates. */
function toOwnerIncident(row: Row<'owner_incidents'>): OwnerIncident {
  const {
    services,
    pages,
    updates: _,
    post_mortem: postMortem,
    site_url: __,
    text_bytes: ___,
    ...rest
  } = row;
  return {
    ...fromRow(rest),
    services: JSON.parse(services),
    pages: JSON.parse(pages),
    updates: [],
    postMortem: postMortem === null ? null : JSON.parse(postMortem),
  };
}

/** IDs of the incidents that a query selects, not yet ordered. */
type FoundIncidents = SelectQueryBuilder<RegistrySchema, 'incidents', { id: string; started_at: number }>;

/** Newest `startedAt` first, then `id` (decisions, Incidents). Incidents of removed services are left out. */
export async function listIncidents(store: RegistryStore, query: IncidentQuery): Promise<Incident[]> {
  const found = store.kysely.selectFrom('incidents').select(['id', 'started_at']);
  const { orOf = [] } = query;
  if (orOf.length === 0) return await readPage(store, incidentsOf(found, query), query);
  // Two lists, each of one index, instead of a condition that no index has.
  return await readPage(
    store,
    incidentsOf(found, query),
    query,
    hiddenIncidentsOf(store, found, query, orOf),
  );
}

export const INCIDENT_CALLS: Calls<IncidentStore> = {
  listIncidents: read(listIncidents),
  countIncidents: read(async (store, query) => {
    const { kysely, queries } = store;
    const counted = kysely.selectFrom('incidents').select((eb) => eb.fn.countAll<number>().as('total'));
    const { orOf = [] } = query;
    const lists = [
      incidentsOf(counted, query),
      ...(orOf.length === 0 ? [] : [hiddenIncidentsOf(store, counted, query, orOf)]),
    ];
    const totals = await Promise.all(lists.map(async (list) => (await queries.first(list))?.total ?? 0));
    return totals.reduce((sum, total) => sum + total, 0);
  }),
  findIncident: read(async (store, id) => {
    const { kysely, queries } = store;
    const row = await queries.first(
      kysely.selectFrom('incidents').selectAll().where('id', '=', id).where('listed', '=', 1),
    );
    if (row === undefined) return null;
    const number = row.by_owner === 1 ? readPostOf(row.id) : null;
    if (number === null) return toIncident(row);
    const post = await queries.first(
      kysely.selectFrom('owner_incidents').selectAll().where('id', '=', number),
    );
    if (post === undefined) return toIncident(row);
    return asServiceIncident(await readWhole(store, post), {
      id,
      serviceId: row.service_id,
      sourceUrl: row.source_url,
    });
  }),
  incidentsSince: read(async ({ kysely, queries }, serviceId, from, until) => {
    let found = kysely
      .selectFrom('incidents')
      .selectAll()
      .where('service_id', '=', serviceId)
      .where('started_at', '>=', from);
    if (until !== undefined) found = found.where('started_at', '<', until);
    const rows = await queries.all(found.orderBy('started_at', 'desc').orderBy('id').limit(MAX_INCIDENTS));
    return rows.map(toIncident).reverse();
  }),
  incidentsOfServicesSince: read(async ({ kysely, queries }, serviceIds, from) => {
    if (serviceIds.length === 0) return [];
    const rows = await queries.all(
      kysely
        .selectFrom('incidents')
        .selectAll()
        .where('service_id', 'in', serviceIds)
        .where('started_at', '>=', from)
        .where('listed', '=', sql.lit(1))
        .orderBy('started_at', 'desc')
        .orderBy('id')
        .limit(4 * MAX_INCIDENTS),
    );
    return rows.map(toIncident);
  }),
  incidentsBeside: read(async ({ kysely, queries }, { id, serviceId, startedAt }) => {
    const ofService = kysely
      .selectFrom('incidents')
      .selectAll()
      .where('service_id', '=', serviceId)
      .where('listed', '=', sql.lit(1));
    const older = await queries.first(
      ofService
        .where('started_at', '<=', startedAt)
        .where((eb) => eb.or([eb('started_at', '<', startedAt), eb('id', '>', id)]))
        .orderBy('started_at', 'desc')
        .orderBy('id')
        .limit(1),
    );
    const newer = await queries.first(
      ofService
        .where('started_at', '>=', startedAt)
        .where((eb) => eb.or([eb('started_at', '>', startedAt), eb('id', '<', id)]))
        .orderBy('started_at')
        .orderBy('id', 'desc')
        .limit(1),
    );
    return {
      older: older === undefined ? null : toIncident(older),
      newer: newer === undefined ? null : toIncident(newer),
    };
  }),
  incidentsOfServices: read(async (store, query) => {
    const { serviceIds, running, isAnnounced } = query;
    if (serviceIds.length === 0) return [];
    let page = store.kysely
      .selectFrom('incidents')
      .select(['id', 'started_at'])
      .where('service_id', 'in', serviceIds)
      .where('listed', '=', sql.lit(1));
    if (running !== undefined) page = page.where('status', running ? '<>' : '=', 'resolved');
    if (isAnnounced !== undefined)
      page = page.where((eb) => {
        const announced = eb.and([eb('severity', '=', 'maintenance'), eb('source', '=', 'vendor')]);
        return isAnnounced ? announced : eb.not(announced);
      });
    return await readPage(store, page, query);
  }),
};

/** Adds the filters of the query. */
function incidentsOf<Row>(
  found: SelectQueryBuilder<RegistrySchema, 'incidents', Row>,
  { serviceId, status, verifiedOnly = false, maintenanceOnly = false, source, severity }: IncidentFilter,
): SelectQueryBuilder<RegistrySchema, 'incidents', Row> {
  // The flags are literals, not parameters, because SQLite otherwise does not use the partial indexes.
  let chosen = found.where('listed', '=', sql.lit(1));
  if (serviceId !== undefined) chosen = chosen.where('service_id', '=', serviceId);
  if (status !== undefined) chosen = chosen.where('status', '=', status);
  // What owners say has the source `vendor` in the table.
  if (maintenanceOnly)
    chosen = chosen.where('severity', '=', sql.lit('maintenance')).where('source', '=', sql.lit('vendor'));
  if (severity !== undefined) chosen = chosen.where('severity', '=', severity);
  if (source !== undefined)
    chosen = chosen
      .where('source', '=', source === 'own' ? 'own' : 'vendor')
      .where('by_owner', '=', source === 'owner' ? 1 : 0);
  return verifiedOnly ? chosen.where('verified', '=', sql.lit(1)) : chosen;
}

/** The incidents that match a query of services that are for members of these accounts, or are not verified. */
function hiddenIncidentsOf<Row>(
  { kysely }: RegistryStore,
  found: SelectQueryBuilder<RegistrySchema, 'incidents', Row>,
  query: IncidentFilter,
  accounts: readonly number[],
): SelectQueryBuilder<RegistrySchema, 'incidents', Row> {
  const services = kysely.selectFrom('services').select('id').where('account_id', 'in', accounts);
  return incidentsOf(found, { ...query, verifiedOnly: false })
    .where('verified', '=', sql.lit(0))
    .where('service_id', 'in', services);
}

/** Reads a page of `found`, and of `others` in their places. The page is located in the index alone, and only its own rows are read completely. */
async function readPage(
  { kysely, queries }: RegistryStore,
  found: FoundIncidents,
  { after, limit, offset }: IncidentQuery,
  others: FoundIncidents | null = null,
): Promise<Incident[]> {
  const all = others === null ? null : startAfter(found, after).unionAll(startAfter(others, after));
  const page = (all ?? startAfter(found, after))
    .orderBy('started_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset);
  const ids = kysely.selectFrom(page.as('page')).select('id');
  const rows = await queries.all(
    kysely
      .selectFrom('incidents')
      .selectAll()
      .where('id', 'in', ids)
      .orderBy('started_at', 'desc')
      .orderBy('id'),
  );
  return rows.map(toIncident);
}

/** Leaves out what is at `after` or before it. Both conditions together let the index begin there. */
function startAfter(found: FoundIncidents, after: IncidentKey | undefined): FoundIncidents {
  if (after === undefined) return found;
  const { id, startedAt } = after;
  return found
    .where('started_at', '<=', startedAt)
    .where((eb) => eb.or([eb('started_at', '<', startedAt), eb('id', '>', id)]));
}

/** Maximum number of incidents in a query of a service's past, so that a flapping service does not block the thread. */
const MAX_INCIDENTS = 1_000;

const READ_STATUS = statement<{ readonly status: IncidentStatus }>(
  'SELECT status FROM incidents WHERE id = ?',
);
const PUT = statement(
  `INSERT INTO incidents (id, service_id, source, title, description, severity, status, started_at, resolved_at,
     source_url, good_checks, updates, earlier, by_owner, listed, verified)
   SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1 - removed,
     CASE WHEN visibility IS NULL THEN verified ELSE 0 END FROM services WHERE id = ?
   ON CONFLICT (id) DO UPDATE SET title = excluded.title, description = excluded.description,
     severity = excluded.severity, status = excluded.status, started_at = excluded.started_at,
     resolved_at = excluded.resolved_at, source_url = excluded.source_url, good_checks = excluded.good_checks,
     updates = excluded.updates, earlier = excluded.earlier`,
);

/**
 * Writes or replaces an incident by its ID, inside the caller's transaction, with the webhook deliveries of a new incident or a
 * changed status. Ignores an incident of an unknown service. Returns the events of alerts, which the caller appends. `now`: when the
 * change is recorded, epoch milliseconds. `hasNews`: an update was added, which is an event although the status stays.
 */
export async function writeIncident(
  store: RegistryStore,
  incident: Incident,
  now: number,
  hasNews = false,
): Promise<NewAlertEvent[]> {
  const { queries } = store;
  const stored = await queries.first(READ_STATUS(incident.id));
  // The whole text of an owner is stored once, not for each service.
  const listed = incident.source === 'owner' ? shortened(incident) : incident;
  const changed = await queries.run(
    PUT(
      incident.id,
      incident.source === 'own' ? 'own' : 'vendor',
      incident.title,
      listed.description,
      incident.severity,
      incident.status,
      incident.startedAt,
      incident.resolvedAt,
      incident.sourceUrl,
      incident.goodChecks,
      JSON.stringify(listed.updates),
      listed.earlier ?? 0,
      incident.source === 'owner' ? 1 : 0,
      incident.serviceId,
    ),
  );
  const type =
    incidentEventType(stored?.status ?? null, incident.status) ?? (hasNews ? 'incident.updated' : null);
  if (changed === 0 || type === null) return [];
  await deliverEvent(store, incident.serviceId, (service) => ({ type, service, incident }));
  return eventsOfIncident(stored?.status ?? null, incident, now, hasNews);
}

export function toIncident(row: Row<'incidents'>): Incident {
  // Properties are named one by one, since `fromRow` would be slower and pages contain hundreds of incidents.
  return {
    id: row.id,
    serviceId: row.service_id,
    source: row.by_owner === 1 ? 'owner' : row.source,
    title: row.title,
    description: row.description,
    severity: row.severity,
    status: row.status,
    startedAt: row.started_at,
    resolvedAt: row.resolved_at,
    sourceUrl: row.source_url,
    goodChecks: row.good_checks,
    updates: fromStoredUpdates(JSON.parse(row.updates)),
    ...(row.earlier === 0 ? {} : { earlier: row.earlier }),
  };
}
