/**
 * Draws the cells of a heat map: by WebGL (`heatmap-webgl.ts`) in a separate process if possible, else in plain pixels. Both follow the
 * same rule for each pixel, in whole numbers, so that the pictures are equal.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { buffer, text } from 'node:stream/consumers';
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

/** Why WebGL is not available. */
export const WEBGL_FAULTS = {
  notInstalled: 'node-canvas-webgl is not installed',
  notBuilt: 'node-canvas-webgl is not built: npm run heatmap:webgl',
} as const;

const ENTRY = new URL('../../workers/heatmap.ts', import.meta.url);
const MODULES = new URL('../../node_modules/', import.meta.url);
const TIMEOUT_MS = 15_000;
/** After so many consecutive crashes or timeouts, no process is started any more. */
const MAX_FAULTS = 3;
/** Exit status of a process that finds no WebGL; none is started after it. */
const NO_WEBGL = 3;

/**
 * Creates a drawer that remembers whether WebGL works. It never rejects. `fault`: why WebGL did not draw the cells; null: it
 * did.
 */
export function createCellDrawer({ entry = ENTRY, timeoutMs = TIMEOUT_MS } = {}) {
  // Even a process that finds no WebGL takes some 40 MB.
  const missing = entry === ENTRY ? findMissingWebgl() : null;
  let faults = missing === null ? 0 : MAX_FAULTS;
  let last = missing ?? '';
  return async (
    field: CellField,
  ): Promise<{ readonly pixels: Uint8Array; readonly fault: string | null }> => {
    if (faults < MAX_FAULTS) {
      const drawn = await drawInProcess(field, entry, timeoutMs);
      if (drawn.pixels !== null) {
        faults = 0;
        return { pixels: drawn.pixels, fault: null };
      }
      faults = drawn.final ? MAX_FAULTS : faults + 1;
      last = drawn.fault;
    }
    return { pixels: drawCells(field), fault: last };
  };
}

export function writeField(field: CellField): string {
  return JSON.stringify({ ...field, cells: Buffer.from(field.cells).toString('base64') });
}

/** Parses a field of {@link writeField}. */
export function readField(bytes: Uint8Array): CellField {
  const read = JSON.parse(Buffer.from(bytes).toString()) as Omit<CellField, 'cells'> & { cells: string };
  return { ...read, cells: new Uint8Array(Buffer.from(read.cells, 'base64')) };
}

async function drawInProcess(field: CellField, entry: URL, timeoutMs: number) {
  const child = spawn(process.execPath, [...process.execArgv, decodeURIComponent(entry.pathname)], {
    stdio: 'pipe',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<string | number>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code ?? `it was ended by ${signal}`));
  });
  // A process that ends early closes its input; its exit status says why.
  child.stdin.on('error', () => {});
  child.stdin.end(writeField(field));
  const [pixels, said, end] = await Promise.all([buffer(child.stdout), text(child.stderr), ended]);
  const bytes = field.columns * field.cellWidth * field.rows * field.cellHeight * 4;
  if (end === 0 && pixels.length === bytes) return { pixels };
  const line = said.trim().split('\n').at(-1) ?? '';
  const fault = line === '' || typeof end === 'string' ? `the drawing process failed: ${end}` : line;
  return { pixels: null, fault, final: end === NO_WEBGL };
}

/** The package or build that WebGL lacks; null: none. */
export function findMissingWebgl(): string | null {
  if (!existsSync(new URL('node-canvas-webgl/', MODULES))) return WEBGL_FAULTS.notInstalled;
  return existsSync(new URL('gl/build/', MODULES)) ? null : WEBGL_FAULTS.notBuilt;
}
