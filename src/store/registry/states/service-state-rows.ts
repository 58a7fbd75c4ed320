/** Services with their states, as the monitor and the nodes read them. */
import type { CheckTarget } from '../../../domain/check-target.ts';
import { isCheckedFrom } from '../../../domain/check-timing.ts';
import type { Incident } from '../../../domain/incident/incident.ts';
import { SHARDS } from '../../../domain/node.ts';
import type { LatestCheck, StoredRegions } from '../../../domain/status/current.ts';
import { errorCodeOf } from '../../../error.ts';
import { type Calls, read } from '../../database/registry-calls.ts';
import { type Batch, type RegistryStore, sql } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import { loadInPages, type ServiceState, type ServiceStateStore } from '../../ports/services.ts';
import { toIncident } from '../incidents/incident-rows.ts';
import { type ServiceRow, toService } from '../services/service-rows.ts';
import { toCheck } from '../services/shared-checks.ts';
import { PACKED_COLUMNS, packStates } from './pack-states.ts';
import { type PackedStates, type StateMethods, unpackStates } from './packed-states.ts';
import { toCurrent, toMemory } from './update-rows.ts';

/** Services with their states. */
export const SERVICE_STATE_CALLS = {
  loadServices: read((store) =>
    loadInPages({
      lastServiceId: () => lastServiceId(store),
      servicesBetween: async (afterId, untilId) => unpackStates(await packedBetween(store, afterId, untilId)),
    }),
  ),
  packedBetween: read(packedBetween),
  lastServiceId: read(lastServiceId),
  statesOf: read(async ({ queries }, serviceIds) => {
    const lists = serviceIds.map((id) => [id]);
    const [rows, incidents] = await Promise.all([
      queries.firstEach(READ_STATE, lists),
      queries.firstEach(READ_OPEN_INCIDENT, lists),
    ]);
    return rows.flatMap((row, index) => {
      const incident = incidents[index];
      return row === undefined ? [] : [toState(row, incident === undefined ? null : toIncident(incident))];
    });
  }),
  loadTargets: read((store, shards, region) =>
    readTargets(store, sql<number>`services.id % ${sql.lit(SHARDS)}`, shards, region),
  ),
  targetsOf: read((store, serviceIds, region) =>
    readTargets(store, sql<number>`services.id`, serviceIds, region),
  ),
} satisfies Partial<Calls<ServiceStateStore & StateMethods>>;

/** The services whose `key` is among the values, as they are checked from the region. */
async function readTargets(
  store: RegistryStore,
  key: ReturnType<typeof sql<number>>,
  values: readonly number[],
  region: string,
): Promise<CheckTarget[]> {
  if (values.length === 0) return [];
  const rows = await readTargetRows(store, key, values);
  return rows.flatMap(({ id, check_definition, latest, regions, memory, account_id, ...row }) => {
    const check = toCheck(check_definition);
    if (check.kind === 'heartbeat' || !isCheckedFrom(check, region)) return [];
    const lastCheckedAt = lastCheckOf(latest, regions, region);
    const known = { check, memory: toMemory(memory), lastCheckedAt };
    return [{ serviceId: id, ...row, accountId: account_id, ...known }];
  });
}

/** Their rows. The user of a node that only makes checks may lack the right to read their accounts. */
async function readTargetRows(
  { kysely, queries }: RegistryStore,
  key: ReturnType<typeof sql<number>>,
  values: readonly number[],
) {
  const targets = kysely
    .selectFrom('services')
    .innerJoin('current', 'current.service_id', 'services.id')
    .select(['id', 'revision', 'domain', 'origin', 'check_definition', 'latest', 'regions', 'memory'])
    .where('removed', '=', 0)
    .where('paused', '=', 0)
    .where('verified', '=', 1)
    .where(key, 'in', [...values])
    .orderBy('services.id');
  try {
    return await queries.all(targets.select('account_id'));
  } catch (error) {
    if (errorCodeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    return await queries.all(targets.select(sql.lit<number | null>(null).as('account_id')));
  }
}

/** PostgreSQL, Appendix A. */
const INSUFFICIENT_PRIVILEGE = '42501';

async function lastServiceId({ kysely, queries }: RegistryStore): Promise<number> {
  const newest = kysely.selectFrom('services').select('id').orderBy('id', 'desc').limit(1);
  return (await queries.first(newest))?.id ?? 0;
}

async function packedBetween(
  { kysely, queries }: RegistryStore,
  afterId: number,
  untilId: number,
): Promise<PackedStates> {
  const rows = await queries.lists(
    kysely
      .selectFrom('services')
      .innerJoin('current', 'current.service_id', 'services.id')
      .leftJoin('heartbeat_services', (join) =>
        join
          .onRef('heartbeat_services.service_id', '=', 'services.id')
          .on('heartbeat_services.service_id', '>', afterId)
          .on('heartbeat_services.service_id', '<=', untilId),
      )
      .select(PACKED_COLUMNS)
      .where('removed', '=', 0)
      .where('services.id', '>', afterId)
      .where('services.id', '<=', untilId)
      // PostgreSQL does not conclude it, and would read the joined tables from their beginning for each page.
      .where('current.service_id', '>', afterId)
      .where('current.service_id', '<=', untilId)
      .orderBy('services.id'),
  );
  const incidents = await queries.all(
    kysely
      .selectFrom('incidents')
      .selectAll()
      .where('source', '=', sql.lit('own'))
      .where('status', '<>', sql.lit('resolved'))
      .where('service_id', '>', afterId)
      .where('service_id', '<=', untilId)
      // As in READ_OPEN_INCIDENT.
      .orderBy('started_at')
      .orderBy('id'),
  );
  return packStates(rows, new Map(incidents.map((row) => [row.service_id, toIncident(row)])));
}

/** A row of the services table, with those of the service in the tables `current` and `heartbeat_services`. */
type StateRow = ServiceRow &
  Row<'current'> & { readonly timestamp: number | null; readonly arrived_at: number | null };

const READ_STATE: Batch<StateRow> = {
  types: ['bigint'],
  sql: `SELECT services.*, current.service_id, seq, observed_at, status, since, latest, regions, memory, timestamp, arrived_at
   FROM services JOIN current ON current.service_id = services.id
     LEFT JOIN heartbeat_services ON heartbeat_services.service_id = services.id
   WHERE services.id = ? AND removed = 0`,
};
/** Normally one incident is open. If there are several, the newest counts. */
const READ_OPEN_INCIDENT: Batch<Row<'incidents'>> = {
  types: ['bigint'],
  sql: `SELECT * FROM incidents WHERE service_id = ? AND source = 'own' AND status <> 'resolved'
   ORDER BY started_at DESC, id DESC LIMIT 1`,
};

function toState(row: StateRow, openIncident: Incident | null): ServiceState {
  return {
    service: toService(row),
    current: toCurrent(row),
    memory: toMemory(row.memory),
    openIncident,
    ...(row.timestamp === null ? {} : { newestTimestamp: row.timestamp }),
    ...(row.arrived_at === null ? {} : { lastArrivedAt: row.arrived_at }),
  };
}

/** Time of the region's last check of the service; if at most one region checks, the time of the last check. */
function lastCheckOf(latest: string | null, stored: string | null, region: string): number | null {
  const check: Pick<LatestCheck, 'checkedAt'> | null = latest === null ? null : JSON.parse(latest);
  if (stored === null) return check?.checkedAt ?? null;
  const { regions }: StoredRegions = JSON.parse(stored);
  const own = regions.find((one) => one.region === region);
  return own === undefined ? null : ((own.check ?? check)?.checkedAt ?? null);
}
