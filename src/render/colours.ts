/** Colours of badges, charts and heat maps. Text has a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3); a test checks it. */

import type { PictureTheme } from '../domain/picture.ts';

/** Colour in sRGB, three bytes. */
export type Colour = number;

/** Colours of badges; `stale` are those of a stale status. */
export const BADGE_COLOURS = {
  light: {
    card: 0xffffff,
    border: 0xd0d7de,
    name: 0x1f2328,
    pills: {
      up: { fill: 0xdcf5e3, text: 0x0b5a2a, shape: 0x1a8f46 },
      slow: { fill: 0xfff0c7, text: 0x6b4400, shape: 0xb87503 },
      down: { fill: 0xffe3e0, text: 0x9b111e, shape: 0xcf222e },
      unknown: { fill: 0xe9edf1, text: 0x4a535d, shape: 0x6e7781 },
    },
    stale: { fill: 0xeef1f4, text: 0x59636e, shape: 0x838c96 },
  },
  dark: {
    card: 0x161b22,
    border: 0x3d444d,
    name: 0xf0f3f6,
    pills: {
      up: { fill: 0x12361f, text: 0x7ee2a0, shape: 0x3fb968 },
      slow: { fill: 0x3f2d07, text: 0xf5cf78, shape: 0xe3a51f },
      down: { fill: 0x4a171b, text: 0xffb3ad, shape: 0xf85149 },
      unknown: { fill: 0x2b323b, text: 0xc0c8d1, shape: 0x9aa4af },
    },
    stale: { fill: 0x262c34, text: 0x9ea7b3, shape: 0x7d8590 },
  },
};

/** Colours of charts and heat maps. */
export const PICTURE_COLOURS = {
  light: {
    ground: 0xffffff,
    border: 0xd0d7de,
    text: 0x1f2328,
    muted: 0x59636e,
    grid: 0xe7ebef,
    axis: 0xb4bcc6,
    // The line of the median, and the band up to the 95th percentile.
    line: 0x0a5fb4,
    band: 0xc6dcf4,
    // Failed checks: ground, stripes and the mark above.
    down: 0xffe3e0,
    stripe: 0xe5989b,
    mark: 0xb3202c,
  },
  dark: {
    ground: 0x161b22,
    border: 0x3d444d,
    text: 0xf0f3f6,
    muted: 0x9ea7b3,
    grid: 0x262d36,
    axis: 0x4b545f,
    line: 0x6cb6ff,
    band: 0x21436a,
    down: 0x3d191d,
    stripe: 0x8c3a40,
    mark: 0xff8a85,
  },
};

/** Colours of charts and heat maps in one theme. */
export type PictureColours = (typeof PICTURE_COLOURS)[PictureTheme];

/**
 * Colours of the cells of heat maps and of their marks. From good to bad, the light theme darkens and the dark one brightens, so that levels keep their
 * order without colours. The hues are blue, amber and red, which are easy to distinguish.
 */
export const CELL_COLOURS = {
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
