/** Reading what heartbeats left: the last of them, and what they say of dependencies. */

import type { Dependencies, FailingDependency, StoredHeartbeat } from '../ports/heartbeats.ts';
import { KEPT_HEARTBEATS } from './heartbeat-rows.ts';
import { sql } from './kysely.ts';
import type { RegistryStore } from './registry-store.ts';

/** The last heartbeats of a service, newest first. */
export async function recentHeartbeats(
  { kysely, queries }: RegistryStore,
  serviceId: number,
): Promise<StoredHeartbeat[]> {
  const first = serviceId * KEPT_HEARTBEATS;
  return (
    await queries.all(
      kysely
        .selectFrom('heartbeats')
        .selectAll()
        .where('id', '>=', first)
        .where('id', '<', first + KEPT_HEARTBEATS)
        .orderBy('number', 'desc'),
    )
  ).map((row) => ({
    kind: row.kind,
    arrivedAt: row.arrived_at,
    timestamp: row.timestamp,
    counted: row.counted === 1,
    verdict: row.verdict,
    responseTimeMs: row.response_time,
    run: row.run,
    body: row.body,
    runMs: row.run_ms,
  }));
}

/** What a service says of its dependencies. */
export async function dependenciesOf(
  { kysely, queries }: RegistryStore,
  serviceId: number,
  limit: number,
): Promise<Dependencies> {
  const row = await queries.first(
    kysely
      .selectFrom('heartbeat_services')
      .select(['reported_at', 'dependencies'])
      .where('service_id', '=', serviceId),
  );
  const changes = await queries.all(
    kysely
      .selectFrom('dependency_changes')
      .select(['name', 'status', 'at'])
      .where('service_id', '=', serviceId)
      .orderBy('id', 'desc')
      .limit(limit),
  );
  return {
    reportedAt: row?.reported_at ?? null,
    dependencies: JSON.parse(row?.dependencies ?? '[]'),
    changes: changes.map(({ name, status, at }) => ({ name, status, at })),
  };
}

/** Dependencies reported as failing now; a service that is silent, paused or no longer sends says nothing now. */
export async function failingDependencies(
  { kysely, queries }: RegistryStore,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<FailingDependency[]> {
  return (
    await queries.all(
      failingPublicly(kysely)
        .select((eb) => [
          'folded as name',
          eb.fn.count<number>('services.id').distinct().as('services'),
          eb.fn.min('failing_dependencies.since').as('since'),
        ])
        .groupBy('folded')
        .orderBy('services', 'desc')
        .orderBy('name')
        .limit(limit)
        .offset(offset),
    )
  ).map(({ name, services, since }) => ({ name, services, since }));
}

/** How many dependencies `failingDependencies` has over all its pages. */
export async function countFailingDependencies({ kysely, queries }: RegistryStore): Promise<number> {
  const counted = failingPublicly(kysely).select((eb) =>
    eb.fn.count<number>('folded').distinct().as('total'),
  );
  return (await queries.first(counted))?.total ?? 0;
}

/** What fails by the word of services that are verified, at work, heard of, and public about it. */
function failingPublicly(kysely: RegistryStore['kysely']) {
  return kysely
    .selectFrom('failing_dependencies')
    .innerJoin('services', 'services.id', 'failing_dependencies.service_id')
    .innerJoin('current', 'current.service_id', 'services.id')
    .where('services.removed', '=', 0)
    .where('services.paused', '=', 0)
    .where('services.verified', '=', 1)
    .where('services.public_dependencies', '=', 1)
    .where(sql`json_extract(services.check_definition, '$.kind')`, '=', 'heartbeat')
    .where(sql`coalesce(json_extract(current.latest, '$.source'), '')`, '<>', 'silence');
}
