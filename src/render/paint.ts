/** Paints colours on a pureimage bitmap. */
import type { Bitmap } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';
import type { Colour } from './colours.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import { circle } from './shapes.ts';

/** Steps of opacity. More cannot be seen at this size and would need more colours in the palette. */
const INK_STEPS = 16;

const discs = new Map<number, Coverage>();

/** Fills whole pixels; those outside the bitmap are left out. */
export function fillRect(
  bitmap: Bitmap,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: Colour,
): void {
  for (let row = Math.max(0, y); row < Math.min(bitmap.height, y + height); row++) {
    for (let column = Math.max(0, x); column < Math.min(bitmap.width, x + width); column++) {
      put(bitmap, column, row, colour, 1);
    }
  }
}

/** Fills a rectangle with round corners; `radius` is a whole number from 0, at most half of the shorter side. */
export function fillRoundRect(
  bitmap: Bitmap,
  x: number,
  y: number,
  width: number,
  height: number,
  radius: number,
  colour: Colour,
): void {
  fillRect(bitmap, x + radius, y, width - 2 * radius, height, colour);
  fillRect(bitmap, x, y + radius, radius, height - 2 * radius, colour);
  fillRect(bitmap, x + width - radius, y + radius, radius, height - 2 * radius, colour);
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

/** Paints a coverage whose top left corner is at (x, y). */
export function paint(bitmap: Bitmap, coverage: Coverage, x: number, y: number, colour: Colour): void {
  for (let row = 0; row < coverage.height; row++) {
    for (let column = 0; column < coverage.width; column++) {
      const share = coverage.values[row * coverage.width + column] ?? 0;
      if (share > 0) put(bitmap, x + column, y + row, colour, share);
    }
  }
}

/** Composites a colour over a pixel (Porter and Duff, "over"). */
function put(bitmap: Bitmap, x: number, y: number, colour: Colour, share: number): void {
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
