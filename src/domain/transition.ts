/** How a judged result moves the current record of a service, and what transition that is. */
import type { CurrentStatus, LatestCheck, Transition } from './current.ts';
import type { StatusReason } from './incident.ts';
import { latestCheckOf } from './judge.ts';
import type { CheckResult } from './result.ts';
import type { Service } from './service.ts';
import type { Verdict } from './status.ts';

/**
 * The record after a judged result; null: the record is already as new as the result, which then is a sample only.
 * `seq` grows by one exactly where the status changes. `down` is dated back to the start of the first failed attempt,
 * everything else to the start of the last one, and nothing to before the status that it follows
 * (decisions, "What a check is").
 *
 * A record that was observed after `now` shows that our wall clock was set back; what comes next still counts as newer.
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
  const changed = verdict !== current.status;
  return {
    serviceId: current.serviceId,
    seq: changed ? current.seq + 1 : current.seq,
    observedAt,
    status: verdict,
    since: changed ? startOf(current, result, verdict) : current.since,
    latest: latestCheckOf(result, verdict),
  };
}

/**
 * The record after a service's own word, or its silence. What a service says goes by arrival (decisions, Heartbeats):
 * it is always newer than what we knew, also where two come within a millisecond or our clock was set back. A status
 * begins at `latest.checkedAt`, but not before the one that it follows.
 */
export function nextReported(current: CurrentStatus, latest: LatestCheck, arrivedAt: number): CurrentStatus {
  const changed = latest.status !== current.status;
  return {
    serviceId: current.serviceId,
    seq: changed ? current.seq + 1 : current.seq,
    observedAt: Math.max(arrivedAt, current.observedAt + 1),
    status: latest.status,
    since: changed ? Math.max(latest.checkedAt, current.since ?? latest.checkedAt) : current.since,
    latest,
  };
}

/** The transition between two records of a service; null where the status did not change. */
export function transitionBetween(
  service: Service,
  before: CurrentStatus,
  after: CurrentStatus,
  recordedAt: number,
  reason: StatusReason | null,
): Omit<Transition, 'position'> | null {
  if (after.seq === before.seq || after.status === 'unknown') return null;
  return {
    serviceId: service.id,
    slug: service.slug,
    seq: after.seq,
    from: before.status,
    to: after.status,
    at: after.since ?? recordedAt,
    recordedAt,
    reason,
  };
}

function startOf(current: CurrentStatus, result: CheckResult, verdict: Verdict): number {
  const at = verdict === 'down' ? (result.firstFailedAt ?? result.startedAt) : result.startedAt;
  return current.since === null ? at : Math.max(at, current.since);
}
