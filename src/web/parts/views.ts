/** Renders pages: eta's templates, which escape everything that is not markup of ours. */
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { HttpResponse } from '../../http/route.ts';
import { PAGE_HEADERS } from '../../http/security-headers.ts';
import type { Readiness } from '../../view/monitor.ts';
import { type ChosenLanguage, LANGUAGES, type Language, languageHeaders } from '../language/language.ts';
import { asMarkup, type Phrase, time } from '../language/phrase.ts';
import type { AssetAddresses } from './assets.ts';

/**
 * Renders a template with data into an answer. Data may carry `language`, from `chooseLanguage(request)`: the answer is
 * then in it, and templates have `it.language` and `it.markup(phrase)`; without it the page is in English.
 */
export type RenderPage = ReturnType<typeof createViews>['renderPage'];

/** What a template reads as `it`. */
export interface PageData {
  readonly language?: ChosenLanguage;
  readonly [name: string]: unknown;
}

/** What every page shows. */
export interface ViewSources {
  readonly assets: AssetAddresses;
  readonly version: string;
  readonly readiness: () => Readiness;
  readonly now: () => number;
}

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  ...PAGE_HEADERS,
};

/** Renders a template that is part of a page, as markup in a language. */
export type RenderPart = ReturnType<typeof createViews>['renderPart'];

/** Makes the renderers; templates are compiled at their first use and kept. */
export function createViews({ assets, version, readiness, now }: ViewSources) {
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
        body: eta.render(template, {
          ...data,
          language,
          choices: chosen?.choices ?? [],
          markup: markupIn(language),
          away: viewAway(readiness(), language),
          assets,
          version,
          now: now(),
        }),
      };
    },
    renderPart: (template: string, data: object, language: Language): string =>
      eta.render(template, { ...data, language, markup: markupIn(language) }),
  };
}

/** Since when our own connection is away; null: it is not. */
export function viewAway({ prober }: Readiness, { texts }: Language): Phrase | null {
  const { online, offlineSince } = prober;
  return online || offlineSince === null ? null : texts.site.awaySince(time(offlineSince));
}

/** The page that says what was not found, with 404. */
export function renderMissing(render: RenderPage, language: ChosenLanguage, message: string): HttpResponse {
  return render('./missing', { language, title: language.texts.site.notFound, message }, 404);
}
