/** `/heatmap`: all services by time, a row of cells for each, whose bad times can be pointed at and followed. */

import {
  CELL_LEVELS,
  type CellLevel,
  MAX_HEATMAP_SERVICES,
  PICTURE_WINDOWS,
  type PictureSpan,
  runsOf,
  spanOf,
  stepsOf,
} from '../domain/picture.ts';
import { CATEGORIES, type Category, fullName, isOwn, type Service } from '../domain/service.ts';
import { enumParameter, readParameters } from '../http/parameters.ts';
import { pageRoute, type Route } from '../http/route.ts';
import type { ReadHeatmapCells } from '../view/heatmap-cells.ts';
import type { BeginHistory } from '../view/history-reads.ts';
import type { ServiceFinder } from '../view/service-finder.ts';
import { chooseLanguage, type Language } from './language/language.ts';
import type { AssetAddresses } from './parts/assets.ts';
import type { RenderPage } from './parts/views.ts';

export interface HeatmapPageSources {
  readonly finder: ServiceFinder;
  readonly readCells: ReadHeatmapCells;
  readonly beginHistory: BeginHistory;
  readonly assets: AssetAddresses;
  readonly now: () => number;
}

const QUERY = {
  window: enumParameter(PICTURE_WINDOWS, 'How far back it looks.', '24h'),
  category: enumParameter(['', ...CATEGORIES], 'Only this category.', ''),
};
/** The levels that are said in words, with the weight by which services are sorted. */
const BAD_LEVELS: Readonly<Partial<Record<CellLevel, number>>> = { slow: 1, failing: 4, down: 16 };

export function heatmapPage(render: RenderPage, sources: HeatmapPageSources): Route {
  const { finder, readCells, beginHistory, assets, now } = sources;
  return pageRoute({ path: '/heatmap' }, async (request) => {
    const language = chooseLanguage(request);
    const { window, category } = readParameters(request.query, QUERY);
    const shown = await finder.listedFor(request);
    const known = shown.all().filter((service) => service.verified || isOwn(service, shown.accounts));
    const wanted = known.filter((service) => category === '' || service.category === category);
    const services = wanted.slice(0, MAX_HEATMAP_SERVICES);
    const span = spanOf(window, now());
    const ids = services.map(({ id }) => id);
    // Without the store of past checks, a page that says so is better than an error.
    const cells = await beginHistory()(() => readCells(ids, window, span));
    const rows = cells === null ? [] : rowsOf(services, cells, span, language);
    const pathOf = (change: { readonly window?: string; readonly category?: Category | '' }) => {
      const given = Object.entries({ window, category, ...change }).filter(([, value]) => value !== '');
      return `/heatmap?${new URLSearchParams(given)}`;
    };
    return render('./heatmap', {
      language,
      title: language.texts.incidents.heatmapTitle,
      styles: [assets.serviceStyle],
      hasCells: cells !== null,
      steps: stepsOf(span),
      window,
      windows: PICTURE_WINDOWS.map((name) => ({ name, path: pathOf({ window: name }) })),
      categories: ['' as const, ...CATEGORIES.filter((one) => known.some((it) => it.category === one))].map(
        (name) => ({ name, path: pathOf({ category: name }) }),
      ),
      category,
      groups: [...Map.groupBy(rows, (row) => row.category)]
        .sort(([a], [b]) => CATEGORIES.indexOf(a) - CATEGORIES.indexOf(b))
        .map(([name, ofCategory]) => ({ name, rows: ofCategory.sort((a, b) => b.weight - a.weight) })),
      ends: [span.from, (span.from + span.to) / 2, span.to].map((at) => `${shortTime(at, span)} UTC`),
      levels: CELL_LEVELS,
      left: wanted.length - services.length,
      picture: `/api/heatmap.png?${new URLSearchParams({ window, ...(category === '' ? {} : { category }) })}`,
      pageOf: (service: Service) => shown.pageName(service),
    });
  });
}

/** The rows with their cells as one path for each level, and the bad times in words. */
function rowsOf(
  services: readonly Service[],
  cells: Uint8Array,
  span: PictureSpan,
  { texts: { incidents } }: Language,
) {
  const steps = stepsOf(span);
  return services.map((service, index) => {
    const runs = runsOf(
      [...cells.subarray(index * steps, (index + 1) * steps)].map((cell) => CELL_LEVELS[cell] ?? 'none'),
    );
    const paths = new Map<CellLevel, string>();
    for (const { level, from, length } of runs)
      paths.set(level, `${paths.get(level) ?? ''}M${from} 0h${length}v1h-${length}z`);
    const bad = runs
      .filter(({ level }) => BAD_LEVELS[level] !== undefined)
      .map(({ level, from, length }) => {
        const at = (step: number) => shortTime(span.from + step * span.stepMs, span);
        return { from, length, title: `${at(from)} – ${at(from + length)} UTC: ${incidents.level[level]}` };
      });
    return {
      service,
      name: fullName(service),
      category: service.category,
      paths: [...paths].map(([level, path]) => ({ level, path })),
      bad,
      weight: runs.reduce((sum, { level, length }) => sum + (BAD_LEVELS[level] ?? 0) * length, 0),
    };
  });
}

/** `11-20 10:15` in UTC; in steps of a day `2026-11-20`. */
function shortTime(at: number, { stepMs }: PictureSpan): string {
  const text = new Date(at).toISOString();
  return stepMs % 86_400_000 === 0 ? text.slice(0, 10) : text.slice(5, 16).replace('T', ' ');
}
