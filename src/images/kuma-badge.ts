/** `GET /api/badge/:slug/:kind/:duration?`: the badges of Uptime Kuma with its parameters, for pages that embed them already. */
import { DAY_MS, parseDuration } from '../domain/durations.ts';
import { readColour } from '../domain/page-colour.ts';
import { type AnyBadge, percentOf, SHIELD_STYLES, type ShieldPicture } from '../domain/picture.ts';
import type { Service } from '../domain/service.ts';
import { responseTimeOf } from '../domain/status/agree.ts';
import { type CurrentStatus, unknownStatus } from '../domain/status/current.ts';
import { entityTag } from '../http/conditional.ts';
import {
  enumParameter,
  type ParameterValues,
  readParameters,
  refuse,
  textParameter,
} from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../http/route.ts';
import { MAX_LABEL_LENGTH, visibleLine } from '../view/badge-url.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { intervalOf, isCheckStale, seenAt } from '../view/staleness.ts';
import { ageOf, asOfAge, type BadgeFigures, FIGURES_KEPT_MS } from './badge-text.ts';
import type { FigureReader } from './figure-reader.ts';
import { PICTURE_CACHING, SVG_HEADERS } from './picture.ts';

interface KumaBadgeSources extends SiteSources {
  readonly renderBadge: (picture: AnyBadge) => Promise<Uint8Array>;
}

const KINDS = ['status', 'uptime', 'ping', 'avg-response', 'response', 'cert-exp'] as const;
type Kind = (typeof KINDS)[number];
/** The kinds that have a duration. */
const FIGURES: ReadonlySet<string> = new Set(['uptime', 'ping', 'avg-response']);

const text = (description: string) => textParameter(`^[\\s\\S]{0,${MAX_LABEL_LENGTH}}$`, description);
const QUERY = {
  label: text('Text on the left.'),
  labelPrefix: text('Before the text on the left.'),
  labelSuffix: text('After it.'),
  prefix: text('Before the figure.'),
  suffix: text('After the figure.'),
  upLabel: text('What is up.'),
  downLabel: text('What is down.'),
  upColor: text('Colour of what is up.'),
  warnColor: text('Colour of a certificate that ends soon.'),
  downColor: text('Colour of what is down.'),
  color: text('Colour of the figure.'),
  labelColor: text('Colour on the left.'),
  warnDays: text('Days before the end of a certificate.'),
  downDays: text('Days before the end of a certificate.'),
  date: text('Anything: the date of the end of a certificate, in place of the days.'),
  style: enumParameter(SHIELD_STYLES, 'Look of the badge.', 'flat'),
};
type Query = ParameterValues<typeof QUERY>;

/** The defaults of Uptime Kuma. */
const COLOURS = { up: '#66c20a', warn: '#eed202', down: '#c2290a', ping: '#007ec6', none: '#999999' };
const LABEL_COLOUR = '#555555';
const WARN_DAYS = 14;
const DOWN_DAYS = 7;
const MONTH_MS = 30 * DAY_MS;
const MAX_DURATION_MS = 365 * DAY_MS;

/** Colours by name: those of shields.io, then the basic ones of CSS. */
const NAMED_COLOURS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{
      brightgreen: '#44cc11',
      green: '#97ca00',
      yellowgreen: '#a4a61d',
      yellow: '#dfb317',
      orange: '#fe7d37',
    },
    ...{ red: '#e05d44', blue: '#007ec6', grey: '#555555', gray: '#555555', lightgrey: '#9f9f9f' },
    ...{ lightgray: '#9f9f9f', success: '#44cc11', important: '#fe7d37', critical: '#e05d44' },
    ...{
      informational: '#007ec6',
      inactive: '#9f9f9f',
      black: '#000000',
      white: '#ffffff',
      silver: '#c0c0c0',
    },
    ...{ maroon: '#800000', purple: '#800080', fuchsia: '#ff00ff', lime: '#00ff00', olive: '#808000' },
    ...{ navy: '#000080', teal: '#008080', aqua: '#00ffff' },
  }),
);

/** The texts of a badge and its colour; `label` absent: nothing on the left. */
interface Words {
  readonly label?: string;
  readonly message: string;
  readonly colour: string;
}
const NONE: Words = { message: 'N/A', colour: COLOURS.none };

/** Creates the routes. They answer alike for a service that there is not and for one that the sender may not see. */
export function kumaBadgeRoutes(sources: KumaBadgeSources, figureReader: FigureReader): Route[] {
  const { finder, renderBadge, beginHistory, status, listenedAt, intervalMs, now } = sources;
  const headers = Object.freeze({ ...SVG_HEADERS, 'Cache-Control': PICTURE_CACHING });

  const readFigures = async (serviceId: number, lengthMs: number): Promise<BadgeFigures | null> =>
    (await beginHistory()(() => figureReader.read(serviceId, lengthMs))) ??
    figureReader.last(serviceId, lengthMs);

  const wordsOf = async (service: Service, kind: Kind, asked: Asked): Promise<Words> => {
    const current = status.get(service.id) ?? unknownStatus(service.id);
    const figures = asked.duration === null ? null : await readFigures(service.id, asked.duration.lengthMs);
    const words = describe(kind, current, figures, { ...asked, now: now() });
    if (words === NONE) return NONE;
    // A status or figure from long ago is grey and has its age, as in other badges.
    const seen = seenAt(current, listenedAt);
    const isOld = figures !== null && now() - figures.readAt > 2 * FIGURES_KEPT_MS;
    const asOf = isOld ? Math.min(figures.readAt, seen ?? figures.readAt) : seen;
    if (asOf === null || !(isOld || isCheckStale(asOf, intervalOf(service, intervalMs), now()))) return words;
    return { ...words, message: `${words.message} · ${asOfAge(ageOf(asOf, now()))}`, colour: COLOURS.none };
  };

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const { slug = '', kind: named, duration } = request.params;
    const kind = KINDS.find((one) => one === named);
    if (kind === undefined || (duration !== undefined && !FIGURES.has(kind)))
      throw new HttpError('route_not_found', `After the name of a service come ${KINDS.join(', ')}.`);
    const query = readQuery(request.query);
    const asked = { query, duration: FIGURES.has(kind) ? readDuration(duration ?? '24') : null };
    const service = await finder.byPageName(request, slug);
    const words = service === null ? NONE : await wordsOf(service, kind, asked);
    const body = await renderBadge(shieldOf(words, query));
    return { status: 200, headers, body, etag: entityTag(body) };
  };
  return ['/api/badge/:slug/:kind', '/api/badge/:slug/:kind/:duration'].map((path) => ({
    path,
    bucket: 'pictures',
    access: 'everyone',
    open: true,
    handle,
  }));
}

interface Asked {
  readonly query: Query;
  /** Null: the kind has none. */
  readonly duration: Duration | null;
}

interface Duration {
  readonly lengthMs: number;
  /** The number and its unit as the address has them: `24` and `h`. */
  readonly amount: string;
  readonly unit: string;
}

function describe(
  kind: Kind,
  current: CurrentStatus,
  figures: BadgeFigures | null,
  { query, duration, now }: Asked & { readonly now: number },
): Words {
  const { status, latest } = current;
  const { upLabel = 'Up', downLabel = 'Down', label = 'Status', labelPrefix, labelSuffix } = query;
  const joined = (usual: string, after = labelSuffix) => [labelPrefix, query.label ?? usual, after].join('');
  const time = (usual: string, ms: number | null | undefined): Words => {
    if (ms === null || ms === undefined) return NONE;
    const message = [query.prefix, Math.trunc(ms), query.suffix ?? 'ms'].join('');
    return { label: usual, message, colour: colourOf(query.color, COLOURS.ping) };
  };
  // The unit of a duration is its suffix, in place of which a badge may have another.
  const period = `(${duration?.amount}${labelSuffix ?? duration?.unit})`;
  switch (kind) {
    case 'status':
      if (status === 'unknown') return NONE;
      return status === 'down'
        ? { label, message: downLabel, colour: colourOf(query.downColor, COLOURS.down) }
        : { label, message: upLabel, colour: colourOf(query.upColor, COLOURS.up) };
    case 'uptime': {
      const { count = 0, upCount = 0, slowCount = 0 } = figures?.bucket ?? {};
      if (count === 0) return NONE;
      const good = upCount + slowCount;
      const message = [query.prefix, percentOf(good, count).toPrecision(4), query.suffix ?? '%'].join('');
      const colour = colourOf(query.color, colourOfRatio(good / count));
      return { label: joined(`Uptime ${period}`, ''), message, colour };
    }
    case 'ping':
      return time(joined(`Avg. Ping ${period}`, ''), figures?.bucket.meanMs);
    case 'avg-response':
      return time(joined(`Avg. Response (${duration?.amount}${duration?.unit})`), figures?.bucket.meanMs);
    case 'response':
      return time(joined('Response'), responseTimeMsOf(current));
    case 'cert-exp':
      return describeCertificate(latest?.certificateExpiresAt ?? null, query, now, joined('Cert Exp.'));
  }
}

/** The response time; null: none is known. A heartbeat that reports none has 0 in our API. */
function responseTimeMsOf(current: CurrentStatus): number | null {
  const ms = responseTimeOf(current);
  return ms === 0 && current.latest?.source === 'heartbeat' ? null : ms;
}

function describeCertificate(endsAt: number | null, query: Query, now: number, label: string): Words {
  if (endsAt === null) return { message: 'No/Bad Cert', colour: COLOURS.none };
  const { prefix, suffix = query.date ? '' : ' days' } = query;
  const down = colourOf(query.downColor, COLOURS.down);
  if (endsAt <= now) return { message: 'Bad Cert', colour: down };
  const days = Math.floor((endsAt - now) / DAY_MS);
  const message = [prefix, query.date ? new Date(endsAt).toISOString().slice(0, 10) : days, suffix].join('');
  if (days <= readDays('downDays', query, DOWN_DAYS)) return { label, message, colour: down };
  return days <= readDays('warnDays', query, WARN_DAYS)
    ? { label, message, colour: colourOf(query.warnColor, COLOURS.warn) }
    : { label, message, colour: colourOf(query.upColor, COLOURS.up) };
}

/** Texts are one line of visible characters. What of them is empty is left out. */
function shieldOf({ label = '', message, colour }: Words, { labelColor, style }: Query): ShieldPicture {
  return {
    shield: style,
    label: visibleLine(label),
    labelColour: colourOf(labelColor, LABEL_COLOUR),
    message: visibleLine(message),
    colour,
  };
}

function readQuery(query: string): Query {
  const read = readParameters(query, QUERY);
  for (const name of Object.keys(QUERY) as (keyof Query)[])
    if ([...(read[name] ?? '')].length > MAX_LABEL_LENGTH)
      throw refuse(name, `is longer than ${MAX_LABEL_LENGTH} characters`, QUERY[name]);
  return read;
}

/** Reads `24`, which is hours, `24h`, `30d` or `1M`, which is 30 days, at most a year. */
function readDuration(text: string): Duration {
  const [, amount = '', unit = 'h'] = /^(\d{1,6})([a-zM])?$/.exec(text) ?? [];
  const lengthMs = unit === 'M' ? Number(amount) * MONTH_MS : parseDuration(amount + unit);
  if (lengthMs === null || lengthMs <= 0 || lengthMs > MAX_DURATION_MS)
    throw refuse('duration', 'is not a duration of at most a year, such as 24, 24h or 30d');
  return { lengthMs, amount, unit };
}

function readDays(name: 'warnDays' | 'downDays', query: Query, usual: number): number {
  const given = query[name] ?? '';
  return /^\d{1,6}$/.test(given) ? Number(given) : usual;
}

/** The colour of a name or of three or six hexadecimal digits; `usual` where the text is no colour. */
function colourOf(text: string | undefined, usual: string): string {
  const asked = text?.trim().toLowerCase() ?? '';
  const [, short] = /^#?([0-9a-f]{3})$/.exec(asked) ?? [];
  return NAMED_COLOURS.get(asked) ?? readColour(short?.replaceAll(/./g, '$&$&') ?? asked) ?? usual;
}

/** From red for nothing to green for all, in equal steps of the hue from 10 to 90 degrees. */
function colourOfRatio(ratio: number): string {
  const hue = 10 + 80 * ratio;
  const [low, high] = [10, 194];
  const rising = (share: number) => Math.round(low + (high - low) * share);
  const [red, green] = hue <= 60 ? [high, rising(hue / 60)] : [rising((120 - hue) / 60), high];
  return `#${[red, green, low].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
