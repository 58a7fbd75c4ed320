/** Lines of text and marks at any size, on a pureimage bitmap. Faces are kept by weight and size. */
import type { Bitmap } from 'pureimage';
import type { ServiceStatus } from '../domain/status.ts';
import type { Colour } from './colours.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import { loadFont, type OutlineStep, type Weight } from './font.ts';
import { paint } from './paint.ts';
import { readableLine } from './readable-name.ts';
import { SHAPE_SIZE, statusShape } from './shapes.ts';
import { createFace, type Face, layOut, measure, shorten } from './text.ts';

/** Weight, size in pixels to the em, and colour of a text. */
export interface Pen {
  readonly weight: Weight;
  readonly size: number;
  readonly colour: Colour;
}

/** Where a text stands. */
export interface TextPlace {
  readonly x: number;
  readonly baseline: number;
  /** Which part of the text is at `x`. Default: its left end. */
  readonly align?: 'left' | 'middle' | 'right';
  /** Pixels that it may take; a longer text ends with an ellipsis. Default: any. */
  readonly width?: number;
}

const faces = new Map<string, Face>();
const shapes = new Map<string, Coverage>();

/** Writes a line, without what the font cannot draw; answers its width in pixels. */
export function writeText(bitmap: Bitmap, pen: Pen, text: string, place: TextPlace): number {
  const face = faceOf(pen);
  const line = readableLine(text, face.font.has);
  const shown = place.width === undefined ? line : shorten(face, line, place.width);
  const width = measure(face, shown);
  const { align = 'left' } = place;
  const x = align === 'left' ? place.x : align === 'right' ? place.x - width : place.x - width / 2;
  for (const glyph of layOut(face, shown, x))
    paint(bitmap, glyph.coverage, glyph.x, place.baseline + glyph.y, pen.colour);
  return width;
}

/** Width of a text in pixels as {@link writeText} would write it. */
export function textWidth(pen: Pick<Pen, 'weight' | 'size'>, text: string): number {
  const face = faceOf(pen);
  return measure(face, readableLine(text, face.font.has));
}

/** Pixels from a baseline to the top of a capital. */
export function capHeightOf(pen: Pick<Pen, 'weight' | 'size'>): number {
  return faceOf(pen).capHeight;
}

/** Draws a status' shape in a box of `size` pixels. */
export function drawStatusShape(
  bitmap: Bitmap,
  status: ServiceStatus,
  x: number,
  y: number,
  size: number,
  colour: Colour,
): void {
  const key = `${status} ${size}`;
  let shape = shapes.get(key);
  if (shape === undefined) {
    const scale = size / SHAPE_SIZE;
    const contours = statusShape(status).map((contour) => contour.map((step) => enlarge(step, scale)));
    shape = toCoverage(raster(size, size, contours), 0);
    shapes.set(key, shape);
  }
  paint(bitmap, shape, x, y, colour);
}

/** The face of a pen. */
export function faceOf({ weight, size }: Pick<Pen, 'weight' | 'size'>): Face {
  const key = `${weight} ${size}`;
  let face = faces.get(key);
  if (face === undefined) {
    face = createFace(loadFont(weight), size);
    faces.set(key, face);
  }
  return face;
}

function enlarge(step: OutlineStep, scale: number): OutlineStep {
  return step.type === 'Q'
    ? { type: 'Q', x1: step.x1 * scale, y1: step.y1 * scale, x: step.x * scale, y: step.y * scale }
    : { type: step.type, x: step.x * scale, y: step.y * scale };
}
