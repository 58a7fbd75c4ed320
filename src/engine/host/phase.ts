/**
 * The due times of services. A phase depends only on the service and the interval, so that a restart neither moves nor
 * repeats a check (decisions, First sweep). Regions shift all phases, each by another part of the interval.
 */

/** A well-mixed 32-bit hash of a whole number (finaliser of MurmurHash3, public domain). */
export function hashNumber(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The service's place within the interval, milliseconds from 0 to `intervalMs` - 1. */
export function phaseOf(serviceId: number, intervalMs: number): number {
  return Math.floor((hashNumber(serviceId) / 2 ** 32) * intervalMs);
}

/** The first time of the service's phase, moved by `shiftMs`, that is later than `after`, epoch milliseconds. */
export function nextPhase(serviceId: number, intervalMs: number, after: number, shiftMs = 0): number {
  const phase = (phaseOf(serviceId, intervalMs) + shiftMs) % intervalMs;
  return (Math.floor((after - phase) / intervalMs) + 1) * intervalMs + phase;
}

/** The shift of a service by the same part of its interval as `shiftMs` is of `usualMs`. */
export function shiftOf(shiftMs: number, usualMs: number, intervalMs: number): number {
  return intervalMs === usualMs ? shiftMs : Math.floor((shiftMs / usualMs) * intervalMs);
}

/** The times of a service that is new to a host, milliseconds. */
interface FirstTimes {
  readonly intervalMs: number;
  /** The length of the sweep of services without a check within the last interval. */
  readonly spreadMs: number;
  /** The time until it begins; default 0. */
  readonly aheadMs?: number;
  readonly shiftMs?: number;
}

/** The due time of a service that is new to a host. After a check within the last interval, it is the same as without the move. */
export function firstDue(
  serviceId: number,
  lastCheckedAt: number | null,
  now: number,
  { intervalMs, spreadMs, aheadMs = 0, shiftMs = 0 }: FirstTimes,
): number {
  if (lastCheckedAt !== null && now - lastCheckedAt < intervalMs && lastCheckedAt <= now) {
    return dueAfterCheck(serviceId, intervalMs, lastCheckedAt, now, shiftMs);
  }
  return now + aheadMs + sweepDelay(serviceId, spreadMs);
}

/** The service's place within a sweep, milliseconds from 0 to `spreadMs`. */
export function sweepDelay(serviceId: number, spreadMs: number): number {
  return Math.floor((hashNumber(serviceId ^ 0x5bd1e995) / 2 ** 32) * spreadMs);
}

/**
 * The due time of a service after a check whose last attempt started at `startedAt`. A phase less than half an interval
 * later, as after a sweep or a re-check, is skipped, so that a service is not checked twice in a row. A start after `now`
 * shows that the wall clock was set back, and counts as now.
 */
// biome-ignore lint/complexity/useMaxParams: called for each check, for which an object would be made
export function dueAfterCheck(
  serviceId: number,
  intervalMs: number,
  startedAt: number,
  now: number,
  shiftMs = 0,
): number {
  return nextPhase(serviceId, intervalMs, Math.max(now, Math.min(startedAt, now) + intervalMs / 2), shiftMs);
}

/**
 * The due time of a service in whose attempt its thread crashed: between half of `waitMs` and `waitMs` from now. It differs
 * in each `epoch`, so that the service that crashed the thread is separated from those that were checked beside it.
 */
export function dueAfterCrash(serviceId: number, waitMs: number, epoch: number, now: number): number {
  const place = hashNumber(serviceId ^ hashNumber(epoch)) / 2 ** 32;
  return now + Math.ceil((waitMs / 2) * (1 + place));
}
