/** Heat maps that tests draw, always the same. */
import {
  CELL_LEVELS,
  type HeatmapPicture,
  type PictureWindow,
  spanOf,
  stepsOf,
} from '../../src/domain/picture.ts';

/** When the scenes were seen. */
export const SEEN_AT = Date.UTC(2026, 10, 21, 9, 7);

/** A heat map of so many services in so many groups, with every level in it. */
export function scene(
  window: PictureWindow,
  services: number,
  groups: number,
  more: Partial<HeatmapPicture> = {},
): HeatmapPicture {
  const span = spanOf(window, SEEN_AT);
  const steps = stepsOf(span);
  const cells = Uint8Array.from({ length: services * steps }, (_, at) => {
    const [row, column] = [Math.floor(at / steps), at % steps];
    // A pattern that looks like services: mostly good, with worse times here and there.
    const mixed = Math.imul(row * 1_021 + Math.floor(column / 3) + 7, 2_654_435_761) >>> 0;
    return mixed % 5 === 0 ? (mixed >>> 8) % CELL_LEVELS.length : 1 + (row % 3);
  });
  return {
    window,
    span,
    groups: Array.from({ length: groups }, (_, group) => ({
      title: `Group ${group + 1}`,
      rows: Array.from({ length: services }, (_, row) => ({
        name: `Service ${row}`,
        domain: `s${row}.example`,
      })).filter((_, row) => Math.floor((row * groups) / services) === group),
    })),
    cells,
    total: services,
    asOf: SEEN_AT,
    missingSince: null,
    theme: 'light',
    ...more,
  };
}

/** What WebGL was recorded to draw: cells with marks, small ones, and rows of one pixel. */
export const RECORDED: Readonly<Record<string, HeatmapPicture>> = {
  'named-light': scene('24h', 12, 2),
  'named-dark': scene('90d', 12, 1, { theme: 'dark' }),
  'small-light': scene('7d', 120, 6),
  'lines-dark': scene('1y', 1_200, 9, { theme: 'dark' }),
};
