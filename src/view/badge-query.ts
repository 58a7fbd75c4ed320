/** The parameters of a badge's URL: variant, window, theme and format. */
import { parseDuration } from '../domain/durations.ts';
import { PICTURE_THEMES, PICTURE_WINDOWS, type PictureTheme, type PictureWindow } from '../domain/picture.ts';
import { enumParameter, readParameters, refuse } from '../http/parameters.ts';

/** What a badge can show. `status` is the contract's (4.6). */
export const BADGE_VARIANTS = ['status', 'uptime', 'latency'] as const;
/** What `latency` can show. */
export const BADGE_MEASURES = ['median', 'p95'] as const;
/** Formats of a badge: a picture, or the response of an endpoint for Shields. */
export const BADGE_FORMATS = ['png', 'svg', 'shields'] as const;

/** What a badge shows. */
export type BadgeVariant = (typeof BADGE_VARIANTS)[number];
/** A figure of a latency badge. */
export type BadgeMeasure = (typeof BADGE_MEASURES)[number];
/** A format of a badge. */
export type BadgeFormat = (typeof BADGE_FORMATS)[number];

/** A requested badge. */
export interface BadgeRequest {
  readonly theme: PictureTheme;
  readonly variant: BadgeVariant;
  /** The window of `uptime` and `latency`; `status` ignores it. */
  readonly window: PictureWindow;
  readonly measure: BadgeMeasure;
  readonly format: BadgeFormat;
}

/** The badge without parameters, which is the badge of the contract. */
export const DEFAULT_BADGE: BadgeRequest = {
  theme: 'light',
  variant: 'status',
  window: '30d',
  measure: 'median',
  format: 'png',
};

/** Query parameters of the badge. */
export const BADGE_QUERY = {
  theme: enumParameter(PICTURE_THEMES, 'Colours of the badge.', DEFAULT_BADGE.theme),
  variant: enumParameter(
    BADGE_VARIANTS,
    'What it shows: the status now, the share of good checks, or the response time.',
    DEFAULT_BADGE.variant,
  ),
  window: enumParameter(PICTURE_WINDOWS, 'How far back uptime and latency look.', DEFAULT_BADGE.window),
  measure: enumParameter(BADGE_MEASURES, 'Which response time latency shows.', DEFAULT_BADGE.measure),
  format: enumParameter(
    BADGE_FORMATS,
    'A picture as PNG or SVG, or JSON for the endpoint badge of shields.io. Default: as the ending says, else png.',
  ),
};

const ENDINGS = new Map<string, BadgeFormat>(Object.entries({ png: 'png', svg: 'svg', json: 'shields' }));

/** Parses a badge's slug, which may end with `.png`, `.svg` or `.json`, and its query. Throws `invalid_parameter`. */
export function readBadgeRequest(slug: string, query: string): BadgeRequest & { readonly name: string } {
  const ending = /\.(png|svg|json)$/i.exec(slug)?.[1];
  const name = ending === undefined ? slug : slug.slice(0, -ending.length - 1);
  const ended = ending === undefined ? undefined : ENDINGS.get(ending.toLowerCase());
  const { format, ...shown } = readParameters(query, BADGE_QUERY);
  if (format !== undefined && ended !== undefined && format !== ended) {
    throw refuse('format', `is "${format}", and the address ends with ".${ending}"`, BADGE_QUERY.format);
  }
  return { name, ...shown, format: format ?? ended ?? DEFAULT_BADGE.format };
}

/** Length of a window in milliseconds. */
export function windowMs(window: PictureWindow): number {
  return parseDuration(window) ?? 0;
}
