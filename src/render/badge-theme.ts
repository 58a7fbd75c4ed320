/** Colours of badges. Every text keeps a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3); a test holds it. */
import type { ServiceStatus } from '../domain/status.ts';

/** Themes of contract 4.6; `light` is the default. */
export const BADGE_THEMES = ['light', 'dark'] as const;

/** Colours for a light or a dark page. */
export type BadgeTheme = (typeof BADGE_THEMES)[number];

/** Colour in sRGB, three bytes. */
export type Colour = number;

/** Colours of one status' pill. */
export interface PillColours {
  readonly fill: Colour;
  readonly text: Colour;
  readonly shape: Colour;
}

/** Colours of one theme. */
export interface BadgeColours {
  readonly card: Colour;
  readonly border: Colour;
  readonly name: Colour;
  readonly pills: Readonly<Record<ServiceStatus, PillColours>>;
  /** For a status that is too old to be trusted. */
  readonly stale: PillColours;
}

/** The colours of both themes. */
export const BADGE_COLOURS: Readonly<Record<BadgeTheme, BadgeColours>> = {
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
