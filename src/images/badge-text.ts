/** The text of a badge: its status or figure, its mark and its time, also in the format of shields.io. Pure. */

import { formatTime } from '../domain/durations.ts';
import { describeShare, type PictureTheme, type PictureWindow, STATUS_LABELS } from '../domain/picture.ts';
import type { Bucket } from '../domain/sample.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import { judgeLatency, type ServiceStatus } from '../domain/status.ts';
import { namedObject } from '../http/schema.ts';
import { type Static, Type } from '../json-schema.ts';
import type { BadgeMeasure } from '../view/badge-url.ts';

/** The text of a badge in any format. */
export interface BadgeCaption {
  /** The status; for a figure its rating, `unknown` if there is no figure. */
  readonly status: ServiceStatus;
  /** The text in the pill: `Operational`, `99.98 % up`, `median 184 ms`, `No data`. */
  readonly word: string;
  /** The window of the figure, `30 d`; null: the badge shows the status. */
  readonly window: string | null;
  /** Age of a stale status or figure; null: it is fresh, or there is none. */
  readonly ageText: string | null;
  /** Time of the newest check that the badge shows, epoch milliseconds; null: there was none. */
  readonly asOf: number | null;
  /** The status or the figure for use in a sentence. */
  readonly said: string;
}

/** Minimum time between two reads of a figure, successful or not, milliseconds. */
export const FIGURES_KEPT_MS = 60_000;

/** The summary of the samples in a window. */
export interface BadgeFigures {
  readonly bucket: Bucket;
  /** The time at which they were read, epoch milliseconds. */
  readonly readAt: number;
}

/** Minimum uptime with the rating `up`, and below it the minimum with the rating `slow`. */
const GOOD_RATIO = 0.99;
const FAIR_RATIO = 0.95;
const WINDOW_WORDS: Readonly<Record<PictureWindow, readonly [short: string, long: string]>> = {
  '24h': ['24 h', '24 hours'],
  '7d': ['7 d', '7 days'],
  '30d': ['30 d', '30 days'],
  '90d': ['90 d', '90 days'],
  '1y': ['1 y', 'year'],
};
/** Minimum response time that is shown in seconds. */
const SECONDS_FROM_MS = 10_000;

/**
 * The text of a status badge. `staleSince`: when a stale service was last seen, epoch milliseconds; null: it is fresh.
 */
export function describeStatus(
  { status, latest }: CurrentStatus,
  staleSince: number | null,
  now: number,
): BadgeCaption {
  const asOf = latest?.checkedAt ?? null;
  const ageText = staleSince === null ? null : ageOf(staleSince, now);
  const word = STATUS_LABELS[status];
  return { status, word, window: null, ageText, asOf, said: word };
}

export function describeUptime(
  figures: BadgeFigures,
  window: PictureWindow,
  state: FigureState,
): BadgeCaption {
  const { count, upCount, slowCount } = figures.bucket;
  const [short, long] = WINDOW_WORDS[window];
  if (count === 0) return emptyCaption(short, long);
  const ratio = (upCount + slowCount) / count;
  const status = ratio >= GOOD_RATIO ? 'up' : ratio >= FAIR_RATIO ? 'slow' : 'down';
  const percent = describeShare(upCount + slowCount, count);
  const said = `up in ${percent} of the checks of the last ${long}`;
  return captionOf({ status, word: `${percent} up`, window: short, said }, figures, state);
}

/** The text of a latency badge. A response time over `slowOverMs` is slow, as for a check. */
export function describeLatency(
  figures: BadgeFigures,
  window: PictureWindow,
  { measure, slowOverMs }: { readonly measure: BadgeMeasure; readonly slowOverMs: number },
  state: FigureState,
): BadgeCaption {
  const [short, long] = WINDOW_WORDS[window];
  const { upCount, slowCount, p50Ms, p95Ms } = figures.bucket;
  const ms = measure === 'median' ? p50Ms : p95Ms;
  // Error responses are often fast, so their response times are not shown if there was no good check.
  if (ms === null || upCount + slowCount === 0) return emptyCaption(short, long);
  const time =
    ms < SECONDS_FROM_MS ? `${Math.round(ms).toLocaleString('en-US')} ms` : `${(ms / 1_000).toFixed(1)} s`;
  const said = `${measure === 'median' ? 'median' : '95th percentile of the'} response time ${time} over the last ${long}`;
  const status = judgeLatency(ms, slowOverMs);
  return captionOf({ status, word: `${measure} ${time}`, window: short, said }, figures, state);
}

/** The freshness of a service. */
export interface FigureState {
  /** The time at which the service was last seen, epoch milliseconds; null: never. */
  readonly lastCheckAt: number | null;
  /** Age from which the service is stale, milliseconds: two intervals. */
  readonly staleAfterMs: number;
  readonly now: number;
}

/** The whole badge in a sentence: `GitHub: Operational, as of 2026-11-20 10:00 UTC`. */
export function sentenceOf(name: string, { said, window, asOf, ageText }: BadgeCaption): string {
  if (asOf === null) return `${name}: ${said}${window === null ? ', not checked yet' : ''}`;
  const time = `${formatTime(asOf).slice(0, 16).replace('T', ' ')} UTC`;
  return `${name}: ${said}, ${ageText === null ? `as of ${time}` : `not checked since ${time}, ${ageText}`}`;
}

/** The age of `at` in the largest whole unit: `12 min ago`. */
export function ageOf(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** The age of a status. Without "as of", `Down · 32 s ago` would say since when the service is down. */
export function asOfAge(ageText: string): string {
  return `as of ${ageText}`;
}

function captionOf(
  text: Pick<BadgeCaption, 'status' | 'word' | 'window' | 'said'>,
  { readAt }: BadgeFigures,
  { lastCheckAt, staleAfterMs, now }: FigureState,
): BadgeCaption {
  // Figures are neither newer than the last check nor newer than their read.
  const asOf = Math.min(lastCheckAt ?? readAt, readAt);
  const isStale = now - (lastCheckAt ?? readAt) > staleAfterMs;
  // With intervals under a minute, cached figures are often older than the last check. That alone does not make them
  // stale.
  const isOld = now - readAt > Math.max(staleAfterMs, 2 * FIGURES_KEPT_MS);
  const ageText = isStale || isOld ? ageOf(asOf, now) : null;
  return { ...text, ageText, asOf };
}

/** The text of a badge without checks, and so without a figure. */
function emptyCaption(window: string, long: string): BadgeCaption {
  const said = `no data of the last ${long}`;
  return { status: 'unknown', word: 'No data', window, ageText: null, asOf: null, said };
}

export const ShieldsSchema = namedObject('ShieldsBadge', {
  schemaVersion: Type.Literal(1),
  label: Type.String({ description: 'Left: the name of the service, with the window of a figure.' }),
  message: Type.String({
    minLength: 1,
    description: 'Right: the word or the figure, with its age where it is stale.',
  }),
  color: Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'Colour of the right side.' }),
  isError: Type.Boolean({
    description:
      'True for what is down, stale or unknown: the address of the badge cannot give it another colour then.',
  }),
  cacheSeconds: Type.Integer({ minimum: 300, description: 'How long Shields keeps it.' }),
});

export type ShieldsAnswer = Static<typeof ShieldsSchema>;

/** The colours of our own badges, so that both look alike. */
const COLOURS: Readonly<Record<PictureTheme, Readonly<Record<ServiceStatus | 'stale', string>>>> = {
  light: { up: '#1a8f46', slow: '#b87503', down: '#cf222e', unknown: '#6e7781', stale: '#838c96' },
  dark: { up: '#3fb968', slow: '#e3a51f', down: '#f85149', unknown: '#9aa4af', stale: '#7d8590' },
};
/** The time for which shared caches keep a badge, seconds (contract, part 8); also the minimum that Shields allows. */
const CACHE_SECONDS = 300;

/** Creates the response. Shields escapes every text itself. */
export function shieldsAnswer(
  name: string,
  { status, word, window, ageText }: BadgeCaption,
  theme: PictureTheme,
): ShieldsAnswer {
  const line = name.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return {
    schemaVersion: 1,
    label: window === null ? line : `${line}, ${window}`,
    message: ageText === null ? word : `${word} · ${window === null ? asOfAge(ageText) : ageText}`,
    color: COLOURS[theme][ageText === null ? status : 'stale'],
    isError: ageText !== null || status === 'down' || status === 'unknown',
    cacheSeconds: CACHE_SECONDS,
  };
}
