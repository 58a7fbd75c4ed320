/**
 * The days of a year of a service, for its page: those that are over are kept for some minutes, since reading them
 * again would take the store ten times as long as everything else that the page reads.
 */
import { BoundedMap } from '../../async/bounded-map.ts';
import type { Bucket } from '../../domain/sample.ts';
import type { SampleStore } from '../../store/ports/samples.ts';
import type { Window } from '../../view/time-ranges.ts';

/** Reads the days of a window whose last one is today. Throws what the store throws. */
export type ReadDays = (serviceId: number, window: Window) => Promise<Bucket[]>;

/** Samples that come late change a day that is over; they are seen after this time. Milliseconds. */
export const DAYS_KEPT_MS = 300_000;
/** Services whose days are kept, about 50 KB each; beyond, the one read first goes. */
const SERVICES_KEPT = 300;

/** Makes the reader. */
export function createPastDays(
  samples: Pick<SampleStore, 'query' | 'missingSince'>,
  now: () => number,
): ReadDays {
  const kept = new BoundedMap<
    number,
    {
      readonly from: number;
      readonly readAt: number;
      /** No checks were missing from the store. */
      readonly isWhole: boolean;
      readonly days: Promise<Bucket[]>;
    }
  >(SERVICES_KEPT);

  const readOver = (serviceId: number, from: number, to: number, stepMs: number): Promise<Bucket[]> => {
    const at = now();
    const known = kept.get(serviceId);
    const isWhole = (samples.missingSince?.() ?? null) === null;
    if (known?.from === from && known.isWhole === isWhole && Math.abs(at - known.readAt) < DAYS_KEPT_MS)
      return known.days;
    const days = samples.query({ serviceId, from, to, stepMs });
    kept.set(serviceId, { from, readAt: at, isWhole, days });
    days.catch(() => {
      if (kept.get(serviceId)?.days === days) kept.delete(serviceId);
    });
    return days;
  };

  return async (serviceId, { from, to, stepMs }) => {
    const today = from + Math.floor((to - 1 - from) / stepMs) * stepMs;
    if (today <= from) return await samples.query({ serviceId, from, to, stepMs });
    const [over, running] = await Promise.all([
      readOver(serviceId, from, today, stepMs),
      samples.query({ serviceId, from: today, to, stepMs }),
    ]);
    return [...over, ...running];
  };
}
