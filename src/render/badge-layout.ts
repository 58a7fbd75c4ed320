/** Where everything stands on a badge: one layout for its picture in pixels and for the one in outlines. */
import type { ServiceStatus } from '../domain/status.ts';
import { BADGE_COLOURS, type BadgeColours, type BadgeTheme, type Colour } from './colours.ts';
import { type Contour, loadFont } from './font.ts';
import { readableLine, readableName } from './readable-name.ts';
import { circle, SHAPE_SIZE, statusShape } from './shapes.ts';
import { createFace, type Face, measure, shorten } from './text.ts';

/** A figure in the place of the status' word. */
export interface BadgeFigure {
  /** What the pill says, such as `99.98 % up`; shortened with an ellipsis where it is too wide. */
  readonly word: string;
  /** The window of the figure, such as `30 d`; written beside the pill. */
  readonly window: string;
}

/** What a badge says. */
export interface BadgeText {
  /** Display name, any Unicode text; shortened with an ellipsis where it is too wide. */
  readonly name: string;
  /** Shown where the name's script is not in the fonts: the domain. Absent: boxes mark missing letters. */
  readonly fallback?: string;
  /** The status; beside a figure how good the figure is, `unknown` where there is none. */
  readonly status: ServiceStatus;
  readonly theme: BadgeTheme;
  /** Age of what is stale, such as `12 min ago`: same size and word, in grey (decisions, Badge). Null: fresh. */
  readonly ageText: string | null;
  /** Absent: the badge says the status (contract 4.6). */
  readonly figure?: BadgeFigure;
}

/** A line of text in its place. */
export interface PlacedLine {
  readonly face: Face;
  readonly text: string;
  /** Pixels from the left edge to the pen, and from the top to the baseline. */
  readonly x: number;
  readonly baseline: number;
  readonly colour: Colour;
}

/** A badge, ready to be drawn. All measures are in pixels from the top left corner. */
export interface BadgeLayout {
  readonly colours: BadgeColours;
  readonly pill: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  readonly pillFill: Colour;
  readonly mark: {
    readonly shape: MarkShape;
    readonly x: number;
    readonly y: number;
    readonly colour: Colour;
  };
  readonly lines: readonly PlacedLine[];
}

/** The shape in a pill: that of a status, or a clock for a figure that is too old to be trusted. */
export type MarkShape = ServiceStatus | 'clock';

/** Size of every badge in pixels (contract, part 8). */
export const BADGE_WIDTH = 280;
/** Height of every badge in pixels (contract, part 8). */
export const BADGE_HEIGHT = 36;
/** Radius of the card's corners in pixels. */
export const CARD_RADIUS = 8;

/** The badge's word for each status (contract 4.6; decisions, Badge). */
export const STATUS_WORDS: Readonly<Record<ServiceStatus, string>> = {
  up: 'Operational',
  slow: 'Slow',
  down: 'Down',
  unknown: 'Unknown',
};

const NAME_LEFT = 13;
const NAME_GAP = 10;
const PILL_MARGIN = 7;
const PILL_HEIGHT = BADGE_HEIGHT - 2 * PILL_MARGIN;
const PILL_LEFT = 8;
const PILL_RIGHT = 11;
const SHAPE_GAP = 5;
const WINDOW_GAP = 8;
/** The name keeps at least the room that is left beside this much of a word with its age. */
const WORD_WIDTH_MAX = 150;

const faces = new Map<'name' | 'word', Face>();

/** Lays out a badge. Never throws for any text. */
export function layOutBadge({ name, fallback, status, theme, ageText, figure }: BadgeText): BadgeLayout {
  const colours = BADGE_COLOURS[theme];
  const fill = ageText === null ? colours.pills[status] : colours.stale;
  const word = wordFace();
  const said =
    figure === undefined ? STATUS_WORDS[status] : readableLine(figure.word, word.font.has) || NOTHING;
  const text = shorten(word, withAge(said, ageText, word), WORD_WIDTH_MAX);
  const width = PILL_LEFT + SHAPE_SIZE + SHAPE_GAP + Math.ceil(measure(word, text)) + PILL_RIGHT;
  const pill = { x: BADGE_WIDTH - PILL_MARGIN - width, y: PILL_MARGIN, width, height: PILL_HEIGHT };
  const mark = {
    shape: figure !== undefined && ageText !== null ? 'clock' : status,
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
export function nameFace(): Face {
  return faceOf('name', () => createFace(loadFont('semibold'), 13.5));
}

/** The face of everything else. */
export function wordFace(): Face {
  return faceOf('word', () => createFace(loadFont('medium'), 11));
}

const NOTHING = '–';

/** A ring with hands at three o'clock, told from the ring of `unknown` at a glance. */
const CLOCK: readonly Contour[] = [
  circle(5, 5, 5, false),
  circle(5, 5, 3.8, true),
  // On whole pixels, so that they stay sharp in a PNG.
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

/** A line whose capitals stand in the middle of the badge. */
function line(face: Face, text: string, x: number, colour: Colour): PlacedLine {
  return { face, text, x, baseline: Math.round((BADGE_HEIGHT + face.capHeight) / 2), colour };
}

function faceOf(role: 'name' | 'word', create: () => Face): Face {
  let face = faces.get(role);
  if (face === undefined) {
    face = create();
    faces.set(role, face);
  }
  return face;
}
