/**
 * The cells of heat maps and sparklines: how services did in each step of a window. So that pages do not wait for them, few
 * samples are read concurrently, and only those of steps that may have changed since the last read.
 */
import { BoundedMap } from '../async/bounded-map.ts';
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import {
  cellsOf,
  PICTURE_WINDOWS,
  type PictureSpan,
  type PictureWindow,
  stepsOf,
} from '../domain/picture.ts';
import type { RegionFilter, SampleQuery, SampleStore } from '../store/ports/samples.ts';
import { inRegion } from './sample-region-reader.ts';

/** Reads the cells of services. */
export type ReadHeatmapCells = ReturnType<typeof createHeatmapReader>;

/** The cached cells of a service in a window. */
interface Row {
  readonly to: number;
  /** Cells from this time on may have been read before all checks were stored; epoch milliseconds, at most `to`. */
  readonly sureTo: number;
  readonly cells: Uint8Array;
}

/** Maximum number of concurrent reads of all heat maps together, so that pages can read in between. */
const MAX_READS = 2;
/** Number of newest steps that are read again, because samples can be late by minutes. */
const STEPS_READ_AGAIN = 3;
/** Maximum number of cached rows per window and region, at most 365 bytes each; when there are more, the oldest is dropped. */
const MAX_CACHED_ROWS = 5_000;
/** Maximum number of windows and regions with cached rows; when there are more, the oldest is dropped. */
const MAX_CACHED_WINDOWS = 3 * PICTURE_WINDOWS.length;

/**
 * Creates the function that reads the cells of services in a span of a window, of all regions or of one, in the order of
 * the services. It throws the errors of the store.
 */
export function createHeatmapReader(samples: Pick<SampleStore, 'query' | 'cells' | 'missingSince'>) {
  const windows = new BoundedMap<string, { readonly rows: Map<number, Row>; last: Promise<unknown> }>(
    MAX_CACHED_WINDOWS,
  );
  const limit = createConcurrencyLimiter(MAX_READS);

  const read = async (query: SampleQuery): Promise<Uint8Array> =>
    (await samples.cells?.(query)) ?? cellsOf(await samples.query(query));
  const readRow = async (
    serviceId: number,
    known: Row | undefined,
    span: PictureSpan,
    filter: RegionFilter | undefined,
  ): Promise<Uint8Array> => {
    const { from, to, stepMs } = span;
    const steps = stepsOf(span);
    const moved = known === undefined ? steps : (to - known.to) / stepMs;
    const unsure = known === undefined ? 0 : Math.ceil((known.to - known.sureTo) / stepMs);
    const fresh = Math.min(steps, moved + Math.max(STEPS_READ_AGAIN, unsure));
    // Everything is read again if the clock was set back, too.
    if (known === undefined || moved < 0 || fresh === steps)
      return await read(inRegion({ serviceId, from, to, stepMs }, filter));
    const fromFresh = { serviceId, from: to - fresh * stepMs, to, stepMs };
    const newest = await read(inRegion(fromFresh, filter));
    const cells = new Uint8Array(steps);
    cells.set(known.cells.subarray(moved));
    cells.set(newest, steps - fresh);
    return cells;
  };

  const readAll = async (
    serviceIds: readonly number[],
    rows: Map<number, Row>,
    span: PictureSpan,
    filter: RegionFilter | undefined,
  ): Promise<Uint8Array> => {
    const steps = stepsOf(span);
    const all = new Uint8Array(serviceIds.length * steps);
    let next = 0;
    const work = async () => {
      while (next < serviceIds.length) {
        const place = next++;
        const serviceId = serviceIds[place] ?? 0;
        const missingSince = samples.missingSince?.() ?? null;
        const cells = await limit(() => readRow(serviceId, rows.get(serviceId), span, filter));
        rows.set(serviceId, { to: span.to, sureTo: Math.min(span.to, missingSince ?? span.to), cells });
        all.set(cells, place * steps);
      }
    };
    // If one read fails, the reads in flight end before the error is thrown.
    const ended = await Promise.allSettled(Array.from({ length: MAX_READS }, work));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
    return all;
  };

  return (
    serviceIds: readonly number[],
    window: PictureWindow,
    span: PictureSpan,
    filter?: RegionFilter,
  ): Promise<Uint8Array> => {
    const key = `${window} ${filter?.region ?? ''}`;
    const of = windows.get(key) ?? {
      rows: new BoundedMap<number, Row>(MAX_CACHED_ROWS),
      last: Promise.resolve(),
    };
    windows.set(key, of);
    // Heat maps of one window and region are read one after another, so that each uses the rows of the previous one. Those of
    // different ones are read concurrently.
    const reading = of.last.then(() => readAll(serviceIds, of.rows, span, filter));
    of.last = reading.catch(() => {});
    return reading;
  };
}
