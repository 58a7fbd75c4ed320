/** The retention of resolved incidents and transitions, and the time by which their age counts. */
import { DAY_MS } from './durations.ts';

/** Shortest retention of incidents: webhooks, feeds and pages speak of the last 30 days. */
export const MIN_INCIDENT_RETENTION_MS = 30 * DAY_MS;

/**
 * The next retention time: the time by which retention counts, epoch milliseconds. It never goes back, never exceeds the
 * wall clock by going forward, and moves at most twice as fast as time passes. So a clock that is set forward by a year for
 * an hour makes nothing older than it is by more than an hour, and the time that the program did not run is made up for as
 * slowly. `elapsedMs`: time since `known` by the monotonic clock. Whole milliseconds, as every time in the registry: PostgreSQL takes
 * no others.
 */
export function nextRetentionTime(known: number, now: number, elapsedMs: number): number {
  return Math.floor(Math.max(known, Math.min(now, known + 2 * elapsedMs)));
}
