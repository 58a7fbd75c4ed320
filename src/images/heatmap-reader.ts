/**
 * The cells of heat maps, read from the samples: few at a time, and of what was read before only the steps that can
 * have changed, so that a map of every service never keeps the pages waiting for theirs.
 */
import { BoundedMap } from '../async/bounded-map.ts';
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import { cellsOf, type PictureSpan, type PictureWindow, stepsOf } from '../domain/picture.ts';
import type { SampleStore } from '../store/ports/samples.ts';

/** Reads the cells of services in a span of the window: rows in the order of the services. Throws what the store throws. */
export type ReadCells = (
  serviceIds: readonly number[],
  window: PictureWindow,
  span: PictureSpan,
) => Promise<Uint8Array>;

/** What is known of a service in a window. */
interface Row {
  readonly to: number;
  /** Cells from this time on were read while checks of theirs were missing; epoch milliseconds, at most `to`. */
  readonly sureTo: number;
  readonly cells: Uint8Array;
}

/** Reads at a time of all heat maps together: those of the pages are to find a turn between them. */
const MAX_READS = 2;
/** The running step and the two before it are read again: samples can be late by minutes. */
const STEPS_READ_AGAIN = 3;
/** Rows kept of each window; at most 365 bytes each. Beyond, the one read first goes. */
const ROWS_KEPT = 5_000;

/** Makes the reader. */
export function createHeatmapReader(samples: Pick<SampleStore, 'query' | 'missingSince'>): ReadCells {
  const windows = new Map<PictureWindow, { readonly rows: Map<number, Row>; last: Promise<unknown> }>();
  const limit = createConcurrencyLimiter(MAX_READS);

  const readRow = async (
    serviceId: number,
    known: Row | undefined,
    span: PictureSpan,
  ): Promise<Uint8Array> => {
    const { from, to, stepMs } = span;
    const steps = stepsOf(span);
    const moved = known === undefined ? steps : (to - known.to) / stepMs;
    const unsure = known === undefined ? 0 : Math.ceil((known.to - known.sureTo) / stepMs);
    const fresh = Math.min(steps, moved + Math.max(STEPS_READ_AGAIN, unsure));
    // A clock that was set back, too, makes everything be read again.
    if (known === undefined || moved < 0 || fresh === steps)
      return cellsOf(await samples.query({ serviceId, from, to, stepMs }));
    const newest = cellsOf(await samples.query({ serviceId, from: to - fresh * stepMs, to, stepMs }));
    const cells = new Uint8Array(steps);
    cells.set(known.cells.subarray(moved));
    cells.set(newest, steps - fresh);
    return cells;
  };

  const readAll = async (
    serviceIds: readonly number[],
    rows: Map<number, Row>,
    span: PictureSpan,
  ): Promise<Uint8Array> => {
    const steps = stepsOf(span);
    const all = new Uint8Array(serviceIds.length * steps);
    let next = 0;
    const work = async () => {
      while (next < serviceIds.length) {
        const place = next++;
        const serviceId = serviceIds[place] ?? 0;
        const missingSince = samples.missingSince?.() ?? null;
        const cells = await limit(() => readRow(serviceId, rows.get(serviceId), span));
        rows.set(serviceId, { to: span.to, sureTo: Math.min(span.to, missingSince ?? span.to), cells });
        all.set(cells, place * steps);
      }
    };
    // If one read fails, the others in flight end before the error is thrown.
    const ended = await Promise.allSettled(Array.from({ length: MAX_READS }, work));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
    return all;
  };

  return (serviceIds, window, span) => {
    const of = windows.get(window) ?? {
      rows: new BoundedMap<number, Row>(ROWS_KEPT),
      last: Promise.resolve(),
    };
    windows.set(window, of);
    // Maps of one window follow each other, for one finds what the other has read; those of several take turns.
    const reading = of.last.then(() => readAll(serviceIds, of.rows, span));
    of.last = reading.catch(() => {});
    return reading;
  };
}
