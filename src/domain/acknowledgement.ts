/** How long a vendor takes to say what our checks have seen: the lag of its first entry behind our first failed check. */
import { HOUR_MS } from './durations.ts';
import type { Incident } from './incident.ts';

/** An entry this much before an outage, or after its end, still speaks of it. */
const REACH_MS = HOUR_MS;

/** One outage that our checks have seen, and what its vendor said of it. */
export interface Acknowledgement {
  /** Our own incident. */
  readonly incidentId: string;
  /** First failed check, epoch milliseconds. */
  readonly startedAt: number;
  /** The vendor's incident; null: it said nothing. */
  readonly vendorIncidentId: string | null;
  /** When the vendor published its first entry, epoch milliseconds. */
  readonly acknowledgedAt: number | null;
  /** Milliseconds from the first failed check to the first entry; negative: the vendor was first. */
  readonly lagMs: number | null;
}

/** Median and worst of the lags that are known. */
export interface LagSummary {
  readonly outages: number;
  readonly acknowledged: number;
  /** Milliseconds; null: no outage was acknowledged. */
  readonly medianMs: number | null;
  readonly worstMs: number | null;
}

/**
 * Each own outage with the vendor's earliest incident that was published from an hour before it to an hour after its
 * end, and was not over before it. Maintenances on either side are left out. `incidents` are those of one service, in any order; newest first.
 */
export function acknowledgements(incidents: readonly Incident[], now: number): Acknowledgement[] {
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
    .map(({ id, startedAt, resolvedAt }) => {
      const until = (resolvedAt ?? now) + REACH_MS;
      const found = entries.find(
        ({ publishedAt, overAt }) =>
          publishedAt >= startedAt - REACH_MS && publishedAt <= until && overAt >= startedAt,
      );
      return {
        incidentId: id,
        startedAt,
        vendorIncidentId: found?.id ?? null,
        acknowledgedAt: found?.publishedAt ?? null,
        lagMs: found === undefined ? null : found.publishedAt - startedAt,
      };
    });
}

/** Sums the lags up. Of an even number of lags the median is the mean of the middle two. */
export function summarizeLags(list: readonly Acknowledgement[]): LagSummary {
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
