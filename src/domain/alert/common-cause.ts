/** The causes of outages: what several services that fail have in common, and what they depend on, which is told instead of them. */
import {
  type Ancestor,
  beginReach as begin,
  nextReach,
  type Reach,
  type ReachStep,
  waitEndOf,
} from '../status/reach.ts';
import { type AlertDraft, type CauseFacts, touch } from './alert-draft.ts';
import { followHolds } from './hold.ts';
import type { CommonCause } from './message.ts';

/** Share of the services that a cause has to explain, if it does not explain all. */
const MIN_EXPLAINED_RATIO = 0.8;

/** Number of services that a cause has to explain, if it does not explain all. */
const MIN_EXPLAINED = 3;

/** A possible cause, with the services that it explains. */
interface Candidate {
  readonly cause: CommonCause;
  /** Of two that explain as many services, the one with the lesser rank says more. */
  readonly rank: number;
  explained: number;
}

/**
 * The cause that explains all services that fail, or at least 80 % and three of them, and that no service has which is known to
 * be well: one that was checked after all of those had begun to fail. Null: the data shows none. `failing` has at least two
 * services with the times at which they began to fail, epoch milliseconds.
 */
export function findCommonCause(
  failing: ReadonlyMap<number, number>,
  facts: Iterable<CauseFacts>,
): CommonCause | null {
  const lastBeganAt = Math.max(...failing.values());
  const candidates = new Map<string, Candidate>();
  const excluded = new Set<string>();
  for (const service of facts) {
    const fails = failing.has(service.serviceId);
    if (fails) {
      for (const [rank, cause] of causesOf(service, true)) {
        const key = keyOf(cause);
        const candidate = candidates.get(key) ?? { cause, rank, explained: 0 };
        candidate.explained += 1;
        candidates.set(key, candidate);
      }
    } else if (isWell(service) && service.checkedAt >= lastBeganAt) {
      for (const [, cause] of causesOf(service, false)) excluded.add(keyOf(cause));
    }
  }
  const needed = Math.max(MIN_EXPLAINED, Math.ceil(failing.size * MIN_EXPLAINED_RATIO));
  const [best] = [...candidates]
    .filter(
      ([key, { explained }]) => !excluded.has(key) && (explained === failing.size || explained >= needed),
    )
    .map(([, candidate]) => candidate)
    .sort((a, b) => b.explained - a.explained || a.rank - b.rank || compare(a.cause.name, b.cause.name));
  return best?.cause ?? null;
}

/**
 * Returns true if what began to fail has one cause in common with what has failed before. Both are as `failing` of {@link
 * findCommonCause}.
 */
export function sharesCause(
  before: ReadonlyMap<number, number>,
  begun: ReadonlyMap<number, number>,
  facts: readonly CauseFacts[],
): boolean {
  const cause = findCommonCause(new Map([...before, ...begun]), facts);
  if (cause === null) return false;
  const explained = facts.filter(
    (service) =>
      begun.has(service.serviceId) &&
      causesOf(service, true).some(([, other]) => keyOf(other) === keyOf(cause)),
  );
  return explained.length === begun.size;
}

/**
 * Causes that may make the service fail; of one that is well, those that evidently do not. A vendor, dependency, region or
 * certificate counts only where it fails for the service, an address always.
 */
function causesOf(service: CauseFacts, fails: boolean): (readonly [rank: number, cause: CommonCause])[] {
  const { addresses = [], dependencies = [], vendors = [], regions = [], certificate } = service;
  const isPartial = regions.some((region) => !region.fails);
  return [
    ...dependencies
      .filter((dependency) => !fails || dependency.fails)
      .map(({ name }) => [0, { kind: 'dependency', name }] as const),
    ...(certificate !== undefined && (!fails || certificate.fails)
      ? [[1, { kind: 'certificate', name: certificate.validUntil }] as const]
      : []),
    ...vendors
      .filter((vendor) => !fails || vendor.hasIncident)
      .map(({ name }) => [2, { kind: 'vendor', name }] as const),
    ...addresses.map((name) => [3, { kind: 'address', name }] as const),
    // Where a service fails everywhere, no region is the cause.
    ...regions
      .filter((region) => (fails ? region.fails && isPartial : !region.fails))
      .map(({ name }) => [4, { kind: 'region', name }] as const),
  ];
}

function isWell({ status }: CauseFacts): boolean {
  return status === 'up' || status === 'slow';
}

function keyOf({ kind, name }: CommonCause): string {
  return `${kind} ${name}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

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

function ancestorsOf({ context }: AlertDraft, serviceId: number): readonly Ancestor[] {
  const { ancestors = [] } = context.service(serviceId) ?? {};
  return ancestors.flatMap((id) => context.service(id) ?? []);
}
