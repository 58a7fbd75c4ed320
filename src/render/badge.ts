/** Draws badges: 280 by 36 pixels, the name on the left, the status or a figure in a pill on the right (contract 4.6). */
import { type Bitmap, make } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';
import {
  BADGE_HEIGHT,
  BADGE_WIDTH,
  type BadgeText,
  CARD_RADIUS,
  layOutBadge,
  type MarkShape,
  markContours,
} from './badge-layout.ts';
import { badgeSvg } from './badge-svg.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import { fillRoundRect, paint } from './paint.ts';
import { addPngText, encodePalettePng } from './png.ts';
import { SHAPE_SIZE } from './shapes.ts';
import { layOut } from './text.ts';

/** The content and format of a badge. */
export interface BadgeInput extends BadgeText {
  /** Default `png`. */
  readonly format?: 'png' | 'svg';
  /** The badge in a sentence, the title of an SVG. Absent: the name. */
  readonly title?: string;
  /** Time of the content, ISO 8601 UTC, stored in a PNG as the text `As of`. Absent: none. */
  readonly asOf?: string;
}

const shapes = new Map<MarkShape, Coverage>();

/** Draws a badge: a PNG of at most 4 KB, or an SVG in UTF-8. Does not throw for any text. */
export function drawBadge(input: BadgeInput): Uint8Array {
  if (input.format === 'svg') return Buffer.from(badgeSvg(layOutBadge(input), input.title ?? input.name));
  const png = encodePalettePng(drawBadgePixels(input));
  return input.asOf === undefined ? png : addPngText(png, 'As of', input.asOf);
}

/** Draws a badge as pixels with straight alpha; only the corners outside the card are transparent. */
export function drawBadgePixels(text: BadgeText): Bitmap {
  const { colours, pill, pillFill, mark, lines } = layOutBadge(text);
  const bitmap = make(BADGE_WIDTH, BADGE_HEIGHT);
  bitmap.data.fill(0);
  fillRoundRect(bitmap, 0, 0, BADGE_WIDTH, BADGE_HEIGHT, CARD_RADIUS, colours.border);
  fillRoundRect(bitmap, 1, 1, BADGE_WIDTH - 2, BADGE_HEIGHT - 2, CARD_RADIUS - 1, colours.card);
  fillRoundRect(bitmap, pill.x, pill.y, pill.width, pill.height, pill.height / 2, pillFill);
  paint(bitmap, coverageOf(mark.shape), mark.x, mark.y, mark.colour);
  for (const { face, text: written, x, baseline, colour } of lines) {
    for (const glyph of layOut(face, written, x))
      paint(bitmap, glyph.coverage, glyph.x, baseline + glyph.y, colour);
  }
  return bitmap;
}

function coverageOf(shape: MarkShape): Coverage {
  return getOrInsert(shapes, shape, () => toCoverage(raster(SHAPE_SIZE, SHAPE_SIZE, markContours(shape)), 0));
}
