/** What happens to the services of a page: incidents and maintenances of several services at once. */
import { sql } from 'kysely';
import type { Incident } from '../../domain/incident.ts';
import type { Maintenance } from '../../domain/maintenance.ts';
import type { ServicesIncidentQuery } from '../ports/incidents.ts';
import { readPage } from './incident-rows.ts';
import { toMaintenance } from './maintenance-rows.ts';
import type { RegistryStore } from './registry-store.ts';

/** Newest start first, then id. Those of removed services are left out. */
export function incidentsOfServices(
  { kysely, queries }: RegistryStore,
  query: ServicesIncidentQuery,
): Incident[] {
  const { serviceIds, running } = query;
  if (serviceIds.length === 0) return [];
  let page = kysely
    .selectFrom('incidents')
    .select('id')
    .where('service_id', 'in', serviceIds)
    .where('listed', '=', sql.lit(1));
  if (running !== undefined) page = page.where('status', running ? '<>' : '=', 'resolved');
  return readPage({ kysely, queries }, page, query);
}

/** Planned and running ones by their start, then id. */
export function maintenancesOfServices(
  { kysely, queries }: RegistryStore,
  serviceIds: readonly number[],
  limit: number,
): Maintenance[] {
  if (serviceIds.length === 0) return [];
  return queries
    .all(
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
    )
    .map(toMaintenance);
}
