/** The time that vendors take to report outages, over all services of a vendor's status page. Pure. */
import { acknowledgements, MAX_DISTANCE_MS, mayBeMissed, type UnreadPeriod } from './acknowledgement.ts';
import type { Incident } from './incident.ts';

/** Number of outages from which on a vendor has a rank: fewer say little. */
export const MIN_RANKED_OUTAGES = 5;

/** Part of an interval that an outage must exceed, so that two checks in a row by schedule have failed. */
const MIN_INTERVALS = 1.5;

/** The past of one service: incidents of all sources, in any order. */
export interface ServicePast<S> {
  readonly service: S;
  /** Its time between two checks, milliseconds. */
  readonly intervalMs: number;
  readonly incidents: readonly Incident[];
}

/** An outage of one or more services of a vendor. Services that failed at the same time have one outage. */
export interface VendorOutage<S> {
  /** Our own incident, that of the first service. */
  readonly incidentId: string;
  readonly service: S;
  /** First failed check, epoch milliseconds. */
  readonly startedAt: number;
  /** First good check; null: none so far. */
  readonly endedAt: number | null;
  /** The time of the vendor's first entry; null: there is none. */
  readonly acknowledgedAt: number | null;
  /** From the first failed check to that entry, milliseconds; negative: the vendor was first. */
  readonly lagMs: number | null;
}

export interface HonestyFigures {
  readonly outages: number;
  readonly acknowledged: number;
  /** Within this time half of all outages were acknowledged; null: fewer than half were. */
  readonly medianMs: number | null;
  /** The longest known lag; null: none is known. */
  readonly worstMs: number | null;
}

/**
 * The outages of a vendor that count, newest first. They were seen by at least two checks in a row by schedule, and are no
 * maintenance. One that the vendor has not acknowledged counts once its time for that is over: an hour after its end. None
 * counts whose time for that has a part in which the page could not be read.
 */
export function vendorOutages<S>(
  past: readonly ServicePast<S>[],
  now: number,
  unread: readonly UnreadPeriod[] = [],
): VendorOutage<S>[] {
  const found = past
    .flatMap(({ service, intervalMs, incidents }) => {
      const ends = new Map(incidents.map((incident) => [incident.id, firstGoodAt(incident)]));
      return acknowledgements(incidents, now).map(({ incidentId, startedAt, acknowledgedAt }) => {
        const endedAt = ends.get(incidentId) ?? null;
        return { incidentId, service, startedAt, endedAt, acknowledgedAt, lagMs: null, intervalMs };
      });
    })
    .filter(
      ({ startedAt, endedAt, intervalMs }) => (endedAt ?? now) - startedAt >= MIN_INTERVALS * intervalMs,
    )
    .sort((a, b) => a.startedAt - b.startedAt);
  const joined: VendorOutage<S>[] = [];
  for (const { intervalMs: _, ...outage } of found) {
    const last = joined.at(-1);
    if (last === undefined || !isSameOutage(last, outage)) joined.push(outage);
    else joined[joined.length - 1] = { ...last, ...joinEnds(last, outage) };
  }
  return joined
    .map((outage) => ({
      ...outage,
      lagMs: outage.acknowledgedAt === null ? null : outage.acknowledgedAt - outage.startedAt,
    }))
    .filter(({ endedAt, lagMs }) => lagMs !== null || (endedAt !== null && endedAt + MAX_DISTANCE_MS < now))
    .filter(
      ({ startedAt, endedAt, acknowledgedAt }) =>
        !mayBeMissed(unread, startedAt, acknowledgedAt ?? (endedAt ?? now) + MAX_DISTANCE_MS),
    )
    .reverse();
}

export function honestyFigures(outages: readonly Pick<VendorOutage<unknown>, 'lagMs'>[]): HonestyFigures {
  const lags = outages.map(({ lagMs }) => lagMs ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const known = lags.filter((lag) => lag !== Number.POSITIVE_INFINITY);
  const median = lags[Math.ceil(lags.length / 2) - 1] ?? Number.POSITIVE_INFINITY;
  return {
    outages: outages.length,
    acknowledged: known.length,
    medianMs: median === Number.POSITIVE_INFINITY ? null : median,
    worstMs: known.at(-1) ?? null,
  };
}

/**
 * Ranks vendors, the quickest first, from 1; equal figures share a rank. Vendors of too few outages have none (null) and follow, those
 * of most outages first. Of two that acknowledged fewer than half of their outages, the one of the greater part is first.
 */
export function rankVendors<V extends HonestyFigures>(
  vendors: readonly V[],
): (V & { readonly rank: number | null })[] {
  const isRanked = ({ outages }: HonestyFigures) => outages >= MIN_RANKED_OUTAGES;
  const [ranked, others] = [vendors.filter(isRanked), vendors.filter((one) => !isRanked(one))];
  ranked.sort(compareFigures);
  others.sort((a, b) => b.outages - a.outages || compareFigures(a, b));
  let rank = 0;
  return [
    ...ranked.map((vendor, index) => {
      const before = ranked[index - 1];
      if (before === undefined || compareFigures(before, vendor) !== 0) rank = index + 1;
      return { ...vendor, rank };
    }),
    ...others.map((vendor) => ({ ...vendor, rank: null })),
  ];
}

/** Returns true if what began later is part of an outage: it began within an hour of it, and before its end. */
function isSameOutage<S>(outage: VendorOutage<S>, later: VendorOutage<S>): boolean {
  const isBefore = outage.endedAt === null || later.startedAt <= outage.endedAt;
  return isBefore && later.startedAt <= outage.startedAt + MAX_DISTANCE_MS;
}

function compareFigures(a: HonestyFigures, b: HonestyFigures): number {
  const [medianA, medianB] = [a, b].map(({ medianMs }) => medianMs ?? Number.POSITIVE_INFINITY) as [
    number,
    number,
  ];
  if (medianA !== medianB) return medianA - medianB;
  return b.acknowledged / b.outages - a.acknowledged / a.outages;
}

/** The time of the first good check of an own incident; null: not yet. */
function firstGoodAt({ updates, resolvedAt }: Incident): number | null {
  return updates.find(({ status }) => status === 'monitoring')?.at ?? resolvedAt;
}

function joinEnds<S>(a: VendorOutage<S>, b: VendorOutage<S>) {
  const ends = [a.endedAt, b.endedAt];
  const acknowledged = [a.acknowledgedAt, b.acknowledgedAt].filter((at) => at !== null);
  return {
    endedAt: ends.includes(null) ? null : Math.max(...ends.filter((at) => at !== null)),
    acknowledgedAt: acknowledged.length === 0 ? null : Math.min(...acknowledged),
  };
}
