/** Everything that the record and the engine must know at start. */

import { NO_MEMORY } from '../../domain/result.ts';
import type { ServiceState } from '../ports/services.ts';
import { toIncident } from './incident-rows.ts';
import { sql } from './kysely.ts';
import type { RegistryStore } from './registry-store.ts';
import { toService } from './service-rows.ts';
import { toCurrent } from './update-rows.ts';

/** Every service that is not removed, by id, with its state. */
export async function loadServices({ kysely, queries }: RegistryStore): Promise<ServiceState[]> {
  const open = new Map(
    (
      await queries.all(
        kysely
          .selectFrom('incidents')
          .selectAll()
          .where('source', '=', sql.lit('own'))
          .where('status', '<>', sql.lit('resolved'))
          // Only one should be open; were there two, the newest counts.
          .orderBy('started_at')
          .orderBy('id'),
      )
    ).map((row) => [row.service_id, toIncident(row)]),
  );
  return (
    await queries.all(
      kysely
        .selectFrom('services')
        .innerJoin('current', 'current.service_id', 'services.id')
        .leftJoin('heartbeat_services', 'heartbeat_services.service_id', 'services.id')
        .selectAll('services')
        .select([
          'current.service_id',
          'seq',
          'observed_at',
          'status',
          'since',
          'latest',
          'memory',
          'timestamp',
          'arrived_at',
        ])
        .where('removed', '=', 0)
        .orderBy('services.id'),
    )
  ).map((row) => ({
    service: toService(row),
    current: toCurrent(row),
    memory: row.memory === null ? NO_MEMORY : { ...NO_MEMORY, ...JSON.parse(row.memory) },
    openIncident: open.get(row.id) ?? null,
    ...(row.timestamp === null ? {} : { newestTimestamp: row.timestamp }),
    ...(row.arrived_at === null ? {} : { lastArrivedAt: row.arrived_at }),
  }));
}
