/**
 * Colours of heat maps. From good to bad the light theme darkens and the dark one brightens, so that levels keep their
 * order for those who do not tell colours, and in print; hues are blue, amber and red, which are easily distinguished.
 */
import type { CellLevel, PictureTheme } from '../domain/picture.ts';
import type { Colour } from './badge-theme.ts';

/** Colours of a cell: its ground, and the mark on it where it is large enough for one. */
export interface CellColours {
  readonly fill: Colour;
  readonly ink: Colour;
}

/** The colours of both themes. */
export const CELL_COLOURS: Readonly<Record<PictureTheme, Readonly<Record<CellLevel, CellColours>>>> = {
  light: {
    none: { fill: 0xf1f3f5, ink: 0xf1f3f5 },
    fast: { fill: 0xd7eef5, ink: 0xd7eef5 },
    fair: { fill: 0xaed9e8, ink: 0xaed9e8 },
    long: { fill: 0x7fbfd6, ink: 0x7fbfd6 },
    slow: { fill: 0xd09410, ink: 0x3d2b00 },
    failing: { fill: 0xc7372f, ink: 0xffffff },
    down: { fill: 0x5e0b1e, ink: 0xffffff },
  },
  dark: {
    none: { fill: 0x1f252d, ink: 0x1f252d },
    fast: { fill: 0x1b4456, ink: 0x1b4456 },
    fair: { fill: 0x27647c, ink: 0x27647c },
    long: { fill: 0x3b86a1, ink: 0x3b86a1 },
    slow: { fill: 0xcb922a, ink: 0x2a1d00 },
    failing: { fill: 0xff8f80, ink: 0x5c0a0a },
    down: { fill: 0xffd6d0, ink: 0x7a0c18 },
  },
};
