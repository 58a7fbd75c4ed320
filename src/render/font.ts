/** Outlines, advances and kerning of the fonts in `assets/fonts`. */
import { registerFont } from 'pureimage';
import { getOrInsert } from '../async/bounded-map.ts';

export type Weight = 'medium' | 'semibold';

/** A step of a glyph's outline, in font units; y grows downwards, the baseline is 0. */
export type OutlineStep =
  | { readonly type: 'M' | 'L'; readonly x: number; readonly y: number }
  | { readonly type: 'Q'; readonly x1: number; readonly y1: number; readonly x: number; readonly y: number };

/** A closed line of a glyph. Nested contours have the opposite direction, as in TrueType. */
export type Contour = readonly OutlineStep[];

/** A loaded font. All measures are in font units, `unitsPerEm` to the em. */
export type Font = ReturnType<typeof readFont>;

/** The members of pureimage's font object (of opentype.js) that are used. */
interface ParsedFont {
  readonly unitsPerEm: number;
  charToGlyphIndex(character: string): number;
  charToGlyph(character: string): ParsedGlyph;
  getKerningValue(left: ParsedGlyph, right: ParsedGlyph): number;
}

interface ParsedGlyph {
  readonly index: number;
  readonly advanceWidth: number;
  getPath(
    x: number,
    y: number,
    size: number,
  ): { readonly commands: readonly (OutlineStep | { type: 'Z' })[] };
}

const FILES: Readonly<Record<Weight, string>> = {
  medium: 'Inter-Medium.ttf',
  semibold: 'Inter-SemiBold.ttf',
};

const loaded = new Map<Weight, Font>();

/** Loads a font, once per thread. Throws if its file is missing or damaged. */
export function loadFont(weight: Weight): Font {
  return getOrInsert(loaded, weight, () => readFont(weight));
}

function readFont(weight: Weight) {
  const path = new URL(`../../assets/fonts/${FILES[weight]}`, import.meta.url).pathname;
  const parsed: ParsedFont = registerFont(decodeURIComponent(path), `upbeat-${weight}`).loadSync().font;
  const top = (character: string) => {
    const ys = outline(parsed, character).flatMap((step) => ('y1' in step ? [step.y, step.y1] : [step.y]));
    return -Math.min(...ys);
  };
  return {
    unitsPerEm: parsed.unitsPerEm,
    xHeight: top('x'),
    capHeight: top('H'),
    /** The distance by which round letters extend beyond flat ones at baseline and top. */
    overshoot: Math.max(top('o') - top('x'), top('O') - top('H')) + 3,
    /** Returns true if the font has the code point. */
    has: (character: string): boolean => parsed.charToGlyphIndex(character) > 0,
    advance: (character: string): number => parsed.charToGlyph(character).advanceWidth,
    /** Added to the advance of `left` if `right` follows. */
    kerning: (left: string, right: string): number =>
      parsed.getKerningValue(parsed.charToGlyph(left), parsed.charToGlyph(right)),
    contours(character: string): readonly Contour[] {
      const contours: OutlineStep[][] = [];
      for (const step of outline(parsed, character)) {
        if (step.type === 'M') contours.push([]);
        contours.at(-1)?.push(step);
      }
      return contours;
    },
  };
}

function outline(parsed: ParsedFont, character: string): OutlineStep[] {
  const { commands } = parsed.charToGlyph(character).getPath(0, 0, parsed.unitsPerEm);
  return commands.filter((step) => step.type !== 'Z');
}
