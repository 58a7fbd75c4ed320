/** How different two screenshots look, whichever machine made them. */
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

/**
 * Pixels of a screenshot on the side of a square that is compared as one. The edges of letters, which differ between versions
 * of the browser, vanish in it; what moves, comes, goes or changes its colour does not.
 */
const SQUARE = 16;
/** From which difference of a square's mean colour on people see it, 0 to 1. */
const THRESHOLD = 0.1;

/** What two pictures do not have in common. */
export interface PictureDifference {
  /** Share of the squares that look different, 0 to 1; pictures of different sizes are different altogether. */
  readonly share: number;
  /** A small picture with these squares in red, as PNG; null: the sizes differ. */
  readonly squares: Buffer | null;
}

/** Compares two screenshots, both as PNG. */
export function comparePictures(one: Buffer, other: Buffer): PictureDifference {
  const [a, b] = [reduce(PNG.sync.read(one)), reduce(PNG.sync.read(other))];
  const { width, height } = a;
  if (b.width !== width || b.height !== height) return { share: 1, squares: null };
  const squares = new PNG({ width, height });
  const count = pixelmatch(a.data, b.data, squares.data, width, height, {
    threshold: THRESHOLD,
    includeAA: true,
  });
  return { share: count / (width * height), squares: PNG.sync.write(squares) };
}

/** The picture with the mean colour of each whole square in place of it. */
function reduce({ width, height, data }: PNG): PNG {
  const small = new PNG({ width: Math.floor(width / SQUARE), height: Math.floor(height / SQUARE) });
  for (let row = 0; row < small.height; row++)
    for (let column = 0; column < small.width; column++)
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let y = row * SQUARE; y < (row + 1) * SQUARE; y++)
          for (let x = column * SQUARE; x < (column + 1) * SQUARE; x++)
            sum += data[(y * width + x) * 4 + channel] ?? 0;
        small.data[(row * small.width + column) * 4 + channel] = Math.round(sum / SQUARE ** 2);
      }
  return small;
}
