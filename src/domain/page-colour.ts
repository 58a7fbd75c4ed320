/** The brand colour of a status page, made readable in both themes (WCAG 2.2, 1.4.3 and 1.4.11). */

/** Contrast of text against its background, level AA. */
const MIN_CONTRAST = 4.5;

/** Backgrounds of pages and cards in `assets/web/style.css`. */
const BACKGROUNDS = { light: ['#ffffff', '#f6f8fa'], dark: ['#161b22', '#0d1117'] } as const;

/** A colour for links and other accents in each theme: `#rrggbb`. */
export interface PageColours {
  readonly light: string;
  readonly dark: string;
}

type Rgb = readonly [red: number, green: number, blue: number];

/**
 * The colours that come nearest to a brand colour and can be read on every background of their theme: the colour itself, or
 * darkened for the light theme and lightened for the dark one. `colour` is `#rrggbb`.
 */
export function readableColours(colour: string): PageColours {
  return {
    light: adjust(colour, BACKGROUNDS.light, [0, 0, 0]),
    dark: adjust(colour, BACKGROUNDS.dark, [255, 255, 255]),
  };
}

/** The contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrastOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Reads a colour such as `#0A7D4F` or `0a7d4f`; null: it is none. */
export function readColour(text: string): string | null {
  const [, digits] = /^#?([0-9a-f]{6})$/i.exec(text.trim()) ?? [];
  return digits === undefined ? null : `#${digits.toLowerCase()}`;
}

/** Mixes the colour with as little of `towards` as makes it readable. Black and white always are. */
function adjust(colour: string, backgrounds: readonly string[], towards: Rgb): string {
  const from = partsOf(colour);
  for (let percent = 0; percent < 100; percent += 1) {
    const mixed = hexOf(from.map((part, index) => part + (((towards[index] ?? 0) - part) * percent) / 100));
    if (backgrounds.every((background) => contrastOf(mixed, background) >= MIN_CONTRAST)) return mixed;
  }
  return hexOf(towards);
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(colour).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function partsOf(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}

function hexOf(parts: readonly number[]): string {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}
