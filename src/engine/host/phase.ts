/**
 * When a service is due. Its phase depends on the service and the interval alone, so that a restart neither moves nor
 * repeats a check (decisions, First sweep).
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

/** The first time of the service's phase that is later than `after`, epoch milliseconds. */
export function nextPhase(serviceId: number, intervalMs: number, after: number): number {
  const phase = phaseOf(serviceId, intervalMs);
  return (Math.floor((after - phase) / intervalMs) + 1) * intervalMs + phase;
}

/**
 * When a service is due that has just come to a host. With a check within the last interval it is due when it would
 * have been without the move; without one it belongs to a sweep that is spread over `spreadMs`.
 */
export function firstDue(
  serviceId: number,
  lastCheckedAt: number | null,
  now: number,
  intervalMs: number,
  spreadMs: number,
): number {
  if (lastCheckedAt !== null && now - lastCheckedAt < intervalMs && lastCheckedAt <= now) {
    return dueAfterCheck(serviceId, intervalMs, lastCheckedAt, now);
  }
  return now + sweepDelay(serviceId, spreadMs);
}

/** The service's place within a sweep, milliseconds from 0 to `spreadMs`. */
export function sweepDelay(serviceId: number, spreadMs: number): number {
  return Math.floor((hashNumber(serviceId ^ 0x5bd1e995) / 2 ** 32) * spreadMs);
}

/**
 * When a service is due after a check whose last attempt began at `startedAt`. A phase that would come earlier than
 * half an interval after it (the check was out of phase: a sweep, a re-check) is left out, so that nobody is asked
 * twice in a row. A start that lies ahead of `now` shows that the wall clock was set back, and counts as now.
 */
export function dueAfterCheck(serviceId: number, intervalMs: number, startedAt: number, now: number): number {
  return nextPhase(serviceId, intervalMs, Math.max(now, Math.min(startedAt, now) + intervalMs / 2));
}

/**
 * When a service is due again in whose attempt its thread died: between half of `waitMs` and the whole of it later, at
 * another place after each death (`life` numbers them), so that those that happened to be under check beside the one
 * that killed the thread meet another time.
 */
export function dueAfterDeath(serviceId: number, waitMs: number, life: number, now: number): number {
  const place = hashNumber(serviceId ^ hashNumber(life)) / 2 ** 32;
  return now + Math.ceil((waitMs / 2) * (1 + place));
}
