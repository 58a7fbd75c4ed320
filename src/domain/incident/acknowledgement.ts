/** The time that vendors take to acknowledge outages: the lag of their first entry behind our first failed check. */
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
