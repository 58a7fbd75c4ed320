/**
 * Detects a monitor that renews its lease in PostgreSQL but is cut off from Redis. It receives no results and publishes no
 * statuses, so a judge that reaches both servers must replace it.
 */
import type { Clock } from '../clock.ts';
import type { LeaseHolder } from '../store/ports/lease.ts';

/** Options of {@link createCutOffWatch}. */
export interface CutOffWatchOptions {
  /** Returns true if the node of a process is registered in Redis; null: not known, because Redis is unavailable. */
  readonly hasProcess: (process: LeaseHolder) => boolean | null;
  readonly clock: Clock;
}

/**
 * A monitor that was not registered for this time is replaced, milliseconds. It was removed 6 s after its last
 * registration; one that is only starting, or finds Redis emptied, registers within a second.
 */
const MAX_ABSENCE_MS = 4_000;
/** Observations that are further apart than this do not count as continuous, milliseconds. */
const MAX_GAP_MS = 2_000;

/** Creates the watch. The returned function is called several times a second with the present holder of the lease. */
export function createCutOffWatch({ hasProcess, clock }: CutOffWatchOptions) {
  let absent: { readonly holder: string; readonly sinceMs: number } | null = null;
  let lookedMs = clock.monotonic();
  /** Returns true if this process has reached Redis for {@link MAX_ABSENCE_MS} without seeing the holder there. */
  return (holder: LeaseHolder): boolean => {
    const nowMs = clock.monotonic();
    const identity = JSON.stringify([holder.host, holder.pid, holder.process]);
    const isContinued = absent?.holder === identity && nowMs - lookedMs <= MAX_GAP_MS;
    lookedMs = nowMs;
    if (hasProcess(holder) !== false) absent = null;
    else if (absent === null || !isContinued) absent = { holder: identity, sinceMs: nowMs };
    return absent !== null && nowMs - absent.sinceMs >= MAX_ABSENCE_MS;
  };
}
