/**
 * The means of drawing a chart: curves as coverage, the line of the median and the band up to the 95th percentile, axes, and lines of
 * text and status shapes on a pureimage bitmap.
 */

import type { Bitmap } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import type { ChartPoint, PictureSpan } from '../domain/picture.ts';
import type { ServiceStatus } from '../domain/status.ts';
import type { Colour } from './colours.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import type { OutlineStep, Weight } from './font.ts';
import { paint, SHAPE_SIZE, statusShape } from './paint.ts';
import { readableLine } from './readable-name.ts';
import { faceOf, layOut, measure, shorten } from './text.ts';

/** A point of the curves, in pixels from the top left corner of the plot. */
interface Spot {
  readonly x: number;
  readonly y: number;
  /** `y` of the 95th percentile. */
  readonly topY: number;
}

/** The size of a plot, and the response time at its upper edge. */
interface PlotShape {
  readonly width: number;
  readonly height: number;
  readonly highestMs: number;
}

/** Runs of consecutive steps with response times; each point is in the middle of its step. */
export function runsOf(points: readonly ChartPoint[], shape: PlotShape): readonly (readonly Spot[])[] {
  const runs: Spot[][] = [];
  let open: Spot[] | null = null;
  for (const [index, { p50Ms, p95Ms }] of points.entries()) {
    if (p50Ms === null) {
      open = null;
      continue;
    }
    const down = (ms: number) => shape.height * (1 - Math.min(1, ms / shape.highestMs));
    const spot = {
      x: ((index + 0.5) / points.length) * shape.width,
      y: down(p50Ms),
      topY: down(p95Ms ?? p50Ms),
    };
    if (open === null) {
      open = [spot];
      runs.push(open);
    } else open.push(spot);
  }
  return runs;
}

/** The band between median and 95th percentile with soft edges. A single step is a bar of 4 pixels. */
export function bandCoverage(runs: readonly (readonly Spot[])[], { width, height }: PlotShape): Coverage {
  const values = new Float32Array(width * height);
  const fill = (column: number, top: number, bottom: number) => {
    for (let row = Math.max(0, Math.floor(top)); row < Math.min(height, Math.ceil(bottom)); row++) {
      const share = Math.min(row + 1, bottom) - Math.max(row, top);
      const at = row * width + column;
      values[at] = Math.max(values[at] ?? 0, Math.max(0, share));
    }
  };
  for (const run of runs) {
    const [first] = run;
    if (first !== undefined && run.length === 1) {
      const from = Math.max(0, Math.round(first.x) - 2);
      for (let column = from; column < Math.min(width, from + 4); column++) fill(column, first.topY, first.y);
    }
    for (const [index, next] of run.entries()) {
      const last = run[index - 1];
      if (last === undefined) continue;
      for (let column = Math.floor(last.x); column < Math.min(width, next.x); column++) {
        const centre = column + 0.5;
        if (centre < last.x || centre >= next.x) continue;
        const part = (centre - last.x) / (next.x - last.x);
        fill(column, last.topY + part * (next.topY - last.topY), last.y + part * (next.y - last.y));
      }
    }
  }
  return { width, height, values };
}

/** The line of the median, `thickness` pixels wide with round ends. A single step is a dot. */
export function lineCoverage(
  runs: readonly (readonly Spot[])[],
  { width, height }: PlotShape,
  thickness: number,
): Coverage {
  const values = new Float32Array(width * height);
  const radius = thickness / 2;
  const stroke = (a: Spot, b: Spot, reach: number) => {
    const left = Math.max(0, Math.floor(Math.min(a.x, b.x) - reach - 1));
    const right = Math.min(width, Math.ceil(Math.max(a.x, b.x) + reach + 1));
    const top = Math.max(0, Math.floor(Math.min(a.y, b.y) - reach - 1));
    const bottom = Math.min(height, Math.ceil(Math.max(a.y, b.y) + reach + 1));
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) {
        const share = Math.min(1, reach + 0.5 - distance(column + 0.5, row + 0.5, a, b));
        const at = row * width + column;
        if (share > (values[at] ?? 0)) values[at] = share;
      }
    }
  };
  for (const run of runs) {
    const [first] = run;
    if (first !== undefined && run.length === 1) stroke(first, first, radius * 2.5);
    for (const [index, next] of run.entries()) {
      const last = run[index - 1];
      if (last !== undefined) stroke(last, next, radius);
    }
  }
  return { width, height, values };
}

/** Distance from a point to a line segment. */
function distance(x: number, y: number, a: Spot, b: Spot): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  const part = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / length));
  return Math.hypot(x - a.x - part * dx, y - a.y - part * dy);
}

interface Tick {
  /** Milliseconds of response time, or epoch milliseconds. */
  readonly value: number;
  readonly label: string;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const ROUND = [1, 2, 2.5, 5, 10];
/** Longer response times are written in seconds. */
const SECONDS_FROM_MS = 2_000;

/**
 * Ticks from 0 to the first round number at or over `highest` milliseconds, with at most `most` steps. All labels have the
 * same unit.
 */
export function latencyTicks(highest: number, most: number): readonly Tick[] {
  const top = Math.max(highest, 1);
  const raw = top / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, power * (ROUND.find((factor) => factor * power >= raw * (1 - 1e-9)) ?? 10));
  const count = Math.max(1, Math.ceil(top / step - 1e-9));
  const inSeconds = step * count >= SECONDS_FROM_MS;
  return Array.from({ length: count + 1 }, (_, index) => {
    const value = index * step;
    const shown = inSeconds ? Math.round(value) / 1_000 : Math.round(value * 10) / 10;
    return { value, label: `${shown} ${inSeconds ? 's' : 'ms'}` };
  });
}

/** Ticks at round times of UTC within the span, at most `most`. */
export function timeTicks({ from, to }: PictureSpan, most: number): readonly Tick[] {
  const length = to - from;
  for (const hours of [1, 2, 3, 4, 6, 12]) {
    if (length / (hours * HOUR_MS) <= most) return hourTicks(from, to, hours);
  }
  for (const days of [1, 2, 5]) {
    if (length / (days * DAY_MS) <= most) return dayTicks(from, to, days);
  }
  if (length / (DAY_MS * 14) <= most) return dayTicks(from, to, 14);
  for (const months of [1, 2, 3]) {
    if (length / (months * 30 * DAY_MS) <= most) return monthTicks(from, to, months);
  }
  return monthTicks(from, to, 6);
}

function hourTicks(from: number, to: number, hours: number): Tick[] {
  return steps(from, to, hours * HOUR_MS).map((value) => {
    const date = new Date(value);
    const hour = date.getUTCHours();
    return { value, label: hour === 0 ? sayDay(date) : `${String(hour).padStart(2, '0')}:00` };
  });
}

function dayTicks(from: number, to: number, days: number): Tick[] {
  return steps(from, to, days * DAY_MS).map((value) => ({ value, label: sayDay(new Date(value)) }));
}

function monthTicks(from: number, to: number, months: number): Tick[] {
  const ticks: Tick[] = [];
  const first = new Date(from);
  for (let month = first.getUTCMonth(); ; month++) {
    const value = Date.UTC(first.getUTCFullYear(), month, 1);
    if (value >= to) return ticks;
    const date = new Date(value);
    const place = date.getUTCMonth();
    if (value < from || place % months !== 0) continue;
    ticks.push({ value, label: place === 0 ? `${date.getUTCFullYear()}` : (MONTHS[place] ?? '') });
  }
}

function steps(from: number, to: number, stepMs: number): number[] {
  const values: number[] = [];
  for (let value = Math.ceil(from / stepMs) * stepMs; value < to; value += stepMs) values.push(value);
  return values;
}

function sayDay(date: Date): string {
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}`;
}

/** Weight, size in pixels to the em, and colour of a text. */
export interface Pen {
  readonly weight: Weight;
  readonly size: number;
  readonly colour: Colour;
}

interface TextPlace {
  readonly x: number;
  readonly baseline: number;
  /** The part of the text that is at `x`. Default: left. */
  readonly align?: 'left' | 'middle' | 'right';
  /** Maximum width in pixels; a longer text ends in an ellipsis. Default: none. */
  readonly width?: number;
}

const shapes = new Map<string, Coverage>();

/** Writes a line without characters that the font lacks, and returns its width in pixels. */
export function writeText(bitmap: Bitmap, pen: Pen, text: string, place: TextPlace): number {
  const face = faceOf(pen);
  const line = readableLine(text, face.font.has);
  const shown = place.width === undefined ? line : shorten(face, line, place.width);
  const width = measure(face, shown);
  const { align = 'left' } = place;
  const x = align === 'left' ? place.x : align === 'right' ? place.x - width : place.x - width / 2;
  for (const glyph of layOut(face, shown, x))
    paint(bitmap, glyph.coverage, { x: glyph.x, y: place.baseline + glyph.y }, pen.colour);
  return width;
}

/** Width in pixels of a text as {@link writeText} writes it. */
export function textWidth(pen: Pick<Pen, 'weight' | 'size'>, text: string): number {
  const face = faceOf(pen);
  return measure(face, readableLine(text, face.font.has));
}

/** Pixels from a baseline to the top of a capital. */
export function capHeightOf(pen: Pick<Pen, 'weight' | 'size'>): number {
  return faceOf(pen).capHeight;
}

/** Draws the shape of a status in a square of `size` pixels. */
export function drawStatusShape(
  bitmap: Bitmap,
  status: ServiceStatus,
  place: { readonly x: number; readonly y: number; readonly size: number },
  colour: Colour,
): void {
  const { size } = place;
  const shape = getOrInsert(shapes, `${status} ${size}`, () => {
    const scale = size / SHAPE_SIZE;
    const contours = statusShape(status).map((contour) => contour.map((step) => enlarge(step, scale)));
    return toCoverage(raster(size, size, contours), 0);
  });
  paint(bitmap, shape, place, colour);
}

function enlarge(step: OutlineStep, scale: number): OutlineStep {
  return step.type === 'Q'
    ? { type: 'Q', x1: step.x1 * scale, y1: step.y1 * scale, x: step.x * scale, y: step.y * scale }
    : { type: step.type, x: step.x * scale, y: step.y * scale };
}
