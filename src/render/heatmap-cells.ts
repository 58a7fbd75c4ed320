/**
 * Draws the cells of a heat map as pixels. WebGL (`heatmap-webgl.ts`) follows the same rule for each pixel, in whole
 * numbers, so that both pictures are equal.
 */
import type { Colour } from './colours.ts';

/** A field of cells. Plain data that crosses processes. */
export interface CellField {
  readonly columns: number;
  readonly rows: number;
  /** Size of a cell in pixels with the gap to the next one. */
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** Pixels between cells: 0 or 1. */
  readonly gap: number;
  /** Indices into `fills`, row by row; {@link NO_CELL} leaves the ground. */
  readonly cells: Uint8Array;
  readonly ground: Colour;
  /** Colours and marks by level. */
  readonly fills: readonly Colour[];
  readonly inks: readonly Colour[];
  readonly marks: readonly CellMark[];
}

/** The mark of a cell: none, a bar, a stroke or a cross. */
export type CellMark = 0 | 1 | 2 | 3;

/** Marks a missing cell. */
export const NO_CELL = 255;

/** Minimum size of cells with marks. */
export const MARKED_FROM = 6;

/** Draws a field as opaque RGBA pixels, row by row from the top. */
export function drawCells(field: CellField): Uint8Array {
  const width = field.columns * field.cellWidth;
  const data = new Uint8Array(width * field.rows * field.cellHeight * 4);
  paintCells({ data, width }, field, 0, 0);
  return data;
}

/** Draws a field into RGBA pixels, its top left corner at `left`, `top`; it must fit. */
export function paintCells(
  { data, width }: { readonly data: Uint8Array | Uint8ClampedArray; readonly width: number },
  field: CellField,
  left: number,
  top: number,
): void {
  const { columns, rows, cellWidth, cellHeight, gap, cells, ground } = field;
  const inner = { width: cellWidth - gap, height: cellHeight - gap };
  for (let y = 0; y < rows * cellHeight; y++) {
    const row = Math.floor(y / cellHeight);
    const v = y - row * cellHeight;
    for (let x = 0; x < columns * cellWidth; x++) {
      const column = Math.floor(x / cellWidth);
      const u = x - column * cellWidth;
      const level = cells[row * columns + column] ?? NO_CELL;
      const outside = u >= inner.width || v >= inner.height || level === NO_CELL;
      const marked = !outside && isMarked(field.marks[level] ?? 0, u, v, inner);
      const colour = outside ? ground : ((marked ? field.inks[level] : field.fills[level]) ?? ground);
      const at = ((top + y) * width + left + x) * 4;
      data[at] = colour >>> 16;
      data[at + 1] = (colour >>> 8) & 0xff;
      data[at + 2] = colour & 0xff;
      data[at + 3] = 255;
    }
  }
}

/** Returns true if a pixel of a cell belongs to its mark; `u` and `v` count from the cell's top left corner. */
export function isMarked(
  mark: CellMark,
  u: number,
  v: number,
  { width: wide, height: high }: { readonly width: number; readonly height: number },
): boolean {
  if (mark === 0 || wide < MARKED_FROM - 1 || high < MARKED_FROM - 1) return false;
  // Twice the distance from the centre, which is a whole number.
  const x = 2 * u + 1 - wide;
  const y = 2 * v + 1 - high;
  const reach = Math.min(wide, high) - 3;
  if (Math.abs(x) > reach || Math.abs(y) > reach) return false;
  if (mark === 1) return Math.abs(y) <= 1;
  const thick = reach >= 4 ? 2 : 0;
  const rising = Math.abs(x + y) <= thick;
  return mark === 2 ? rising : rising || Math.abs(x - y) <= thick;
}
