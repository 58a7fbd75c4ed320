/** The layout of a badge, shared by PNG and SVG. */
import { type BadgePicture, STATUS_LABELS } from '../domain/picture.ts';
import type { ServiceStatus } from '../domain/status.ts';
import { BADGE_COLOURS, type Colour } from './colours.ts';
import type { Contour } from './font.ts';
import { readableLine, readableName } from './readable-name.ts';
import { circle, SHAPE_SIZE, statusShape } from './shapes.ts';
import { type Face, faceOf, measure, shorten } from './text.ts';

/** A badge with all positions, in pixels from the top left corner. */
export type BadgeLayout = ReturnType<typeof layOutBadge>;

/** The shape in a pill: that of a status, or a clock for a stale figure. */
export type MarkShape = ServiceStatus | 'clock';

/** Width of every badge in pixels (contract, part 8). */
export const BADGE_WIDTH = 280;
/** Height of every badge in pixels (contract, part 8). */
export const BADGE_HEIGHT = 36;
/** Radius of the card's corners in pixels. */
export const CARD_RADIUS = 8;

const NAME_LEFT = 13;
const NAME_GAP = 10;
const PILL_MARGIN = 7;
const PILL_HEIGHT = BADGE_HEIGHT - 2 * PILL_MARGIN;
const PILL_LEFT = 8;
const PILL_RIGHT = 11;
const SHAPE_GAP = 5;
const WINDOW_GAP = 8;
/** Maximum width of the text in the pill. */
const MAX_WORD_WIDTH = 150;

/** Lays out a badge. Does not throw for any text. */
export function layOutBadge({ name, fallback, status, theme, ageText, figure }: BadgePicture) {
  const colours = BADGE_COLOURS[theme];
  const fill = ageText === null ? colours.pills[status] : colours.stale;
  const word = wordFace();
  const said =
    figure === undefined ? STATUS_LABELS[status] : readableLine(figure.word, word.font.has) || NOTHING;
  const text = shorten(word, withAge(said, ageText, word), MAX_WORD_WIDTH);
  const width = PILL_LEFT + SHAPE_SIZE + SHAPE_GAP + Math.ceil(measure(word, text)) + PILL_RIGHT;
  const pill = { x: BADGE_WIDTH - PILL_MARGIN - width, y: PILL_MARGIN, width, height: PILL_HEIGHT };
  const mark = {
    shape: (figure !== undefined && ageText !== null ? 'clock' : status) satisfies MarkShape,
    x: pill.x + PILL_LEFT,
    y: (BADGE_HEIGHT - SHAPE_SIZE) / 2,
    colour: fill.shape,
  } as const;
  const lines = [line(word, text, pill.x + PILL_LEFT + SHAPE_SIZE + SHAPE_GAP, fill.text)];

  let right = pill.x;
  const window = figure === undefined ? '' : readableLine(figure.window, word.font.has);
  if (window !== '') {
    right -= WINDOW_GAP + Math.ceil(measure(word, window));
    lines.push(line(word, window, right, colours.stale.text));
  }
  const face = nameFace();
  const shown = readableName(name, fallback ?? null, face.font.has);
  lines.push(line(face, shorten(face, shown, right - NAME_GAP - NAME_LEFT), NAME_LEFT, colours.name));
  return { colours, pill, pillFill: fill.fill, mark, lines };
}

/** Outlines of a mark, in pixels from the top left corner of a box of {@link SHAPE_SIZE}. */
export function markContours(shape: MarkShape): readonly Contour[] {
  return shape === 'clock' ? CLOCK : statusShape(shape);
}

/** The face of names. */
function nameFace(): Face {
  return faceOf({ weight: 'semibold', size: 13.5 });
}

/** The face of all other text. */
export function wordFace(): Face {
  return faceOf({ weight: 'medium', size: 11 });
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

/** A line of text whose capitals are vertically centred, with the positions of the pen and of the baseline. */
function line(face: Face, text: string, x: number, colour: Colour) {
  return { face, text, x, baseline: Math.round((BADGE_HEIGHT + face.capHeight) / 2), colour };
}
