/**
 * `GET /api/heatmap.png`: services by time, for other sites and link previews.
 */
import type { Clock } from '../clock.ts';
import { type HeatmapGroup, type HeatmapPicture, MAX_HEATMAP_SERVICES, spanOf } from '../domain/picture.ts';
import { CATEGORIES, CATEGORY_TITLES, type Category, isOwn, type Service } from '../domain/service.ts';
import type { OpenApiOperation } from '../http/openapi.ts';
import { enumParameter, readParameters } from '../http/parameters.ts';
import type { Route } from '../http/route.ts';
import type { SampleReads } from '../store/ports/samples.ts';
import type { ReadHeatmapCells } from '../view/heatmap-cells.ts';
import { REGION_PARAMETER, type SampleRegionReader } from '../view/sample-region-reader.ts';
import type { ServiceFinder } from '../view/service-finder.ts';
import type { ShownServices } from '../view/shown-services.ts';
import {
  createPictureCache,
  pictureOperation,
  THEME_PARAMETER,
  WINDOW_PARAMETER,
  withTimeout,
} from './picture.ts';

const QUERY = {
  window: WINDOW_PARAMETER,
  category: enumParameter(CATEGORIES, 'Only services of this category. Default: all of them.'),
  theme: THEME_PARAMETER,
  region: REGION_PARAMETER,
};

export interface HeatmapSources {
  readonly finder: ServiceFinder;
  readonly samples: SampleReads;
  readonly readCells: ReadHeatmapCells;
  readonly regions: SampleRegionReader;
  /** Draws heat maps as PNG. */
  readonly pictures: { readonly heatmap: (picture: HeatmapPicture) => Promise<Uint8Array> };
  readonly clock: Clock;
}

/** Maximum number of cached heat maps, up to 250 KB each: all windows in both themes, and some categories. */
const MAX_CACHED_HEATMAPS = 40;
/** The same of readers who see more than everyone. */
const MAX_CACHED_OWN_HEATMAPS = 10;

export function heatmapRoute({
  finder,
  samples,
  readCells,
  regions,
  pictures,
  clock,
}: HeatmapSources): Route {
  const keepEveryones = createPictureCache(MAX_CACHED_HEATMAPS, () => clock.now());
  const keepOwn = createPictureCache(MAX_CACHED_OWN_HEATMAPS, () => clock.now());
  return {
    path: '/api/heatmap.png',
    bucket: 'pictures',
    access: 'everyone',
    describe: describeHeatmap,
    async handle(request) {
      const { window, category, theme, region } = readParameters(request.query, QUERY);
      const listed = await finder.listedFor(request);
      const keep = listed.accounts.size === 0 ? keepEveryones : keepOwn;
      const filter = await regions.filterOf(region);
      const missingSince = samples.missingSince?.() ?? null;
      // A service that is no longer public is in no picture that was drawn before.
      const place = [window, category, theme, region, listed.withdrawals, listed.reader].join(' ');
      const answer = keep(place, String(missingSince !== null), async () => {
        const { shown, groups, total } = chooseServices(listed, category);
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

/** The services of a heat map by category, in the order of slugs; those of unverified domains of others are left out. */
function chooseServices(
  shown: ShownServices,
  category: Category | undefined,
): { readonly shown: readonly Service[]; readonly groups: readonly HeatmapGroup[]; readonly total: number } {
  const wanted = shown
    .all()
    .filter(
      (service) =>
        (service.verified || isOwn(service, shown.accounts)) &&
        (category === undefined || service.category === category),
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

function describeHeatmap(): OpenApiOperation {
  return {
    ...pictureOperation(QUERY, {}),
    operationId: 'getHeatmap',
    summary: 'Get the heat map of services as a picture',
    description:
      'A row for each service, at most 1,200, by category and then slug; a column for each step. A cell shows the worst of its time: no checks; the 95th percentile within 0.5 s, within 1.5 s or longer; over 5 % of the checks slow; some checks failed; half of them or more. Bad cells have marks beside their colour where there is room, and darken, or brighten in the dark theme, with how bad they are. Services whose domain is not verified are left out. While checks wait to be stored, it says since when it is incomplete. Drawn at most once a minute.',
  };
}
