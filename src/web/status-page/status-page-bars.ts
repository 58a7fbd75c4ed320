/** 90 days of a service as bars that cost a page next to nothing: one drawn line for each kind of day. */
import { createPromiseCache } from '../../async/promise-cache.ts';
import { type Bucket, type DayKind, dayKindOf } from '../../domain/sample.ts';
import { isSampleReadError, type SampleStore } from '../../store/ports/samples.ts';
import { daysUntil } from '../../view/time-ranges.ts';
import { uptimeOf } from '../service/service-days.ts';

const DAYS = 90;
const KEPT_MS = 300_000;
const MAX_KEPT = 5_000;
/** Concurrent queries; the store answers others in between. */
const MAX_READS = 8;
const STEP = 11;

/** The bars of a service. */
type UptimeBars = ReturnType<typeof barsOf>;

/** Makes the reader of bars; those of a service are read again after five minutes. */
export function createUptimeBars(samples: Pick<SampleStore, 'query' | 'missingSince'>, now: () => number) {
  const cached = createPromiseCache<number, UptimeBars>({
    maxEntries: MAX_KEPT,
    maxAgeMs: KEPT_MS,
    now,
  });

  const read = async (serviceId: number, at: number): Promise<UptimeBars | null> => {
    try {
      const isWhole = (samples.missingSince?.() ?? null) === null;
      // UTC days, as those of the service's own page.
      return await cached(serviceId, String(isWhole), async () =>
        barsOf(await samples.query({ serviceId, ...daysUntil(at, DAYS) })),
      );
    } catch (error) {
      // A page without its bars is better than none while the store of the samples is away.
      if (!isSampleReadError(error)) throw error;
      return null;
    }
  };

  /** The bars of each service by its id; those that cannot be read now are missing. */
  return async (serviceIds: readonly number[]): Promise<ReadonlyMap<number, UptimeBars>> => {
    const at = now();
    const found = new Map<number, UptimeBars>();
    for (let start = 0; start < serviceIds.length; start += MAX_READS) {
      const some = serviceIds.slice(start, start + MAX_READS);
      const bars = await Promise.all(some.map((id) => read(id, at)));
      for (const [index, id] of some.entries()) {
        const one = bars[index] ?? null;
        if (one !== null) found.set(id, one);
      }
    }
    return found;
  };
}

/**
 * Bars of a row of days, the oldest first. `lines`: an SVG path for each kind of day, in a box of 988 by 28, to be drawn
 * with a dash of 8 and a gap of 3; days of one kind that follow each other are one stroke. `uptimeRatio`: null without
 * checks. `knownDays`: from the first day with a check on.
 */
export function barsOf(days: readonly Pick<Bucket, 'count' | 'slowCount' | 'downCount' | 'suspectCount'>[]) {
  const paths = new Map<DayKind, string>();
  const kinds = days.map(dayKindOf);
  for (let start = 0; start < kinds.length; ) {
    const kind = kinds[start] as DayKind;
    let end = start + 1;
    while (kinds[end] === kind) end++;
    const stroke = `M${start * STEP} 14h${(end - start) * STEP - 3}`;
    paths.set(kind, (paths.get(kind) ?? '') + stroke);
    start = end;
  }
  const first = days.findIndex(({ count }) => count > 0);
  return {
    lines: [...paths].map(([kind, path]) => ({ kind, path })),
    uptimeRatio: uptimeOf(days),
    knownDays: first === -1 ? 0 : days.length - first,
  };
}
