/**
 * Tells a service that fails by itself from one that cannot be reached without another one that is down: what it depends on is
 * asked when it fails, and where that has recovered and the service still fails, it is down by itself. Pure: alerts and the
 * record decide alike.
 */
import type { ServiceStatus } from '../status.ts';

/** Maximum time for which what a service depends on is waited for, milliseconds: longer than a usual check with its re-checks. */
const MAX_ASKING_MS = 45_000;

/** A service that still fails when its parents have been well for this time is down by itself, milliseconds. */
export const SETTLE_MS = 120_000;

/** Maximum time beyond {@link SETTLE_MS} for which its next check is waited for, milliseconds. */
const MAX_SETTLING_MS = 480_000;

/**
 * A service that still fails so long after a parent recovered first is down by itself even if the parent never stays up for
 * {@link SETTLE_MS}.
 */
const MAX_FLAPPING_MS = 1_800_000;

/** The interval at which what is waited for is looked at, milliseconds. */
const LOOK_MS: Readonly<Record<Reach['phase'], number>> = {
  asking: 1_000,
  settling: 5_000,
  behind: 60_000,
  open: Number.POSITIVE_INFINITY,
  over: Number.POSITIVE_INFINITY,
};

/** The last outage of a service that has ended, epoch milliseconds. */
export interface PastOutage {
  readonly from: number;
  readonly to: number;
}

/** A service that another one depends on, as it is now. Times are epoch milliseconds; null: not known. */
export interface Ancestor {
  readonly id: number;
  readonly status: ServiceStatus;
  readonly isPaused: boolean;
  /** Its newest check is older than two intervals. */
  readonly isStale: boolean;
  /** It is checked, and does not only send heartbeats. */
  readonly isProbed: boolean;
  /** The time at which its newest check began, epoch milliseconds. */
  readonly checkedAt: number | null;
  /** Null: none is remembered. */
  readonly lastOutage: PastOutage | null;
}

/** A service that is down and depends on others. */
export interface Reach {
  /**
   * `asking`: those have been asked how they are; `behind`: one of them is down; `settling`: it has recovered; `open`: the service is
   * down by itself; `over`: it is down no more, and what its incident says until that ends is not told.
   */
  readonly phase: 'asking' | 'behind' | 'settling' | 'open' | 'over';
  /** Since when, epoch milliseconds. */
  readonly since: number;
  /** IDs of what it depended on when it went down, whose events are followed. */
  readonly ancestors: readonly number[];
  /** The time at which one of those recovered first while the service was down, epoch milliseconds; absent: none has. */
  readonly settlesSince?: number;
}

/** A step: what is known of the service now, and the IDs of the services to check at once. */
export interface ReachStep {
  readonly reach: Reach;
  readonly asks: readonly number[];
}

/**
 * The reach of a service that has gone down. `ancestors`: its parents, one at least; `failedAt`: when it failed first; `now`:
 * when that is decided, epoch milliseconds.
 */
export function beginReach(ancestors: readonly Ancestor[], failedAt: number, now: number): ReachStep {
  const ids = ancestors.map(({ id }) => id);
  if (ancestors.some(isCause))
    return { reach: { phase: 'behind', since: now, ancestors: ids }, asks: NOBODY };
  const recoveredAt = recoveryOf(ancestors, failedAt);
  if (recoveredAt + SETTLE_MS > now)
    return { reach: { phase: 'settling', since: recoveredAt, ancestors: ids }, asks: NOBODY };
  return ask(ancestors, { since: now, ancestors: ids });
}

/** The reach at `now`, epoch milliseconds. The same object: nothing is new. */
export function nextReach(
  service: { readonly id: number; readonly checkedAt: number | null },
  ancestors: readonly Ancestor[],
  reach: Reach,
  now: number,
): ReachStep {
  const { phase, since, settlesSince = Number.POSITIVE_INFINITY } = reach;
  const to = (next: Reach['phase']) => ({ reach: { ...reach, phase: next, since: now }, asks: NOBODY });
  const same = { reach, asks: NOBODY };
  // Where the cause flaps, a check that fails while that is up says enough after a while.
  if (settlesSince + MAX_FLAPPING_MS <= now) {
    if (phase === 'open') return same;
    if (phase === 'settling' && (service.checkedAt ?? 0) > since) return to('open');
  }
  if (ancestors.some(isCause)) return phase === 'behind' ? same : to('behind');
  if (waitEndOf(reach) <= now) return to('open');
  switch (phase) {
    case 'behind':
      return {
        reach: { ...reach, phase: 'settling', since: now, settlesSince: reach.settlesSince ?? now },
        asks: [service.id],
      };
    case 'asking': {
      if (ancestors.some((one) => isAsked(one) && (one.checkedAt ?? 0) < since)) return same;
      // An outage that a process took over with may end with the answer.
      const recoveredAt = recoveryOf(ancestors, since);
      return recoveredAt + SETTLE_MS > now
        ? { reach: { ...reach, phase: 'settling', since: recoveredAt }, asks: NOBODY }
        : to('open');
    }
    case 'settling': {
      if (now < since + SETTLE_MS) return same;
      // What it depends on may be down again, which its next check would show.
      if ((service.checkedAt ?? 0) >= since + SETTLE_MS) return ask(ancestors, { ...reach, since: now });
      return { reach, asks: [service.id] };
    }
    default:
      return same;
  }
}

/** The time at which it has to be looked at again, epoch milliseconds; infinite: nothing is waited for. */
export function lookAtOf({ phase, since }: Reach, now: number): number {
  return phase === 'settling' && now < since + SETTLE_MS ? since + SETTLE_MS : now + LOOK_MS[phase];
}

/** The time at which a wait ends at the latest, epoch milliseconds; infinite: it does not. */
export function waitEndOf({ phase, since }: Reach): number {
  if (phase === 'asking') return since + MAX_ASKING_MS;
  return phase === 'settling' ? since + SETTLE_MS + MAX_SETTLING_MS : Number.POSITIVE_INFINITY;
}

/** Returns true if what depends on a service can be reached as far as that goes; null: it is not known. */
export function isReached({ isPaused, isStale, status }: Omit<Ancestor, 'lastOutage'>): boolean | null {
  return isPaused || isStale || status === 'unknown' ? null : status !== 'down';
}

/** Returns true if something failed within an outage, or so close to it that this is the cause. `at`: epoch milliseconds. */
export function isWithin({ from, to }: PastOutage, at: number): boolean {
  return at >= from - MAX_ASKING_MS && at <= to + SETTLE_MS;
}

const NOBODY: readonly number[] = [];

/** The recovery of what a service depends on from an outage in which it failed, or so soon before that it may be on its way back. */
function recoveryOf(ancestors: readonly Ancestor[], failedAt: number): number {
  return Math.max(
    ...ancestors.map(({ lastOutage }) =>
      lastOutage !== null && isWithin(lastOutage, failedAt) ? lastOutage.to : Number.NEGATIVE_INFINITY,
    ),
  );
}

function isCause(one: Ancestor): boolean {
  return isReached(one) === false;
}

/** Asks what a service depends on how it is, before the service is said to be down by itself. */
function ask(ancestors: readonly Ancestor[], reach: Omit<Reach, 'phase'>): ReachStep {
  const asks = ancestors.filter(isAsked).map(({ id }) => id);
  return { reach: { ...reach, phase: asks.length === 0 ? 'open' : 'asking' }, asks };
}

/** Returns true if a check of it says at once how it is. */
function isAsked({ isProbed, isPaused, status }: Ancestor): boolean {
  return isProbed && !isPaused && status !== 'unknown';
}
