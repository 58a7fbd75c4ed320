/** Paints colours on a pureimage bitmap. */
import type { Bitmap } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';
import type { ServiceStatus } from '../domain/status.ts';
import type { Colour } from './colours.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import type { Contour } from './font.ts';

/** Steps of opacity. More cannot be seen at this size and would need more colours in the palette. */
const INK_STEPS = 16;

const discs = new Map<number, Coverage>();

/** A rectangle in whole pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Fills whole pixels; those outside the bitmap are left out. */
export function fillRect(bitmap: Bitmap, { x, y, width, height }: Box, colour: Colour): void {
  for (let row = Math.max(0, y); row < Math.min(bitmap.height, y + height); row++) {
    for (let column = Math.max(0, x); column < Math.min(bitmap.width, x + width); column++) {
      put(bitmap, column, row, colour, 1);
    }
  }
}

/** Fills a rectangle with round corners; `radius` is a whole number from 0, at most half of the shorter side. */
export function fillRoundRect(bitmap: Bitmap, box: Box & { readonly radius: number }, colour: Colour): void {
  const { x, y, width, height, radius } = box;
  const side = { y: y + radius, width: radius, height: height - 2 * radius };
  fillRect(bitmap, { x: x + radius, y, width: width - 2 * radius, height }, colour);
  fillRect(bitmap, { ...side, x }, colour);
  fillRect(bitmap, { ...side, x: x + width - radius }, colour);
  if (radius === 0) return;
  const disc = discOf(radius);
  for (let row = 0; row < 2 * radius; row++) {
    for (let column = 0; column < 2 * radius; column++) {
      const toX = column < radius ? x + column : x + width - 2 * radius + column;
      const toY = row < radius ? y + row : y + height - 2 * radius + row;
      put(bitmap, toX, toY, colour, disc.values[row * disc.width + column] ?? 0);
    }
  }
}

/** Paints a coverage whose top left corner is at `x`, `y`. */
export function paint(
  bitmap: Bitmap,
  coverage: Coverage,
  { x, y }: Pick<Box, 'x' | 'y'>,
  colour: Colour,
): void {
  for (let row = 0; row < coverage.height; row++) {
    for (let column = 0; column < coverage.width; column++) {
      const share = coverage.values[row * coverage.width + column] ?? 0;
      if (share > 0) put(bitmap, x + column, y + row, colour, share);
    }
  }
}

/** Composites a colour over a pixel (Porter and Duff, "over"); one outside the bitmap is left out. */
// biome-ignore lint/complexity/useMaxParams: called for each pixel, where an object would cost more than the pixel
export function put(bitmap: Bitmap, x: number, y: number, colour: Colour, share: number): void {
  if (x < 0 || y < 0 || x >= bitmap.width || y >= bitmap.height) return;
  const ink = Math.round(share * INK_STEPS) / INK_STEPS;
  if (ink === 0) return;
  const { data } = bitmap;
  const at = (y * bitmap.width + x) * 4;
  if (ink === 1) {
    data[at] = colour >>> 16;
    data[at + 1] = (colour >>> 8) & 0xff;
    data[at + 2] = colour & 0xff;
    data[at + 3] = 255;
    return;
  }
  const under = ((data[at + 3] ?? 0) / 255) * (1 - ink);
  const alpha = ink + under;
  const mix = (channel: number, over: number) =>
    Math.round((over * ink + (data[at + channel] ?? 0) * under) / alpha);
  data[at] = mix(0, colour >>> 16);
  data[at + 1] = mix(1, (colour >>> 8) & 0xff);
  data[at + 2] = mix(2, colour & 0xff);
  data[at + 3] = Math.round(alpha * 255);
}

function discOf(radius: number): Coverage {
  return getOrInsert(discs, radius, () =>
    toCoverage(raster(2 * radius, 2 * radius, [circle(radius, radius, radius, false)]), 0),
  );
}

/** Width and height of a status shape in pixels. */
export const SHAPE_SIZE = 10;

/** The shape of a status: a dot, triangle, cross or ring. In pixels from the top left corner of its box. */
export function statusShape(status: ServiceStatus): readonly Contour[] {
  switch (status) {
    case 'up':
      return [circle(5, 5, 4, false)];
    case 'slow':
      return [polygon([5, 0], [10, 9], [0, 9])];
    case 'down':
      return [cross(5, 5, 4, 1.25)];
    case 'unknown':
      return [circle(5, 5, 4, false), circle(5, 5, 2.4, true)];
  }
}

/** A circle; `inner` reverses its direction, so that it cuts a hole. */
export function circle(x: number, y: number, radius: number, inner: boolean): Contour {
  const corners = 48;
  const points = Array.from({ length: corners }, (_, index): readonly [number, number] => {
    const angle = ((inner ? -index : index) * 2 * Math.PI) / corners;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
  return polygon(...points);
}

function cross(x: number, y: number, arm: number, half: number): Contour {
  const a = arm - half;
  const points = [
    [0, -half],
    [a, -arm],
    [arm, -a],
    [half, 0],
    [arm, a],
    [a, arm],
    [0, half],
    [-a, arm],
    [-arm, a],
    [-half, 0],
    [-arm, -a],
    [-a, -arm],
  ] as const;
  return polygon(...points.map(([dx, dy]): readonly [number, number] => [x + dx, y + dy]));
}

function polygon(...points: readonly (readonly [x: number, y: number])[]): Contour {
  return points.map(([x, y], index) => ({ type: index === 0 ? 'M' : 'L', x, y }));
}
