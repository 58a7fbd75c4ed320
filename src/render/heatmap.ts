/** Draws heat maps: a row for each service, a column for each step, and in the cell the worst level of the step. */
import { type Bitmap, make } from 'pureimage';
import {
  CELL_LEVELS,
  type CellLevel,
  describeMissing,
  describeWindow,
  formatPictureTime,
  type HeatmapPicture,
  stepsOf,
} from '../domain/picture.ts';
import { capHeightOf, type Pen, textWidth, timeTicks, writeText } from './chart-plot.ts';
import { CELL_COLOURS, PICTURE_COLOURS, type PictureColours } from './colours.ts';
import { type CellField, type CellMark, MARKED_FROM, NO_CELL, paintCells } from './heatmap-process.ts';
import { fillRect } from './paint.ts';
import { encodePalettePng } from './png.ts';
import { readableName } from './readable-name.ts';
import { faceOf } from './text.ts';

/** Draws the cells as RGBA pixels from the top. */
type DrawCells = (field: CellField) => Uint8Array | Promise<Uint8Array>;

/** Marks by level, so that colour is not the only sign. */
export const CELL_MARKS: Readonly<Record<CellLevel, CellMark>> = {
  none: 0,
  fast: 0,
  fair: 0,
  long: 0,
  slow: 1,
  failing: 2,
  down: 3,
};

const WORDS: Readonly<Record<CellLevel, string>> = {
  none: 'no checks',
  fast: '95 % of checks within 0.5 s',
  fair: 'within 1.5 s',
  long: 'longer',
  slow: 'slow',
  failing: 'some failed',
  down: 'half or more failed',
};

const MARGIN = 24;
const LABELS = 180;
const HEAD = 92;
const FOOT = 58;
/** Rows shrink, down to a pixel, so that the field is about this high at most. */
const MAX_FIELD_HEIGHT = 1_000;
const MAX_ROW_HEIGHT = 20;
/** Minimum height of rows with names. */
const MIN_NAMED_HEIGHT = 12;
const LABEL_DISTANCE = 15;
/** Width of a column in pixels by window, so that all heat maps have about the same width. */
const CELL_WIDTHS: Readonly<Record<HeatmapPicture['window'], number>> = {
  '24h': 10,
  '7d': 6,
  '30d': 8,
  '90d': 11,
  '1y': 3,
};

/** A row of the field: a service, or the title of a group. */
type Line = ReturnType<typeof linesOf>[number];

/** Draws a heat map as a PNG. Rejects only if `draw` does; without it, cells are drawn in plain pixels. */
export async function drawHeatmap(
  picture: HeatmapPicture,
  draw: DrawCells | null = null,
): Promise<Uint8Array> {
  const bitmap = await drawHeatmapPixels(picture, draw);
  const png = encodePalettePng(bitmap);
  release(bitmap.data);
  return png;
}

/** Frees pixels before the next garbage collection: some 4 MB of a large field, and 6 MB of its picture. */
function release({ buffer }: Uint8Array | Uint8ClampedArray): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Draws a heat map as opaque pixels. */
export async function drawHeatmapPixels(
  picture: HeatmapPicture,
  draw: DrawCells | null = null,
): Promise<Bitmap> {
  const colours = PICTURE_COLOURS[picture.theme];
  const lines = linesOf(picture);
  const field = fieldOf(picture, lines);
  const fieldWidth = field.columns * field.cellWidth;
  const fieldHeight = field.rows * field.cellHeight;
  const bitmap = make(LABELS + fieldWidth + MARGIN, HEAD + Math.max(fieldHeight, 60) + FOOT);
  fillRect(bitmap, { x: 0, y: 0, width: bitmap.width, height: bitmap.height }, colours.ground);
  writeHead(bitmap, picture, colours);
  if (lines.length > 0) {
    if (draw === null) paintCells(bitmap, field, LABELS, HEAD);
    else {
      const cells = await draw(field);
      copyCells(bitmap, cells, fieldWidth);
      release(cells);
    }
    writeLabels(bitmap, lines, field.cellHeight, colours);
    writeTimes(bitmap, picture, fieldWidth, colours);
  } else {
    const pen: Pen = { weight: 'medium', size: 15, colour: colours.muted };
    const said = 'No services to show';
    writeText(bitmap, pen, said, { x: bitmap.width / 2, baseline: HEAD + 36, align: 'middle' });
  }
  drawLegend(bitmap, picture, colours);
  return bitmap;
}

export function heatmapField(picture: HeatmapPicture): CellField {
  return fieldOf(picture, linesOf(picture));
}

/** Services and titles of groups from top to bottom. */
function linesOf({ groups }: HeatmapPicture) {
  return groups.flatMap(({ title, rows }) => [
    // The head contains the title of a single group.
    ...(groups.length > 1 ? [{ title, name: '', domain: '' }] : []),
    ...rows.map(({ name, domain }) => ({ title: null, name, domain })),
  ]);
}

function fieldOf(picture: HeatmapPicture, lines: readonly Line[]): CellField {
  const columns = stepsOf(picture.span);
  const cellWidth = CELL_WIDTHS[picture.window];
  const cellHeight = Math.min(
    MAX_ROW_HEIGHT,
    Math.max(1, Math.floor(MAX_FIELD_HEIGHT / Math.max(1, lines.length))),
  );
  const cells = new Uint8Array(columns * lines.length).fill(NO_CELL);
  let row = 0;
  for (const [place, { title }] of lines.entries()) {
    if (title !== null) continue;
    cells.set(picture.cells.subarray(row * columns, (row + 1) * columns), place * columns);
    row++;
  }
  return {
    columns,
    rows: lines.length,
    cellWidth,
    cellHeight,
    gap: Math.min(cellWidth, cellHeight) >= 3 ? 1 : 0,
    cells,
    ...paletteOf(picture),
  };
}

function paletteOf({ theme }: HeatmapPicture) {
  return {
    ground: PICTURE_COLOURS[theme].ground,
    fills: CELL_LEVELS.map((level) => CELL_COLOURS[theme][level].fill),
    inks: CELL_LEVELS.map((level) => CELL_COLOURS[theme][level].ink),
    marks: CELL_LEVELS.map((level) => CELL_MARKS[level]),
  };
}

function copyCells(bitmap: Bitmap, pixels: Uint8Array, width: number): void {
  for (let row = 0; row * width * 4 < pixels.length; row++) {
    const line = pixels.subarray(row * width * 4, (row + 1) * width * 4);
    bitmap.data.set(line, ((HEAD + row) * bitmap.width + LABELS) * 4);
  }
}

function writeHead(bitmap: Bitmap, picture: HeatmapPicture, colours: PictureColours): void {
  const { groups, total, window, region, asOf, missingSince } = picture;
  const shown = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const title = groups.length === 1 && groups[0] !== undefined ? groups[0].title : 'All services';
  const bold: Pen = { weight: 'semibold', size: 19, colour: colours.text };
  writeText(bitmap, bold, `${title}, ${describeWindow(window, region)} (UTC)`, { x: MARGIN, baseline: 36 });
  const plain: Pen = { weight: 'medium', size: 13, colour: colours.muted };
  const count = `${grouped(shown)} ${shown === 1 ? 'service' : 'services'}`;
  const missing = describeMissing(missingSince);
  const said = [
    shown < total ? `the first ${count} of ${grouped(total)}` : count,
    ...(missing === null ? [] : [missing]),
    `as of ${formatPictureTime(asOf)} UTC`,
  ].join(' · ');
  writeText(bitmap, plain, said, { x: bitmap.width - MARGIN, baseline: 36, align: 'right' });
}

function writeLabels(bitmap: Bitmap, lines: readonly Line[], height: number, colours: PictureColours): void {
  const named = height >= MIN_NAMED_HEIGHT;
  const size = named ? Math.min(12.5, height - 2) : 12;
  const plain: Pen = { weight: 'medium', size, colour: colours.muted };
  const bold: Pen = { weight: 'semibold', size, colour: colours.text };
  const width = LABELS - MARGIN - 12;
  let free = 0;
  for (const [place, { title, name, domain }] of lines.entries()) {
    const top = HEAD + place * height;
    if (!named) {
      if (title === null || top < free) continue;
      writeText(bitmap, bold, title, { x: MARGIN, baseline: top + height + capHeightOf(bold), width });
      free = top + LABEL_DISTANCE;
      continue;
    }
    const baseline = top + Math.round((height - 1 + capHeightOf(plain)) / 2);
    if (title !== null) writeText(bitmap, bold, title, { x: MARGIN, baseline, width });
    else {
      const shown = readableName(name, domain, faceOf(plain).font.has);
      writeText(bitmap, plain, shown, { x: MARGIN, baseline, width });
    }
  }
}

function writeTimes(bitmap: Bitmap, { span }: HeatmapPicture, width: number, colours: PictureColours): void {
  const pen: Pen = { weight: 'medium', size: 12, colour: colours.muted };
  for (const { value, label } of timeTicks(span, 14)) {
    const x = LABELS + Math.round(((value - span.from) / (span.to - span.from)) * width);
    if (x + textWidth(pen, label) / 2 > bitmap.width - 4) continue;
    fillRect(bitmap, { x, y: HEAD - 8, width: 1, height: 6 }, colours.axis);
    writeText(bitmap, pen, label, { x, baseline: HEAD - 14, align: 'middle' });
  }
}

/** Draws each level with its colour, mark and meaning. */
function drawLegend(bitmap: Bitmap, picture: HeatmapPicture, colours: PictureColours): void {
  const pen: Pen = { weight: 'medium', size: 12.5, colour: colours.muted };
  const [width, height] = [20, 16];
  const baseline = bitmap.height - 24;
  const top = baseline - Math.round((height + capHeightOf(pen)) / 2);
  let x = MARGIN;
  for (const [place, level] of CELL_LEVELS.entries()) {
    const sample: CellField = {
      columns: 1,
      rows: 1,
      cellWidth: width,
      cellHeight: height,
      gap: 0,
      cells: Uint8Array.of(place),
      ...paletteOf(picture),
    };
    paintCells(bitmap, sample, x, top);
    x += width + 7;
    x += Math.ceil(writeText(bitmap, pen, WORDS[level], { x, baseline })) + 20;
  }
  const smallest = Math.min(CELL_WIDTHS[picture.window], heatmapField(picture).cellHeight);
  if (smallest >= MARKED_FROM) return;
  const note = colours === PICTURE_COLOURS.light ? 'darker is worse' : 'brighter is worse';
  writeText(bitmap, pen, note, {
    x: bitmap.width - MARGIN,
    baseline,
    align: 'right',
    width: bitmap.width - MARGIN - x,
  });
}

/** 1,200. */
function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
