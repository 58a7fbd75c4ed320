/**
 * States of services and updates on their way from and to the thread of the registry. Packed, a page of states is one array of numbers, one
 * text and the few checks that differ, so that an object is copied for none of them; updates that only refresh records are lists.
 */
import { SOURCES, unpackMemory, unpackNullable, unpackTiming } from '../../../domain/packed.ts';
import { CATEGORIES, type Category, type Service } from '../../../domain/service.ts';
import {
  type CurrentStatus,
  fromStoredStatus,
  type LatestCheck,
  type StoredCheck,
  type StoredRegions,
  toStoredCheck,
  toStoredRegions,
} from '../../../domain/status/current.ts';
import { SERVICE_STATUSES, type ServiceStatus, type Verdict } from '../../../domain/status.ts';
import type { Parameters } from '../../database/registry-store.ts';
import type { ServiceState } from '../../ports/services.ts';
import type { CommitOutcome, StatusUpdate } from '../../ports/updates.ts';
import { toCheck } from '../services/shared-checks.ts';

/** States that cross threads; `packStates` makes them. */
export interface PackedStates {
  /** {@link STRIDE} numbers for each service; NaN stands for null. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** JSON of slug, name and domain of each service, one after the other: it is parsed faster than a list of texts is copied. */
  readonly texts: string;
  /** JSON of the checks that the numbers refer to by place. */
  readonly checks: readonly string[];
  /** Words of health bodies that the numbers refer to by place, from 1; 0: none. */
  readonly words: readonly string[];
  /** JSON of the {@link LongStatus}es, of all services where several regions check: it is parsed faster than objects are copied. */
  readonly statuses: string;
  /** By index: what few services have. */
  readonly rest: readonly (readonly [index: number, members: RareMembers])[];
}

/** The status of the service at `index` that does not fit the numbers. */
type LongStatus = readonly [
  index: number,
  status: ServiceStatus,
  latest: StoredCheck | null,
  regions: StoredRegions | null,
];

/** Members that replace those made of the numbers. */
export interface RareMembers extends Omit<Partial<ServiceState>, 'service' | 'current' | 'memory'> {
  readonly service?: Partial<Service>;
}

/** A method of this adapter only. */
export interface StateMethods {
  /** The states of `servicesBetween`. */
  packedBetween(afterId: number, untilId: number): Promise<PackedStates>;
}

/** Numbers of a service. */
export const STRIDE = 19;
/** The place of each number; the newest check has ten. */
export const AT = {
  id: 0,
  revision: 1,
  accountId: 2,
  check: 3,
  seq: 4,
  observedAt: 5,
  since: 6,
  askHealthAt: 7,
  flags: 8,
  responseTimeMs: 9,
  statusCode: 10,
  checkedAt: 11,
  certificateExpiresAt: 12,
  /** Five phases. */
  timing: 13,
  word: 18,
} as const;
/** Bits of the flags, and where its small numbers begin: the places of words in lists. */
export const FLAG = {
  isOwned: 1,
  isVerified: 2,
  isPaused: 4,
  needsGet: 8,
  headSeen: 16,
  healthSeen: 32,
  hasLatest: 64,
  isBlocked: 128,
  statusShift: 8,
  verdictShift: 10,
  sourceShift: 12,
  categoryShift: 17,
} as const;

/** The packed states in order. They share checks, memories and words that are equal, because there may be a million of them. */
export function unpackStates(packed: PackedStates): ServiceState[] {
  const { numbers, texts, checks, words, statuses, rest } = packed;
  const names: readonly string[] = JSON.parse(texts);
  const definitions = checks.map(toCheck);
  const states: ServiceState[] = [];
  for (let at = 0, text = 0; at < numbers.length; at += STRIDE) {
    const id = numbers[at + AT.id] as number;
    const flags = numbers[at + AT.flags] as number;
    const service: Service = {
      id,
      slug: names[text++] as string,
      name: names[text++] as string,
      domain: names[text++] as string,
      category: CATEGORIES[flags >>> FLAG.categoryShift] as Category,
      origin: (flags & FLAG.isOwned) === 0 ? 'catalogue' : 'owner',
      accountId: unpackNullable(numbers[at + AT.accountId]),
      verified: (flags & FLAG.isVerified) !== 0,
      paused: (flags & FLAG.isPaused) !== 0,
      check: definitions[numbers[at + AT.check] as number] as Service['check'],
      statusPage: null,
      revision: numbers[at + AT.revision] as number,
    };
    const current: CurrentStatus = {
      serviceId: id,
      seq: numbers[at + AT.seq] as number,
      observedAt: numbers[at + AT.observedAt] as number,
      status: SERVICE_STATUSES[(flags >>> FLAG.statusShift) & 3] as ServiceStatus,
      since: unpackNullable(numbers[at + AT.since]),
      latest: (flags & FLAG.hasLatest) === 0 ? null : unpackCheck(numbers, at, flags, words),
    };
    const memory = unpackMemory(flags, numbers[at + AT.askHealthAt], FLAG);
    states.push({ service, current, memory, openIncident: null });
  }
  for (const [index, status, latest, regions] of JSON.parse(statuses) as readonly LongStatus[]) {
    const state = states[index] as ServiceState;
    const { serviceId, seq, observedAt, since } = state.current;
    const current = fromStoredStatus({ serviceId, seq, observedAt, status, since }, latest, regions);
    states[index] = { ...state, current };
  }
  for (const [index, { service, ...members }] of rest) {
    const state = states[index] as ServiceState;
    states[index] = { ...state, ...members, service: { ...state.service, ...service } };
  }
  return states;
}

function unpackCheck(
  numbers: Float64Array,
  at: number,
  flags: number,
  words: readonly string[],
): LatestCheck {
  // The order of the members is that of a check that was just made, so that both have the same JSON.
  return {
    status: SERVICE_STATUSES[(flags >>> FLAG.verdictShift) & 3] as Verdict,
    responseTimeMs: unpackNullable(numbers[at + AT.responseTimeMs]),
    statusCode: numbers[at + AT.statusCode] as number,
    checkedAt: numbers[at + AT.checkedAt] as number,
    source: SOURCES[(flags >>> FLAG.sourceShift) & 31] as LatestCheck['source'],
    reported: words[(numbers[at + AT.word] as number) - 1] ?? null,
    failure: null,
    blocked: (flags & FLAG.isBlocked) !== 0,
    timing: unpackTiming(numbers, at + AT.timing),
    certificateExpiresAt: unpackNullable(numbers[at + AT.certificateExpiresAt]),
  };
}

/** A method of this adapter only. */
export interface RoutineMethods {
  /** Writes the rows of {@link toRoutineRows}. Resolves with the records that another writer has changed, by their place. */
  commitRows(
    rows: readonly Parameters[],
  ): Promise<readonly (readonly [place: number, current: CurrentStatus])[]>;
}

/** The rows of updates; null: some do more than to refresh the record of a service, or there are several of one service. */
export function toRoutineRows(updates: readonly StatusUpdate[]): readonly Parameters[] | null {
  const services = new Set<number>();
  for (const { serviceId, transition, incident, heartbeat } of updates) {
    if (transition !== null || incident !== null || heartbeat !== undefined) return null;
    services.add(serviceId);
  }
  if (services.size < updates.length) return null;
  return updates.map(toRow);
}

/** The outcomes of `count` updates, from what {@link RoutineMethods.commitRows} resolves with. */
export function outcomesOf(
  count: number,
  stale: Awaited<ReturnType<RoutineMethods['commitRows']>>,
): CommitOutcome[] {
  const outcomes = Array.from({ length: count }, (): CommitOutcome => COMMITTED);
  for (const [place, current] of stale) outcomes[place] = { kind: 'stale', current };
  return outcomes;
}

const COMMITTED = { kind: 'committed', transition: null } as const;

/** The parameters of the statement that writes the record of an update. Throws for an update that contradicts itself. */
export function toRow(update: StatusUpdate): Parameters {
  checkUpdate(update);
  const { serviceId, expectedSeq, current, memory } = update;
  const { seq, observedAt, status, since, latest } = current;
  const check = latest === null ? null : JSON.stringify(toStoredCheck(latest));
  const learnt = memory === null ? null : JSON.stringify(memory);
  const kept = toStoredRegions(current);
  const regions = kept === null ? null : JSON.stringify(kept);
  return [seq, observedAt, status, since, check, regions, learnt, serviceId, expectedSeq];
}

/** Throws for an update that contradicts itself, which is a bug of the caller. */
export function checkUpdate({ serviceId, expectedSeq, current, transition, incident }: StatusUpdate): void {
  const steps = current.seq - expectedSeq;
  const consistent =
    current.serviceId === serviceId &&
    (transition === null
      ? steps === 0
      : steps === 1 &&
        transition.serviceId === serviceId &&
        transition.seq === current.seq &&
        transition.to === current.status) &&
    (incident === null || incident.serviceId === serviceId);
  if (!consistent)
    throw new Error(
      `update of service ${serviceId} contradicts itself: seq ${expectedSeq} to ${current.seq}, ${transition === null ? 'no transition' : `transition ${transition.seq} to ${transition.to}`}`,
    );
}
