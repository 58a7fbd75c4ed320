/** Draws badges: 280 by 36 pixels, the name on the left, the status or a figure in a pill on the right (contract 4.6). */
import { type Bitmap, make } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';
import type { BadgePicture } from '../domain/picture.ts';
import {
  BADGE_HEIGHT,
  BADGE_WIDTH,
  type BadgeLayout,
  CARD_RADIUS,
  layOutBadge,
  type MarkShape,
  markContours,
} from './badge-layout.ts';
import type { Colour } from './colours.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import type { Contour } from './font.ts';
import { fillRoundRect, paint } from './paint.ts';
import { addPngText, encodePalettePng } from './png.ts';
import { SHAPE_SIZE } from './shapes.ts';
import { layOut, traceLine } from './text.ts';

const shapes = new Map<MarkShape, Coverage>();

/** Draws a badge: a PNG of at most 4 KB, or an SVG in UTF-8. Does not throw for any text. */
export function drawBadge(picture: BadgePicture): Uint8Array {
  if (picture.format === 'svg')
    return Buffer.from(badgeSvg(layOutBadge(picture), picture.title ?? picture.name));
  const png = encodePalettePng(drawBadgePixels(picture));
  return picture.asOf === undefined ? png : addPngText(png, 'As of', picture.asOf);
}

/** Draws a badge as pixels with straight alpha; only the corners outside the card are transparent. */
export function drawBadgePixels(picture: BadgePicture): Bitmap {
  const { colours, pill, pillFill, mark, lines } = layOutBadge(picture);
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

/** Outlines are rounded to hundredths of a pixel, which cannot be seen even at ten times the size. */
const PRECISION = 100;

/**
 * Writes a badge as SVG; `title` is any text. Letters are outlines of the fonts of the PNG, so the SVG refers to no other file.
 */
function badgeSvg({ colours, pill, pillFill, mark, lines }: BadgeLayout, title: string): string {
  const said = escapeXml(title);
  const inner = CARD_RADIUS - 1;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${BADGE_WIDTH}" height="${BADGE_HEIGHT}" viewBox="0 0 ${BADGE_WIDTH} ${BADGE_HEIGHT}" role="img" aria-label="${said}">`,
    `<title>${said}</title>`,
    `<rect width="${BADGE_WIDTH}" height="${BADGE_HEIGHT}" rx="${CARD_RADIUS}" fill="${hex(colours.border)}"/>`,
    `<rect x="1" y="1" width="${BADGE_WIDTH - 2}" height="${BADGE_HEIGHT - 2}" rx="${inner}" fill="${hex(colours.card)}"/>`,
    `<rect x="${pill.x}" y="${pill.y}" width="${pill.width}" height="${pill.height}" rx="${pill.height / 2}" fill="${hex(pillFill)}"/>`,
    path(markContours(mark.shape), mark.x, mark.y, mark.colour),
    ...lines.map(({ face, text, x, baseline, colour }) =>
      path(traceLine(face, text, x), 0, baseline, colour),
    ),
    '</svg>\n',
  ].join('');
}

/** Escapes markup, and removes the characters that XML 1.0 does not allow even as references. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Closed outlines with relative steps, which are the shortest. */
function path(contours: readonly Contour[], x: number, y: number, colour: Colour): string {
  const place = (value: number) => Math.round(value * PRECISION);
  let penX = 0;
  let penY = 0;
  const to = (toX: number, toY: number) => pair(place(x + toX) - penX, place(y + toY) - penY);
  let d = '';
  for (const contour of contours) {
    const start = contour[0];
    if (start === undefined) continue;
    for (const step of contour) {
      d +=
        step.type === 'Q'
          ? `q${to(step.x1, step.y1)}${separated(to(step.x, step.y))}`
          : `${step.type === 'M' ? 'm' : 'l'}${to(step.x, step.y)}`;
      penX = place(x + step.x);
      penY = place(y + step.y);
    }
    d += 'z';
    // The end of an outline moves the pen back to its start.
    penX = place(x + start.x);
    penY = place(y + start.y);
  }
  return d === '' ? '' : `<path fill="${hex(colour)}" d="${d}"/>`;
}

function pair(x: number, y: number): string {
  return number(x) + separated(number(y));
}

/** A number in hundredths in its shortest form. */
function number(hundredths: number): string {
  return String(hundredths / PRECISION).replace(/^(-?)0\./, '$1.');
}

/** A minus sign needs no separator. */
function separated(text: string): string {
  return text.startsWith('-') ? text : ` ${text}`;
}

function hex(colour: Colour): string {
  return `#${colour.toString(16).padStart(6, '0')}`;
}
