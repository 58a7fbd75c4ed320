/** The status badge: 280 by 36 pixels, the name at the left, the status in a pill at the right (contract 4.6). */
import { type Bitmap, make } from 'pureimage';
import type { ServiceStatus } from '../domain/status.ts';
import { BADGE_COLOURS, type BadgeTheme } from './badge-theme.ts';
import { type Coverage, raster, toCoverage } from './coverage.ts';
import { loadFont } from './font.ts';
import { fillRoundRect, paint } from './paint.ts';
import { encodePalettePng } from './png.ts';
import { readableLine, readableName } from './readable-name.ts';
import { SHAPE_SIZE, statusShape } from './shapes.ts';
import { createFace, type Face, layOut, measure, shorten } from './text.ts';

/** What a badge says. */
export interface BadgeInput {
  /** Display name, any Unicode text; shortened with an ellipsis where it is too wide. */
  readonly name: string;
  /** Shown where the name's script is not in the fonts: the domain. Absent: boxes mark missing letters. */
  readonly fallback?: string;
  readonly status: ServiceStatus;
  readonly theme: BadgeTheme;
  /** Age of a stale status, such as `12 min ago`: same size and word, in grey (decisions, Badge). Null: fresh. */
  readonly ageText: string | null;
}

/** Size of every badge in pixels (contract, part 8). */
export const BADGE_WIDTH = 280;
/** Height of every badge in pixels (contract, part 8). */
export const BADGE_HEIGHT = 36;

/** The badge's word for each status (contract 4.6; decisions, Badge). */
export const STATUS_WORDS: Readonly<Record<ServiceStatus, string>> = {
  up: 'Operational',
  slow: 'Slow',
  down: 'Down',
  unknown: 'Unknown',
};

const CARD_RADIUS = 8;
const NAME_LEFT = 13;
const NAME_GAP = 10;
const PILL_MARGIN = 7;
const PILL_HEIGHT = BADGE_HEIGHT - 2 * PILL_MARGIN;
const PILL_LEFT = 8;
const PILL_RIGHT = 11;
const SHAPE_GAP = 5;
/** The name keeps at least the room that is left beside this much of a word with its age. */
const WORD_WIDTH_MAX = 150;

const faces = new Map<'name' | 'word', Face>();
const shapes = new Map<ServiceStatus, Coverage>();
const PRINTABLE_ASCII = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');

/** Loads the fonts and draws the commonest glyphs, so that the first badge is as fast as the next. */
export function warmUp(): void {
  for (const face of [nameFace(), wordFace()]) layOut(face, `${PRINTABLE_ASCII}…·`, 0);
}

/** Draws a badge as a PNG of at most 4 KB. Never throws for any text. */
export function drawBadge(input: BadgeInput): Uint8Array {
  return encodePalettePng(drawBadgePixels(input));
}

/** Draws a badge as pixels with straight alpha; only the corners outside of the card are transparent. */
export function drawBadgePixels({ name, fallback, status, theme, ageText }: BadgeInput): Bitmap {
  const colours = BADGE_COLOURS[theme];
  const pill = ageText === null ? colours.pills[status] : colours.stale;
  const bitmap = make(BADGE_WIDTH, BADGE_HEIGHT);
  bitmap.data.fill(0);
  fillRoundRect(bitmap, 0, 0, BADGE_WIDTH, BADGE_HEIGHT, CARD_RADIUS, colours.border);
  fillRoundRect(bitmap, 1, 1, BADGE_WIDTH - 2, BADGE_HEIGHT - 2, CARD_RADIUS - 1, colours.card);

  const word = wordFace();
  const text = shorten(word, statusText(status, ageText, word), WORD_WIDTH_MAX);
  const pillWidth = PILL_LEFT + SHAPE_SIZE + SHAPE_GAP + Math.ceil(measure(word, text)) + PILL_RIGHT;
  const pillX = BADGE_WIDTH - PILL_MARGIN - pillWidth;
  fillRoundRect(bitmap, pillX, PILL_MARGIN, pillWidth, PILL_HEIGHT, PILL_HEIGHT / 2, pill.fill);
  paint(bitmap, shapeOf(status), pillX + PILL_LEFT, (BADGE_HEIGHT - SHAPE_SIZE) / 2, pill.shape);
  write(bitmap, word, text, pillX + PILL_LEFT + SHAPE_SIZE + SHAPE_GAP, pill.text);

  const face = nameFace();
  const shown = readableName(name, fallback ?? null, face.font.has);
  write(bitmap, face, shorten(face, shown, pillX - NAME_GAP - NAME_LEFT), NAME_LEFT, colours.name);
  return bitmap;
}

function statusText(status: ServiceStatus, ageText: string | null, face: Face): string {
  const age = ageText === null ? '' : readableLine(ageText, face.font.has);
  return age === '' ? STATUS_WORDS[status] : `${STATUS_WORDS[status]} · ${age}`;
}

/** Writes a line whose capitals stand in the middle of the badge. */
function write(bitmap: Bitmap, face: Face, text: string, x: number, colour: number): void {
  const baseline = Math.round((BADGE_HEIGHT + face.capHeight) / 2);
  for (const glyph of layOut(face, text, x))
    paint(bitmap, glyph.coverage, glyph.x, baseline + glyph.y, colour);
}

function nameFace(): Face {
  return faceOf('name', () => createFace(loadFont('semibold'), 13.5));
}

function wordFace(): Face {
  return faceOf('word', () => createFace(loadFont('medium'), 11));
}

function faceOf(role: 'name' | 'word', create: () => Face): Face {
  let face = faces.get(role);
  if (face === undefined) {
    face = create();
    faces.set(role, face);
  }
  return face;
}

function shapeOf(status: ServiceStatus): Coverage {
  let shape = shapes.get(status);
  if (shape === undefined) {
    shape = toCoverage(raster(SHAPE_SIZE, SHAPE_SIZE, statusShape(status)), 0);
    shapes.set(status, shape);
  }
  return shape;
}
