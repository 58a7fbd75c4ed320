/** Renders pages, and errors as pages, with eta templates, which escape all values except our own markup. */
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import { BoundedMap } from '../../async/bounded-map.ts';
import type { Clock } from '../../clock.ts';
import { PAGE_HEADERS } from '../../http/complete-response.ts';
import { type HttpError, NOTHING_AT, PROBLEMS, prefersPage } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse } from '../../http/route.ts';
import { asMarkup, type Phrase, time } from '../../language/phrase.ts';
import type { Readiness } from '../../view/monitor.ts';
import type { Texts } from '../language/english.ts';
import {
  type ChosenLanguage,
  chooseLanguage,
  LANGUAGES,
  type Language,
  languageHeaders,
} from '../language/language.ts';
import { themeCookies } from '../language/theme.ts';
import type { AssetAddresses } from './assets.ts';

/**
 * Renders a template with data to a response. The data may contain `language`, from `chooseLanguage(request)`; without
 * it the page is in English. Templates use it as `it.language` and `it.markup(phrase)`.
 */
export type RenderPage = ReturnType<typeof createViews>['renderPage'];

/** The data of a template, `it`. */
interface PageData {
  readonly language?: ChosenLanguage;
  readonly [name: string]: unknown;
}

export interface ViewSources {
  readonly assets: AssetAddresses;
  readonly version: string;
  readonly readiness: () => Readiness;
  readonly now: () => number;
  /** True if visitors can subscribe by e-mail. Default false. */
  readonly offersMail?: boolean;
  /** The path of the logo of a kind of channel; null: it has none. Default: none has. */
  readonly logoOf?: (kind: string) => string | null;
  /** A line of the operator at the top of every page. Default null: there is none. */
  readonly notice?: string | null;
  /** The content of `/`: `services`, `sign-in` or `page:<slug>`. Default `services`. */
  readonly home?: string;
  /** True if the site is for its members alone. Default false. */
  readonly isForMembers?: boolean;
}

/** Templates of pages that strangers see where the site is for its members alone. These pages lead nowhere else. */
const FOR_STRANGERS: ReadonlySet<string> = new Set([
  './acknowledge',
  './error',
  './invitation',
  './setup',
  './setup-ended',
  './sign-in',
  './subscribe',
  './subscription',
]);

export function listPath({ home = 'services' }: Pick<ViewSources, 'home'>): string {
  return home === 'services' ? '/' : '/services';
}

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  ...PAGE_HEADERS,
};

/** Renders the template of a part of a page to markup in a language. */
export type RenderPart = ReturnType<typeof createViews>['renderPart'];

/** Creates the renderers. Templates are compiled at their first use and cached. */
export function createViews(sources: ViewSources) {
  const {
    assets,
    version,
    readiness,
    now,
    offersMail = false,
    notice = null,
    isForMembers = false,
    logoOf = () => null,
  } = sources;
  const list = listPath(sources);
  const eta = new Eta({
    views: fileURLToPath(new URL('../templates', import.meta.url)),
    cache: true,
    autoTrim: false,
  });
  const markupIn = (language: Language) => {
    const at = now();
    return (phrase: Phrase) => asMarkup(phrase, language.formats, at);
  };
  return {
    renderPage(template: string, data: PageData, status = 200): HttpResponse {
      const chosen = data.language ?? null;
      const language = chosen ?? LANGUAGES.en;
      return {
        status,
        headers: chosen === null ? HEADERS : { ...HEADERS, ...languageHeaders(chosen) },
        cookies: chosen === null ? [] : themeCookies(chosen),
        body: eta.render(template, {
          theme: chosen === null || chosen.theme === 'system' ? null : chosen.theme,
          themes: chosen?.themes ?? [],
          section: sectionOf(template),
          ...data,
          language,
          choices: chosen?.choices ?? [],
          alternates: status === 200 ? alternatesOf(chosen) : [],
          markup: markupIn(language),
          away: viewAway(readiness(), language),
          assets,
          version,
          offersMail,
          siteNotice: notice,
          logoOf,
          list,
          isBare: isForMembers && FOR_STRANGERS.has(template),
          now: now(),
        }),
      };
    },
    renderPart: (template: string, data: object, language: Language): string =>
      eta.render(template, { ...data, language, list, markup: markupIn(language) }),
  };
}

/** The absolute URLs of a page in all languages, for search engines; none where its URL is not known. */
function alternatesOf(chosen: ChosenLanguage | null) {
  const { url, choices } = chosen ?? { choices: [] };
  return url === undefined ? [] : choices.map(({ code, href }) => ({ code, href: url + href }));
}

/** The sections of the navigation, by the beginning of their templates' names. */
const SECTIONS = [
  ['./home', 'services'],
  ['./service', 'services'],
  ['./incidents', 'incidents'],
  ['./incident', 'services'],
  ['./maintenance', 'maintenance'],
  ['./heatmap', 'heatmap'],
  ['./about', 'about'],
  ['./docs', 'docs'],
  ['./dashboard', 'dashboard'],
] as const;

/** The item of the navigation that a page belongs to; null: none. */
function sectionOf(template: string) {
  return SECTIONS.find(([beginning]) => template.startsWith(beginning))?.[1] ?? null;
}

/** The notice that the prober is offline, with the time since when; null: it is online. */
export function viewAway({ prober }: Readiness, { texts }: Language): Phrase | null {
  const { online, offlineSince } = prober;
  return online || offlineSince === null ? null : texts.site.awaySince(time(offlineSince));
}

/**
 * Renders the page for something that was not found, with status 404 and `message` in the language of the reader. Throws `error` for a client that prefers no page (decisions, Errors).
 */
export function renderMissing(
  render: RenderPage,
  { headers }: HttpRequest,
  language: ChosenLanguage,
  { error, message }: { readonly error: HttpError; readonly message: string },
): HttpResponse {
  if (!prefersPage(headers.accept)) throw error;
  return render('./missing', { language, title: language.texts.site.notFound, message }, 404);
}

/** Renders an error with its status, in the language of the request. */
export type ErrorPage = (error: HttpError, request: HttpRequest) => HttpResponse;

/** The text of a page about an error, by its status. */
interface ErrorText {
  readonly heading: string;
  readonly advice: string;
}

/**
 * The time for which a page of a refusal under overload is used again, milliseconds: the frame around it tells of the monitor.
 */
const KEPT_MS = 1_000;
/** Maximum number of these pages, a few KB each. */
const MAX_KEPT = 50;
/** Maximum length of the header that they depend on; with a longer one they are made each time. */
const MAX_LANGUAGES_LENGTH = 200;

/** Creates the renderer. The detail of an error is in English, as the API says it. */
export function createErrorPage(render: RenderPage, siteUrl: string, { monotonic }: Clock): ErrorPage {
  const kept = new BoundedMap<string, { readonly madeMs: number; readonly page: HttpResponse }>(MAX_KEPT);
  const make: ErrorPage = (error, request) => {
    const language = chooseLanguage(request);
    const { status } = PROBLEMS[error.code];
    const { heading, advice } = textOf(language.texts.errors, status);
    const { code, message } = error;
    // The advice says the same of an address, in the language of the page.
    const detail = message.startsWith(NOTHING_AT) ? '' : message;
    const text = { title: heading, advice, status, code, detail };
    const { atDomain } = request;
    return render('./error', { language, ...text, atDomain, home: siteUrl }, status);
  };
  return (error, request) => {
    const place = error.code === 'overloaded' ? placeOf(request) : null;
    if (place === null) return make(error, request);
    const known = kept.get(place);
    const nowMs = monotonic();
    // Under overload, refusals should not take the time in which others are served.
    if (known !== undefined && nowMs - known.madeMs < KEPT_MS) return known.page;
    const page = make(error, request);
    kept.set(place, { madeMs: nowMs, page });
    return page;
  };
}

/** The key of an error page that is the same for all; null: on the choices of this visitor as well. */
function placeOf({ query, headers, atDomain }: HttpRequest): string | null {
  const { cookie, 'accept-language': languages = '' } = headers;
  const isCommon = query === '' && cookie === undefined && languages.length <= MAX_LANGUAGES_LENGTH;
  return isCommon ? `${atDomain === true ? 'domain' : 'site'} ${languages}` : null;
}

function textOf(texts: Texts['errors'], status: number): ErrorText {
  switch (status) {
    case 401:
    case 403:
      return texts.forbidden;
    case 404:
      return texts.missing;
    case 405:
      return texts.method;
    case 409:
    case 412:
      return texts.changed;
    case 429:
      return texts.limited;
    case 503:
      return texts.unavailable;
    default:
      return status >= 500 ? texts.fault : texts.request;
  }
}

/** A page whose address is a secret: it is not sent to other sites, nor kept by caches and search engines. */
export function withSecrecy(answer: HttpResponse): HttpResponse {
  const secrecy = {
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
  };
  return { ...answer, headers: { ...answer.headers, ...secrecy } };
}
