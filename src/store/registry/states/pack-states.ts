/** Packs the states of services in the thread of the registry, right from the rows. */
import { getOrInsert } from '../../../async/bounded-map.ts';
import { CATEGORIES } from '../../../domain/category.ts';
import type { Incident } from '../../../domain/incident/incident.ts';
import { memoryFlags, packTiming, SOURCES } from '../../../domain/packed.ts';
import { NO_MEMORY, type ProbeMemory } from '../../../domain/result.ts';
import type { Service } from '../../../domain/service.ts';
import type { StoredCheck } from '../../../domain/status/current.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../../../domain/status.ts';
import type { Row } from '../../database/schema.ts';
import { RARE_COLUMNS, readRareMembers } from '../services/service-rows.ts';
import { AT, FLAG, type PackedStates, type RareMembers, STRIDE } from './packed-states.ts';
import { toCurrent, toMemory } from './update-rows.ts';

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
  const rest: [number, RareMembers][] = [];
  const memories = new Map<string, ProbeMemory>();
  for (const [index, list] of lists.entries()) {
    const row = toRow(list as unknown as PackedList);
    const at = index * STRIDE;
    const latest: StoredCheck | null = row.latest === null ? null : JSON.parse(row.latest);
    const isPlain = fitsNumbers(row, latest);
    texts.push(row.slug, row.name, row.domain);
    packDefinition(numbers, at, row, checks.placeOf(row.check_definition));
    packMemory(numbers, at, memoryOf(row.memory, memories));
    if (isPlain) packStatus(numbers, at, row.status, latest, words.placeOf);
    const optional = readRareMembers(list, PLAIN_COLUMNS.length);
    const members = rareMembersOf(row, optional, isPlain, incidents.get(row.id));
    if (members !== null) rest.push([index, members]);
  }
  return { numbers, texts: JSON.stringify(texts), checks: checks.all(), words: words.all(), rest };
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
  isPlain: boolean,
  openIncident: Incident | undefined,
): RareMembers | null {
  const isKnown = CATEGORIES.includes(row.category);
  if (
    isPlain &&
    isKnown &&
    optional === null &&
    openIncident === undefined &&
    row.timestamp === null &&
    row.arrived_at === null
  )
    return null;
  return {
    ...(isPlain ? {} : { current: toCurrent({ ...row, service_id: row.id }) }),
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
