/** Draws lines of text and status shapes of any size on a pureimage bitmap. */
import type { Bitmap } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';
import type { ServiceStatus } from '../domain/status.ts';
import type { Colour } from './colours.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import type { OutlineStep, Weight } from './font.ts';
import { paint, SHAPE_SIZE, statusShape } from './paint.ts';
import { readableLine } from './readable-name.ts';
import { faceOf, layOut, measure, shorten } from './text.ts';

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
