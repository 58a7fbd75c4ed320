/**
 * The language of a page: that of `?lang=`, which a cookie stores, otherwise the browser's preferred one, otherwise
 * English; and its theme (`theme.ts`). Pages call `chooseLanguage(request)` and pass the result to the renderer as `language`. Templates use it so:
 *
 *     <%= it.language.texts.home.heading %>             a word or sentence
 *     <%~ it.markup(it.language.texts.home.newestCheck(at)) %>   a phrase with times, as markup
 */
import { readCookie } from '../../http/cookies.ts';
import type { HttpRequest } from '../../http/route.ts';
import type { Formats } from '../../language/formats.ts';
import { FORMATS, LANGUAGE_CODES, type LanguageCode } from '../../language/shared-texts.ts';
import { english, type Texts } from './english.ts';
import { german } from './german.ts';
import { type ChosenTheme, chooseTheme } from './theme.ts';

export interface Language {
  readonly code: LanguageCode;
  /** Name of the language in that language. */
  readonly name: string;
  /** Locale of dates, for scripts. */
  readonly dates: string;
  readonly texts: Texts;
  readonly formats: Formats;
}

export type LanguageTexts = Pick<Language, 'texts'>;

/** The language and the theme of a page, and the links to the page in other ones. */
export interface ChosenLanguage extends Language, ChosenTheme {
  /** True if `?lang=` made the choice in this request; the response then stores it in a cookie. */
  readonly keep: boolean;
  /** The absolute URL of this page without its query; absent: it is not known. */
  readonly url?: string;
  /** All languages, each with the relative URL of this page in it. */
  readonly choices: readonly { readonly code: LanguageCode; readonly name: string; readonly href: string }[];
}

export const LANGUAGES: Readonly<Record<LanguageCode, Language>> = {
  en: { code: 'en', name: 'English', dates: 'en-GB', texts: english, formats: FORMATS.en },
  de: { code: 'de', name: 'Deutsch', dates: 'de-DE', texts: german, formats: FORMATS.de },
};

const COOKIE = 'upbeat-language';
const COOKIE_SECONDS = 31_536_000;

/** Chooses the language and the theme of a response. Unknown ones are ignored. */
export function chooseLanguage({
  query,
  headers,
  url,
}: Pick<HttpRequest, 'query' | 'headers' | 'url'>): ChosenLanguage {
  const parameters = new URLSearchParams(query);
  const asked = readCode(parameters.get('lang') ?? '');
  const kept = readCode(readCookie(headers.cookie, COOKIE));
  parameters.delete('appearance');
  const code = asked ?? kept ?? preferredOf(headers['accept-language']) ?? 'en';
  const choices = LANGUAGE_CODES.map((choice) => {
    parameters.set('lang', choice);
    return { code: choice, name: LANGUAGES[choice].name, href: `?${parameters}` };
  });
  const place = url === undefined ? {} : { url };
  return {
    ...LANGUAGES[code],
    ...place,
    keep: asked !== null,
    choices,
    ...chooseTheme(query, headers.cookie),
  };
}

/** Headers of a response in a language: caches distinguish languages, and a cookie stores a choice for a year. */
export function languageHeaders({ keep, code }: ChosenLanguage): Readonly<Record<string, string>> {
  const vary = { Vary: 'Accept-Language, Cookie', 'Content-Language': code };
  if (!keep) return vary;
  return {
    ...vary,
    'Set-Cookie': `${COOKIE}=${code}; Path=/; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax`,
  };
}

function readCode(text: string): LanguageCode | null {
  const wanted = text.trim().toLowerCase();
  return LANGUAGE_CODES.find((code) => code === wanted) ?? null;
}

/** The supported language with the greatest weight (RFC 9110, 12.5.4); of equal weights the first. Null: none. */
function preferredOf(header = ''): LanguageCode | null {
  let best: { readonly code: LanguageCode; readonly weight: number } | null = null;
  for (const range of header.slice(0, MAX_HEADER_LENGTH).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = readWeight(parameters.find((parameter) => /^q=/i.test(parameter)));
    // `de-AT` matches `de`; `*` matches the first supported language.
    const code = tag === '*' ? LANGUAGE_CODES[0] : readCode(tag.split('-')[0] ?? '');
    if (code !== null && weight > (best?.weight ?? 0)) best = { code, weight };
  }
  return best?.code ?? null;
}

const MAX_HEADER_LENGTH = 1_000;

function readWeight(parameter: string | undefined): number {
  if (parameter === undefined) return 1;
  const weight = parameter.slice(2);
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
}
