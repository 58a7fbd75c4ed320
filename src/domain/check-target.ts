/** The target of a check, its interval and bounds, and the function that makes an attempt. */
import type { Attempt, ProbeMemory } from './result.ts';
import type { CheckDefinition, Service, ServiceOrigin } from './service.ts';

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
 * The times of a check. `usual` counts for those that it has not chosen. The timeout is never longer than the
 * check's own interval.
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

/** A service for the engine and the prober: how to check it, without its status. */
export interface CheckTarget {
  readonly serviceId: number;
  readonly revision: number;
  readonly domain: string;
  readonly origin: ServiceOrigin;
  /** The account that owns it; null for the catalogue, or where this process may not read it. */
  readonly accountId: number | null;
  readonly check: CheckDefinition;
  readonly memory: ProbeMemory;
  /** Start of its newest check, epoch milliseconds; null: never checked, so that it belongs to the first sweep. */
  readonly lastCheckedAt: number | null;
}

/**
 * The target of a service for checks from a region. Null: it is paused, sends heartbeats, is not verified yet or is checked
 * from other regions only, so it is not checked.
 */
export function checkTargetOf(
  service: Service,
  region: string,
  memory: ProbeMemory,
  lastCheckedAt: number | null,
): CheckTarget | null {
  const { id: serviceId, revision, domain, origin, accountId, check, paused, verified } = service;
  // An owner's domain is not checked before it is verified (decisions, Ownership).
  if (paused || check.kind === 'heartbeat' || !verified || !isCheckedFrom(check, region)) return null;
  return { serviceId, revision, domain, origin, accountId, check, memory, lastCheckedAt };
}

export interface AttemptOptions {
  /** Timeout of the whole attempt, including redirects and a second request, milliseconds. */
  readonly timeoutMs: number;
  /** 0 for the first attempt; re-checks after a failure (1, 2, ...) always use GET (decisions, Root check). */
  readonly number: number;
  /** Slot of the host that makes the attempt, from 0 to `checks.concurrency` - 1; one attempt at a time uses it. */
  readonly slot: number;
  /** Delay of the current iteration of the event loop, milliseconds; absent: always 0. */
  readonly lateness?: () => number;
  /** Sum of the delays of the event loop so far, milliseconds: an upper bound; absent: always 0. */
  readonly totalDelay?: () => number;
  /** Ends the attempt early (at stop); the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Makes one attempt. Resolves for every outcome of the target; rejects only for a bug or an abort. */
export type RunAttempt = (target: CheckTarget, options: AttemptOptions) => Promise<Attempt>;

type Checked = Pick<CheckTarget, 'domain' | 'origin' | 'check'>;

/**
 * Returns true if two definitions of a service have the same check, so that what earlier checks have learned applies. Name,
 * category, times and regions make no difference.
 */
export function isSameCheck(a: Checked, b: Checked): boolean {
  return a.domain === b.domain && a.origin === b.origin && isSameDefinition(a.check, b.check);
}

function isSameDefinition(a: CheckDefinition, b: CheckDefinition): boolean {
  if (a === b) return true;
  return (
    a.kind === b.kind &&
    a.url === b.url &&
    a.method === b.method &&
    a.caFile === b.caFile &&
    a.trustedBy === b.trustedBy &&
    JSON.stringify(a.settings) === JSON.stringify(b.settings) &&
    JSON.stringify(a.sealed) === JSON.stringify(b.sealed) &&
    String(a.accept) === String(b.accept)
  );
}
