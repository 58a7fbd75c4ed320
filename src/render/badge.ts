/** Lays out and draws badges: the name on the left, the status or a figure on the right (contract 4.6). */
import { type Bitmap, make } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';
import { type AnyBadge, type BadgePicture, STATUS_LABELS } from '../domain/picture.ts';
import type { ServiceStatus } from '../domain/status.ts';
import { BADGE_COLOURS } from './colours.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import type { Contour, OutlineStep } from './font.ts';
import { circle, fillRoundRect, paint, SHAPE_SIZE, statusShape } from './paint.ts';
import { addPngText, encodePalettePng } from './png.ts';
import { readableLine, readableName } from './readable-name.ts';
import { layOutShield, shieldTitle } from './shield.ts';
import { type Box, writeSvg } from './svg.ts';
import { type Face, faceOf, layOut, measure, shorten } from './text.ts';

const shapes = new Map<string, Coverage>();

/** Draws a badge: a PNG, at scale 1 of at most 4 KB, or an SVG in UTF-8. Does not throw for any text. */
export function drawBadge(picture: AnyBadge): Uint8Array {
  if ('shield' in picture) return Buffer.from(writeSvg(layOutShield(picture), shieldTitle(picture)));
  if (picture.format === 'svg') {
    const { mark, ...layout } = layOutBadge(picture);
    const shape = { ...mark, contours: markContours(mark.shape) };
    return Buffer.from(
      writeSvg({ ...layout, shapes: [shape] }, picture.title ?? picture.label ?? picture.name),
    );
  }
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

/** The shape in a pill: that of a status, or a clock for a stale figure. */
type MarkShape = ServiceStatus | 'clock';

/** Width of a badge of the style `card` in pixels (contract, part 8). */
export const BADGE_WIDTH = 280;
/** Height of a badge of the style `card` in pixels (contract, part 8). */
export const BADGE_HEIGHT = 36;
/** Height of a badge of the style `compact` in pixels, which is that of the badges of shields.io. */
const COMPACT_HEIGHT = 20;

const CARD_RADIUS = 8;
const NAME_LEFT = 13;
const NAME_GAP = 10;
const PILL_MARGIN = 7;
const PILL_LEFT = 8;
const PILL_RIGHT = 11;
const SHAPE_GAP = 5;
const WINDOW_GAP = 8;
/** Maximum width of the text in the pill. */
const MAX_WORD_WIDTH = 165;

const COMPACT_RADIUS = 4;
/** Space around the texts of a compact badge, and between its name and the window of its figure. */
const COMPACT_MARGIN = 7;
const COMPACT_GAP = 5;
const MAX_COMPACT_NAME_WIDTH = 200;

/** Lays out a badge in pixels, `scale` to each pixel of the page. Does not throw for any text. */
export function layOutBadge(picture: BadgePicture, scale: 1 | 2 = 1) {
  const { name, fallback, label, style, status, theme, ageText, figure } = picture;
  const colours = BADGE_COLOURS[theme];
  const isCompact = style === 'compact';
  const fill = ageText === null ? colours.pills[status] : colours.stale;
  const word = wordFace(scale);
  const nameFace = faceOf({ weight: 'semibold', size: (isCompact ? 11 : 13.5) * scale });
  const said =
    figure === undefined ? STATUS_LABELS[status] : readableLine(figure.word, word.font.has) || NOTHING;
  const texts: Texts = {
    word,
    said: shorten(word, withAge(said, ageText, word), MAX_WORD_WIDTH * scale),
    window: figure === undefined ? '' : readableLine(figure.window, word.font.has),
    nameFace,
    name: readableName(label ?? name, fallback ?? null, nameFace.font.has),
  };
  const shape: MarkShape = figure !== undefined && ageText !== null ? 'clock' : status;
  const layOut = isCompact ? layOutCompact : layOutCard;
  const { pill, width, height, boxes, left, inked } = layOut(texts, scale);
  const boxColours = { border: colours.border, card: colours.card, pill: fill.fill };
  const textColours = { word: fill.text, window: colours.stale.text, name: colours.name };
  return {
    width,
    height,
    pill,
    boxes: boxes.map(({ of, ...box }): Box => ({ ...box, colour: boxColours[of] })),
    mark: { shape, x: left, y: (height - SHAPE_SIZE * scale) / 2, colour: fill.shape },
    lines: inked.map(({ of, face, text, x }) => ({
      ...{ face, text, x, colour: textColours[of] },
      // Capitals are vertically centred.
      baseline: Math.round((height + face.capHeight) / 2),
    })),
  };
}

/** The texts of a badge in characters that the fonts have; only the name may be too wide. */
interface Texts {
  readonly word: Face;
  /** In the pill. */
  readonly said: string;
  /** Empty: there is none. */
  readonly window: string;
  readonly nameFace: Face;
  readonly name: string;
}

/** Boxes in the order of drawing, the left edge of the mark, and lines of text with the position of the pen. */
interface Placed {
  readonly width: number;
  readonly height: number;
  readonly pill: Omit<Box, 'colour' | 'radius'>;
  readonly boxes: readonly (Omit<Box, 'colour'> & { readonly of: 'border' | 'card' | 'pill' })[];
  readonly left: number;
  readonly inked: readonly {
    readonly of: 'word' | 'window' | 'name';
    readonly face: Face;
    readonly text: string;
    readonly x: number;
  }[];
}

/** A card of fixed size with a pill on its right. */
function layOutCard({ word, said, window, nameFace, name }: Texts, scale: number): Placed {
  const [width, height] = [BADGE_WIDTH * scale, BADGE_HEIGHT * scale];
  const beforeWord = (PILL_LEFT + SHAPE_SIZE + SHAPE_GAP) * scale;
  const pillWidth = beforeWord + Math.ceil(measure(word, said)) + PILL_RIGHT * scale;
  const margin = PILL_MARGIN * scale;
  const pill = { x: width - margin - pillWidth, y: margin, width: pillWidth, height: height - 2 * margin };
  const inked: Placed['inked'][number][] = [{ of: 'word', face: word, text: said, x: pill.x + beforeWord }];
  let right = pill.x;
  if (window !== '') {
    right -= WINDOW_GAP * scale + Math.ceil(measure(word, window));
    inked.push({ of: 'window', face: word, text: window, x: right });
  }
  const nameLeft = NAME_LEFT * scale;
  const shown = shorten(nameFace, name, right - NAME_GAP * scale - nameLeft);
  inked.push({ of: 'name', face: nameFace, text: shown, x: nameLeft });
  return {
    ...{ width, height, pill, inked, left: pill.x + PILL_LEFT * scale },
    boxes: [...frame(width, height, CARD_RADIUS, scale), { ...pill, radius: pill.height / 2, of: 'pill' }],
  };
}

/** A badge that is as wide as its texts, whose right end is the pill. */
function layOutCompact({ word, said, window, nameFace, name }: Texts, scale: number): Placed {
  const height = COMPACT_HEIGHT * scale;
  const [margin, radius] = [COMPACT_MARGIN * scale, (COMPACT_RADIUS - 1) * scale];
  const shown = shorten(nameFace, name, MAX_COMPACT_NAME_WIDTH * scale);
  const inked: Placed['inked'][number][] = [{ of: 'name', face: nameFace, text: shown, x: margin }];
  let x = margin + Math.ceil(measure(nameFace, shown));
  if (window !== '') {
    x += COMPACT_GAP * scale;
    inked.push({ of: 'window', face: word, text: window, x });
    x += Math.ceil(measure(word, window));
  }
  const pillX = x + margin;
  const left = pillX + margin;
  const wordX = left + (SHAPE_SIZE + SHAPE_GAP) * scale;
  inked.push({ of: 'word', face: word, text: said, x: wordX });
  const width = wordX + Math.ceil(measure(word, said)) + margin;
  const inside = { y: scale, height: height - 2 * scale };
  const pill = { ...inside, x: pillX, width: width - scale - pillX };
  return {
    ...{ width, height, pill, inked, left },
    boxes: [
      ...frame(width, height, COMPACT_RADIUS, scale),
      { ...pill, radius, of: 'pill' },
      // The left corners are not round.
      { ...pill, width: 2 * radius, radius: 0, of: 'pill' },
    ],
  };
}

/** A card with a border of one pixel of the page. */
function frame(width: number, height: number, radius: number, scale: number): Placed['boxes'] {
  const inside = { x: scale, y: scale, width: width - 2 * scale, height: height - 2 * scale };
  return [
    { x: 0, y: 0, width, height, radius: radius * scale, of: 'border' },
    { ...inside, radius: (radius - 1) * scale, of: 'card' },
  ];
}

/** Outlines of a mark, in pixels from the top left corner of a box of {@link SHAPE_SIZE} times `scale`. */
function markContours(shape: MarkShape, scale = 1): readonly Contour[] {
  const contours = shape === 'clock' ? CLOCK : statusShape(shape);
  return scale === 1 ? contours : contours.map((contour) => contour.map((step) => enlarge(step, scale)));
}

function enlarge(step: OutlineStep, scale: number): OutlineStep {
  const end = { x: step.x * scale, y: step.y * scale };
  return step.type === 'Q'
    ? { type: 'Q', x1: step.x1 * scale, y1: step.y1 * scale, ...end }
    : { type: step.type, ...end };
}

/** The face of all text but names. */
export function wordFace(scale = 1): Face {
  return faceOf({ weight: 'medium', size: 11 * scale });
}

const NOTHING = '–';

/** A ring with hands at three o'clock, unlike the ring of `unknown`. */
const CLOCK: readonly Contour[] = [
  circle(5, 5, 5, false),
  circle(5, 5, 3.8, true),
  // On whole pixels, so that it is sharp in a PNG.
  [
    { type: 'M', x: 4, y: 2 },
    { type: 'L', x: 5, y: 2 },
    { type: 'L', x: 5, y: 5 },
    { type: 'L', x: 7.25, y: 5 },
    { type: 'L', x: 7.25, y: 6 },
    { type: 'L', x: 4, y: 6 },
  ],
];

function withAge(word: string, ageText: string | null, face: Face): string {
  const age = ageText === null ? '' : readableLine(ageText, face.font.has);
  return age === '' ? word : `${word} · ${age}`;
}
