/**
 * The days of a year of a service, for its page: those that are over are kept for some minutes, since reading them
 * again would take the store ten times as long as everything else that the page reads.
 */
import { createPromiseCache } from '../../async/promise-cache.ts';
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
  const cached = createPromiseCache<number, Bucket[]>({
    maxEntries: SERVICES_KEPT,
    maxAgeMs: DAYS_KEPT_MS,
    now,
  });
  return async (serviceId, { from, to, stepMs }) => {
    const today = from + Math.floor((to - 1 - from) / stepMs) * stepMs;
    if (today <= from) return await samples.query({ serviceId, from, to, stepMs });
    const isWhole = (samples.missingSince?.() ?? null) === null;
    const [over, running] = await Promise.all([
      cached(serviceId, `${from} ${isWhole}`, () => samples.query({ serviceId, from, to: today, stepMs })),
      samples.query({ serviceId, from: today, to, stepMs }),
    ]);
    return [...over, ...running];
  };
}
