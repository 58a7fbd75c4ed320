/** What a chart of response times shows, and how it is made of samples. Plain data that crosses threads. */
import type { PictureSpan, PictureWindow } from './picture-window.ts';
import type { Bucket } from './sample.ts';
import type { ServiceStatus } from './status.ts';

/** Sizes of charts: in a page of others, and as the card of a link. */
export const CHART_SIZES = ['embed', 'card'] as const;
/** A size of a chart. */
export type ChartSize = (typeof CHART_SIZES)[number];
/** Colours for a light or a dark page. */
export const PICTURE_THEMES = ['light', 'dark'] as const;
/** A theme of a picture. */
export type PictureTheme = (typeof PICTURE_THEMES)[number];

/** One step of a chart. */
export interface ChartPoint {
  /** Median and 95th percentile in milliseconds; null: no response time is known. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Checks of this step, and how many of them found the service down. */
  readonly count: number;
  readonly downCount: number;
}

/** A chart, ready to be drawn. */
export interface ChartPicture {
  /** Display name, any Unicode text. */
  readonly name: string;
  /** Shown where the name's script is not in the fonts: the domain. */
  readonly domain: string;
  readonly status: ServiceStatus;
  /** Age of a stale status, such as `12 min ago`; null: it is fresh. */
  readonly ageText: string | null;
  /** Start of the last check, epoch milliseconds; null: never checked. */
  readonly asOf: number | null;
  /** Checks from this time on may be missing since they are not stored yet, epoch milliseconds; null: none are. */
  readonly missingSince: number | null;
  readonly window: PictureWindow;
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

/** The points of a chart, and the share of good checks, rounded down, so that 100 % means all of them. */
export function chartPoints(buckets: readonly Bucket[]): Pick<ChartPicture, 'points' | 'uptimeText'> {
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const down = buckets.reduce((sum, bucket) => sum + bucket.downCount, 0);
  return {
    points: buckets.map(({ p50Ms, p95Ms, count, downCount }) => ({ p50Ms, p95Ms, count, downCount })),
    uptimeText: count === 0 ? null : `${Math.floor(((count - down) * 10_000) / count) / 100} %`,
  };
}
