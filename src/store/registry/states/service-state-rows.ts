/** Services with their states, as the monitor and the nodes read them. */
import { getOrInsert } from '../../../async/bounded-map.ts';
import { type CheckTarget, isCheckedFrom } from '../../../domain/check-target.ts';
import type { Incident } from '../../../domain/incident/incident.ts';
import { SHARDS } from '../../../domain/node.ts';
import { memoryFlags, packTiming, SOURCES } from '../../../domain/packed.ts';
import { NO_MEMORY, type ProbeMemory } from '../../../domain/result.ts';
import { CATEGORIES, type Service } from '../../../domain/service.ts';
import type { LatestCheck, StoredCheck, StoredRegions } from '../../../domain/status/current.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../../../domain/status.ts';
import { errorCodeOf } from '../../../error.ts';
import { type Calls, read } from '../../database/registry-calls.ts';
import { type Batch, type RegistryStore, sql } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import { loadInPages, type ServiceState, type ServiceStateStore } from '../../ports/services.ts';
import { toIncident } from '../incidents/incident-rows.ts';
import { RARE_COLUMNS, readRareMembers, type ServiceRow, toService } from '../services/service-rows.ts';
import { toCheck } from '../services/shared-checks.ts';
import {
  AT,
  FLAG,
  type PackedStates,
  type RareMembers,
  STRIDE,
  type StateMethods,
  unpackStates,
} from './packed-states.ts';
import { toCurrent, toMemory } from './update-rows.ts';

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

/** The row of a service: of the tables `services`, `current` and `heartbeat_services`. */
export type PackedRow = Omit<Row<'services'>, 'dashed' | 'removed' | 'ever_verified' | 'unproven'> &
  Omit<Row<'current'>, 'service_id'> & {
    readonly timestamp: number | null;
    readonly arrived_at: number | null;
  };

const PLAIN_COLUMNS = [
  'id',
  'slug',
  'name',
  'domain',
  'category',
  'origin',
  'account_id',
  'verified',
  'paused',
  'check_definition',
  'revision',
  'seq',
  'observed_at',
  'status',
  'since',
  'latest',
  'regions',
  'memory',
  'timestamp',
  'arrived_at',
] as const satisfies (keyof PackedRow)[];

/** The columns, in the order in which `packStates` takes their values. */
export const PACKED_COLUMNS = [...PLAIN_COLUMNS, ...RARE_COLUMNS];

type Columns = typeof PLAIN_COLUMNS;
type PlainRow = Pick<PackedRow, Columns[number]>;
type PackedList = { readonly [Place in keyof Columns]: PackedRow[Columns[Place] & keyof PackedRow] };

/** Packs the states in the order of their rows, which are lists of values. `incidents`: the open ones, by service. */
export function packStates(
  lists: readonly (readonly unknown[])[],
  incidents: ReadonlyMap<number, Incident>,
): PackedStates {
  const numbers = new Float64Array(lists.length * STRIDE);
  const texts: string[] = [];
  const checks = createPlaces();
  const words = createPlaces();
  // As they are stored: none is parsed to be written again. A null stands in a template as JSON has it.
  const statuses: string[] = [];
  const rest: [number, RareMembers][] = [];
  const memories = new Map<string, ProbeMemory>();
  for (const [index, list] of lists.entries()) {
    const row = toRow(list as unknown as PackedList);
    const at = index * STRIDE;
    const latest = row.regions === null ? readCheck(row.latest) : null;
    const isPlain = fitsNumbers(row, latest);
    texts.push(row.slug, row.name, row.domain);
    packDefinition(numbers, at, row, checks.placeOf(row.check_definition));
    packMemory(numbers, at, memoryOf(row.memory, memories));
    if (isPlain) packStatus(numbers, at, row.status, latest, words.placeOf);
    else statuses.push(`[${index},${JSON.stringify(row.status)},${row.latest},${row.regions}]`);
    const optional = readRareMembers(list, PLAIN_COLUMNS.length);
    const members = rareMembersOf(row, optional, incidents.get(row.id));
    if (members !== null) rest.push([index, members]);
  }
  return {
    numbers,
    texts: JSON.stringify(texts),
    checks: checks.all(),
    words: words.all(),
    statuses: `[${statuses.join()}]`,
    rest,
  };
}

/** A row whose members are read many times as fast as those of the objects that the driver of SQLite makes. */
function toRow(list: PackedList): PlainRow {
  return {
    id: list[0],
    slug: list[1],
    name: list[2],
    domain: list[3],
    category: list[4],
    origin: list[5],
    account_id: list[6],
    verified: list[7],
    paused: list[8],
    check_definition: list[9],
    revision: list[10],
    seq: list[11],
    observed_at: list[12],
    status: list[13],
    since: list[14],
    latest: list[15],
    regions: list[16],
    memory: list[17],
    timestamp: list[18],
    arrived_at: list[19],
  };
}

function packDefinition(numbers: Float64Array, at: number, row: PlainRow, check: number): void {
  numbers[at + AT.id] = row.id;
  numbers[at + AT.revision] = row.revision;
  numbers[at + AT.accountId] = row.account_id ?? Number.NaN;
  numbers[at + AT.check] = check;
  numbers[at + AT.seq] = row.seq;
  numbers[at + AT.observedAt] = row.observed_at;
  numbers[at + AT.since] = row.since ?? Number.NaN;
  numbers[at + AT.flags] =
    (row.origin === 'owner' ? FLAG.isOwned : 0) |
    (row.verified === 1 ? FLAG.isVerified : 0) |
    (row.paused === 1 ? FLAG.isPaused : 0) |
    (Math.max(0, CATEGORIES.indexOf(row.category)) << FLAG.categoryShift);
}

function packMemory(numbers: Float64Array, at: number, memory: ProbeMemory): void {
  numbers[at + AT.askHealthAt] = memory.askHealthAt ?? Number.NaN;
  numbers[at + AT.flags] = (numbers[at + AT.flags] as number) | memoryFlags(memory, FLAG);
}

/** `known`: memories by their texts. Most are equal. */
function memoryOf(stored: string | null, known: Map<string, ProbeMemory>): ProbeMemory {
  return stored === null ? NO_MEMORY : getOrInsert(known, stored, () => toMemory(stored));
}

function readCheck(stored: string | null): StoredCheck | null {
  return stored === null ? null : JSON.parse(stored);
}

/** Returns true if a status is whole in numbers: it has no failure and no regions, and only words of this version. */
function fitsNumbers({ status, regions }: PlainRow, latest: StoredCheck | null): boolean {
  if (regions !== null || !SERVICE_STATUSES.includes(status)) return false;
  return (
    latest === null ||
    (latest.failure === null && SERVICE_STATUSES.includes(latest.status) && SOURCES.includes(latest.source))
  );
}

// biome-ignore lint/complexity/useMaxParams: called for each of up to a million services
function packStatus(
  numbers: Float64Array,
  at: number,
  status: ServiceStatus,
  latest: StoredCheck | null,
  placeOfWord: (word: string) => number,
): void {
  let flags = (numbers[at + AT.flags] as number) | (SERVICE_STATUSES.indexOf(status) << FLAG.statusShift);
  if (latest !== null) {
    flags |=
      FLAG.hasLatest |
      (latest.blocked ? FLAG.isBlocked : 0) |
      (SERVICE_STATUSES.indexOf(latest.status) << FLAG.verdictShift) |
      (SOURCES.indexOf(latest.source) << FLAG.sourceShift);
    const { timing, reported = null } = latest;
    numbers[at + AT.responseTimeMs] = latest.responseTimeMs ?? Number.NaN;
    numbers[at + AT.statusCode] = latest.statusCode;
    numbers[at + AT.checkedAt] = latest.checkedAt;
    numbers[at + AT.certificateExpiresAt] = latest.certificateExpiresAt ?? Number.NaN;
    packTiming(numbers, at + AT.timing, timing);
    numbers[at + AT.word] = reported === null ? 0 : placeOfWord(reported) + 1;
  }
  numbers[at + AT.flags] = flags;
}

/** Null: the service has none. */
function rareMembersOf(
  row: PlainRow,
  optional: Partial<Service> | null,
  openIncident: Incident | undefined,
): RareMembers | null {
  const isKnown = CATEGORIES.includes(row.category);
  if (
    isKnown &&
    optional === null &&
    openIncident === undefined &&
    row.timestamp === null &&
    row.arrived_at === null
  )
    return null;
  return {
    ...(isKnown && optional === null
      ? {}
      : { service: { ...(isKnown ? {} : { category: row.category }), ...optional } }),
    ...(openIncident === undefined ? {} : { openIncident }),
    ...(row.timestamp === null ? {} : { newestTimestamp: row.timestamp }),
    ...(row.arrived_at === null ? {} : { lastArrivedAt: row.arrived_at }),
  };
}

/** Numbers texts from 0, in the order in which they come first. */
function createPlaces() {
  const places = new Map<string, number>();
  return {
    placeOf(text: string): number {
      const known = places.get(text);
      if (known !== undefined) return known;
      places.set(text, places.size);
      return places.size - 1;
    },
    all: (): readonly string[] => [...places.keys()],
  };
}
