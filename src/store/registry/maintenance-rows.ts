/** Maintenances that vendors announce, and the current vendor state of each service. */

import { type Maintenance, nextPhaseAt } from '../../domain/maintenance.ts';
import type { MaintenanceQuery, VendorState, VendorStore } from '../ports/vendors.ts';
import { type Calls, read } from './registry-calls.ts';
import { fromRow, type RegistryStore, sql } from './registry-store.ts';
import type { Row } from './schema.ts';

/** Writes a maintenance, new or changed. */
export async function writeMaintenance(
  { kysely, queries }: RegistryStore,
  maintenance: Maintenance,
  now: number,
): Promise<void> {
  const row = {
    id: maintenance.id,
    service_id: maintenance.serviceId,
    title: maintenance.title,
    description: maintenance.description,
    starts_at: maintenance.startsAt,
    ends_at: maintenance.endsAt,
    told: maintenance.reportedState,
    phase: maintenance.phase,
    due_at: nextPhaseAt(maintenance, now),
    source_url: maintenance.sourceUrl,
    updates: JSON.stringify(maintenance.updates),
  };
  const { id: _, ...rest } = row;
  await queries.run(
    kysely
      .insertInto('maintenances')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest)),
  );
}

/** Marks a maintenance that its page no longer lists as over, regardless of its times. */
export async function endMaintenance({ kysely, queries }: RegistryStore, id: string): Promise<void> {
  await queries.run(
    kysely
      .updateTable('maintenances')
      .set({ told: 'done', phase: 'ended', due_at: null })
      .where('id', '=', id),
  );
}

/** The filters of a query, without its page. */
type MaintenanceFilter = Omit<MaintenanceQuery, 'limit' | 'offset' | 'after'>;

function maintenancesOf(kysely: RegistryStore['kysely'], { serviceId }: MaintenanceFilter) {
  const found = kysely
    .selectFrom('maintenances')
    .innerJoin('services', 'services.id', 'maintenances.service_id')
    .where('maintenances.phase', '<>', sql.lit('ended'))
    .where('services.removed', '=', sql.lit(0));
  return serviceId === undefined ? found : found.where('service_id', '=', serviceId);
}

/** The maintenance in a row. */
export function toMaintenance({ due_at: _, told, updates, ...row }: Row<'maintenances'>): Maintenance {
  return { ...fromRow(row), reportedState: told, updates: JSON.parse(updates) };
}

/** The states of these services in the order of the input; empty for a service without vendor reports. */
export async function readVendorStates(
  { kysely, queries }: RegistryStore,
  serviceIds: readonly number[],
): Promise<VendorState[]> {
  const states: VendorState[] = [];
  for (const serviceId of serviceIds) {
    // Literals, not parameters, because SQLite otherwise does not use the partial indexes.
    const incidents = kysely
      .selectFrom('incidents')
      .where('service_id', '=', serviceId)
      .where('source', '=', sql.lit('vendor'));
    const open = await queries.all(
      incidents
        .select(['id', 'severity', 'started_at'])
        .where('resolved_at', 'is', null)
        .orderBy('started_at', 'desc')
        .orderBy('id'),
    );
    const last = await queries.first(incidents.select(({ fn }) => fn.max('resolved_at').as('at')));
    const maintenances = await queries.all(
      kysely
        .selectFrom('maintenances')
        .selectAll()
        .where('service_id', '=', serviceId)
        .where('phase', '<>', sql.lit('ended'))
        .orderBy('starts_at')
        .orderBy('id'),
    );
    states.push({
      serviceId,
      open: open.map(fromRow),
      lastResolvedAt: last?.at ?? null,
      maintenances: maintenances.map(toMaintenance),
    });
  }
  return states;
}

/** Maintenances, and the current vendor states. */
export const MAINTENANCE_CALLS: Calls<
  Pick<VendorStore, 'loadVendorStates' | 'listMaintenances' | 'countMaintenances' | 'maintenancesOfServices'>
> = {
  loadVendorStates: read(async (store) => {
    const { kysely, queries } = store;
    const rows = await queries.all(
      kysely.selectFrom('vendor_entries').select('service_id').distinct().orderBy('service_id'),
    );
    return await readVendorStates(
      store,
      rows.map((row) => row.service_id),
    );
  }),
  listMaintenances: read(async ({ kysely, queries }, query) => {
    const { after } = query;
    let found = maintenancesOf(kysely, query);
    if (after !== undefined)
      found = found
        .where('starts_at', '>=', after.startsAt)
        .where((eb) => eb.or([eb('starts_at', '>', after.startsAt), eb('maintenances.id', '>', after.id)]));
    const rows = await queries.all(
      found
        .selectAll('maintenances')
        .orderBy('starts_at')
        .orderBy('maintenances.id')
        .limit(query.limit)
        .offset(query.offset),
    );
    return rows.map(toMaintenance);
  }),
  countMaintenances: read(async ({ kysely, queries }, query) => {
    const counted = maintenancesOf(kysely, query).select((eb) => eb.fn.countAll<number>().as('total'));
    return (await queries.first(counted))?.total ?? 0;
  }),
  maintenancesOfServices: read(async ({ kysely, queries }, serviceIds, limit) => {
    if (serviceIds.length === 0) return [];
    const rows = await queries.all(
      kysely
        .selectFrom('maintenances')
        .innerJoin('services', 'services.id', 'maintenances.service_id')
        .selectAll('maintenances')
        .where('maintenances.phase', '<>', sql.lit('ended'))
        .where('services.removed', '=', sql.lit(0))
        .where('service_id', 'in', serviceIds)
        .orderBy('starts_at')
        .orderBy('maintenances.id')
        .limit(limit),
    );
    return rows.map(toMaintenance);
  }),
};
