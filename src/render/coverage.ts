/**
 * Computes how much of each pixel a shape covers. pureimage scans the lines of each contour. Since it smooths along lines
 * only, there are 4 columns and 8 rows to the pixel; since it fills each contour on its own, which would fill the holes of
 * letters, windings are summed.
 */
import { Context, make } from 'pureimage';
import type { Contour, OutlineStep } from './font.ts';

/** Coverage of a rectangle of pixels, row by row, each from 0 (none) to 1 (all). */
export interface Coverage {
  readonly width: number;
  readonly height: number;
  readonly values: Float32Array;
}

/** Windings of a shape on a grid of `COLUMNS` by `ROWS` points to the pixel. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly windings: Float32Array;
}

/** Horizontal points per pixel. Also the number of positions of text within a pixel. */
export const COLUMNS = 4;
const ROWS = 8;
/** Moves the scan lines away from whole numbers, where the corners of outlines are. */
const ROW_CENTRE = 0.5 + 1 / 1024;

/** Collects windings instead of pureimage's pixels. */
class WindingContext extends Context {
  readonly windings: Float32Array;
  readonly columns: number;
  sign = 1;

  constructor(columns: number, rows: number) {
    super(make(1, 1));
    // Only the size is used, as the limit of the scan lines.
    Object.assign(this.canvas, { width: columns, height: rows });
    this.columns = columns;
    this.windings = new Float32Array(columns * rows);
    this.fillStyle = '#000000';
  }

  override fillPixelWithColor(x: number, y: number, colour: number): void {
    const at = y * this.columns + x;
    if (x < 0 || x >= this.columns || at < 0 || at >= this.windings.length) return;
    this.windings[at] = (this.windings[at] ?? 0) + (this.sign * (colour & 0xff)) / 255;
  }
}

/** Rasterizes closed contours in a box of `width` by `height` pixels; points are in pixels from its top left corner. */
export function raster(width: number, height: number, contours: readonly Contour[]): Raster {
  const context = new WindingContext(width * COLUMNS, height * ROWS);
  const x = (value: number) => value * COLUMNS;
  const y = (value: number) => value * ROWS - ROW_CENTRE;
  for (const contour of contours) {
    context.sign = turnsRight(contour) ? 1 : -1;
    context.beginPath();
    for (const step of contour) {
      if (step.type === 'Q') context.quadraticCurveTo(x(step.x1), y(step.y1), x(step.x), y(step.y));
      else if (step.type === 'L') context.lineTo(x(step.x), y(step.y));
      else context.moveTo(x(step.x), y(step.y));
    }
    const start = contour[0];
    if (start !== undefined) context.lineTo(x(start.x), y(start.y));
    // pureimage begins at the lowest point of the path. This point keeps its scan lines on ours.
    context.moveTo(0, context.canvas.height + 1);
    context.fill();
  }
  return { width, height, windings: context.windings };
}

/** Averages a raster to pixels, moved to the right by `shift` columns, 0 to `COLUMNS` - 1. */
export function toCoverage({ width, height, windings }: Raster, shift: number): Coverage {
  const wide = width + 1;
  const values = new Float32Array(wide * height);
  const columns = width * COLUMNS;
  for (let row = 0; row < height * ROWS; row++) {
    const line = Math.floor(row / ROWS) * wide;
    for (let column = 0; column < columns; column++) {
      const inside = Math.min(1, Math.abs(windings[row * columns + column] ?? 0));
      if (inside === 0) continue;
      const at = line + Math.floor((column + shift) / COLUMNS);
      values[at] = (values[at] ?? 0) + inside / (COLUMNS * ROWS);
    }
  }
  return { width: wide, height, values };
}

/** Returns true if a contour runs clockwise on the screen: the sign of its area by the shoelace formula. */
function turnsRight(contour: Contour): boolean {
  let area = 0;
  let previous: OutlineStep | undefined = contour.at(-1);
  for (const step of contour) {
    if (previous !== undefined) area += previous.x * step.y - step.x * previous.y;
    previous = step;
  }
  return area > 0;
}
