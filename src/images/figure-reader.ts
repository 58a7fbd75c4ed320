/** Reads the figures that badges show: at most once a minute each, and few at a time. */
import { BoundedMap, createPromiseCache } from '../async/bounded-map.ts';
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import { isSampleReadError, type SampleReads } from '../store/ports/samples.ts';
import { type BadgeFigures, FIGURES_KEPT_MS } from './badge-text.ts';

/** Maximum number of cached figures, one per service and window, about 300 bytes each. */
const MAX_CACHED_FIGURES = 20_000;
/** Maximum number of concurrent reads of figures; further ones wait, so that badges do not delay pages. */
const MAX_READS = 4;

/** Reads the figures of services over the time of a length, milliseconds, that ends now. */
export interface FigureReader {
  /**
   * The figures as of the last minute; while the sample store cannot be read, those that were read last, or null if there are none.
   * Rejects with any other error of the store, and waits as long as the store does.
   */
  read(serviceId: number, lengthMs: number): Promise<BadgeFigures | null>;
  /** The figures that were read last; null: there are none. */
  last(serviceId: number, lengthMs: number): BadgeFigures | null;
}

/** Creates a reader, which reads each length of a service at most once per minute. */
export function createFigureReader(samples: SampleReads, now: () => number): FigureReader {
  const known = new BoundedMap<string, BadgeFigures>(MAX_CACHED_FIGURES);
  const cached = createPromiseCache<string, { readonly figures: BadgeFigures | null }>({
    maxEntries: MAX_CACHED_FIGURES,
    maxAgeMs: FIGURES_KEPT_MS,
    now,
    // Kept for a minute, too: a store that is away is not asked for each badge.
    recover: (error, last) => (isSampleReadError(error) ? (last ?? { figures: null }) : null),
  });
  const limit = createConcurrencyLimiter(MAX_READS);
  const keyOf = (serviceId: number, lengthMs: number) => `${serviceId} ${lengthMs}`;
  return {
    async read(serviceId, lengthMs) {
      const key = keyOf(serviceId, lengthMs);
      const read = async () => {
        const readAt = now();
        const query = { serviceId, from: readAt - lengthMs, to: readAt, stepMs: lengthMs };
        const [bucket] = await samples.query(query);
        if (bucket === undefined) throw new Error(`the samples have no bucket for ${key}`);
        const figures = { bucket, readAt };
        known.set(key, figures);
        return { figures };
      };
      return (await cached(key, '', () => limit(read))).figures;
    },
    last: (serviceId, lengthMs) => known.get(keyOf(serviceId, lengthMs)) ?? null,
  };
}
