/**
 * What is down behind a service that it depends on is not told: that service is. When one fails, what it depends on is asked first, and
 * where that has recovered and it still fails, it is told after all.
 */

import type { AlertService } from './alert-context.ts';
import { type AlertDraft, isReached, touch } from './alert-draft.ts';
import type { Reach } from './alert-state.ts';
import { followHolds } from './hold.ts';

/** Maximum time for which what a service depends on is waited for, milliseconds: longer than a usual check with its re-checks. */
const MAX_ASKING_MS = 45_000;

/** What still fails when what it depends on has been well for this time is told, milliseconds. */
const SETTLE_MS = 120_000;

/** Maximum time beyond {@link SETTLE_MS} for which its next check is waited for, milliseconds. */
const MAX_SETTLING_MS = 480_000;

/** What still fails so long after what it depends on recovered first is told even if that never stays up for {@link SETTLE_MS}. */
const MAX_FLAPPING_MS = 1_800_000;

/** How often what is waited for is looked at, milliseconds. */
const LOOK_MS: Readonly<Record<Reach['phase'], number>> = {
  asking: 1_000,
  settling: 5_000,
  behind: 60_000,
  open: Number.POSITIVE_INFINITY,
  over: Number.POSITIVE_INFINITY,
};

/** The end of an incident is waited for so long, milliseconds. */
const KEEP_OVER_MS = 2 * 86_400_000;

/** Notes that a service has gone down. `failedAt`: when it failed first; `now`: when that is decided, epoch milliseconds. */
export function beginReach(draft: AlertDraft, serviceId: number, failedAt: number, now: number): void {
  const ancestors = ancestorsOf(draft, serviceId);
  if (ancestors.length === 0) return;
  const recoveredAt = Math.max(
    ...ancestors.map(({ status, since }) => (status === 'down' ? 0 : (since ?? 0))),
  );
  // What fails right after what it depends on has recovered may be on its way back.
  const settles = failedAt <= recoveredAt + SETTLE_MS && recoveredAt + SETTLE_MS > now;
  const ids = ancestors.map(({ id }) => id);
  if (ancestors.some(isDown)) setReach(draft, serviceId, { phase: 'behind', since: now, ancestors: ids });
  else if (settles) setReach(draft, serviceId, { phase: 'settling', since: recoveredAt, ancestors: ids });
  else setReach(draft, serviceId, ask(draft, ancestors, { since: now, ancestors: ids }));
}

/** The service is down no more. Returns whether it was behind one that was down. */
export function endReach(draft: AlertDraft, serviceId: number, now: number): boolean {
  const reach = draft.reaches.get(serviceId);
  if (reach === undefined || reach.phase === 'over') return false;
  const wasBehind = reach.phase === 'behind' || reach.phase === 'settling';
  if (wasBehind) draft.reaches.set(serviceId, { ...reach, phase: 'over', since: now });
  else draft.reaches.delete(serviceId);
  return wasBehind;
}

/** The incident of a service is over. */
export function forgetReach(draft: AlertDraft, serviceId: number): void {
  if (draft.reaches.get(serviceId)?.phase === 'over') draft.reaches.delete(serviceId);
}

/** Brings all services that are down up to `now`, epoch milliseconds, with what is known of the others, and holds or lets out what follows. */
export function followReaches(draft: AlertDraft, now: number): void {
  const free = new Set<number>();
  for (const [serviceId, reach] of draft.reaches) {
    const service = draft.context.service(serviceId);
    if (reach.phase === 'over') {
      if (reach.since + KEEP_OVER_MS <= now) draft.reaches.delete(serviceId);
      continue;
    }
    if (service === null || service.isPaused || service.ancestors.length === 0) {
      draft.reaches.delete(serviceId);
      free.add(serviceId);
      continue;
    }
    const next = nextReach(draft, service, reach, now);
    if (next !== reach) setReach(draft, serviceId, next);
  }
  const concerned = new Set([...draft.reaches.keys(), ...free]);
  if (concerned.size > 0) followHolds(draft, now, concerned);
}

/** When it has to be looked at again, epoch milliseconds; infinite: nothing is waited for. */
export function lookAtOf({ phase, since }: Reach, now: number): number {
  return phase === 'settling' && now < since + SETTLE_MS ? since + SETTLE_MS : now + LOOK_MS[phase];
}

/** When a wait ends at the latest, epoch milliseconds; infinite: it does not. */
export function waitEndOf({ phase, since }: Reach): number {
  if (phase === 'asking') return since + MAX_ASKING_MS;
  return phase === 'settling' ? since + SETTLE_MS + MAX_SETTLING_MS : Number.POSITIVE_INFINITY;
}

/** Ends the waits that have lasted for too long. */
export function endWaits(draft: AlertDraft, now: number): void {
  const ended = [...draft.reaches].filter(([, reach]) => waitEndOf(reach) <= now);
  for (const [serviceId, reach] of ended) setReach(draft, serviceId, { ...reach, phase: 'open', since: now });
  if (ended.length > 0) followHolds(draft, now, new Set(ended.map(([serviceId]) => serviceId)));
}

/** Asks what a service depends on how it is, before the service is told. */
function ask(draft: AlertDraft, ancestors: readonly AlertService[], reach: Omit<Reach, 'phase'>): Reach {
  const asked = ancestors.filter(isAsked);
  for (const { id } of asked) draft.asks.add(id);
  return { ...reach, phase: asked.length === 0 ? 'open' : 'asking' };
}

function nextReach(draft: AlertDraft, service: AlertService, reach: Reach, now: number): Reach {
  const ancestors = ancestorsOf(draft, service.id);
  const { phase, since, settlesSince = Number.POSITIVE_INFINITY } = reach;
  // Where the cause flaps, a check that fails while that is up says enough after a while.
  if (settlesSince + MAX_FLAPPING_MS <= now) {
    if (phase === 'open') return reach;
    if (phase === 'settling' && (service.checkedAt ?? 0) > since)
      return { ...reach, phase: 'open', since: now };
  }
  if (ancestors.some(isDown)) return phase === 'behind' ? reach : { ...reach, phase: 'behind', since: now };
  switch (phase) {
    case 'behind':
      draft.asks.add(service.id);
      return { ...reach, phase: 'settling', since: now, settlesSince: reach.settlesSince ?? now };
    case 'asking':
      return ancestors.every((one) => !isAsked(one) || (one.checkedAt ?? 0) >= since)
        ? { ...reach, phase: 'open', since: now }
        : reach;
    case 'settling': {
      if (now < since + SETTLE_MS) return reach;
      // What it depends on may be down again, which its next check would show.
      if ((service.checkedAt ?? 0) >= since + SETTLE_MS)
        return ask(draft, ancestors, { ...reach, since: now });
      draft.asks.add(service.id);
      return reach;
    }
    default:
      return reach;
  }
}

function setReach(draft: AlertDraft, serviceId: number, reach: Reach): void {
  draft.reaches.set(serviceId, reach);
  touch(draft, waitEndOf(reach));
}

/** What a service depends on and is known. */
function ancestorsOf({ context }: AlertDraft, serviceId: number): readonly AlertService[] {
  const { ancestors = [] } = context.service(serviceId) ?? {};
  return ancestors.flatMap((id) => context.service(id) ?? []);
}

function isDown(service: AlertService): boolean {
  return isReached(service) === false;
}

/** Whether a check of it says at once how it is. */
function isAsked({ isProbed, isPaused, status }: AlertService): boolean {
  return isProbed && !isPaused && status !== 'unknown';
}
