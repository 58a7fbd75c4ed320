/** Joins the verdicts of several regions into the status of a service (design, Places). */
import type { Quorum } from '../node.ts';
import type { Verdict } from '../status.ts';
import type { CurrentStatus, LatestCheck, RegionStatus } from './current.ts';

export interface Agreement {
  /** Null: too few regions have checked the service to decide anything. */
  readonly status: Verdict | null;
  /** The newest check that agrees with the status; null: there is no status. */
  readonly latest: LatestCheck | null;
  /**
   * The time at which the status began if it is new, epoch milliseconds: for `down` the first failed attempt of any region
   * that agrees, otherwise the start of `latest`. Null: there is no status.
   */
  readonly beganAt: number | null;
}

const UNDECIDED: Agreement = { status: null, latest: null, beganAt: null };

/** The number of `voters` regions that must see a failure, at least one. A number above the regions means all. */
export function votesNeeded(quorum: Quorum, voters: number): number {
  switch (quorum) {
    case 'majority':
      return Math.floor(voters / 2) + 1;
    case 'any':
      return 1;
    case 'all':
      return Math.max(1, voters);
    default:
      return Math.max(1, Math.min(quorum, voters));
  }
}

/**
 * Makes one status of the verdicts of voting regions, in any order. `waiting` regions vote too but have not checked the
 * service yet. The service is down if the quorum calls it down, slow if the quorum calls it slow or down, and up if fewer do
 * and at least one region calls it up.
 */
export function agree(votes: readonly RegionStatus[], waiting: number, quorum: Quorum): Agreement {
  const needed = votesNeeded(quorum, votes.length + waiting);
  const impaired = votes.filter(({ check }) => check.status !== 'up').length;
  if (impaired === 0) return votes.length === 0 ? UNDECIDED : agreeOn('up', votes, null);
  const failing = votes.filter(({ check }) => check.status === 'down');
  if (failing.length >= needed) return agreeOn('down', votes, Math.min(...failing.map(({ since }) => since)));
  if (impaired >= needed) return agreeOn('slow', votes, null);
  return impaired < votes.length ? agreeOn('up', votes, null) : UNDECIDED;
}

function agreeOn(status: Verdict, votes: readonly RegionStatus[], beganAt: number | null): Agreement {
  const latest = newestCheckOf(votes, status);
  return { status, latest, beganAt: beganAt ?? latest?.checkedAt ?? null };
}

/** The newest check with that verdict, of two at the same time the one of the first region by name; null: there is none. */
export function newestCheckOf(regions: readonly RegionStatus[], status: Verdict): LatestCheck | null {
  let newest: RegionStatus | undefined;
  for (const one of regions) {
    if (one.check.status !== status) continue;
    const laterMs = one.check.checkedAt - (newest?.check.checkedAt ?? Number.NEGATIVE_INFINITY);
    if (newest === undefined || laterMs > 0 || (laterMs === 0 && one.region < newest.region)) newest = one;
  }
  return newest?.check ?? null;
}

/** The voting regions in which the service fails, by name; empty where at most one region checks. */
export function failingRegions({ regions = [] }: Pick<CurrentStatus, 'regions'>): readonly RegionStatus[] {
  return regions.filter(({ votes, check }) => votes && check.status === 'down');
}

/**
 * The response time of a service, whole milliseconds: the median of the newest good checks of the voting regions. Where no
 * region has one, and where at most one region checks, that of the latest check. Null: no response arrived.
 */
export function responseTimeOf({ regions = [], latest }: CurrentStatus): number | null {
  const times = regions.flatMap(({ votes, check }) =>
    votes && check.status !== 'down' && check.responseTimeMs !== null ? [check.responseTimeMs] : [],
  );
  return medianOf(times) ?? latest?.responseTimeMs ?? null;
}

function medianOf(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : Math.round((lower + upper) / 2);
}
