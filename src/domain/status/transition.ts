/** The change of a service's current status by a check result or a heartbeat, and the transition between two statuses. */
import type { CheckResult } from '../result.ts';
import type { Service } from '../service.ts';
import type { Verdict } from '../status.ts';
import { failingRegions } from './agree.ts';
import {
  type CurrentStatus,
  isScopeTransition,
  type LatestCheck,
  type NewTransition,
  type Scope,
  type ScopeChange,
  type Transition,
} from './current.ts';
import { latestCheckOf } from './judge.ts';

/**
 * The status after a result; null: the current one is as new as the result, which then is only a sample. `seq` is incremented
 * if the status changes. `down` begins at the start of the first failed attempt, any other status at the start of the last
 * one, but not before the previous status (decisions, "What a check is").
 *
 * A status that was observed after `now` shows that our wall clock was set back; the result still counts as newer.
 */
export function nextStatus(
  current: CurrentStatus,
  result: CheckResult,
  verdict: Verdict,
  now: number,
): CurrentStatus | null {
  const observedAt =
    current.observedAt > now ? Math.max(current.observedAt + 1, result.endedAt) : result.endedAt;
  if (observedAt <= current.observedAt) return null;
  const startedAt = verdict === 'down' ? (result.firstFailedAt ?? result.startedAt) : result.startedAt;
  return replaceLatest(
    current,
    latestCheckOf(result, verdict),
    observedAt,
    beginAfter(current, startedAt, now),
  );
}

/**
 * The status after a heartbeat or a missed one. Heartbeats count in order of arrival (decisions, Heartbeats): each is newer
 * than the current status, even if two arrive within a millisecond or our clock was set back. A new status begins at
 * `latest.checkedAt`, but not before the previous one. `now` as for {@link nextStatus}.
 */
export function nextReported(
  current: CurrentStatus,
  latest: LatestCheck,
  arrivedAt: number,
  now: number,
): CurrentStatus {
  const observedAt = Math.max(arrivedAt, current.observedAt + 1);
  return replaceLatest(current, latest, observedAt, beginAfter(current, latest.checkedAt, now));
}

/**
 * The time at which a new status begins that was observed from `startedAt` on: not before the previous one. A previous one
 * that begins after `now` was dated by a clock that was ahead, and holds nothing back.
 */
export function beginAfter({ since }: CurrentStatus, startedAt: number, now: number): number {
  return since === null || since > now ? startedAt : Math.max(startedAt, since);
}

/**
 * The transition between two statuses of a service, or between two scopes of one status; null: neither changed. A scope that
 * alone changed is dated to the first failed attempt in a region that still fails, otherwise to the newest check.
 */
export function transitionBetween(
  service: Service,
  before: CurrentStatus,
  after: CurrentStatus,
  { recordedAt, reason }: Pick<Transition, 'recordedAt' | 'reason'>,
): NewTransition | null {
  if (after.seq === before.seq || after.status === 'unknown') return null;
  return {
    serviceId: service.id,
    slug: service.slug,
    seq: after.seq,
    from: before.status,
    to: after.status,
    at: (before.status === after.status ? scopeBeganAt(after) : after.since) ?? recordedAt,
    recordedAt,
    reason,
    ...(before.regions === undefined && after.regions === undefined
      ? {}
      : { scope: scopeChangeOf(before, after) }),
  };
}

/** The scope of a status. Where one region checks, it follows from the status: what is down is down from everywhere. */
export function scopeOf({ status, scope }: CurrentStatus): Scope | null {
  if (scope !== undefined) return scope;
  return status === 'down' ? 'global' : null;
}

/**
 * A change as events describe it: `from` and `to` are statuses, or scopes where the scope alone changed. Where more than one
 * region checks the service, also the scope and the regions in which it fails now.
 */
export function viewChange({ from, to, scope }: Pick<Transition, 'from' | 'to' | 'scope'>) {
  if (scope === undefined) return { from, to };
  const { regions } = scope;
  return isScopeTransition({ from, to })
    ? { status: to, from: scope.from, to: scope.to, regions }
    : { from, to, scope: scope.to, regions };
}

function scopeChangeOf(before: CurrentStatus, after: CurrentStatus): ScopeChange {
  const regions = failingRegions(after).map(({ region }) => region);
  return { from: scopeOf(before), to: scopeOf(after), regions };
}

function scopeBeganAt(after: CurrentStatus): number | null {
  const failing = failingRegions(after).map(({ since }) => since);
  const checks = (after.regions ?? []).map(({ check }) => check.checkedAt);
  const at = failing.length > 0 ? Math.min(...failing) : Math.max(after.latest?.checkedAt ?? 0, ...checks);
  return Math.max(at, after.since ?? at);
}

/** The status after `latest`. A new status begins at `beginsAt`. */
function replaceLatest(
  current: CurrentStatus,
  latest: LatestCheck,
  observedAt: number,
  beginsAt: number,
): CurrentStatus {
  const changed = latest.status !== current.status;
  return {
    serviceId: current.serviceId,
    seq: changed ? current.seq + 1 : current.seq,
    observedAt,
    status: latest.status,
    since: changed ? beginsAt : current.since,
    latest,
  };
}
