/** Vendors' maintenances: stored when announced, an incident from their start to their end. */
import type { Selectable, SelectQueryBuilder } from 'kysely';
import { sql } from 'kysely';
import { type Maintenance, maintenanceIncident, nextPhaseAt, phaseAt } from '../../domain/maintenance.ts';
import type { MaintenanceQuery } from '../ports/vendors.ts';
import { toIncident } from './incident-rows.ts';
import type { RegistryStore } from './registry-store.ts';
import type { MaintenancesTable, RegistrySchema } from './schema.ts';
import type { WriteIncident } from './write-incident.ts';

/** Writes a maintenance, new or changed. */
export function writeMaintenance(
  { kysely, queries }: RegistryStore,
  maintenance: Maintenance,
  now: number,
): void {
  const row = {
    id: maintenance.id,
    service_id: maintenance.serviceId,
    title: maintenance.title,
    description: maintenance.description,
    starts_at: maintenance.startsAt,
    ends_at: maintenance.endsAt,
    told: maintenance.told,
    phase: maintenance.phase,
    due_at: nextPhaseAt(maintenance, now),
    source_url: maintenance.sourceUrl,
    updates: JSON.stringify(maintenance.updates),
  };
  const { id: _, ...rest } = row;
  queries.run(
    kysely
      .insertInto('maintenances')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest)),
  );
}

/** Marks one as over, whatever its times say: its page no longer lists it. */
export function endMaintenance({ kysely, queries }: RegistryStore, id: string): void {
  queries.run(
    kysely
      .updateTable('maintenances')
      .set({ told: 'done', phase: 'ended', due_at: null })
      .where('id', '=', id),
  );
}

/** Those with these ids. */
export function readMaintenances(
  { kysely, queries }: RegistryStore,
  ids: SelectQueryBuilder<RegistrySchema, 'vendor_entries', { id: string }>,
): Maintenance[] {
  return queries.all(kysely.selectFrom('maintenances').selectAll().where('id', 'in', ids)).map(toMaintenance);
}

/**
 * Moves every maintenance whose time has come by `now`, inside the caller's transaction, and writes its incident.
 * Returns the services concerned, and when the next one is due (null: none is known).
 */
export function advanceMaintenances(
  store: RegistryStore,
  writeIncident: WriteIncident,
  now: number,
): { readonly serviceIds: readonly number[]; readonly nextAt: number | null } {
  const { kysely, queries } = store;
  const due = queries
    .all(kysely.selectFrom('maintenances').selectAll().where('due_at', '<=', now))
    .map(toMaintenance);
  for (const before of due) {
    const maintenance = { ...before, phase: phaseAt(before, now) };
    const row = queries.first(kysely.selectFrom('incidents').selectAll().where('id', '=', before.id));
    const incident = maintenanceIncident(maintenance, row === undefined ? null : toIncident(row), now);
    if (incident !== null) writeIncident(incident);
    writeMaintenance(store, maintenance, now);
    if (maintenance.phase === 'ended')
      queries.run(kysely.updateTable('vendor_entries').set({ open: 0 }).where('id', '=', before.id));
  }
  const next = queries.first(
    kysely
      .selectFrom('maintenances')
      .select('due_at')
      .where('due_at', 'is not', null)
      .orderBy('due_at')
      .limit(1),
  );
  return { serviceIds: [...new Set(due.map(({ serviceId }) => serviceId))], nextAt: next?.due_at ?? null };
}

/** Which maintenances are asked for, whatever the page. */
type MaintenanceFilter = Omit<MaintenanceQuery, 'limit' | 'offset'>;

/** Planned and running ones by their start, then id; those of removed services are left out. */
export function listMaintenances({ kysely, queries }: RegistryStore, query: MaintenanceQuery): Maintenance[] {
  return queries
    .all(
      maintenancesOf(kysely, query)
        .selectAll('maintenances')
        .orderBy('starts_at')
        .orderBy('maintenances.id')
        .limit(query.limit)
        .offset(query.offset),
    )
    .map(toMaintenance);
}

/** How many maintenances `listMaintenances` has for the query over all its pages. */
export function countMaintenances({ kysely, queries }: RegistryStore, query: MaintenanceFilter): number {
  const counted = maintenancesOf(kysely, query).select((eb) => eb.fn.countAll<number>().as('total'));
  return queries.first(counted)?.total ?? 0;
}

function maintenancesOf(kysely: RegistryStore['kysely'], { serviceId }: MaintenanceFilter) {
  const found = kysely
    .selectFrom('maintenances')
    .innerJoin('services', 'services.id', 'maintenances.service_id')
    .where('maintenances.phase', '<>', sql.lit('ended'))
    .where('services.removed', '=', sql.lit(0));
  return serviceId === undefined ? found : found.where('service_id', '=', serviceId);
}

/** The maintenance that a row holds. */
export function toMaintenance(row: Selectable<MaintenancesTable>): Maintenance {
  return {
    id: row.id,
    serviceId: row.service_id,
    title: row.title,
    description: row.description,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    told: row.told,
    phase: row.phase,
    sourceUrl: row.source_url,
    updates: JSON.parse(row.updates),
  };
}
