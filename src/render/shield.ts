/** Lays out badges of two texts on two colours, as shields.io and other monitors draw them. */

import { contrastOf } from '../domain/page-colour.ts';
import type { ShieldPicture, ShieldStyle } from '../domain/picture.ts';
import { readableName } from './readable-name.ts';
import type { Box, SvgLayout } from './svg.ts';
import { faceOf, measure, shorten } from './text.ts';

interface Look {
  readonly height: number;
  readonly radius: number;
  readonly size: number;
  /** Space at both sides of a text, pixels. */
  readonly margin: number;
  readonly isUpper?: true;
}

const FLAT: Look = { height: 20, radius: 3, size: 11, margin: 6 };
const LOOKS: Readonly<Record<ShieldStyle, Look>> = {
  flat: FLAT,
  'flat-square': { ...FLAT, radius: 0 },
  plastic: { ...FLAT, height: 18, radius: 4 },
  'for-the-badge': { height: 28, radius: 0, size: 10, margin: 12, isUpper: true },
  social: FLAT,
};
/** The two boxes of the style `social`, which has no other colours. */
const SOCIAL = { label: '#ebedf0', message: '#fafbfc' };
/** Maximum width of each text, pixels. */
const MAX_TEXT_WIDTH = 400;
const INKS = ['#ffffff', '#000000'] as const;

/** Lays out a badge. Does not throw for any text. */
export function layOutShield(picture: ShieldPicture): SvgLayout {
  const { label, message, labelColour, colour, shield } = picture;
  const { height, radius, size, margin, isUpper } = LOOKS[shield];
  const colours = shield === 'social' ? SOCIAL : { label: labelColour, message: colour };
  const face = faceOf({ weight: 'medium', size });
  const written = (text: string) => {
    const line = readableName(isUpper === true ? text.toUpperCase() : text, null, face.font.has);
    const shown = shorten(face, line, MAX_TEXT_WIDTH);
    return { text: shown, width: Math.ceil(measure(face, shown)) + 2 * margin };
  };
  const left = label === '' ? { text: '', width: 0 } : written(label);
  const right = written(message);
  const width = left.width + right.width;
  const box = { x: 0, y: 0, width, height, radius };
  const end = { ...box, x: left.width, width: right.width, colour: numberOf(colours.message) };
  const boxes: Box[] =
    left.width === 0
      ? [end]
      : [
          { ...box, colour: numberOf(colours.label) },
          end,
          // Where the boxes meet, corners are not round.
          ...(radius === 0 ? [] : [{ ...end, width: 2 * radius, radius: 0 }]),
        ];
  const baseline = Math.round((height + face.capHeight) / 2);
  const line = (text: string, x: number, ground: string) => ({
    ...{ face, text, baseline, x: x + margin, colour: inkOn(ground) },
  });
  const lines = [line(right.text, left.width, colours.message)];
  if (left.width > 0) lines.unshift(line(left.text, 0, colours.label));
  return { width, height, boxes, shapes: [], lines };
}

/** The badge for screen readers: `Status: Up`. */
export function shieldTitle({ label, message }: ShieldPicture): string {
  return label === '' ? message : `${label}: ${message}`;
}

/** Black or white, of which one has a contrast of at least 4.5 to every colour. */
function inkOn(ground: string): number {
  const [white, black] = INKS;
  return numberOf(contrastOf(white, ground) >= contrastOf(black, ground) ? white : black);
}

function numberOf(colour: string): number {
  return Number.parseInt(colour.slice(1), 16);
}
