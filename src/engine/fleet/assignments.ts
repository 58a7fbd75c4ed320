/** What the fleet knows of its services, so that a thread can be given what its predecessor knew. */

import { type CheckTarget, isSameCheck } from '../../domain/check-target.ts';
import { HOUR_MS } from '../../domain/durations.ts';
import type { CheckResult } from '../../domain/result.ts';
import { dueAfterDeath } from '../host/phase.ts';

/** The services of a fleet. Times are epoch milliseconds. */
export interface Assignments {
  readonly size: number;
  get(serviceId: number): CheckTarget | undefined;
  serviceIds(): IterableIterator<number>;
  /**
   * Adds or changes a service; false: the known revision is as new. What a service has taught outlives a change that
   * leaves its check as it was.
   */
  put(target: CheckTarget): boolean;
  /** False: it was not known. */
  remove(serviceId: number): boolean;
  /** Learns from results. */
  take(results: readonly CheckResult[]): void;
  /** Marks services to be checked again, also by a successor if their thread dies first. */
  forgetChecks(serviceIds: readonly number[]): void;
  /**
   * The thread of these died in their attempt; `life` is the number of its life. They miss that check and come again
   * within an interval, which doubles with each further death until they have a result.
   */
  postpone(serviceIds: readonly number[], life: number, now: number): void;
  /** The services among these that must not be checked before a time. */
  waits(serviceIds: readonly number[]): [serviceId: number, at: number][];
}

/** A service whose attempts kill their thread again and again waits no longer than this, or an interval. */
const MAX_WAIT_MS = HOUR_MS;

/** Creates an empty table. */
export function createAssignments(intervalMs: number): Assignments {
  const targets = new Map<number, CheckTarget>();
  const notBefore = new Map<number, number>();
  /** Deaths of a thread under an attempt of the service, since its last result. */
  const deaths = new Map<number, number>();
  const forget = (serviceId: number) => {
    notBefore.delete(serviceId);
    deaths.delete(serviceId);
  };
  return {
    get size() {
      return targets.size;
    },
    get: (serviceId) => targets.get(serviceId),
    serviceIds: () => targets.keys(),
    put(target) {
      const known = targets.get(target.serviceId);
      if (known !== undefined && known.revision >= target.revision) return false;
      const learnt =
        known !== undefined && isSameCheck(known, target)
          ? { ...target, memory: known.memory, lastCheckedAt: known.lastCheckedAt }
          : target;
      targets.set(target.serviceId, learnt);
      return true;
    },
    remove(serviceId) {
      forget(serviceId);
      return targets.delete(serviceId);
    },
    take(results) {
      for (const { serviceId, revision, startedAt, endedAt, memory, retryAfterMs } of results) {
        const target = targets.get(serviceId);
        if (target === undefined || target.revision !== revision) continue;
        targets.set(serviceId, { ...target, memory, lastCheckedAt: startedAt });
        forget(serviceId);
        if (retryAfterMs !== null) notBefore.set(serviceId, endedAt + retryAfterMs);
      }
    },
    forgetChecks(serviceIds) {
      for (const serviceId of serviceIds) {
        const target = targets.get(serviceId);
        if (target !== undefined) targets.set(serviceId, { ...target, lastCheckedAt: null });
      }
    },
    postpone(serviceIds, life, now) {
      for (const serviceId of serviceIds) {
        if (!targets.has(serviceId)) continue;
        const before = deaths.get(serviceId) ?? 0;
        deaths.set(serviceId, before + 1);
        const waitMs = Math.min(intervalMs * 2 ** before, Math.max(intervalMs, MAX_WAIT_MS));
        notBefore.set(serviceId, dueAfterDeath(serviceId, waitMs, life, now));
      }
    },
    waits: (serviceIds) =>
      serviceIds.flatMap((serviceId) => {
        const at = notBefore.get(serviceId);
        return at === undefined ? [] : [[serviceId, at] as [number, number]];
      }),
  };
}
