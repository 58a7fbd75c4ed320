/** `GET /api/chart/:slug` and `GET /api/heatmap.png`: pictures of the past, for other pages and for cards of links. */

import { serviceNotFound } from '../api/reading-routes.ts';
import type { Clock } from '../clock.ts';
import { CATEGORIES, type Category } from '../domain/category.ts';
import {
  CHART_SIZES,
  type ChartPicture,
  type ChartSize,
  chartPoints,
  PICTURE_THEMES,
  type PictureTheme,
} from '../domain/chart-picture.ts';
import { unknownStatus } from '../domain/current.ts';
import { HEATMAP_SERVICES, type HeatmapGroup, type HeatmapPicture } from '../domain/heatmap-picture.ts';
import { PICTURE_WINDOWS, type PictureWindow, spanOf } from '../domain/picture-window.ts';
import type { Service } from '../domain/service.ts';
import { readParameters, wordParameter } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { intervalOf, isStale, type ListenedAt, seenAt } from '../view/service-view.ts';
import { english } from '../web/language/english.ts';
import { ageOf } from './badge-text.ts';
import { createHeatmapReader } from './heatmap-reader.ts';
import { createPictureCache } from './picture-cache.ts';

const WINDOW = wordParameter(PICTURE_WINDOWS, 'How far back the picture looks.', '24h');
const THEME = wordParameter(PICTURE_THEMES, 'Colours for a light or a dark page.', 'light');

/** Query parameters of a chart. */
export const CHART_QUERY = {
  window: WINDOW,
  theme: THEME,
  size: wordParameter(
    CHART_SIZES,
    'embed: 800 by 300 pixels, for a page; card: 1,200 by 630, for previews of links.',
    'embed',
  ),
};

/** Query parameters of the heat map. */
export const HEATMAP_QUERY = {
  window: WINDOW,
  category: wordParameter(CATEGORIES, 'Only services of this category. Default: all of them.'),
  theme: THEME,
};

/** What the routes read from. */
export interface PictureSources {
  readonly directory: ServiceDirectory;
  readonly status: Pick<StatusStore, 'get'>;
  readonly samples: Pick<SampleStore, 'query'>;
  /** What draws them as PNG. */
  readonly pictures: {
    readonly chart: (picture: ChartPicture) => Promise<Uint8Array>;
    readonly heatmap: (picture: HeatmapPicture) => Promise<Uint8Array>;
  };
  readonly intervalMs: number;
  readonly listenedAt: ListenedAt;
  readonly siteUrl: string;
  readonly clock: Clock;
}

/** Charts kept, up to 50 KB each. */
const CHARTS_KEPT = 500;
/** Heat maps kept, up to 250 KB each: every window of all services in both themes, and some categories. */
const HEATMAPS_KEPT = 40;
/** Whoever asks for a heat map that takes longer than this is told to come again; it is made all the same. */
export const HEATMAP_WAIT_MS = 10_000;

/** The routes. */
export function pictureRoutes(sources: PictureSources): Route[] {
  return [chartRoute(sources), heatmapRoute(sources)];
}

function chartRoute({
  directory,
  status,
  samples,
  pictures,
  intervalMs,
  listenedAt,
  siteUrl,
  clock,
}: PictureSources): Route {
  const keep = createPictureCache(CHARTS_KEPT, () => clock.now());
  const site = new URL(siteUrl).host;
  return {
    path: '/api/chart/:slug',
    bucket: 'pictures',
    handle({ params, query }) {
      // The words were read by the same lists.
      const { window, theme, size } = readParameters(query, CHART_QUERY) as {
        window: PictureWindow;
        theme: PictureTheme;
        size: ChartSize;
      };
      const name = (params.slug ?? '').replace(/\.png$/i, '');
      const service = directory.byPageName(name);
      if (service === null) throw serviceNotFound(name);
      const current = status.get(service.id) ?? unknownStatus(service.id);
      const now = clock.now();
      const asOf = current.latest?.checkedAt ?? null;
      const seen = seenAt(current, listenedAt);
      const stale = isStale(current, intervalOf(service, intervalMs), now, listenedAt);
      const ageText = stale && seen !== null ? ageOf(seen, now) : null;
      const place = `${service.id} ${window} ${theme} ${size}`;
      return keep(place, `${service.revision} ${current.status} ${ageText !== null}`, async () => {
        const span = spanOf(window, now);
        const buckets = await samples.query({ serviceId: service.id, ...span });
        return await pictures.chart({
          name: service.name,
          domain: service.domain,
          status: current.status,
          ageText,
          asOf,
          window,
          span,
          ...chartPoints(buckets),
          theme,
          size,
          site,
        });
      });
    },
  };
}

function heatmapRoute({ directory, samples, pictures, clock }: PictureSources): Route {
  const keep = createPictureCache(HEATMAPS_KEPT, () => clock.now());
  const readCells = createHeatmapReader(samples);
  return {
    path: '/api/heatmap.png',
    bucket: 'pictures',
    async handle({ query }) {
      const { window, category, theme } = readParameters(query, HEATMAP_QUERY) as {
        window: PictureWindow;
        category: Category | undefined;
        theme: PictureTheme;
      };
      const answer = keep(`${window} ${category ?? ''} ${theme}`, '', async () => {
        const { shown, groups, total } = chooseServices(directory.all(), category);
        const asOf = clock.now();
        const span = spanOf(window, asOf);
        const ids = shown.map(({ id }) => id);
        const cells = await readCells(ids, window, span);
        return await pictures.heatmap({ window, span, groups, cells, total, asOf, theme });
      });
      return await withPatience(answer, clock);
    },
  };
}

/** The services of a heat map by category, in the order of slugs; who has not shown control of a domain is left out. */
function chooseServices(
  services: readonly Service[],
  category: Category | undefined,
): { readonly shown: readonly Service[]; readonly groups: readonly HeatmapGroup[]; readonly total: number } {
  const wanted = services.filter(
    ({ verified, category: own }) => verified && (category === undefined || own === category),
  );
  const chosen = wanted.slice(0, HEATMAP_SERVICES);
  const byCategory = CATEGORIES.map((word) => ({
    word,
    members: chosen.filter((service) => service.category === word),
  })).filter(({ members }) => members.length > 0);
  return {
    shown: byCategory.flatMap(({ members }) => members),
    groups: byCategory.map(({ word, members }) => ({
      title: english.category[word],
      rows: members.map(({ name, domain }) => ({ name, domain })),
    })),
    total: wanted.length,
  };
}

/** The answer, or after a while the advice to come again. */
async function withPatience(answer: Promise<HttpResponse>, clock: Clock): Promise<HttpResponse> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(HEATMAP_WAIT_MS, () =>
      reject(
        new HttpError(
          'history_unavailable',
          'The checks of all services are still being read for this picture. Try again in ten seconds.',
          {},
          { 'Retry-After': '10' },
        ),
      ),
    );
  });
  // Whoever waited may have left when the picture fails later.
  answer.catch(() => {});
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
  }
}
