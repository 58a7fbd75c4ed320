/** `GET /api/badge/:slug`: badges in every variant and format (contract 4.6). */

import { BoundedMap } from '../async/bounded-map.ts';
import { formatTime } from '../domain/durations.ts';
import type { AnyBadge, BadgePicture } from '../domain/picture.ts';
import { fullName, type Service } from '../domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../domain/status/current.ts';
import { entityTag } from '../http/conditional.ts';
import {
  IF_NONE_MATCH,
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  problems,
  queryParameters,
  SLUG,
} from '../http/openapi.ts';
import type { HttpRequest, HttpResponse, Route } from '../http/route.ts';
import type { SampleReads } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';
import {
  BADGE_QUERY,
  type BadgeAddresses,
  type BadgeRequest,
  nameWithoutHost,
  readBadgeRequest,
  UNNAMED,
  windowMs,
} from '../view/badge-url.ts';
import { type ShownDirectory, serviceNotFound } from '../view/service-directory.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { intervalOf, isStale, seenAt } from '../view/staleness.ts';
import {
  asOfAge,
  type BadgeCaption,
  describeLatency,
  describeStatus,
  describeUptime,
  ShieldsSchema,
  sentenceOf,
  shieldsAnswer,
} from './badge-text.ts';
import { createFigureReader, type FigureReader } from './figure-reader.ts';
import { kumaBadgeRoutes } from './kuma-badge.ts';
import { PICTURE_CACHING, SVG_HEADERS } from './picture.ts';

export interface BadgeSources extends SiteSources {
  readonly status: StatusStore;
  readonly samples: SampleReads;
  readonly renderBadge: (picture: AnyBadge) => Promise<Uint8Array>;
  readonly slowOverMs: number;
  readonly directory: ShownDirectory;
  /** Null: this site has no owners, and so no private services. */
  readonly badgeAddresses: BadgeAddresses | null;
}

/** Headers of each format, frozen because they are those of many responses. */
function headersOf(more: Readonly<Record<string, string>>) {
  return {
    png: Object.freeze({ 'Content-Type': 'image/png', ...more }),
    svg: Object.freeze({ ...SVG_HEADERS, ...more }),
    shields: Object.freeze({ 'Content-Type': 'application/json; charset=utf-8', ...more }),
  } as const;
}

/** `Cache-Control` of the badge at a signed address, which ends for everyone within a minute of its renewal. */
const SIGNED_CACHING = 'private, max-age=60';

interface BadgeNames {
  readonly name: string;
  /** In place of a name that the fonts cannot write. */
  readonly fallback: string;
  /** The name for text that is read aloud. */
  readonly full: string;
}

/** The badges of a route: which service a request names, and what they tell of it. */
interface BadgeKind {
  readonly find: (request: HttpRequest, name: string) => Service | Promise<Service>;
  readonly namesOf: (service: Service) => BadgeNames;
  readonly headers: ReturnType<typeof headersOf>;
}

/** Maximum number of cached status badges. The bytes are shared with the renderer's cache; this one saves the hash. */
const MAX_CACHED_STATUS_BADGES = 20_000;
/** Maximum number of other cached badges, up to 10 KB each. */
const MAX_CACHED_OTHERS = 4_000;
/** Maximum number of cached badges with a label. They have a separate cache, because there is any number of labels. */
const MAX_CACHED_LABELLED = 500;

/** A response and the content that it shows. */
interface Kept {
  readonly content: string;
  readonly answer: HttpResponse;
}

/**
 * The badge route, one for pages of this site, whose pictures do not count against the rate limit of pictures, those of Uptime Kuma's
 * addresses, and that of the signed addresses of private services.
 */
export function badgeRoutes(sources: BadgeSources): Route[] {
  const { finder, samples, now, badgeAddresses: addresses, directory } = sources;
  const figureReader = createFigureReader(samples, now);
  const handle = createBadgeHandler(sources, figureReader, {
    find: finder.named,
    namesOf: (service) => ({ name: service.name, fallback: service.domain, full: fullName(service) }),
    headers: headersOf({ 'Cache-Control': PICTURE_CACHING }),
  });
  const signed: Route[] =
    addresses === null
      ? []
      : [
          {
            path: '/badge/:secret',
            bucket: 'pictures',
            access: 'secret',
            handle: createBadgeHandler(sources, figureReader, {
              find(_, token) {
                const service = addresses.find(token, directory.whole);
                if (service === null) throw serviceNotFound(token);
                return service;
              },
              namesOf(service) {
                const name = nameWithoutHost(service);
                return { name, fallback: UNNAMED, full: name };
              },
              headers: headersOf({ 'Cache-Control': SIGNED_CACHING, 'X-Robots-Tag': 'noindex' }),
            }),
            describe: describeSignedBadge,
          },
        ];
  return [
    {
      path: '/api/badge/:slug',
      bucket: 'pictures',
      access: 'everyone',
      open: true,
      handle,
      describe: () => describeBadge(),
    },
    { path: '/badges/:slug/picture', bucket: 'pages', access: 'everyone', handle },
    ...kumaBadgeRoutes(sources, figureReader),
    ...signed,
  ];
}

/** Creates the handler of a kind of badges, which shares its caches with no other. */
function createBadgeHandler(
  sources: BadgeSources,
  figureReader: FigureReader,
  { find, namesOf, headers }: BadgeKind,
): (request: HttpRequest) => Promise<HttpResponse> {
  const { status, beginHistory, renderBadge, intervalMs, slowOverMs, now, listenedAt } = sources;
  const statuses = new BoundedMap<string, Kept>(MAX_CACHED_STATUS_BADGES);
  const others = new BoundedMap<string, Kept>(MAX_CACHED_OTHERS);
  const labelled = new BoundedMap<string, Kept>(MAX_CACHED_LABELLED);

  const captionFor = async (
    service: Service,
    current: CurrentStatus,
    request: BadgeRequest,
  ): Promise<BadgeCaption> => {
    const { variant, window, measure } = request;
    const interval = intervalOf(service, intervalMs);
    const seen = seenAt(current, listenedAt);
    const describeNow = () =>
      describeStatus(current, isStale(current, interval, now(), listenedAt) ? seen : null, now());
    if (variant === 'status') return describeNow();
    const lengthMs = windowMs(window);
    const read = await beginHistory()(() => figureReader.read(service.id, lengthMs));
    const figures = read ?? figureReader.last(service.id, lengthMs);
    // Where past checks cannot be read, a README shows what is known, not a broken picture.
    if (figures === null) return describeNow();
    const state = { lastCheckAt: seen, staleAfterMs: 2 * interval, now: now() };
    if (variant === 'uptime') return describeUptime(figures, window, state);
    const latency = { measure, slowOverMs: service.check.slowOverMs ?? slowOverMs };
    return describeLatency(figures, window, latency, state);
  };

  const draw = async (
    service: Service,
    caption: BadgeCaption,
    request: BadgeRequest,
  ): Promise<HttpResponse> => {
    const { theme, format } = request;
    const names = namesOf(service);
    const body =
      format === 'shields'
        ? JSON.stringify(shieldsAnswer(request.label || names.full, caption, theme))
        : await renderBadge(pictureOf(names, caption, request, format));
    return { status: 200, headers: headers[format], body, etag: entityTag(body) };
  };

  return async (asked) => {
    const { name, ...request } = readBadgeRequest(
      asked.params.slug ?? asked.params.secret ?? '',
      asked.query,
    );
    const { theme, variant, window, measure, format, style, scale, label } = request;
    const service = await find(asked, name);
    const current = status.get(service.id) ?? unknownStatus(service.id);
    const caption = await captionFor(service, current, request);
    // A status as PNG shows no time, so it does not change with each check.
    const isTimeless = variant === 'status' && format === 'png';
    const isContract = isTimeless && style === 'card' && scale === '1' && label === '';
    const kept = isContract ? statuses : label === '' ? others : labelled;
    const place = isContract
      ? `${service.id} ${theme}`
      : `${service.id} ${theme} ${format} ${variant} ${window} ${measure} ${style} ${scale} ${label}`;
    const shown = isTimeless
      ? `${caption.status} ${caption.ageText}`
      : `${caption.word} ${caption.ageText} ${caption.asOf}`;
    const content = `${service.revision} ${shown}`;
    const known = kept.get(place);
    if (known?.content === content) return known.answer;
    const answer = await draw(service, caption, request);
    kept.set(place, { content, answer });
    return answer;
  };
}

/** The input of the renderer. For the badge of the contract, a status as PNG, it contains only what the badge shows. */
function pictureOf(
  { name, fallback, full }: BadgeNames,
  caption: BadgeCaption,
  { theme, style, scale, label }: BadgeRequest,
  format: 'png' | 'svg',
): BadgePicture {
  const { status, word, window, asOf } = caption;
  const ageText = window === null && caption.ageText !== null ? asOfAge(caption.ageText) : caption.ageText;
  const picture = {
    ...{ name, fallback, status, theme, ageText },
    ...(label === '' ? {} : { label }),
    ...(style === 'card' ? {} : { style }),
    ...(window === null ? {} : { figure: { word, window } }),
  };
  if (format === 'svg') return { ...picture, format, title: sentenceOf(label || full, caption) };
  return {
    ...picture,
    ...(scale === '1' ? {} : { scale: 2 }),
    ...(window === null || asOf === null ? {} : { asOf: formatTime(asOf) }),
  };
}

const ENDINGS = 'At its end, .png, .svg or .json says the format, and @2x before that the scale';

function describeSignedBadge(): OpenApiOperation {
  const {
    parameters: [, ...parameters] = [],
    responses,
    ...badge
  } = describeBadge(SIGNED_CACHING, 'kept for a minute');
  // A secret in the path needs no scope.
  const { 403: _, ...others } = responses;
  return {
    ...badge,
    operationId: 'getSignedBadge',
    summary: 'Get the badge of a private service by its signed address',
    description:
      'The badge as for other services, with the display name of the service alone: a name that contains the host becomes "Status". The address is the `badge_url` of the service, for its members, until it is renewed, or the service is removed, becomes public or unlisted, or goes to another account.',
    parameters: [
      {
        name: 'secret',
        in: 'path',
        required: true,
        description: `The last part of the address. ${ENDINGS}.`,
        schema: { type: 'string' },
        example: 'x'.repeat(40),
      },
      ...parameters,
    ],
    responses: { ...others, ...problems({ 404: 'No badge has this address, or it was renewed.' }) },
  };
}

function describeBadge(
  caching = PICTURE_CACHING,
  kept = 'to be kept by shared caches for 300 seconds',
): OpenApiOperation {
  const slug = SLUG(
    `The domain with each dot replaced by a dash. ${ENDINGS}: github-com@2x.png.`,
    'github-com',
  );
  return {
    operationId: 'getBadge',
    tags: ['Badges'],
    security: OPEN_TO_ALL,
    summary: 'Get a badge: status, uptime or response time of a service',
    description:
      'A picture of 280 by 36 pixels, or in the style "compact" 20 pixels high and as wide as its text; a PNG of scale 2 has twice as many pixels. The status: Operational, Slow, Down or Unknown. The uptime: the share of good checks in the window, rounded down. The latency: the median or the 95th percentile of its response times. Where there are no checks it says "No data". What is stale, older than two intervals, is grey (never a silent service while the monitor listens) and tells its age; a figure has a clock then. An SVG says in its title, and a PNG of a figure in the text "As of", which time it shows. The format "shields" is JSON for the endpoint badge of shields.io. Figures are read at most once a minute. While past checks cannot be read, a badge shows the figure that was read last, with its age, or the status if there is none.',
    parameters: [slug, ...queryParameters(BADGE_QUERY), IF_NONE_MATCH],
    responses: {
      200: {
        description: `The badge, ${kept}.`,
        headers: {
          ...LIMIT_HEADERS,
          'Cache-Control': {
            description: 'How long it may be kept.',
            schema: { type: 'string', const: caching },
          },
        },
        content: {
          'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } },
          'image/svg+xml': { schema: { type: 'string', contentMediaType: 'image/svg+xml' } },
          'application/json': { schema: ShieldsSchema },
        },
      },
      304: { description: 'The client has it already (If-None-Match); this costs nothing of the limit.' },
      ...problems({
        400: 'A parameter is not known, a label is too long, or the address ends with another format or scale; the body names the parameter.',
        401: 'The API key is not valid.',
        403: 'The API key lacks the scope read (insufficient_scope).',
        404: 'There is no such service.',
        429: 'Too many requests; pictures have a limit of their own.',
      }),
    },
  };
}
