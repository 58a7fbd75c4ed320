/** What a heat map of services by time shows, and how its cells are judged. Plain data that crosses threads. */
import type { PictureTheme } from './chart-picture.ts';
import { dayKindOf } from './day-kind.ts';
import type { PictureSpan, PictureWindow } from './picture-window.ts';
import type { Bucket } from './sample.ts';

/**
 * Levels of a cell, from good to bad: no checks; the 95th percentile within 0.5 s, within 1.5 s, or longer without many
 * slow checks; slow as a day is (`day-kind.ts`); less than half of the checks failed; half of them or more.
 */
export const CELL_LEVELS = ['none', 'fast', 'fair', 'long', 'slow', 'failing', 'down'] as const;

/** A level of a cell. */
export type CellLevel = (typeof CELL_LEVELS)[number];

/** Most services of one heat map; each is at least one pixel high. */
export const HEATMAP_SERVICES = 1_200;

const FAST_MS = 500;
const FAIR_MS = 1_500;

/** A service of a heat map. */
export interface HeatmapRow {
  /** Display name, any Unicode text. */
  readonly name: string;
  /** Shown where the name's script is not in the fonts. */
  readonly domain: string;
}

/** Services that are shown together. */
export interface HeatmapGroup {
  readonly title: string;
  readonly rows: readonly HeatmapRow[];
}

/** A heat map, ready to be drawn. */
export interface HeatmapPicture {
  readonly window: PictureWindow;
  readonly span: PictureSpan;
  readonly groups: readonly HeatmapGroup[];
  /** Places in {@link CELL_LEVELS}: the cells of all rows in order, a row's from left to right. */
  readonly cells: Uint8Array;
  /** Services that there are; more than rows where some are left out. */
  readonly total: number;
  /** When the samples were read, epoch milliseconds. */
  readonly asOf: number;
  /** Checks from this time on may be missing since they are not stored yet, epoch milliseconds; null: none are. */
  readonly missingSince: number | null;
  readonly theme: PictureTheme;
}

/** The worst that is known of a step. */
export function levelOf(step: Bucket): CellLevel {
  const { count, downCount, p95Ms } = step;
  const kind = dayKindOf(step);
  // Checks that cannot be trusted say nothing of the service.
  if (kind === 'none' || kind === 'suspect') return 'none';
  if (kind === 'down') return downCount * 2 >= count ? 'down' : 'failing';
  if (kind === 'slow') return 'slow';
  if (p95Ms === null || p95Ms <= FAST_MS) return 'fast';
  return p95Ms <= FAIR_MS ? 'fair' : 'long';
}

/** The cells of a row, as places in {@link CELL_LEVELS}. */
export function cellsOf(buckets: readonly Bucket[]): Uint8Array {
  return Uint8Array.from(buckets, (bucket) => CELL_LEVELS.indexOf(levelOf(bucket)));
}
