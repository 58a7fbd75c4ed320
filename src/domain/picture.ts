/** The content of charts and heat maps, computed from buckets of samples. Plain data that crosses threads. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts';
import { type Bucket, dayKindOf } from './sample.ts';
import type { ServiceStatus } from './status.ts';

/** Windows of charts and heat maps, which end now. */
export const PICTURE_WINDOWS = ['24h', '7d', '30d', '90d', '1y'] as const;

/** A window of a chart or a heat map. */
export type PictureWindow = (typeof PICTURE_WINDOWS)[number];

/** A span of time in equal steps, epoch milliseconds. */
export interface PictureSpan {
  readonly from: number;
  /** Not included. */
  readonly to: number;
  readonly stepMs: number;
}

const SHAPES: Readonly<
  Record<PictureWindow, { readonly stepMs: number; readonly steps: number; readonly text: string }>
> = {
  '24h': { stepMs: 15 * MINUTE_MS, steps: 96, text: 'last 24 hours' },
  '7d': { stepMs: HOUR_MS, steps: 168, text: 'last 7 days' },
  '30d': { stepMs: 6 * HOUR_MS, steps: 120, text: 'last 30 days' },
  '90d': { stepMs: DAY_MS, steps: 90, text: 'last 90 days' },
  '1y': { stepMs: DAY_MS, steps: 365, text: 'last year' },
};

/**
 * The span of a window at `now`: whole steps of UTC, of which the last is incomplete, so that completed steps can be cached
 * and a picture changes only with new checks.
 */
export function spanOf(window: PictureWindow, now: number): PictureSpan {
  const { stepMs, steps } = SHAPES[window];
  const to = (Math.floor(now / stepMs) + 1) * stepMs;
  return { from: to - steps * stepMs, to, stepMs };
}

export function stepsOf({ from, to, stepMs }: PictureSpan): number {
  return Math.ceil((to - from) / stepMs);
}

/** A time as pictures show it: UTC, to the minute. */
export function formatPictureTime(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

/** The note about checks that are not stored yet: `incomplete since TIME`; null: none are missing. */
export function describeMissing(missingSince: number | null): string | null {
  return missingSince === null ? null : `incomplete since ${formatPictureTime(missingSince)}`;
}

/** The text of a window: `last 24 hours`, of one region `last 24 hours from eu`. */
export function describeWindow(window: PictureWindow, region?: string): string {
  const { text } = SHAPES[window];
  return region === undefined ? text : `${text} from ${region}`;
}

/** Sizes of charts: embedded in another site, and as the card of a link. */
export const CHART_SIZES = ['embed', 'card'] as const;
type ChartSize = (typeof CHART_SIZES)[number];
export const PICTURE_THEMES = ['light', 'dark'] as const;
export type PictureTheme = (typeof PICTURE_THEMES)[number];

/** The label of each status (contract 4.6; decisions, Badge). */
export const STATUS_LABELS: Readonly<Record<ServiceStatus, string>> = {
  up: 'Operational',
  slow: 'Slow',
  down: 'Down',
  unknown: 'Unknown',
};

/** Forms of a badge: 280 by 36 pixels, or 20 pixels high and as wide as its text, like the badges of shields.io. */
export const BADGE_STYLES = ['card', 'compact'] as const;
export type BadgeStyle = (typeof BADGE_STYLES)[number];

/** A badge, ready to be drawn. */
export interface BadgePicture {
  /** Display name, any Unicode text; cut with an ellipsis if it is too wide. */
  readonly name: string;
  /** The domain, shown if the fonts lack the name's script. Absent: boxes mark missing letters. */
  readonly fallback?: string;
  /** The status; with a figure, its rating, `unknown` if there is none. */
  readonly status: ServiceStatus;
  readonly theme: PictureTheme;
  /** Age of a stale status, `as of 12 min ago`, or figure, `12 min ago`; the badge is then grey (decisions, Badge). Null: not stale. */
  readonly ageText: string | null;
  /** A text for the pill, such as `99.98 % up`, and its window, such as `30 d`. Absent: the badge shows the status. */
  readonly figure?: { readonly word: string; readonly window: string };
  /** Any text in place of the name. If the fonts lack its script, `fallback` is shown. */
  readonly label?: string;
  /** Default `card`. */
  readonly style?: BadgeStyle;
  /** Pixels of a PNG to each pixel of the layout; an SVG has no pixels. Default 1. */
  readonly scale?: 2;
  /** Default `png`. */
  readonly format?: 'png' | 'svg';
  /** The badge in a sentence, the title of an SVG. Absent: the name. */
  readonly title?: string;
  /** Time of the content, ISO 8601 UTC, stored in a PNG as the text `As of`. Absent: none. */
  readonly asOf?: string;
}

/** Styles of {@link ShieldPicture}, by the names of shields.io. */
export const SHIELD_STYLES = ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social'] as const;
export type ShieldStyle = (typeof SHIELD_STYLES)[number];

/** A badge of two given texts on given colours, `#rrggbb`, which other monitors have; an SVG. */
export interface ShieldPicture {
  /** Any text; empty: the badge has only the message. */
  readonly label: string;
  readonly labelColour: string;
  readonly message: string;
  readonly colour: string;
  readonly shield: ShieldStyle;
}

export type AnyBadge = BadgePicture | ShieldPicture;

/** A share in percent with at most two digits, rounded down, so that 100 % means all of it. */
export function percentOf(part: number, whole: number): number {
  return Math.floor((part * 10_000) / whole) / 100;
}

export function describeShare(part: number, whole: number): string {
  return `${percentOf(part, whole)}%`;
}

export interface ChartPoint {
  /** Median and 95th percentile in milliseconds; null: no response time is known. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Number of checks, and of those that found the service down. */
  readonly count: number;
  readonly downCount: number;
}

/** A chart, ready to be drawn. */
export interface ChartPicture {
  /** Display name, any Unicode text. */
  readonly name: string;
  /** The domain, shown if the fonts lack the script of the name. */
  readonly domain: string;
  readonly status: ServiceStatus;
  /** Age of a stale status, such as `12 min ago`; null: it is fresh. */
  readonly ageText: string | null;
  /** Start of the last check, epoch milliseconds; null: never checked. */
  readonly asOf: number | null;
  /** Checks since this time may be missing because they are not stored yet, epoch milliseconds; null: none are. */
  readonly missingSince: number | null;
  readonly window: PictureWindow;
  /** The region whose checks it shows; absent: all regions. */
  readonly region?: string;
  readonly span: PictureSpan;
  /** One for each step of the span, in order. */
  readonly points: readonly ChartPoint[];
  /** Share of good checks in the window; null without checks. */
  readonly uptimeText: string | null;
  readonly theme: PictureTheme;
  readonly size: ChartSize;
  /** Host of the site, shown on cards. */
  readonly site: string;
}

/** The points of a chart, and the share of good checks. */
export function chartPoints(buckets: readonly Bucket[]) {
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const down = buckets.reduce((sum, bucket) => sum + bucket.downCount, 0);
  return {
    points: buckets.map(({ p50Ms, p95Ms, count, downCount }) => ({ p50Ms, p95Ms, count, downCount })),
    uptimeText: count === 0 ? null : describeShare(count - down, count),
  };
}

/**
 * Levels of a cell, from good to bad: no checks; the 95th percentile within 0.5 s, within 1.5 s, or longer without many
 * slow checks; slow by {@link dayKindOf}; fewer than half of the checks failed; half of them or more.
 */
export const CELL_LEVELS = ['none', 'fast', 'fair', 'long', 'slow', 'failing', 'down'] as const;

export type CellLevel = (typeof CELL_LEVELS)[number];

/** Maximum number of services of a heat map; each is at least one pixel high. */
export const MAX_HEATMAP_SERVICES = 1_200;

const FAST_MS = 500;
const FAIR_MS = 1_500;

/** A service of a heat map. */
interface HeatmapRow {
  /** Display name, any Unicode text. */
  readonly name: string;
  /** Shown if the fonts lack the script of the name. */
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
  /** The region whose checks it shows; absent: all regions. */
  readonly region?: string;
  readonly span: PictureSpan;
  readonly groups: readonly HeatmapGroup[];
  /** Indexes in {@link CELL_LEVELS}: the cells of all rows in order, each row from left to right. */
  readonly cells: Uint8Array;
  /** Number of services, including those that are left out. */
  readonly total: number;
  /** The time at which the samples were read, epoch milliseconds. */
  readonly asOf: number;
  /** Checks since this time may be missing because they are not stored yet, epoch milliseconds; null: none are. */
  readonly missingSince: number | null;
  readonly theme: PictureTheme;
}

export function levelOf(
  step: Pick<Bucket, 'count' | 'downCount' | 'slowCount' | 'suspectCount' | 'p95Ms'>,
): CellLevel {
  const { count, downCount, p95Ms } = step;
  const kind = dayKindOf(step);
  // Suspect checks tell nothing about the service.
  if (kind === 'none' || kind === 'suspect') return 'none';
  if (kind === 'down') return downCount * 2 >= count ? 'down' : 'failing';
  if (kind === 'slow') return 'slow';
  if (p95Ms === null || p95Ms <= FAST_MS) return 'fast';
  return p95Ms <= FAIR_MS ? 'fair' : 'long';
}

/** The cells of a row, as indexes in {@link CELL_LEVELS}. */
export function cellsOf(buckets: readonly Bucket[]): Uint8Array {
  return Uint8Array.from(buckets, (bucket) => CELL_LEVELS.indexOf(levelOf(bucket)));
}

/** The runs of equal levels. */
export function runsOf(levels: readonly CellLevel[]) {
  const runs: { readonly level: CellLevel; readonly from: number; length: number }[] = [];
  levels.forEach((level, from) => {
    const last = runs.at(-1);
    if (last?.level === level) last.length += 1;
    else runs.push({ level, from, length: 1 });
  });
  return runs;
}
