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
import type { RegionFilter, SampleQuery, SampleReads } from '../store/ports/samples.ts';
import { inRegion } from './sample-region-reader.ts';

export type ReadHeatmapCells = ReturnType<typeof createHeatmapReader>;

/** The cached cells of a service in a window. */
interface Row {
  readonly to: number;
  /** Cells from this time on may have been read before all checks were stored; epoch milliseconds, at most `to`. */
  readonly sureTo: number;
  readonly cells: Uint8Array;
}

/** Maximum number of concurrent calls for all heat maps together, so that pages can read in between. */
const MAX_READS = 2;
/** Number of services that are read at a time, so that a year of all of them takes some forty calls to the store's thread. */
const ROWS_AT_ONCE = 32;
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
export function createHeatmapReader(samples: SampleReads) {
  const windows = new BoundedMap<string, { readonly rows: Map<number, Row>; last: Promise<unknown> }>(
    MAX_CACHED_WINDOWS,
  );
  const limit = createConcurrencyLimiter(MAX_READS);

  const readRows = async (
    serviceIds: readonly number[],
    rows: Map<number, Row>,
    span: PictureSpan,
    filter: RegionFilter | undefined,
  ): Promise<Uint8Array[]> => {
    const { to, stepMs } = span;
    const steps = stepsOf(span);
    const known = serviceIds.map((id) => rows.get(id));
    const fresh = known.map((row) => freshSteps(row, span));
    const read = await readCells(
      samples,
      serviceIds.map((serviceId, place) =>
        inRegion({ serviceId, from: to - (fresh[place] ?? steps) * stepMs, to, stepMs }, filter),
      ),
    );
    return read.map((newest, place) => joinCells(known[place], newest, span));
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
        const first = next;
        next += ROWS_AT_ONCE;
        const ids = serviceIds.slice(first, next);
        const missingSince = samples.missingSince?.() ?? null;
        const read = await limit(() => readRows(ids, rows, span, filter));
        for (const [place, cells] of read.entries()) {
          const sureTo = Math.min(span.to, missingSince ?? span.to);
          rows.set(ids[place] ?? 0, { to: span.to, sureTo, cells });
          all.set(cells, (first + place) * steps);
        }
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

/** The cells of each query in order. They are made of its buckets where the store does not make them; it is then asked one by one. */
export async function readCells(
  samples: SampleReads,
  queries: readonly SampleQuery[],
): Promise<Uint8Array[]> {
  if (samples.cells !== undefined) return await samples.cells(queries);
  const rows: Uint8Array[] = [];
  for (const query of queries) rows.push(cellsOf(await samples.query(query)));
  return rows;
}

/** The number of newest steps of a span that have to be read. */
function freshSteps(known: Row | undefined, span: PictureSpan): number {
  const steps = stepsOf(span);
  if (known === undefined) return steps;
  const moved = (span.to - known.to) / span.stepMs;
  const unsure = Math.ceil((known.to - known.sureTo) / span.stepMs);
  // Everything is read again if the clock was set back, too.
  return moved < 0 ? steps : Math.min(steps, moved + Math.max(STEPS_READ_AGAIN, unsure));
}

function joinCells(known: Row | undefined, newest: Uint8Array, span: PictureSpan): Uint8Array {
  const steps = stepsOf(span);
  if (known === undefined || newest.length === steps) return newest;
  const cells = new Uint8Array(steps);
  cells.set(known.cells.subarray((span.to - known.to) / span.stepMs));
  cells.set(newest, steps - newest.length);
  return cells;
}
