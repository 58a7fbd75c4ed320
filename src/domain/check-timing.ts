/** The interval of a service's checks, the timeout of an attempt, and the bound for slow: its own values, or those of the settings. */
import type { CheckDefinition } from './service.ts';

/** Times of a check, milliseconds. */
export interface CheckTiming {
  /** Time between two checks. */
  readonly intervalMs: number;
  /** Timeout of an attempt. */
  readonly timeoutMs: number;
  /** A good response that takes longer is `slow`. */
  readonly slowOverMs: number;
  /** Delays of the re-checks, each from the failure before; empty: a failure is not confirmed. */
  readonly confirmAfterMs: readonly number[];
}

export type OwnTiming = Partial<CheckTiming>;

/** The regions from which a service is checked; absent: from all. */
export type RegionChoice = Pick<CheckDefinition, 'regions'>;

/** The choices of a service about its checks beside their kind: times and regions. */
export type CheckChoice = OwnTiming & RegionChoice;

/**
 * The times of a check. `usual` counts for those that it has not chosen. The timeout is never longer than an interval that
 * the check has of its own.
 */
export function timingOf(own: OwnTiming, usual: CheckTiming): CheckTiming {
  const { intervalMs, timeoutMs, slowOverMs, confirmAfterMs } = own;
  const keepsLength = intervalMs === undefined && timeoutMs === undefined;
  if (keepsLength && slowOverMs === undefined && confirmAfterMs === undefined) return usual;
  const interval = intervalMs ?? usual.intervalMs;
  return {
    intervalMs: interval,
    timeoutMs: keepsLength ? usual.timeoutMs : Math.min(timeoutMs ?? usual.timeoutMs, interval),
    slowOverMs: slowOverMs ?? usual.slowOverMs,
    confirmAfterMs: confirmAfterMs ?? usual.confirmAfterMs,
  };
}

/** Returns true if two checks have chosen the same times. */
export function isSameTiming(a: OwnTiming, b: OwnTiming): boolean {
  return (
    a === b ||
    (a.intervalMs === b.intervalMs &&
      a.timeoutMs === b.timeoutMs &&
      a.slowOverMs === b.slowOverMs &&
      String(a.confirmAfterMs) === String(b.confirmAfterMs))
  );
}

/** The time that a check that fails can last with its re-checks, milliseconds. */
export function longestCheckMs({ timeoutMs, confirmAfterMs }: CheckTiming): number {
  return timeoutMs * (confirmAfterMs.length + 1) + confirmAfterMs.reduce((sum, ms) => sum + ms, 0);
}

/** The time for which the verdict of a region counts, milliseconds: two intervals and the longest check (design, Places). */
export function freshMsOf(timing: CheckTiming): number {
  return 2 * timing.intervalMs + longestCheckMs(timing);
}

/** Returns true if a service is checked from a region. */
export function isCheckedFrom({ regions }: RegionChoice, region: string): boolean {
  return regions === undefined || regions.includes(region);
}

/** The regions among `regions` from which a service is checked, in their order. */
export function regionsOfCheck(
  { regions: own }: RegionChoice,
  regions: readonly string[],
): readonly string[] {
  return own === undefined ? regions : regions.filter((region) => own.includes(region));
}
