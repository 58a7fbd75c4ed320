/** Services that are down behind one that they depend on: that one is told instead of them. */
import {
  type Ancestor,
  beginReach as begin,
  nextReach,
  type Reach,
  type ReachStep,
  waitEndOf,
} from '../status/reach.ts';
import { type AlertDraft, touch } from './alert-draft.ts';
import { followHolds } from './hold.ts';

/** The end of an incident is waited for so long, milliseconds. */
const KEEP_OVER_MS = 2 * 86_400_000;

/** Notes that a service has gone down. `failedAt`: when it failed first, epoch milliseconds. */
export function beginReach(draft: AlertDraft, serviceId: number, failedAt: number): void {
  const ancestors = ancestorsOf(draft, serviceId);
  if (ancestors.length > 0) take(draft, serviceId, begin(ancestors, failedAt, draft.now));
}

/** The service is down no more. Returns whether it was behind one that was down. */
export function endReach(draft: AlertDraft, serviceId: number): boolean {
  const reach = draft.reaches.get(serviceId);
  if (reach === undefined || reach.phase === 'over') return false;
  const wasBehind = reach.phase === 'behind' || reach.phase === 'settling';
  if (wasBehind) draft.reaches.set(serviceId, { ...reach, phase: 'over', since: draft.now });
  else draft.reaches.delete(serviceId);
  return wasBehind;
}

/** The incident of a service is over. */
export function forgetReach(draft: AlertDraft, serviceId: number): void {
  if (draft.reaches.get(serviceId)?.phase === 'over') draft.reaches.delete(serviceId);
}

/** Brings all services that are down up to the time of the draft with what is known of the others, and holds or lets out what follows. */
export function followReaches(draft: AlertDraft): void {
  const free = new Set<number>();
  for (const [serviceId, reach] of draft.reaches) {
    const service = draft.context.service(serviceId);
    if (reach.phase === 'over') {
      if (reach.since + KEEP_OVER_MS <= draft.now) draft.reaches.delete(serviceId);
      continue;
    }
    if (service === null || service.isPaused || service.ancestors.length === 0) {
      draft.reaches.delete(serviceId);
      free.add(serviceId);
      continue;
    }
    take(draft, serviceId, nextReach(service, ancestorsOf(draft, serviceId), reach, draft.now));
  }
  const concerned = new Set([...draft.reaches.keys(), ...free]);
  if (concerned.size > 0) followHolds(draft, concerned);
}

/** Ends the waits that have lasted for too long. */
export function endWaits(draft: AlertDraft): void {
  const { now } = draft;
  const ended = [...draft.reaches].filter(([, reach]) => waitEndOf(reach) <= now);
  for (const [serviceId, reach] of ended) setReach(draft, serviceId, { ...reach, phase: 'open', since: now });
  if (ended.length > 0) followHolds(draft, new Set(ended.map(([serviceId]) => serviceId)));
}

function take(draft: AlertDraft, serviceId: number, { reach, asks }: ReachStep): void {
  for (const id of asks) draft.asks.add(id);
  if (draft.reaches.get(serviceId) !== reach) setReach(draft, serviceId, reach);
}

function setReach(draft: AlertDraft, serviceId: number, reach: Reach): void {
  draft.reaches.set(serviceId, reach);
  touch(draft, waitEndOf(reach));
}

/** The known services that a service depends on. */
function ancestorsOf({ context }: AlertDraft, serviceId: number): readonly Ancestor[] {
  const { ancestors = [] } = context.service(serviceId) ?? {};
  return ancestors.flatMap((id) => context.service(id) ?? []);
}
