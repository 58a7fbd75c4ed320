/**
 * States of services on their way from the thread of the registry. Packed, a page of them is one array of numbers, one text
 * and the few checks that differ, so that an object is copied for none of them. What few services have travels beside.
 */
import { CATEGORIES, type Category } from '../../../domain/category.ts';
import { SOURCES, unpackMemory, unpackNullable, unpackTiming } from '../../../domain/packed.ts';
import type { Service } from '../../../domain/service.ts';
import type { CurrentStatus, LatestCheck } from '../../../domain/status/current.ts';
import { SERVICE_STATUSES, type ServiceStatus, type Verdict } from '../../../domain/status.ts';
import type { ServiceState } from '../../ports/services.ts';
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
  /** By index: what few services have, and what does not fit the numbers. */
  readonly rest: readonly (readonly [index: number, members: RareMembers])[];
}

/** Members that replace those made of the numbers. */
export interface RareMembers extends Omit<Partial<ServiceState>, 'service' | 'memory'> {
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
export function unpackStates({ numbers, texts, checks, words, rest }: PackedStates): ServiceState[] {
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
