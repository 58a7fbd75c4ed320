/** Errors as pages, for browsers (decisions, Errors). */
import { type HttpError, PROBLEMS } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse } from '../../http/route.ts';
import type { Texts } from '../language/english.ts';
import { chooseLanguage } from '../language/language.ts';
import type { RenderPage } from './views.ts';

/** Renders an error with its status, in the language of the request. */
export type ErrorPage = (error: HttpError, request: HttpRequest) => HttpResponse;

/** What a page says of an error, by its status. */
interface ErrorText {
  readonly heading: string;
  readonly advice: string;
}

/** Creates the renderer. The detail of an error is in English, as the API says it. */
export function createErrorPage(render: RenderPage, siteUrl: string): ErrorPage {
  return (error, request) => {
    const language = chooseLanguage(request);
    const { status } = PROBLEMS[error.code];
    const { heading, advice } = textOf(language.texts.errors, status);
    const { code, message } = error;
    const text = { title: heading, advice, status, code, detail: message };
    const { atDomain } = request;
    return render('./error', { language, ...text, atDomain, home: siteUrl }, status);
  };
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
