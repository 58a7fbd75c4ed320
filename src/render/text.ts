/** Lays out text as coverage fitted to the pixel grid. Glyphs are cached. */
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { COLUMNS, type Coverage, type Raster, raster, toCoverage } from './coverage.ts';
import { type Contour, type Font, loadFont, type Weight } from './font.ts';

/** A font at a size in which flat letters end on whole pixels. */
export type Face = ReturnType<typeof createFace>;

interface Glyph {
  readonly raster: Raster;
  /** Pixels from the pen to the raster's left edge, and from the baseline to its top. */
  readonly left: number;
  readonly top: number;
  /** By the position of the pen within a pixel. */
  readonly coverages: (Coverage | undefined)[];
}

/** Maximum number of cached glyphs of a face; more than the fonts have. */
const MAX_GLYPHS = 2_000;

const faces = new Map<string, Face>();

/** The face of a weight at `size` pixels to the em, loaded once per thread. */
export function faceOf({ weight, size }: { readonly weight: Weight; readonly size: number }): Face {
  return getOrInsert(faces, `${weight} ${size}`, () => createFace(loadFont(weight), size));
}

function createFace(font: Font, size: number) {
  const scale = size / font.unitsPerEm;
  return {
    font,
    /** Pixels to the em. */
    size,
    /** Whole pixels from the baseline to the top of x and of H, so that horizontal edges are sharp. */
    xHeight: Math.round(font.xHeight * scale),
    capHeight: Math.round(font.capHeight * scale),
    glyphs: new BoundedMap<string, Glyph>(MAX_GLYPHS),
  };
}

/** Width of a line in pixels with kerning. */
export function measure(face: Face, text: string): number {
  let units = 0;
  let previous: string | null = null;
  for (const character of text) {
    if (previous !== null) units += face.font.kerning(previous, character);
    units += face.font.advance(character);
    previous = character;
  }
  return (units * face.size) / face.font.unitsPerEm;
}

/** Cuts a text that is wider than `width` pixels, so that it fits with an ellipsis at its end. */
export function shorten(face: Face, text: string, width: number): string {
  if (measure(face, text) <= width) return text;
  const letters = [...text];
  let low = 0;
  let high = letters.length - 1;
  const cut = (count: number) => `${letters.slice(0, count).join('').trimEnd()}…`;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(face, cut(middle)) <= width) low = middle;
    else high = middle - 1;
  }
  return cut(low);
}

/**
 * Lays out a line that begins `start` pixels right of the origin: the coverage of each glyph, and the position of its top
 * left corner in pixels from the start of the baseline. The font must have all characters.
 */
export function layOut(face: Face, text: string, start: number) {
  const placed: { readonly coverage: Coverage; readonly x: number; readonly y: number }[] = [];
  movePen(face, text, start, (character, pen) => {
    const columns = Math.round(pen * COLUMNS);
    const pixel = Math.floor(columns / COLUMNS);
    const glyph = getOrInsert(face.glyphs, character, () => drawGlyph(face, character));
    if (glyph.raster.width > 0) {
      const shift = columns - pixel * COLUMNS;
      glyph.coverages[shift] ??= toCoverage(glyph.raster, shift);
      placed.push({ coverage: glyph.coverages[shift], x: pixel + glyph.left, y: glyph.top });
    }
  });
  return placed;
}

/** The outlines of the same line, in pixels from the start of the baseline, for formats that fill outlines themselves. */
export function traceLine(face: Face, text: string, start: number): Contour[] {
  const contours: Contour[] = [];
  movePen(face, text, start, (character, pen) => {
    for (const contour of fittedContours(face, character)) contours.push(move(contour, pen, 0));
  });
  return contours;
}

/** Calls `draw` for each character with the position of the pen in pixels. */
function movePen(
  { font, size }: Face,
  text: string,
  start: number,
  draw: (character: string, pen: number) => void,
): void {
  const scale = size / font.unitsPerEm;
  let pen = start;
  let previous: string | null = null;
  for (const character of text) {
    if (previous !== null) pen += font.kerning(previous, character) * scale;
    draw(character, pen);
    pen += font.advance(character) * scale;
    previous = character;
  }
}

/** Outlines in pixels from the pen on the baseline, with heights fitted to the grid. */
function fittedContours(face: Face, character: string): Contour[] {
  const scale = face.size / face.font.unitsPerEm;
  const fit = fitToGrid(face);
  return face.font
    .contours(character)
    .map((contour) =>
      contour.map((step) =>
        step.type === 'Q'
          ? { type: 'Q', x1: step.x1 * scale, y1: fit(step.y1), x: step.x * scale, y: fit(step.y) }
          : { type: step.type, x: step.x * scale, y: fit(step.y) },
      ),
    );
}

function drawGlyph(face: Face, character: string): Glyph {
  const contours = fittedContours(face, character);
  const steps = contours.flat();
  if (steps.length === 0) {
    return { raster: { width: 0, height: 0, windings: new Float32Array() }, left: 0, top: 0, coverages: [] };
  }
  const xs = steps.flatMap((step) => (step.type === 'Q' ? [step.x, step.x1] : [step.x]));
  const ys = steps.flatMap((step) => (step.type === 'Q' ? [step.y, step.y1] : [step.y]));
  const left = Math.floor(Math.min(...xs));
  const top = Math.floor(Math.min(...ys));
  const width = Math.ceil(Math.max(...xs)) - left;
  const height = Math.ceil(Math.max(...ys)) - top;
  return {
    raster: raster(
      width,
      height,
      contours.map((contour) => move(contour, -left, -top)),
    ),
    left,
    top,
    coverages: [],
  };
}

/**
 * Maps heights in font units to pixels, as hinting would: baseline, x-height and capital height become whole numbers, and
 * round letters end where flat ones do.
 */
function fitToGrid({ font, size, xHeight, capHeight }: Face): (y: number) => number {
  const scale = size / font.unitsPerEm;
  const stops: readonly (readonly [units: number, pixels: number])[] = [
    [-font.unitsPerEm, -size],
    [-font.overshoot, 0],
    [0, 0],
    [font.xHeight, xHeight],
    [font.xHeight + font.overshoot, xHeight],
    [font.capHeight, capHeight],
    [font.capHeight + font.overshoot, capHeight],
    [2 * font.unitsPerEm, capHeight + (2 * font.unitsPerEm - font.capHeight) * scale],
  ];
  return (y) => {
    const up = -y;
    const next = Math.max(
      1,
      stops.findIndex(([units]) => units >= up),
    );
    const [fromUnits, fromPixels] = stops[next - 1] ?? [0, 0];
    const [toUnits, toPixels] = stops[next] ?? [1, 1];
    return -(fromPixels + ((up - fromUnits) / (toUnits - fromUnits)) * (toPixels - fromPixels));
  };
}

function move(contour: Contour, byX: number, byY: number): Contour {
  return contour.map((step) =>
    step.type === 'Q'
      ? { type: 'Q', x1: step.x1 + byX, y1: step.y1 + byY, x: step.x + byX, y: step.y + byY }
      : { type: step.type, x: step.x + byX, y: step.y + byY },
  );
}
