/** Which days a retention keeps. */
import { DAY_MS } from '../../domain/durations.ts';

/**
 * The first day, since 1970, that a retention keeps. It keeps as many days with samples as it has days, too: under a wall
 * clock that is wrong by a year, nothing gets old but by days on which there were samples. `days` are in no order.
 */
export function firstKeptDay(days: readonly number[], retentionMs: number, now: number): number {
  // Today and the days before it.
  const kept = Math.ceil(retentionMs / DAY_MS) + 1;
  const newest = [...days].sort((a, b) => b - a).slice(0, kept);
  return Math.min(Math.floor((now - retentionMs) / DAY_MS), newest.at(-1) ?? 0);
}
