/** Draws charts of response times: median, 95th percentile and failed checks, for pages and link previews. */
import { type Bitmap, make } from 'pureimage';
import {
  type ChartPicture,
  describeMissing,
  describeWindow,
  formatPictureTime,
  STATUS_LABELS,
} from '../domain/picture.ts';
import {
  bandCoverage,
  capHeightOf,
  drawStatusShape,
  latencyTicks,
  lineCoverage,
  type Pen,
  runsOf,
  textWidth,
  timeTicks,
  writeText,
} from './chart-plot.ts';
import { BADGE_COLOURS, PICTURE_COLOURS, type PictureColours } from './colours.ts';
import { type Box, fillRect, fillRoundRect, paint, put } from './paint.ts';
import { encodePalettePng } from './png.ts';
import { readableName } from './readable-name.ts';
import { faceOf } from './text.ts';

/** Measures by the size of the chart, in pixels. */
const MEASURES = {
  embed: {
    width: 800,
    height: 300,
    radius: 8,
    margin: 18,
    // Font sizes.
    name: 19,
    word: 13,
    text: 13,
    small: 11.5,
    // From the top to the baselines of the name and of the line below it.
    nameBaseline: 33,
    textBaseline: 54,
    pill: 26,
    plotTop: 72,
    // Height of the area below the plot: times and legend.
    foot: 54,
    line: 2,
    timeTicks: 9,
  },
  card: {
    width: 1_200,
    height: 630,
    radius: 0,
    margin: 48,
    name: 46,
    word: 27,
    text: 25,
    small: 20,
    nameBaseline: 88,
    textBaseline: 134,
    pill: 54,
    plotTop: 176,
    foot: 112,
    line: 3.5,
    timeTicks: 8,
  },
};

/** A chart in the making. */
interface Sheet {
  readonly bitmap: Bitmap;
  readonly picture: ChartPicture;
  readonly m: (typeof MEASURES)[ChartPicture['size']];
  readonly colours: PictureColours;
}

/** Draws a chart as a PNG. Does not throw for any text or numbers. */
export function drawChart(picture: ChartPicture): Uint8Array {
  return encodePalettePng(drawChartPixels(picture));
}

/** Draws a chart as pixels with straight alpha; only the corners of size `embed` are transparent. */
export function drawChartPixels(picture: ChartPicture): Bitmap {
  const measures = MEASURES[picture.size];
  const colours = PICTURE_COLOURS[picture.theme];
  const { width, height, radius } = measures;
  const bitmap = make(width, height);
  bitmap.data.fill(0);
  if (radius > 0) {
    fillRoundRect(bitmap, { x: 0, y: 0, width, height, radius }, colours.border);
    const inner = { x: 1, y: 1, width: width - 2, height: height - 2, radius: radius - 1 };
    fillRoundRect(bitmap, inner, colours.ground);
  } else fillRect(bitmap, { x: 0, y: 0, width, height }, colours.ground);
  const sheet: Sheet = { bitmap, picture, m: measures, colours };
  drawHead(sheet);
  drawPlot(sheet);
  drawFoot(sheet);
  return bitmap;
}

function drawHead({ bitmap, picture, m, colours }: Sheet): void {
  const { name, domain, status, ageText, theme, uptimeText, window, region, missingSince } = picture;
  const badge = BADGE_COLOURS[theme];
  const fill = ageText === null ? badge.pills[status] : badge.stale;
  const word: Pen = { weight: 'semibold', size: m.word, colour: fill.text };
  const said = ageText === null ? STATUS_LABELS[status] : `${STATUS_LABELS[status]} · ${ageText}`;
  const shape = Math.round(m.pill * 0.42);
  const inset = Math.round(m.pill * 0.42);
  const pillWidth = inset + shape + Math.round(shape * 0.6) + Math.ceil(textWidth(word, said)) + inset;
  const pillX = m.width - m.margin - pillWidth;
  const pillY = m.nameBaseline - Math.round((capHeightOf({ weight: 'semibold', size: m.name }) + m.pill) / 2);
  const pill = { x: pillX, y: pillY, width: pillWidth, height: m.pill, radius: m.pill / 2 };
  fillRoundRect(bitmap, pill, fill.fill);
  const place = { x: pillX + inset, y: pillY + Math.round((m.pill - shape) / 2), size: shape };
  drawStatusShape(bitmap, status, place, fill.shape);
  writeText(bitmap, word, said, {
    x: pillX + inset + shape + Math.round(shape * 0.6),
    baseline: pillY + Math.round((m.pill + capHeightOf(word)) / 2),
  });

  const bold: Pen = { weight: 'semibold', size: m.name, colour: colours.text };
  const shown = readableName(name, domain, faceOf(bold).font.has);
  const gap = m.margin;
  writeText(bitmap, bold, shown, {
    x: m.margin,
    baseline: m.nameBaseline,
    width: pillX - gap - m.margin,
  });
  const plain: Pen = { weight: 'medium', size: m.text, colour: colours.muted };
  const up = uptimeText === null ? '' : `${uptimeText} up`;
  const upWidth =
    up === ''
      ? 0
      : writeText(bitmap, { ...plain, weight: 'semibold', colour: colours.text }, up, {
          x: m.width - m.margin,
          baseline: m.textBaseline,
          align: 'right',
        });
  // The missing checks come first, since a long domain is cut at the end.
  const missing = describeMissing(missingSince);
  const shownTimes = `response time of ${domain}, ${describeWindow(window, region)} (UTC)`;
  const line = missing === null ? `R${shownTimes.slice(1)}` : `Checks ${missing} · ${shownTimes}`;
  writeText(bitmap, plain, line, {
    x: m.margin,
    baseline: m.textBaseline,
    width: m.width - 2 * m.margin - gap - upWidth,
  });
}

/** The plot, its axes and its curves. */
function drawPlot(sheet: Sheet): void {
  const { bitmap, picture, m, colours } = sheet;
  const { points } = picture;
  const small: Pen = { weight: 'medium', size: m.small, colour: colours.muted };
  const highest = Math.max(0, ...points.map(({ p50Ms, p95Ms }) => p95Ms ?? p50Ms ?? 0));
  const height = m.height - m.foot - m.plotTop;
  const ticks = latencyTicks(highest, 4);
  const top = ticks.at(-1)?.value ?? 100;
  const labels = Math.ceil(Math.max(...ticks.map(({ label }) => textWidth(small, label))));
  const gap = Math.round(m.small * 0.7);
  const left = m.margin + labels + gap;
  const width = m.width - m.margin - left;
  const checked = points.some(({ count }) => count > 0);
  const hasTimes = points.some(({ p50Ms }) => p50Ms !== null);

  const area = { x: left, y: m.plotTop, width, height };
  shadeDown(sheet, area);
  for (const tick of hasTimes ? ticks : ticks.slice(0, 1)) {
    const y = m.plotTop + Math.round(height * (1 - tick.value / top));
    fillRect(bitmap, { x: left, y, width, height: 1 }, tick.value === 0 ? colours.axis : colours.grid);
    if (!hasTimes) continue;
    const baseline = y + Math.round(capHeightOf(small) / 2);
    writeText(bitmap, small, tick.label, { x: left - gap, baseline, align: 'right' });
  }
  drawTimes(sheet, area);

  const shape = { width, height, highestMs: top };
  const runs = runsOf(points, shape);
  paint(bitmap, bandCoverage(runs, shape), area, colours.band);
  paint(bitmap, lineCoverage(runs, shape, m.line), area, colours.line);
  markDown(sheet, area);

  const note = hasTimes ? null : checked ? 'No response times in this window' : 'No checks in this window';
  if (note === null) return;
  const pen: Pen = { weight: 'medium', size: m.word, colour: colours.muted };
  const noteWidth = Math.ceil(textWidth(pen, note)) + 2 * gap;
  const baseline = m.plotTop + Math.round(height / 2);
  const noteX = left + Math.round((width - noteWidth) / 2);
  const padding = Math.round(m.word * 0.7);
  const cap = capHeightOf(pen);
  const box = {
    x: noteX,
    y: baseline - cap - padding,
    width: noteWidth,
    height: cap + 2 * padding,
    radius: 6,
  };
  fillRoundRect(bitmap, box, colours.ground);
  writeText(bitmap, pen, note, { x: noteX + gap, baseline });
}

/** Runs of steps with failed checks from left to right, in pixels; each is at least 3 wide. */
function downSpans(
  { points }: ChartPicture,
  { x, width }: Box,
): readonly { readonly from: number; readonly to: number }[] {
  const spans: { from: number; to: number }[] = [];
  for (let index = 0; index < points.length; index++) {
    if ((points[index]?.downCount ?? 0) === 0) continue;
    const start = index;
    while ((points[index + 1]?.downCount ?? 0) > 0) index++;
    const from = x + Math.min(width - 3, Math.floor((start / points.length) * width));
    const to = Math.min(x + width, Math.max(from + 3, x + Math.ceil(((index + 1) / points.length) * width)));
    spans.push({ from, to });
  }
  return spans;
}

/** Shades the times of failed checks, with stripes that can be seen without colours. */
function shadeDown({ bitmap, picture, m, colours }: Sheet, area: Box): void {
  const stripe = Math.round(m.small * 0.7);
  for (const { from, to } of downSpans(picture, area)) {
    fillRect(bitmap, { ...area, x: from, width: to - from }, colours.down);
    // Stripes have fixed positions, so that neighbouring runs look alike.
    for (let column = from; column < to; column++) {
      for (let row = area.y; row < area.y + area.height; row++) {
        if ((column + row) % stripe < 1.5) put(bitmap, column, row, colours.stripe, 1);
      }
    }
  }
}

/** Draws a bar and the cross of `down` above the times of failed checks. */
function markDown({ bitmap, picture, m, colours }: Sheet, area: Box): void {
  const mark = Math.round(m.small);
  const bar = Math.max(3, Math.round(m.small / 4));
  let free = Number.NEGATIVE_INFINITY;
  for (const { from, to } of downSpans(picture, area)) {
    fillRect(bitmap, { x: from, y: area.y, width: to - from, height: bar }, colours.mark);
    const middle = Math.round((from + to - mark) / 2);
    const left = Math.min(Math.max(middle, area.x), area.x + area.width - mark);
    // Crosses that would overlap are left out.
    if (left < free) continue;
    drawStatusShape(bitmap, 'down', { x: left, y: area.y - mark - 2, size: mark }, colours.mark);
    free = left + mark;
  }
}

function drawTimes({ bitmap, picture: { span }, m, colours }: Sheet, { x: left, width }: Box): void {
  const small: Pen = { weight: 'medium', size: m.small, colour: colours.muted };
  const bottom = m.height - m.foot;
  const baseline = bottom + Math.round(m.small * 0.55) + capHeightOf(small) + 3;
  for (const { value, label } of timeTicks(span, m.timeTicks)) {
    const x = left + Math.round(((value - span.from) / (span.to - span.from)) * width);
    const half = textWidth(small, label) / 2;
    if (x - half < left - m.margin / 2 || x + half > left + width + m.margin / 2) continue;
    fillRect(bitmap, { x, y: bottom, width: 1, height: Math.round(m.small * 0.4) }, colours.axis);
    writeText(bitmap, small, label, { x, baseline, align: 'middle' });
  }
}

/** Draws the legend on the left, and the time of the last check on the right, with the site if the size is `card`. */
function drawFoot({ bitmap, picture, m, colours }: Sheet): void {
  const small: Pen = { weight: 'medium', size: m.small, colour: colours.muted };
  const baseline = m.height - Math.round(m.margin * 0.75);
  const sample = Math.round(m.small * 1.6);
  const middle = baseline - Math.round(capHeightOf(small) / 2);
  const half = Math.round(m.small * 0.4);
  let x = m.margin;
  const entry = (text: string, draw: (left: number) => void) => {
    draw(x);
    x += sample + Math.round(m.small * 0.5);
    x += Math.ceil(writeText(bitmap, small, text, { x, baseline })) + Math.round(m.small * 1.4);
  };
  const box = { y: middle - half, width: sample, height: 2 * half };
  const line = { y: middle - 1, width: sample, height: Math.max(2, Math.round(m.line)) };
  entry('median', (left) => fillRect(bitmap, { ...line, x: left }, colours.line));
  entry('p95', (left) => fillRect(bitmap, { ...box, x: left }, colours.band));
  entry('failed checks', (left) => {
    fillRect(bitmap, { ...box, x: left }, colours.down);
    const x = left + Math.round((sample - 2 * half) / 2);
    drawStatusShape(bitmap, 'down', { x, y: box.y, size: 2 * half }, colours.mark);
  });
  const asOf = picture.asOf === null ? 'not checked yet' : `as of ${formatPictureTime(picture.asOf)} UTC`;
  const said = picture.size === 'card' ? `${picture.site} · ${asOf}` : asOf;
  writeText(bitmap, small, said, {
    x: m.width - m.margin,
    baseline,
    align: 'right',
    width: m.width - m.margin - x,
  });
}
