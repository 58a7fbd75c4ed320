/** Colours of charts and heat maps. Texts keep a contrast of 4.5 to 1 to their ground; a test holds it. */
import type { PictureTheme } from '../domain/picture.ts';
import type { Colour } from './badge-theme.ts';

/** Colours of one theme. */
export interface PictureColours {
  readonly ground: Colour;
  readonly border: Colour;
  readonly text: Colour;
  readonly muted: Colour;
  readonly grid: Colour;
  readonly axis: Colour;
  /** The median's line, and the band up to the 95th percentile. */
  readonly line: Colour;
  readonly band: Colour;
  /** Times when the service was down: the ground, its stripes, and the mark above. */
  readonly down: Colour;
  readonly stripe: Colour;
  readonly mark: Colour;
}

/** The colours of both themes. */
export const PICTURE_COLOURS: Readonly<Record<PictureTheme, PictureColours>> = {
  light: {
    ground: 0xffffff,
    border: 0xd0d7de,
    text: 0x1f2328,
    muted: 0x59636e,
    grid: 0xe7ebef,
    axis: 0xb4bcc6,
    line: 0x0a5fb4,
    band: 0xc6dcf4,
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
