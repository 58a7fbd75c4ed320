/** Draws badges: the name on the left, the status or a figure on the right (contract 4.6). */
import { type Bitmap, make } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';
import type { BadgePicture } from '../domain/picture.ts';
import { type BadgeLayout, layOutBadge, type MarkShape, markContours } from './badge-layout.ts';
import type { Colour } from './colours.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import type { Contour } from './font.ts';
import { fillRoundRect, paint, SHAPE_SIZE } from './paint.ts';
import { addPngText, encodePalettePng } from './png.ts';
import { layOut, traceLine } from './text.ts';

const shapes = new Map<string, Coverage>();

/** Draws a badge: a PNG, at scale 1 of at most 4 KB, or an SVG in UTF-8. Does not throw for any text. */
export function drawBadge(picture: BadgePicture): Uint8Array {
  if (picture.format === 'svg')
    return Buffer.from(badgeSvg(layOutBadge(picture), picture.title ?? picture.label ?? picture.name));
  const png = encodePalettePng(drawBadgePixels(picture));
  return picture.asOf === undefined ? png : addPngText(png, 'As of', picture.asOf);
}

/** Draws a badge as pixels with straight alpha; only the corners outside the card are transparent. */
export function drawBadgePixels(picture: BadgePicture): Bitmap {
  const { scale = 1 } = picture;
  const { width, height, boxes, mark, lines } = layOutBadge(picture, scale);
  const bitmap = make(width, height);
  bitmap.data.fill(0);
  for (const box of boxes) fillRoundRect(bitmap, box, box.colour);
  paint(bitmap, coverageOf(mark.shape, scale), mark, mark.colour);
  for (const { face, text: written, x, baseline, colour } of lines) {
    for (const glyph of layOut(face, written, x))
      paint(bitmap, glyph.coverage, { x: glyph.x, y: baseline + glyph.y }, colour);
  }
  return bitmap;
}

function coverageOf(shape: MarkShape, scale: number): Coverage {
  const size = SHAPE_SIZE * scale;
  return getOrInsert(shapes, `${shape} ${scale}`, () =>
    toCoverage(raster(size, size, markContours(shape, scale)), 0),
  );
}

/** Outlines are rounded to hundredths of a pixel, which cannot be seen even at ten times the size. */
const PRECISION = 100;

/**
 * Writes a badge as SVG; `title` is any text. Letters are outlines of the fonts of the PNG, so the SVG refers to no other file.
 */
function badgeSvg({ width, height, boxes, mark, lines }: BadgeLayout, title: string): string {
  const said = escapeXml(title);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${said}">`,
    `<title>${said}</title>`,
    ...boxes.map(
      (box) =>
        `<rect${box.x === 0 ? '' : ` x="${box.x}" y="${box.y}"`} width="${box.width}" height="${box.height}" rx="${box.radius}" fill="${hex(box.colour)}"/>`,
    ),
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
