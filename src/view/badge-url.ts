/** The URL of a badge: its parameters, and the signed addresses of the badges of private services. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../domain/credential-seal.ts';
import { parseDuration } from '../domain/durations.ts';
import {
  BADGE_STYLES,
  type BadgeStyle,
  PICTURE_THEMES,
  PICTURE_WINDOWS,
  type PictureTheme,
  type PictureWindow,
} from '../domain/picture.ts';
import type { Service } from '../domain/service.ts';
import { enumParameter, readParameters, refuse, textParameter } from '../http/parameters.ts';

/** The variants of a badge. `status` is the contract's (4.6). */
export const BADGE_VARIANTS = ['status', 'uptime', 'latency'] as const;
/** The measures of `latency`. */
export const BADGE_MEASURES = ['median', 'p95'] as const;
/** Formats of a badge: a picture, or the response of an endpoint for Shields. */
export const BADGE_FORMATS = ['png', 'svg', 'shields'] as const;
/** Pixels of a PNG to each pixel of the page: 2 for screens of high resolution. */
export const BADGE_SCALES = ['1', '2'] as const;
/** Maximum length of a label in characters (code points). A badge shows about 30 characters of it. */
export const MAX_LABEL_LENGTH = 100;

export type BadgeVariant = (typeof BADGE_VARIANTS)[number];
export type BadgeMeasure = (typeof BADGE_MEASURES)[number];
export type BadgeFormat = (typeof BADGE_FORMATS)[number];
type BadgeScale = (typeof BADGE_SCALES)[number];

export interface BadgeRequest {
  readonly theme: PictureTheme;
  readonly variant: BadgeVariant;
  /** The window of `uptime` and `latency`; `status` ignores it. */
  readonly window: PictureWindow;
  readonly measure: BadgeMeasure;
  readonly format: BadgeFormat;
  readonly style: BadgeStyle;
  /** The scale of a PNG; other formats ignore it. */
  readonly scale: BadgeScale;
  /** One line of visible text in place of the service's name; empty: the name. */
  readonly label: string;
}

/** The badge without parameters, which is the badge of the contract. */
export const DEFAULT_BADGE: BadgeRequest = {
  theme: 'light',
  variant: 'status',
  window: '30d',
  measure: 'median',
  format: 'png',
  style: 'card',
  scale: '1',
  label: '',
};

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
  style: enumParameter(
    BADGE_STYLES,
    'A card of 280 by 36 pixels, or a compact badge of 20 pixels in height that is as wide as its text.',
    DEFAULT_BADGE.style,
  ),
  scale: enumParameter(
    BADGE_SCALES,
    'Pixels of a PNG to each pixel of the page, 2 for screens of high resolution. Default: 2 if the name ends with "@2x", else 1.',
  ),
  label: textParameter(
    `^[\\s\\S]{0,${MAX_LABEL_LENGTH}}$`,
    'Text in place of the name. Invisible characters are removed. If nothing is left, the name is shown.',
  ),
};

/** The parameters of a badge without a query, which most requests are. */
const UNASKED = readParameters('', BADGE_QUERY);

const ENDINGS = new Map<string, BadgeFormat>(Object.entries({ png: 'png', svg: 'svg', json: 'shields' }));

/**
 * Parses a badge's slug, which may end with `@2x` and with `.png`, `.svg` or `.json`, and its query. `usual`: the format where
 * neither says one. Throws `invalid_parameter`.
 */
export function readBadgeRequest(
  slug: string,
  query: string,
  usual: BadgeFormat = DEFAULT_BADGE.format,
): BadgeRequest & { readonly name: string } {
  const ending = /\.(png|svg|json)$/i.exec(slug)?.[1];
  const beforeEnding = ending === undefined ? slug : slug.slice(0, -ending.length - 1);
  const isDouble = /@2x$/i.test(beforeEnding);
  const name = isDouble ? beforeEnding.slice(0, -'@2x'.length) : beforeEnding;
  const ended = ending === undefined ? undefined : ENDINGS.get(ending.toLowerCase());
  const { format, scale, label = '', ...shown } = query === '' ? UNASKED : readParameters(query, BADGE_QUERY);
  if (format !== undefined && ended !== undefined && format !== ended)
    throw refuse('format', `is "${format}", and the address ends with ".${ending}"`, BADGE_QUERY.format);
  if (isDouble && scale === '1')
    throw refuse('scale', 'is "1", and the name in the address ends with "@2x"', BADGE_QUERY.scale);
  if ([...label].length > MAX_LABEL_LENGTH)
    throw refuse('label', `is longer than ${MAX_LABEL_LENGTH} characters`, BADGE_QUERY.label);
  return {
    name,
    ...shown,
    format: format ?? ended ?? usual,
    scale: isDouble ? '2' : (scale ?? DEFAULT_BADGE.scale),
    label: label === '' ? '' : visibleLine(label),
  };
}

/** The text on one line without invisible characters: controls, direction marks, joiners, unassigned code points. */
export function visibleLine(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, '')
    .trim();
}

/** Length of a window in milliseconds. */
export function windowMs(window: PictureWindow): number {
  return parseDuration(window) ?? 0;
}

export type BadgeAddresses = ReturnType<typeof createBadgeAddresses>;

const ID_BYTES = 6;
const CODE_BYTES = 24;
/** Base64url of both, without spare bits. */
const TOKEN = /^[A-Za-z0-9_-]{40}$/;

/** Creates the addresses of an installation from its key of secrets. `siteUrl` is without a slash at its end. */
export function createBadgeAddresses(secretKey: Uint8Array, siteUrl: string) {
  const codeKey = deriveKey(secretKey, 'badge addresses');
  const maskKey = deriveKey(secretKey, 'badge addresses, masks');
  const codeOf = (id: number, { accountId, badgeRenewals = 0 }: Partial<Service>) =>
    createHmac('sha256', codeKey)
      .update(`${id}.${accountId ?? 0}.${badgeRenewals}`)
      .digest()
      .subarray(0, CODE_BYTES);
  /** Masks the bytes of an id that stand before a code, or takes the mask off. */
  const mask = (id: Buffer, code: Buffer) => {
    const bytes = createHmac('sha256', maskKey).update(code).digest();
    return id.map((byte, index) => byte ^ (bytes[index] ?? 0));
  };
  return {
    /** The address of a service's badge, to which an ending may be added; null: it is not private, and needs none. */
    urlOf(service: Service): string | null {
      if (service.visibility !== 'private') return null;
      const id = Buffer.alloc(ID_BYTES);
      id.writeUIntBE(service.id, 0, ID_BYTES);
      const code = codeOf(service.id, service);
      return `${siteUrl}/badge/${Buffer.concat([mask(id, code), code]).toString('base64url')}`;
    },
    /** The private service whose present address ends with the token; null: there is none. */
    find(token: string, { byId }: { readonly byId: (id: number) => Service | null }): Service | null {
      if (!TOKEN.test(token)) return null;
      const bytes = Buffer.from(token, 'base64url');
      const code = bytes.subarray(ID_BYTES);
      const id = Buffer.from(mask(bytes.subarray(0, ID_BYTES), code)).readUIntBE(0, ID_BYTES);
      const service = byId(id);
      // Of a service that there is not, a code is computed too: the time tells nothing.
      const isPresent = timingSafeEqual(code, codeOf(id, service ?? {}));
      return isPresent && service?.visibility === 'private' ? service : null;
    },
  };
}

/** A label in place of a name that tells the host. */
export const UNNAMED = 'Status';

/** The name of a private service for strangers: its display name, unless that is or contains the name of its host. */
export function nameWithoutHost({ name, domain }: Pick<Service, 'name' | 'domain'>): string {
  const isPart = /[.:]/.test(domain) && name.toLowerCase().includes(domain);
  return isPart || name === domain ? UNNAMED : name;
}
