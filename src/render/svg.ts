/** Writes badges as SVG. */
import type { Colour } from './colours.ts';
import type { Contour } from './font.ts';
import { type Face, traceLine } from './text.ts';

/** Outlines are rounded to hundredths of a pixel, which cannot be seen even at ten times the size. */
const PRECISION = 100;

/** The content of an SVG, in pixels from its top left corner, in the order of drawing. */
export interface SvgLayout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly shapes: readonly {
    readonly contours: readonly Contour[];
    readonly x: number;
    readonly y: number;
    readonly colour: Colour;
  }[];
  /** Lines of text; `x` is the position of the pen. */
  readonly lines: readonly {
    readonly face: Face;
    readonly text: string;
    readonly x: number;
    readonly baseline: number;
    readonly colour: Colour;
  }[];
}

/** A rectangle with round corners. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly radius: number;
  readonly colour: Colour;
}

/**
 * Writes an SVG; `title` is any text. Letters are outlines of the fonts of the PNG, so the SVG refers to no other file.
 */
export function writeSvg({ width, height, boxes, shapes, lines }: SvgLayout, title: string): string {
  const said = escapeXml(title);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${said}">`,
    `<title>${said}</title>`,
    ...boxes.map(
      (box) =>
        `<rect${box.x === 0 ? '' : ` x="${box.x}" y="${box.y}"`} width="${box.width}" height="${box.height}" rx="${box.radius}" fill="${hex(box.colour)}"/>`,
    ),
    ...shapes.map(({ contours, x, y, colour }) => path(contours, x, y, colour)),
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
