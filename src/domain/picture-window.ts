/** The windows of pictures: how far back they look, and in which steps. Pure. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts';

/** Windows of charts and heat maps, by the length that they end now. */
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
  Record<PictureWindow, { readonly stepMs: number; readonly steps: number; readonly said: string }>
> = {
  '24h': { stepMs: 15 * MINUTE_MS, steps: 96, said: 'last 24 hours' },
  '7d': { stepMs: HOUR_MS, steps: 168, said: 'last 7 days' },
  '30d': { stepMs: 6 * HOUR_MS, steps: 120, said: 'last 30 days' },
  '90d': { stepMs: DAY_MS, steps: 90, said: 'last 90 days' },
  '1y': { stepMs: DAY_MS, steps: 365, said: 'last year' },
};

/**
 * The span of a window at `now`: whole steps of UTC, the last of them still running, so that a picture changes only
 * where checks have been added and steps that are over can be kept.
 */
export function spanOf(window: PictureWindow, now: number): PictureSpan {
  const { stepMs, steps } = SHAPES[window];
  const to = (Math.floor(now / stepMs) + 1) * stepMs;
  return { from: to - steps * stepMs, to, stepMs };
}

/** How many steps a span has. */
export function stepsOf({ from, to, stepMs }: PictureSpan): number {
  return Math.ceil((to - from) / stepMs);
}

/** A time as pictures show it: UTC, to the minute. */
export function formatPictureTime(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

/** What a picture says of checks that are not stored yet: `incomplete since TIME`; null: it has them all. */
export function sayMissing(missingSince: number | null): string | null {
  return missingSince === null ? null : `incomplete since ${formatPictureTime(missingSince)}`;
}

/** The window in words: `last 24 hours`. */
export function sayWindow(window: PictureWindow): string {
  return SHAPES[window].said;
}
