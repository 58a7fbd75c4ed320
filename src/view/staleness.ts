/** When a service was last seen, and whether that is too long ago (decisions, Services). */
import type { CurrentStatus } from '../domain/current.ts';
import { silenceOf } from '../domain/heartbeat-rules.ts';
import type { Service } from '../domain/service.ts';

/** How often a service is expected to be seen, milliseconds; one that sends heartbeats may have a period of its own. */
export function intervalOf({ check }: Service, intervalMs: number): number {
  return check.kind === 'heartbeat' ? Math.max(intervalMs, silenceOf(check, 0)) : intervalMs;
}

/** When the monitor last listened for heartbeats, epoch milliseconds: now, while it listens. */
export type ListenedAt = () => number;

/**
 * When a service was last seen, epoch milliseconds: at its last check; where it is down by silence, as long as the
 * monitor listens. Null: never checked.
 */
export function seenAt({ latest }: CurrentStatus, listenedAt: ListenedAt): number | null {
  if (latest === null) return null;
  return latest.source === 'silence' ? Math.max(latest.checkedAt, listenedAt()) : latest.checkedAt;
}

/** Whether a service was last seen longer than two intervals ago; see {@link seenAt}. */
export function isStale(
  current: CurrentStatus,
  intervalMs: number,
  now: number,
  listenedAt: ListenedAt,
): boolean {
  const at = seenAt(current, listenedAt);
  return at !== null && now > at + 2 * intervalMs;
}
