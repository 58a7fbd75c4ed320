/** The time at which a service was last seen, and if that is too long ago (decisions, Services). */

import { expectedInterval } from '../domain/heartbeat/heartbeat-rules.ts';
import type { Service } from '../domain/service.ts';
import type { CurrentStatus } from '../domain/status/current.ts';

/**
 * Longest time between two checks or heartbeats of a service, milliseconds. `intervalMs` counts for checks without an
 * interval of their own, and is the minimum for heartbeats, which may have a period or schedule.
 */
export function intervalOf({ check }: Service, intervalMs: number): number {
  return check.kind === 'heartbeat'
    ? Math.max(intervalMs, expectedInterval(check))
    : (check.intervalMs ?? intervalMs);
}

/** Returns when the monitor last listened for heartbeats, epoch milliseconds; while it listens, that is now. */
export type ListenedAt = () => number;

/**
 * The time at which a service was last seen, epoch milliseconds: at its last check or heartbeat. If it is down because of a
 * missed heartbeat, the last time at which the monitor listened. Null: never checked.
 */
export function seenAt({ latest }: CurrentStatus, listenedAt: ListenedAt): number | null {
  if (latest === null) return null;
  return latest.source === 'silence' ? Math.max(latest.checkedAt, listenedAt()) : latest.checkedAt;
}

/** Returns true if a service was last seen longer than two intervals ago; see {@link seenAt}. */
export function isStale(
  current: CurrentStatus,
  intervalMs: number,
  now: number,
  listenedAt: ListenedAt,
): boolean {
  return isCheckStale(seenAt(current, listenedAt), intervalMs, now);
}

/** Returns true if this time is longer than two intervals ago; null, which is no time, is not. */
export function isCheckStale(at: number | null, intervalMs: number, now: number): boolean {
  return at !== null && now > at + 2 * intervalMs;
}
