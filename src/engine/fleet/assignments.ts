/** The services of a fleet with their probe memory, which each thread hands on to its successor, and their hosts. */

import { getOrInsert } from '../../async/bounded-map.ts';
import { createBackoff } from '../../async/retry.ts';
import { type CheckTarget, isSameCheck } from '../../domain/check-target.ts';
import { type CheckTiming, timingOf } from '../../domain/check-timing.ts';
import { HOUR_MS } from '../../domain/durations.ts';
import type { CheckResult } from '../../domain/result.ts';
import { dueAfterCrash, hashNumber } from '../host/phase.ts';
import { TargetTable } from './target-table.ts';

/** Maximum pause of a service whose attempts crash their thread again and again, unless the interval is longer. */
const MAX_WAIT_MS = HOUR_MS;

/** Creates an empty table. `usual`: the times of services that set none. Times are epoch milliseconds. */
export function createAssignments(usual: CheckTiming) {
  const targets = new TargetTable();
  const earliest = new Map<number, number>();
  /** Pauses of services in whose attempts a thread crashed since their last result. */
  const backoffs = new Map<number, ReturnType<typeof createBackoff>>();
  const forget = (serviceId: number) => {
    earliest.delete(serviceId);
    backoffs.delete(serviceId);
  };
  return {
    get size() {
      return targets.size;
    },
    get: (serviceId: number): CheckTarget | undefined => targets.get(serviceId),
    serviceIds: () => targets.keys(),
    /** The longest timeout of an attempt, milliseconds. */
    longestTimeoutMs: (): number =>
      targets
        .checks()
        .reduce((longest, check) => Math.max(longest, timingOf(check, usual).timeoutMs), usual.timeoutMs),
    /** Adds or changes a service; false: the known revision is as new. The probe memory is kept if the check stays the same. */
    put(target: CheckTarget): boolean {
      const known = targets.get(target.serviceId);
      if (known !== undefined && known.revision >= target.revision) return false;
      const updated =
        known !== undefined && isSameCheck(known, target)
          ? { ...target, memory: known.memory, lastCheckedAt: known.lastCheckedAt }
          : target;
      targets.set(updated);
      return true;
    },
    /** False: it was unknown. */
    remove(serviceId: number): boolean {
      forget(serviceId);
      return targets.delete(serviceId);
    },
    /** Updates the probe memory from results. */
    take(results: readonly CheckResult[]): void {
      for (const { serviceId, revision, startedAt, endedAt, memory, retryAfterMs } of results) {
        if (targets.revisionOf(serviceId) !== revision) continue;
        targets.setMemory(serviceId, memory);
        targets.setLastChecked(serviceId, startedAt);
        forget(serviceId);
        if (retryAfterMs !== null) earliest.set(serviceId, endedAt + retryAfterMs);
      }
    },
    /** Marks services for another check, which a successor makes if their thread ends first. */
    forgetChecks(serviceIds: readonly number[]): void {
      for (const serviceId of serviceIds) targets.setLastChecked(serviceId, null);
    },
    /**
     * Postpones services in whose attempts their thread crashed; `epoch` is the number of its life. They are checked again
     * within an interval, which doubles with each further crash until they have a result.
     */
    postpone(serviceIds: readonly number[], epoch: number, now: number): void {
      for (const serviceId of serviceIds) {
        const target = targets.get(serviceId);
        if (target === undefined) continue;
        const { intervalMs } = timingOf(target.check, usual);
        const newBackoff = () => createBackoff(intervalMs, Math.max(intervalMs, MAX_WAIT_MS));
        const waitMs = getOrInsert(backoffs, serviceId, newBackoff).next();
        earliest.set(serviceId, dueAfterCrash(serviceId, waitMs, epoch, now));
      }
    },
    /** The services among these that must not be checked before a time. */
    notBefore: (serviceIds: readonly number[]): [serviceId: number, at: number][] =>
      serviceIds.flatMap((serviceId) => {
        const at = earliest.get(serviceId);
        return at === undefined ? [] : [[serviceId, at] as [number, number]];
      }),
  };
}

/**
 * The host of a service, from 0 to `hosts` - 1, by rendezvous hashing (Thaler and Ravishankar, 1998), so that a change of
 * the number of hosts moves few services.
 */
export function chooseHost(serviceId: number, hosts: number): number {
  let best = 0;
  let bestWeight = -1;
  for (let host = 0; host < hosts; host++) {
    const weight = hashNumber(hashNumber(serviceId) ^ Math.imul(host + 1, 0x9e3779b1));
    if (weight > bestWeight) {
      best = host;
      bestWeight = weight;
    }
  }
  return best;
}
