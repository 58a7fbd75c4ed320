/** Which entries of a vendor are about an outage that our checks saw, and the time that the vendor took to acknowledge it. */
import { HOUR_MS } from '../durations.ts';
import type { Incident } from './incident.ts';

/** An entry this long before an outage, or after its end, still belongs to it, milliseconds. */
export const MAX_DISTANCE_MS = HOUR_MS;

/** An outage that our checks have seen, and the vendor's entry about it. */
export type Acknowledgement = ReturnType<typeof acknowledgements>[number];

/** A time in which the status page of a vendor could not be read, epoch milliseconds. */
export interface UnreadPeriod {
  readonly from: number;
  readonly to: number;
}

/** Median and maximum of the known lags. */
export type LagSummary = ReturnType<typeof summarizeLags>;

/**
 * Each own outage with the vendor's earliest incident that was published between an hour before it and an hour after its
 * end, and had not ended before it; newest first. Maintenances are left out, and outages of which the entry may have been missed because
 * the page was unread. `incidents` are those of one service, in any order.
 */
export function acknowledgements(
  incidents: readonly Incident[],
  now: number,
  unread: readonly UnreadPeriod[] = [],
) {
  const entries = incidents
    .filter(({ source, severity }) => source === 'vendor' && severity !== 'maintenance')
    .map(({ id, startedAt, resolvedAt, updates }) => ({
      id,
      publishedAt: updates[0]?.at ?? startedAt,
      overAt: resolvedAt ?? Number.POSITIVE_INFINITY,
    }))
    .sort((a, b) => a.publishedAt - b.publishedAt);
  return incidents
    .filter(({ source, severity }) => source === 'own' && severity !== 'maintenance')
    .sort((a, b) => b.startedAt - a.startedAt)
    .flatMap(({ id, startedAt, resolvedAt }) => {
      const until = (resolvedAt ?? now) + MAX_DISTANCE_MS;
      const found = entries.find(
        ({ publishedAt, overAt }) =>
          publishedAt >= startedAt - MAX_DISTANCE_MS && publishedAt <= until && overAt >= startedAt,
      );
      if (mayBeMissed(unread, startedAt, found?.publishedAt ?? until)) return [];
      return {
        /** Our own incident. */
        incidentId: id,
        /** First failed check, epoch milliseconds. */
        startedAt,
        /** The vendor's incident; null: there is none. */
        vendorIncidentId: found?.id ?? null,
        /** The time at which the vendor published its first entry, epoch milliseconds. */
        acknowledgedAt: found?.publishedAt ?? null,
        /** Milliseconds from the first failed check to the first entry; negative: the vendor was first. */
        lagMs: found === undefined ? null : found.publishedAt - startedAt,
      };
    });
}

/** Returns true if an entry about an outage since `startedAt`, expected until `until`, may have been missed. Epoch milliseconds. */
export function mayBeMissed(unread: readonly UnreadPeriod[], startedAt: number, until: number): boolean {
  return unread.some(({ from, to }) => from < Math.max(startedAt, until) && to > startedAt);
}

/** Summarizes lags, in milliseconds; null: none is known. The median of an even number is the mean of the middle two. */
export function summarizeLags(list: readonly Acknowledgement[]) {
  const lags = list.flatMap(({ lagMs }) => (lagMs === null ? [] : [lagMs])).sort((a, b) => a - b);
  const middle = lags.slice(Math.floor((lags.length - 1) / 2), Math.floor(lags.length / 2) + 1);
  const known = lags.length > 0;
  return {
    outages: list.length,
    acknowledged: lags.length,
    medianMs: known ? middle.reduce((sum, lag) => sum + lag, 0) / middle.length : null,
    worstMs: lags.at(-1) ?? null,
  };
}

/** Maximum number of companions; of a service that flaps, the first ones. */
const MAX_COMPANIONS = 10;

/** An incident with what belongs to it. */
export interface Trouble {
  readonly incident: Incident;
  /** Our incidents beside one of a vendor or owner, and theirs beside one of ours; oldest first. */
  readonly companions: readonly Incident[];
  /** The lag of the vendor's first entry behind our first failed check; null: one of the two is missing. */
  readonly acknowledgement: Acknowledgement | null;
}

/**
 * Finds the companions of an incident among those of its service, in any order. A vendor's incident belongs to the
 * outages that it acknowledges (`acknowledgements`); an owner's, and maintenance, to the outages that it overlaps.
 */
export function gatherTrouble(incident: Incident, known: readonly Incident[], now: number): Trouble {
  const others = known.filter(({ id }) => id !== incident.id);
  const pairs = acknowledgements([incident, ...others], now).filter(
    ({ incidentId, vendorIncidentId }) =>
      vendorIncidentId !== null && [incidentId, vendorIncidentId].includes(incident.id),
  );
  const paired = new Set(pairs.flatMap(({ incidentId, vendorIncidentId }) => [incidentId, vendorIncidentId]));
  const companions = others
    .filter((other) => (other.source === 'own') !== (incident.source === 'own'))
    .filter((other) =>
      isAcknowledging(incident) && isAcknowledging(other)
        ? paired.has(other.id)
        : overlaps(incident, other, now),
    )
    .sort((a, b) => a.startedAt - b.startedAt)
    .slice(0, MAX_COMPANIONS);
  // Pairs are newest first: a vendor that acknowledges several outages answers the first one.
  return { incident, companions, acknowledgement: pairs.at(-1) ?? null };
}

/** Returns true if `acknowledgements` decides about the incident. */
function isAcknowledging({ source, severity }: Incident): boolean {
  return source !== 'owner' && severity !== 'maintenance';
}

function overlaps(one: Incident, other: Incident, now: number): boolean {
  return one.startedAt <= (other.resolvedAt ?? now) && other.startedAt <= (one.resolvedAt ?? now);
}
