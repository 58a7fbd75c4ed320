/** The change of a service's current status by a check in one of several regions (design, Places). */
import type { Quorum } from '../node.ts';
import type { CheckResult } from '../result.ts';
import type { ServiceStatus, Verdict } from '../status.ts';
import { agree, failingRegions, newestCheckOf } from './agree.ts';
import type { CurrentStatus, RegionStatus, Scope } from './current.ts';
import { latestCheckOf } from './judge.ts';
import { beginAfter, nextStatus, scopeOf } from './transition.ts';

export interface RegionalCheck {
  readonly result: CheckResult;
  readonly verdict: Verdict;
  /** The region in which it was made. */
  readonly region: string;
  /** The regions that have a vote on the service now; empty: not known, then every region with a fresh check has one. */
  readonly voting: readonly string[];
}

export interface RegionRules {
  readonly quorum: Quorum;
  /** The time for which a check counts, milliseconds: two intervals and the longest check. */
  readonly freshMs: number;
  /** The regions from which the service is checked; checks of others are dropped. Null: every region. */
  readonly among: readonly string[] | null;
}

/**
 * The status after a check in one region; null: the newest check of the region is as new, so that the result is only a sample.
 * With this region alone, it is the status that {@link nextStatus} makes.
 *
 * A region without a vote is listed but counts for nothing. It is taken off the list when its newest check is no longer fresh.
 * A voting region without a fresh check of the service counts as one that sees no failure; once the service has been failing
 * elsewhere for longer than a check counts, that region does not count at all.
 *
 * `limit`, epoch milliseconds: a stored status later than this can only come from before the wall clock was set back.
 */
export function nextRegionalStatus(
  current: CurrentStatus,
  check: RegionalCheck,
  limit: number,
  rules: RegionRules,
): CurrentStatus | null {
  if (isOld(current, check, limit)) return null;
  const { result, verdict, region, voting } = check;
  const regions = listRegions(current, check, limit, rules);
  if (voting.every((name) => name === region) && regions.every((one) => one.region === region)) {
    const { regions: _, scope: left, ...alone } = current;
    const next = nextStatus(alone, result, verdict, limit);
    if (next === null || left !== 'partial' || next.status !== current.status) return next;
    // The end of the scope is a change that is numbered.
    return { ...next, seq: next.seq + 1 };
  }
  const votes = regions.filter((one) => one.votes);
  const missing = voting.filter((name) => !votes.some((one) => one.region === name)).length;
  const counted = isOverdue(votes, rules.freshMs) ? 0 : missing;
  const { status: agreed, latest, beganAt } = agree(votes, counted, rules.quorum);
  const status = agreed ?? current.status;
  const isNew = status !== current.status;
  const scope = scopeIn(status, regions);
  const isChanged = isNew || scope !== scopeOf(current);
  return {
    serviceId: current.serviceId,
    seq: isChanged ? current.seq + 1 : current.seq,
    observedAt: Math.max(result.endedAt, current.observedAt + 1),
    status,
    since: isNew && beganAt !== null ? beginAfter(current, beganAt, limit) : current.since,
    latest: latest ?? (status === 'unknown' ? null : newestCheckOf(votes, status)) ?? current.latest,
    regions,
    scope,
  };
}

/** Returns true if the region has a check that is as new, or the service has one from the time before several regions checked it. */
function isOld(
  { regions, observedAt }: CurrentStatus,
  { region, result }: RegionalCheck,
  limit: number,
): boolean {
  const newestAt =
    regions === undefined ? observedAt : regions.find((one) => one.region === region)?.observedAt;
  if (newestAt === undefined) return false;
  return result.endedAt === newestAt || (result.endedAt < newestAt && newestAt <= limit);
}

/** The regions with this check, by name. */
function listRegions(
  { regions = [] }: CurrentStatus,
  { result, verdict, region, voting }: RegionalCheck,
  limit: number,
  { freshMs, among }: RegionRules,
): RegionStatus[] {
  const known = regions.find((one) => one.region === region);
  const startedAt = verdict === 'down' ? (result.firstFailedAt ?? result.startedAt) : result.startedAt;
  // A verdict that was not seen for longer than a check counts begins anew, which gives the other regions time to check, too.
  const isContinued = known?.check.status === verdict && result.endedAt - known.observedAt <= freshMs;
  const own: RegionStatus = {
    region,
    check: latestCheckOf(result, verdict),
    since: isContinued ? known.since : startedAt,
    observedAt: result.endedAt,
    votes: true,
  };
  const isKept = (name: string) => name !== region && (among === null || among.includes(name));
  const all = regions.filter((one) => isKept(one.region));
  all.push(own);
  let newestAt = own.observedAt;
  for (const { observedAt } of all) if (observedAt > newestAt) newestAt = observedAt;
  newestAt = Math.min(limit, newestAt);
  // This runs for every result, so that what has not changed is not copied.
  const listed: RegionStatus[] = [];
  for (const one of all) {
    const isFresh = newestAt - one.observedAt <= freshMs;
    const mayVote = voting.length === 0 || voting.includes(one.region);
    if (!isFresh && (!mayVote || voting.length === 0)) continue;
    const votes = isFresh && mayVote;
    listed.push(one.votes === votes ? one : { ...one, votes });
  }
  return listed.sort((a, b) => (a.region < b.region ? -1 : 1));
}

/** Returns true if the service has been failing or slow for so long that every region had the time to check it. */
function isOverdue(votes: readonly RegionStatus[], freshMs: number): boolean {
  if (votes.every(({ check }) => check.status === 'up')) return false;
  const newestAt = Math.max(...votes.map(({ observedAt }) => observedAt));
  return votes.some(({ check, since }) => check.status !== 'up' && newestAt - since > freshMs);
}

function scopeIn(status: ServiceStatus, regions: readonly RegionStatus[]): Scope | null {
  if (status === 'unknown') return null;
  if (status === 'down') return 'global';
  return failingRegions({ regions }).length > 0 ? 'partial' : null;
}

/**
 * The regions to ask after a check: those that vote and do not call the service down, where the check is the first one of its
 * region that does, and the quorum has not confirmed it. Empty: no region needs to be asked.
 */
export function regionsToAsk(
  before: CurrentStatus,
  after: CurrentStatus,
  { region, verdict, voting }: RegionalCheck,
): readonly string[] {
  if (verdict !== 'down' || after.status === 'down') return [];
  const failing = failingRegions(after).map((one) => one.region);
  const failedBefore = before.regions?.some((one) => one.region === region && one.check.status === 'down');
  if (failedBefore === true || !failing.includes(region)) return [];
  return voting.filter((name) => !failing.includes(name));
}
