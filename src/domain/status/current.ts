/** The current status of a service, and the transitions between statuses. */
import { type Failure, fromStoredFailure, type StoredFailure, toStoredFailure } from '../failure.ts';
import type { StatusReason } from '../incident/incident.ts';
import type { Timing } from '../result.ts';
import type { ProbedKind } from '../service.ts';
import type { ServiceStatus, Verdict } from '../status.ts';

/** The newest check or heartbeat of a service. */
export interface LatestCheck {
  readonly status: Verdict;
  /** Whole milliseconds; null when no response arrived. */
  readonly responseTimeMs: number | null;
  /** 0 when no HTTP response arrived; 200 for a heartbeat (decisions). */
  readonly statusCode: number;
  /** Start of the last attempt, epoch milliseconds. */
  readonly checkedAt: number;
  readonly source: ProbedKind | 'heartbeat' | 'silence';
  /** The status word of a health body or heartbeat; null: there was none. */
  readonly reported: string | null;
  readonly failure: Failure | null;
  readonly blocked: boolean;
  readonly timing: Timing;
  readonly certificateExpiresAt: number | null;
}

/** The scope of a failure: in the quorum of the voting regions, or in fewer of them (design, Places). */
export type Scope = 'global' | 'partial';

/** The status of a service by the checks of one region. */
export interface RegionStatus {
  readonly region: string;
  /** Its newest check; the status of the check is the region's verdict. */
  readonly check: LatestCheck;
  /** The time at which the verdict began, epoch milliseconds: for `down` the start of the first failed attempt. */
  readonly since: number;
  /** The time at which the newest check ended, epoch milliseconds; orders the checks of the region. */
  readonly observedAt: number;
  /** The verdict counts: the region has a vote, and its newest check is fresh. */
  readonly votes: boolean;
}

/** The current record of one service. A record with a greater `(seq, observedAt)` replaces it. */
export interface CurrentStatus {
  readonly serviceId: number;
  /** Number of the last transition, from 0. */
  readonly seq: number;
  /** The time at which this record was observed, epoch milliseconds; orders records of one `seq`. */
  readonly observedAt: number;
  readonly status: ServiceStatus;
  /** The time at which the current status began, epoch milliseconds; null while unknown. */
  readonly since: number | null;
  /** Null before the first check. With several regions, the newest check that agrees with the status. */
  readonly latest: LatestCheck | null;
  /** By name. Absent where at most one region checks, as `scope` is. */
  readonly regions?: readonly RegionStatus[];
  /** Null: it fails in no voting region, or was never checked. */
  readonly scope?: Scope | null;
}

/** Returns true if two records of a service are one: no two have the same order. A store may give another object for each read. */
export function isSameObservation(a: CurrentStatus, b: CurrentStatus): boolean {
  if (a === b) return true;
  return a.seq === b.seq && a.observedAt === b.observedAt && areSameRegions(a.regions, b.regions);
}

/** Verdicts of regions are forgotten without a new observation when the check is changed. */
function areSameRegions(a: CurrentStatus['regions'], b: CurrentStatus['regions']): boolean {
  if (a === undefined || b === undefined || a.length !== b.length) return a === b;
  return a.every((one, index) => one.region === b[index]?.region && one.observedAt === b[index].observedAt);
}

/** The part of a status that lists and counts need. */
export interface StatusHead extends Pick<CurrentStatus, 'serviceId' | 'seq' | 'observedAt' | 'status'> {
  /** `checkedAt` of the latest check; null: there was none. */
  readonly checkedAt: number | null;
}

export function headOf({ serviceId, seq, observedAt, status, latest }: CurrentStatus): StatusHead {
  return { serviceId, seq, observedAt, status, checkedAt: latest?.checkedAt ?? null };
}

/** A change of the scope, or the scope that a transition leaves. */
export interface ScopeChange {
  readonly from: Scope | null;
  readonly to: Scope | null;
  /** The voting regions in which the service fails after it, by name. */
  readonly regions: readonly string[];
}

/**
 * A change of a service's status or of its scope, numbered without gaps over all services. `from` and `to` are equal where
 * the scope alone changed.
 */
export interface Transition {
  /** Position in the feed of all transitions, from 1. */
  readonly position: number;
  readonly serviceId: number;
  readonly slug: string;
  /** Number of the service's own transitions, from 1. */
  readonly seq: number;
  readonly from: ServiceStatus;
  readonly to: Verdict;
  /** The beginning of the new status: for `down` the start of the first failed attempt. Epoch milliseconds. */
  readonly at: number;
  /** The time at which it was recorded, epoch milliseconds. */
  readonly recordedAt: number;
  /** Why; null for a recovery. */
  readonly reason: StatusReason | null;
  /** Absent: at most one region checked the service before and after it. */
  readonly scope?: ScopeChange;
}

/** A transition before it is stored. */
export type NewTransition = Omit<Transition, 'position'>;

/** Returns true if the transition changes the scope alone. */
export function isScopeTransition({ from, to }: Pick<Transition, 'from' | 'to'>): boolean {
  return from === to;
}

/** A check in a store: versions before 0.2 did not store the reported word, and stored failures as text. */
export interface StoredCheck extends Omit<LatestCheck, 'reported' | 'failure'> {
  readonly reported?: string | null;
  readonly failure: StoredFailure | null;
}

export function toStoredCheck(latest: LatestCheck): StoredCheck {
  return latest.failure === null ? latest : { ...latest, failure: toStoredFailure(latest.failure) };
}

export function fromStoredCheck(kept: StoredCheck): LatestCheck {
  const { reported = null, failure } = kept;
  // The order of the members stays, so that a check and its copy have the same JSON.
  return { ...kept, reported, failure: failure === null ? null : fromStoredFailure(failure) };
}

export interface StoredRegions {
  readonly scope: Scope | null;
  /** `check` is null where it is the latest check of the status, which is stored beside them. */
  readonly regions: readonly (Omit<RegionStatus, 'check'> & { readonly check: StoredCheck | null })[];
}

/** Converts the regions of a status for a store; null: at most one region checks. */
export function toStoredRegions({ regions, scope = null, latest }: CurrentStatus): StoredRegions | null {
  if (regions === undefined) return null;
  return {
    scope,
    regions: regions.map(({ check, ...region }) => ({
      ...region,
      check: check === latest ? null : toStoredCheck(check),
    })),
  };
}

/** Converts regions from a store; `latest` is the latest check beside them. */
export function fromStoredRegions(
  { scope, regions }: StoredRegions,
  latest: LatestCheck | null,
): Required<Pick<CurrentStatus, 'regions' | 'scope'>> {
  return {
    regions: regions.flatMap(({ check: kept, ...region }) => {
      const check = kept === null ? latest : fromStoredCheck(kept);
      return check === null ? [] : [{ ...region, check }];
    }),
    scope,
  };
}

/** The status with its newest check and its regions from a store. */
export function fromStoredStatus(
  head: Omit<CurrentStatus, 'latest' | 'regions' | 'scope'>,
  kept: StoredCheck | null,
  regions: StoredRegions | null,
): CurrentStatus {
  const latest = kept === null ? null : fromStoredCheck(kept);
  return { ...head, latest, ...(regions === null ? {} : fromStoredRegions(regions, latest)) };
}

/** A service that was never checked. */
export function unknownStatus(serviceId: number): CurrentStatus {
  return { serviceId, seq: 0, observedAt: 0, status: 'unknown', since: null, latest: null };
}
