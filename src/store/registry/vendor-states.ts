/** What vendors say now of each service, for the copy in the process. */

import type { VendorState } from '../ports/vendors.ts';
import { sql } from './kysely.ts';
import { toMaintenance } from './maintenance-rows.ts';
import type { RegistryStore } from './registry-store.ts';

/** The state of these services, in the order given; one that no vendor speaks of has an empty one. */
export async function readVendorStates(
  { kysely, queries }: RegistryStore,
  serviceIds: readonly number[],
): Promise<VendorState[]> {
  const states: VendorState[] = [];
  for (const serviceId of serviceIds) {
    // Literals, not parameters: only so SQLite knows that the partial indexes serve.
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
      open: open.map(({ id, severity, started_at }) => ({ id, severity, startedAt: started_at })),
      lastResolvedAt: last?.at ?? null,
      maintenances: maintenances.map(toMaintenance),
    });
  }
  return states;
}

/** The states of every service that a vendor ever spoke of. */
export async function loadVendorStates(store: RegistryStore): Promise<VendorState[]> {
  const { kysely, queries } = store;
  const rows = await queries.all(
    kysely.selectFrom('vendor_entries').select('service_id').distinct().orderBy('service_id'),
  );
  return await readVendorStates(
    store,
    rows.map((row) => row.service_id),
  );
}
