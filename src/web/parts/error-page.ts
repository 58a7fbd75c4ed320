/** Errors as pages, for browsers (decisions, Errors). */
import { BoundedMap } from '../../async/bounded-map.ts';
import type { Clock } from '../../clock.ts';
import { type HttpError, NOTHING_AT, PROBLEMS } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse } from '../../http/route.ts';
import type { Texts } from '../language/english.ts';
import { chooseLanguage } from '../language/language.ts';
import type { RenderPage } from './views.ts';

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
