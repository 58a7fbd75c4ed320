/**
 * `/sparklines.svg`: the last 24 hours of every service as a line, and of every category as a strip, in one document whose
 * parts pages refer to (`<use href="/sparklines.svg#s-NAME">`, `#c-CATEGORY`). The colours are those of the page.
 */
import type { Clock } from '../../clock.ts';
import { MINUTE_MS } from '../../domain/durations.ts';
import {
  CELL_LEVELS,
  type CellLevel,
  MAX_HEATMAP_SERVICES,
  runsOf,
  spanOf,
  stepsOf,
} from '../../domain/picture.ts';
import { isOwn, type Service } from '../../domain/service.ts';
import { retryLater } from '../../http/problem.ts';
import { type HttpRequest, type HttpResponse, pageRoute, type Route } from '../../http/route.ts';
import type { ReadHeatmapCells } from '../../view/heatmap-cells.ts';
import type { SiteSources } from '../../view/site-sources.ts';

interface SparklineSources extends SiteSources {
  readonly readCells: ReadHeatmapCells;
  readonly clock: Clock;
}

export const SPARKLINES_PATH = '/sparklines.svg';
/** The same with the services of the reader, under one strip. */
export const OWN_SPARKLINES_PATH = `${SPARKLINES_PATH}?own`;
/** Maximum age of lines, milliseconds; older ones are shown once more while new ones are read. */
const MAX_AGE_MS = 5 * MINUTE_MS;
const HEADERS = { 'Content-Type': 'image/svg+xml', 'Cache-Control': `public, max-age=${MAX_AGE_MS / 1_000}` };
/** A page refers to the document once for each service: its browser keeps it for this session. */
const OWN_HEADERS = {
  ...HEADERS,
  'Cache-Control': `private, max-age=${MAX_AGE_MS / 1_000}`,
  Vary: 'Cookie',
};
/** Height of a line, and the number of cells that a category shows for the whole span. */
const HEIGHT = 16;
const STRIP_CELLS = 24;
const STRIP_STEP = 10;
/** Of the dash of an hour without checks, so that a strip of few hours shows where in the day they are. */
const UNWATCHED_HEIGHT = 2;
/** The position of the line at a level, from the top; a level that is not there leaves a gap or a mark. */
const LINE_AT: Readonly<Partial<Record<CellLevel, number>>> = { fast: 13, fair: 10, long: 6 };
const MARKS: readonly (readonly [level: CellLevel, colour: string])[] = [
  ['slow', '--slow'],
  ['failing', '--down'],
  ['down', '--down'],
];

export function sparklines({ directory, finder, readCells, beginHistory, clock }: SparklineSources): Route {
  let kept: { readonly madeMs: number; readonly body: string; readonly withdrawals: number } | null = null;
  let making: Promise<string> | null = null;
  const draw = async (wanted: readonly Service[], groupOf: (service: Service) => string): Promise<string> => {
    const services = wanted.slice(0, MAX_HEATMAP_SERVICES);
    const span = spanOf('24h', clock.now());
    const cells = await readCells(
      services.map(({ id }) => id),
      '24h',
      span,
    );
    return drawSparklines(services, cells, stepsOf(span), { nameOf: directory.pageName, groupOf });
  };
  const make = async (): Promise<string> => {
    const { withdrawals } = directory;
    const listed = directory.all().filter(({ verified }) => verified);
    const body = await draw(listed, ({ category }) => category);
    // A service may be public no more since it was read.
    if (withdrawals !== directory.withdrawals) return await make();
    kept = { madeMs: clock.monotonic(), body, withdrawals };
    return body;
  };
  const refresh = () => {
    making ??= make().finally(() => {
      making = null;
    });
    return making;
  };
  const notYet = () =>
    retryLater(
      'history_unavailable',
      10,
      'The lines of the last 24 hours cannot be read yet. Try again in ten seconds.',
    );
  const answerOwn = async (request: HttpRequest): Promise<HttpResponse> => {
    const shown = await finder.shownTo(request);
    const own = shown.all().filter((service) => isOwn(service, shown.accounts));
    const body = await beginHistory()(() => draw(own, () => 'own'));
    if (body === null) throw notYet();
    return { status: 200, headers: OWN_HEADERS, body };
  };
  return pageRoute({ path: SPARKLINES_PATH }, async (request) => {
    if (request.query === 'own') return await answerOwn(request);
    const known = kept?.withdrawals === directory.withdrawals ? kept : null;
    if (known !== null && clock.monotonic() - known.madeMs < MAX_AGE_MS)
      return { status: 200, headers: HEADERS, body: known.body };
    if (known === null) {
      const body = await beginHistory()(refresh);
      if (body !== null) return { status: 200, headers: HEADERS, body };
      throw notYet();
    }
    // The next reader gets the new lines; until they can be read, the old ones are shown.
    refresh().catch(() => {});
    return { status: 200, headers: HEADERS, body: known.body };
  });
}

/** The document. `cells`: indexes in `CELL_LEVELS`, `steps` for each service; `groupOf`: the strip of a service. Pure. */
export function drawSparklines(
  services: readonly Service[],
  cells: Uint8Array,
  steps: number,
  { nameOf, groupOf }: Readonly<Record<'nameOf' | 'groupOf', (service: Service) => string>>,
): string {
  const rowOf = (index: number) =>
    [...cells.subarray(index * steps, (index + 1) * steps)].map((level) => CELL_LEVELS[level] ?? 'none');
  const rows = services.map((service, index) => ({ service, levels: rowOf(index) }));
  const lines = rows.map(({ service, levels }) => `<g id="s-${nameOf(service)}">${drawLine(levels)}</g>`);
  const strips = [...Map.groupBy(rows, ({ service }) => groupOf(service))].map(([group, members]) =>
    drawStrip(
      group,
      members.map(({ levels }) => levels),
      steps,
    ),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg">${[...strips, ...lines].join('\n')}</svg>`;
}

/** A line, one unit for a step, with a mark over the whole height where the service was slow or failed. */
function drawLine(levels: readonly CellLevel[]): string {
  let line = '';
  let at: number | undefined;
  for (const { level, from, length } of runsOf(levels)) {
    const y = LINE_AT[level];
    if (y !== undefined) line += `${at === undefined ? `M${from} ${y}` : at === y ? '' : `V${y}`}h${length}`;
    at = y;
  }
  const marks = MARKS.map(([level, colour]) => {
    const path = runsOf(levels)
      .filter((run) => run.level === level)
      .map(({ from, length }) => `M${from} 1h${Math.max(2, length)}v14h-${Math.max(2, length)}z`)
      .join('');
    return path === '' ? '' : `<path fill="var(${colour})" d="${path}"/>`;
  });
  return `${line === '' ? '' : `<path fill="none" stroke="currentColor" d="${line}"/>`}${marks.join('')}`;
}

/**
 * The strip of a group: a cell for each part of the span, filled from below by the share of services that failed; a dash where
 * nothing was checked.
 */
function drawStrip(group: string, rows: readonly (readonly CellLevel[])[], steps: number): string {
  const length = Math.ceil(steps / STRIP_CELLS);
  let known = '';
  let failed = '';
  let unwatched = '';
  for (let cell = 0; cell < STRIP_CELLS; cell++) {
    const parts = rows.map((levels) => levels.slice(cell * length, (cell + 1) * length));
    const watched = parts.filter((part) => part.some((level) => level !== 'none')).length;
    if (watched === 0) {
      unwatched += `M${cell * STRIP_STEP} ${HEIGHT - UNWATCHED_HEIGHT}h8v${UNWATCHED_HEIGHT}h-8z`;
      continue;
    }
    known += `M${cell * STRIP_STEP} 0h8v${HEIGHT}h-8z`;
    const bad = parts.filter((part) => part.some((level) => level === 'failing' || level === 'down')).length;
    // The square root makes one service of a hundred visible.
    const height = Math.ceil(Math.sqrt(bad / watched) * HEIGHT);
    if (height > 0) failed += `M${cell * STRIP_STEP} ${HEIGHT - height}h8v${height}h-8z`;
  }
  const box = `0 0 ${STRIP_CELLS * STRIP_STEP - 2} ${HEIGHT}`;
  const dashes = unwatched === '' ? '' : `<path fill="var(--line)" d="${unwatched}"/>`;
  return `<symbol id="c-${group}" viewBox="${box}" preserveAspectRatio="none">${dashes}<path fill="var(--up)" opacity=".3" d="${known}"/><path fill="var(--down)" d="${failed}"/></symbol>`;
}
