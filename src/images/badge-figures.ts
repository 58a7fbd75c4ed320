/**
 * Uptime and response times for badges: read from the samples at most once a minute for each service and window, few
 * at a time, so that badges never keep pages waiting for theirs.
 */

import { BoundedMap } from '../async/bounded-map.ts';
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import { HttpError } from '../http/problem.ts';
import { isSampleReadError, type SampleStore } from '../store/ports/samples.ts';
import { type BadgeWindow, windowMs } from '../view/badge-query.ts';
import { type BadgeFigures, FIGURES_KEPT_MS } from './badge-text.ts';

/** Reads the figures of a service in a window. Throws `history_unavailable`, or what the store throws. */
export type ReadFigures = (serviceId: number, window: BadgeWindow) => Promise<BadgeFigures>;

/** Services and windows that are cached, about 300 bytes each; beyond, the one read first is dropped. */
const MAX_KEPT = 20_000;
/** Concurrent reads; further ones wait. */
const MAX_READS = 4;

interface Memory {
  readonly triedAt: number;
  /** The newest that were found; null: none yet. */
  readonly found: BadgeFigures | null;
  /** The read in flight, or the last one. */
  readonly reading: Promise<BadgeFigures>;
}

/** Makes the reader. While the store is out of reach, the last figures are returned with the time of their reading. */
export function createFigureReader(samples: Pick<SampleStore, 'query'>, now: () => number): ReadFigures {
  const memories = new BoundedMap<string, Memory>(MAX_KEPT);
  const limit = createConcurrencyLimiter(MAX_READS);

  return (serviceId, window) => {
    const key = `${serviceId} ${window}`;
    const known = memories.get(key);
    const triedAt = now();
    if (known !== undefined && Math.abs(triedAt - known.triedAt) < FIGURES_KEPT_MS) return known.reading;
    const found = known?.found ?? null;
    const reading = limit(async () => {
      const readAt = now();
      const lengthMs = windowMs(window);
      const query = { serviceId, from: readAt - lengthMs, to: readAt, stepMs: lengthMs };
      const [bucket] = await samples.query(query);
      if (bucket === undefined) throw new Error(`the samples have no bucket for ${key}`);
      const read: BadgeFigures = { bucket, readAt };
      if (memories.get(key)?.reading === reading) memories.set(key, { triedAt, found: read, reading });
      return read;
    }).catch((error: unknown) => {
      if (!isSampleReadError(error)) {
        if (memories.get(key)?.reading === reading) memories.delete(key);
        throw error;
      }
      if (found !== null) return found;
      const detail =
        'The store of past checks does not answer; the status badge does. Try again in a minute.';
      throw new HttpError('history_unavailable', detail, {}, { 'Retry-After': '60' });
    });
    memories.set(key, { triedAt, found, reading });
    return reading;
  };
}
