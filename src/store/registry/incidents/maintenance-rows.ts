/** Maintenances that vendors and owners announce, and the current vendor state of each service. */
import type { ExpressionBuilder } from 'kysely';
import { type Maintenance, nextPhaseAt } from '../../../domain/incident/maintenance.ts';
import { type Calls, read } from '../../database/registry-calls.ts';
import { type Batch, fromRow, type RegistryStore, sql, statement } from '../../database/registry-store.ts';
import type { RegistrySchema, Row } from '../../database/schema.ts';
import type { MaintenanceFilter, VendorState, VendorStore } from '../../ports/vendors.ts';

/** Writes a maintenance, new or changed. `dueAt`: when the monitor looks at it next, epoch milliseconds; null: never. */
export async function writeMaintenance(
  { kysely, queries }: RegistryStore,
  maintenance: Maintenance,
  now: number,
  dueAt = nextPhaseAt(maintenance, now),
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
    due_at: dueAt,
    source_url: maintenance.sourceUrl,
    updates: JSON.stringify(maintenance.updates),
    owner_id: maintenance.ownerId ?? null,
    announced_at: maintenance.announcedAt ?? null,
    elsewhere: maintenance.isElsewhere === true ? 1 : 0,
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

function maintenancesOf(
  kysely: RegistryStore['kysely'],
  { serviceId, phase, verifiedOnly = false, orOf = [] }: MaintenanceFilter,
) {
  let found = kysely
    .selectFrom('maintenances')
    .innerJoin('services', 'services.id', 'maintenances.service_id')
    .where('maintenances.phase', '<>', sql.lit('ended'))
    .where(isInForce)
    .where('services.removed', '=', sql.lit(0));
  if (phase !== undefined) found = found.where('maintenances.phase', '=', phase);
  // Who names a service may see it.
  if (serviceId !== undefined) return found.where('service_id', '=', serviceId);
  return found.where((eb) => {
    const isEveryones = eb.and([
      eb('services.visibility', 'is', null),
      ...(verifiedOnly ? [eb('services.verified', '=', sql.lit(1))] : []),
    ]);
    return orOf.length === 0 ? isEveryones : eb.or([isEveryones, eb('services.account_id', 'in', orOf)]);
  });
}

/** Leaves out what its owner has withdrawn and the monitor has not ended yet. */
function isInForce(eb: ExpressionBuilder<RegistrySchema, 'maintenances'>) {
  return eb.or([eb('maintenances.owner_id', 'is', null), eb('told', '<>', 'done')]);
}

export function toMaintenance(row: Row<'maintenances'>): Maintenance {
  const { due_at: _, told, updates, owner_id: ownerId, announced_at: announcedAt, elsewhere, ...rest } = row;
  return {
    ...fromRow(rest),
    reportedState: told,
    updates: JSON.parse(updates),
    ...(ownerId === null ? {} : { ownerId }),
    ...(announcedAt === null ? {} : { announcedAt }),
    ...(elsewhere === 1 ? { isElsewhere: true } : {}),
  };
}

// Literals, not parameters, because SQLite otherwise does not use the partial indexes.
const OF_VENDOR = "service_id = ? AND source = 'vendor' AND by_owner = 0";
const OPEN: Batch<Pick<Row<'incidents'>, 'id' | 'severity' | 'started_at'>> = {
  types: ['bigint'],
  sql: `SELECT id, severity, started_at FROM incidents WHERE ${OF_VENDOR} AND resolved_at IS NULL ORDER BY started_at DESC, id`,
};
const LAST: Batch<{ readonly at: number | null }> = {
  types: ['bigint'],
  sql: `SELECT max(resolved_at) AS at FROM incidents WHERE ${OF_VENDOR}`,
};
const AHEAD: Batch<Row<'maintenances'>> = {
  types: ['bigint'],
  sql: "SELECT * FROM maintenances WHERE service_id = ? AND phase <> 'ended' ORDER BY starts_at, id",
};

/** The states of these services in the order of the input; empty for a service without vendor reports. */
export async function readVendorStates(
  store: RegistryStore,
  serviceIds: readonly number[],
): Promise<VendorState[]> {
  const { queries } = store;
  const lists = serviceIds.map((id) => [id]);
  // All of them in one round trip: a judge does not begin without them.
  const [open, last, maintenances] = await Promise.all([
    queries.allEach(OPEN, lists),
    queries.firstEach(LAST, lists),
    queries.allEach(AHEAD, lists),
  ]);
  return serviceIds.map((serviceId, index) => ({
    serviceId,
    open: (open[index] ?? []).map(fromRow),
    lastResolvedAt: last[index]?.at ?? null,
    maintenances: (maintenances[index] ?? []).map(toMaintenance),
  }));
}

// Steps from one service to the next one by the index, so that the cost does not depend on the number of entries.
const WITH_ENTRIES = statement<{ readonly service_id: number }>(
  `WITH RECURSIVE listed (service_id) AS (
     SELECT min(service_id) FROM vendor_entries
     UNION ALL
     SELECT (SELECT min(service_id) FROM vendor_entries WHERE service_id > listed.service_id)
     FROM listed WHERE listed.service_id IS NOT NULL)
   SELECT service_id FROM listed WHERE service_id IS NOT NULL`,
);

/** Maintenances, and the current vendor states. */
export const MAINTENANCE_CALLS = {
  loadVendorStates: read(async (store) => {
    const { kysely, queries } = store;
    const ofOwners = kysely
      .selectFrom('maintenances')
      .select('service_id')
      .distinct()
      .where('owner_id', 'is not', null)
      .where('phase', '<>', sql.lit('ended'));
    const rows = await Promise.all([queries.all(WITH_ENTRIES()), queries.all(ofOwners)]);
    const serviceIds = new Set(rows.flat().map((row) => row.service_id));
    return await readVendorStates(
      store,
      [...serviceIds].sort((a, b) => a - b),
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
        .where(isInForce)
        .where('services.removed', '=', sql.lit(0))
        .where('service_id', 'in', serviceIds)
        .orderBy('starts_at')
        .orderBy('maintenances.id')
        .limit(limit),
    );
    return rows.map(toMaintenance);
  }),
} satisfies Partial<Calls<VendorStore>>;
