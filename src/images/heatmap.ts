/**
 * `GET /api/heatmap.png`: services by time, for other sites and link previews. So that pages do not wait for heat maps,
 * few samples are read concurrently, and only those of steps that may have changed since the last read.
 */
import { BoundedMap } from '../async/bounded-map.ts';
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import type { Clock } from '../clock.ts';
import { CATEGORIES, CATEGORY_TITLES, type Category } from '../domain/category.ts';
import {
  cellsOf,
  type HeatmapGroup,
  type HeatmapPicture,
  MAX_HEATMAP_SERVICES,
  PICTURE_WINDOWS,
  type PictureSpan,
  type PictureWindow,
  spanOf,
  stepsOf,
} from '../domain/picture.ts';
import type { Service } from '../domain/service.ts';
import type { OpenApiOperation } from '../http/openapi.ts';
import { enumParameter, readParameters } from '../http/parameters.ts';
import { retryLater } from '../http/problem.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import type { RegionFilter, SampleStore } from '../store/ports/samples.ts';
import { inRegion, REGION_PARAMETER, type SampleRegionReader } from '../view/sample-region-reader.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { createPictureCache, pictureOperation, THEME_PARAMETER, WINDOW_PARAMETER } from './picture.ts';

const QUERY = {
  window: WINDOW_PARAMETER,
  category: enumParameter(CATEGORIES, 'Only services of this category. Default: all of them.'),
  theme: THEME_PARAMETER,
  region: REGION_PARAMETER,
};

/** Sources of the route. */
export interface HeatmapSources {
  readonly directory: Pick<ServiceDirectory, 'all'>;
  readonly samples: Pick<SampleStore, 'query' | 'missingSince'>;
  readonly regions: Pick<SampleRegionReader, 'filterOf'>;
  /** Draws heat maps as PNG. */
  readonly pictures: { readonly heatmap: (picture: HeatmapPicture) => Promise<Uint8Array> };
  readonly clock: Clock;
}

/** Maximum number of cached heat maps, up to 250 KB each: all windows in both themes, and some categories. */
const MAX_CACHED_HEATMAPS = 40;
/** Time after which the client gets 503 with Retry-After, milliseconds; the heat map is still drawn and cached. */
export const HEATMAP_TIMEOUT_MS = 10_000;

/** The route. */
export function heatmapRoute({ directory, samples, regions, pictures, clock }: HeatmapSources): Route {
  const keep = createPictureCache(MAX_CACHED_HEATMAPS, () => clock.now());
  const readCells = createHeatmapReader(samples);
  return {
    path: '/api/heatmap.png',
    bucket: 'pictures',
    access: 'everyone',
    describe: describeHeatmap,
    async handle({ query }) {
      const { window, category, theme, region } = readParameters(query, QUERY);
      const filter = await regions.filterOf(region);
      const missingSince = samples.missingSince?.() ?? null;
      const place = `${window} ${category ?? ''} ${theme} ${region ?? ''}`;
      const answer = keep(place, String(missingSince !== null), async () => {
        const { shown, groups, total } = chooseServices(directory.all(), category);
        const asOf = clock.now();
        const span = spanOf(window, asOf);
        const ids = shown.map(({ id }) => id);
        const cells = await readCells(ids, window, span, filter);
        const place = region === undefined ? { window } : { window, region };
        return await pictures.heatmap({ ...place, span, groups, cells, total, asOf, missingSince, theme });
      });
      return await withTimeout(answer, clock);
    },
  };
}

/** The services of a heat map by category, in the order of slugs; services of unverified domains are left out. */
function chooseServices(
  services: readonly Service[],
  category: Category | undefined,
): { readonly shown: readonly Service[]; readonly groups: readonly HeatmapGroup[]; readonly total: number } {
  const wanted = services.filter(
    ({ verified, category: own }) => verified && (category === undefined || own === category),
  );
  const chosen = wanted.slice(0, MAX_HEATMAP_SERVICES);
  const byCategory = CATEGORIES.map((word) => ({
    word,
    members: chosen.filter((service) => service.category === word),
  })).filter(({ members }) => members.length > 0);
  return {
    shown: byCategory.flatMap(({ members }) => members),
    groups: byCategory.map(({ word, members }) => ({
      title: CATEGORY_TITLES[word],
      rows: members.map(({ name, domain }) => ({ name, domain })),
    })),
    total: wanted.length,
  };
}

/** The response, or 503 with Retry-After if it takes too long. */
async function withTimeout(answer: Promise<HttpResponse>, clock: Clock): Promise<HttpResponse> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(HEATMAP_TIMEOUT_MS, () =>
      reject(
        retryLater(
          'history_unavailable',
          10,
          'The checks of all services are still being read for this picture. Try again in ten seconds.',
        ),
      ),
    );
  });
  // An error after the timeout is ignored, because the client already has a response.
  answer.catch(() => {});
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
  }
}

function describeHeatmap(): OpenApiOperation {
  return {
    ...pictureOperation(QUERY, {}),
    operationId: 'getHeatmap',
    summary: 'Services by time as a picture',
    description:
      'A row for each service, at most 1,200, by category and then slug; a column for each step. A cell shows the worst of its time: no checks; the 95th percentile within 0.5 s, within 1.5 s or longer; over 5 % of the checks slow; some checks failed; half of them or more. Bad cells have marks beside their colour where there is room, and darken, or brighten in the dark theme, with how bad they are. Services whose domain is not verified are left out. While checks wait to be stored, it says since when it is incomplete. Drawn at most once a minute.',
  };
}

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
export function createHeatmapReader(samples: Pick<SampleStore, 'query' | 'missingSince'>) {
  const windows = new BoundedMap<string, { readonly rows: Map<number, Row>; last: Promise<unknown> }>(
    MAX_CACHED_WINDOWS,
  );
  const limit = createConcurrencyLimiter(MAX_READS);

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
      return cellsOf(await samples.query(inRegion({ serviceId, from, to, stepMs }, filter)));
    const fromFresh = { serviceId, from: to - fresh * stepMs, to, stepMs };
    const newest = cellsOf(await samples.query(inRegion(fromFresh, filter)));
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
