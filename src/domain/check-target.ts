/** The targets of checks, and the function that makes an attempt. */
import { isCheckedFrom } from './check-timing.ts';
import type { Attempt, ProbeMemory } from './result.ts';
import type { CheckDefinition, Service, ServiceOrigin } from './service.ts';

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
