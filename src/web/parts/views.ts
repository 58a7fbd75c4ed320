/** Renders pages with eta templates, which escape all values except our own markup. */
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import { PAGE_HEADERS } from '../../http/complete-response.ts';
import { type HttpError, prefersPage } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse } from '../../http/route.ts';
import { asMarkup, type Phrase, time } from '../../language/phrase.ts';
import type { Readiness } from '../../view/monitor.ts';
import { type ChosenLanguage, LANGUAGES, type Language, languageHeaders } from '../language/language.ts';
import { themeCookies } from '../language/theme.ts';
import type { AssetAddresses } from './assets.ts';

/**
 * Renders a template with data to a response. The data may contain `language`, from `chooseLanguage(request)`; without
 * it the page is in English. Templates use it as `it.language` and `it.markup(phrase)`.
 */
export type RenderPage = ReturnType<typeof createViews>['renderPage'];

/** The data of a template, `it`. */
export interface PageData {
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
