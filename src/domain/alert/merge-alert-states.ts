/** Joins the memories of the alerts of two accounts when one is merged into the other. */
import type { AlertState, Condition } from './alert-state.ts';

/**
 * The state of `into` with what `from` remembers, so that what was told before the merge is told to its end, in its threads.
 * Channels and threads belong to one account each, and stay as they are.
 */
export function mergeAlertStates(into: AlertState, from: AlertState): AlertState {
  const conditions = new Map(into.conditions);
  for (const [key, condition] of from.conditions) {
    const known = conditions.get(key);
    conditions.set(key, known === undefined ? condition : mergeConditions(known, condition));
  }
  const certificates = new Map(into.certificates);
  for (const [service, certificate] of from.certificates) {
    const known = certificates.get(service);
    const isNewer =
      known === undefined ||
      certificate.endsAt > known.endsAt ||
      (certificate.endsAt === known.endsAt && certificate.days < known.days);
    if (isNewer) certificates.set(service, certificate);
  }
  const maintenances = new Map(into.maintenances);
  for (const [service, ids] of from.maintenances)
    maintenances.set(service, [...new Set([...(maintenances.get(service) ?? []), ...ids])]);
  return {
    conditions,
    threads: new Map([...into.threads, ...from.threads]),
    certificates,
    maintenances,
    reaches: new Map([...from.reaches, ...into.reaches]),
    lanes: newestOf(into.lanes, from.lanes),
    threadCount: Math.max(into.threadCount, from.threadCount),
    decidedAt: Math.max(into.decidedAt, from.decidedAt),
    lookAt: earliestOf(into.lookAt, from.lookAt),
    unknown: { ...from.unknown, ...into.unknown },
  };
}

function newestOf(one: AlertState['lanes'], other: AlertState['lanes']): AlertState['lanes'] {
  const lanes = Object.entries({ ...other, ...one }) as [keyof AlertState['lanes'], number][];
  return Object.fromEntries(lanes.map(([lane, at]) => [lane, Math.max(at, other[lane] ?? at)]));
}

/** The earlier of two times; null is never. */
export function earliestOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** Both accounts watched the service. What was remembered of a past outage gives way to what goes on. */
function mergeConditions(into: Condition, from: Condition): Condition {
  const newest = from.weight > into.weight ? from : into;
  return { ...newest, tellings: { ...from.tellings, ...into.tellings } };
}
