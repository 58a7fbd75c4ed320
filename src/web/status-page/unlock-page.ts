/** The form for the password of a status page. Nothing of the page is shown before it is entered. */
import { readForm, seeOther } from '../../http/form.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import { pathFor, redirectToDomain } from '../../view/page-address.ts';
import {
  findLockedPage,
  findShownPage,
  type PageViewSources,
  pageNotFound,
} from '../../view/status-page-view.ts';
import { type ChosenLanguage, chooseLanguage } from '../language/language.ts';
import type { RenderPage } from '../parts/views.ts';
import type { PageReaders } from './page-readers.ts';

/** Sources of the form. */
export interface UnlockSources extends Pick<PageViewSources, 'pages' | 'mayRead'> {
  readonly siteUrl: string;
  readonly unlock: PageReaders['unlock'];
}

/** The problem of the password that was entered. */
export interface UnlockProblem {
  readonly status: 403 | 429;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Shows the form for the page of a request. */
export function showLocked(
  render: RenderPage,
  request: HttpRequest,
  { siteUrl, language }: { readonly siteUrl: string; readonly language: ChosenLanguage },
  problem: UnlockProblem | null = null,
): HttpResponse {
  const slug = (request.params.slug ?? '').toLowerCase();
  const shown = render(
    './status-page-locked',
    {
      language,
      title: language.texts.statusPage.locked,
      action: pathFor(request, slug, 'unlock'),
      problem: problem?.text ?? null,
      atDomain: request.atDomain,
      home: request.atDomain === true ? siteUrl : '',
    },
    problem?.status ?? 403,
  );
  const secrecy = { 'Cache-Control': 'private, no-store', 'X-Robots-Tag': 'noindex' };
  return { ...shown, headers: { ...shown.headers, ...secrecy, ...problem?.headers } };
}

/** `/p/:slug/unlock`. */
export function unlockRoute(render: RenderPage, sources: UnlockSources): Route {
  const { siteUrl, unlock } = sources;
  return {
    path: '/p/:slug/unlock',
    bucket: 'pages',
    access: 'everyone',
    open: 'page',
    anyMethod: true,
    sameOrigin: true,
    async handle(request) {
      const language = chooseLanguage(request);
      const { statusPage: texts } = language.texts;
      const page = await findLockedPage(request, sources);
      if (page === null) throw pageNotFound(request.params.slug ?? '');
      const redirect = redirectToDomain(request, siteUrl, page);
      if (redirect !== null) return redirect;
      // There is one place to go from here, whatever the address says.
      const done = (headers = {}) => seeOther(pathFor(request, page.slug), headers);
      if (request.method !== 'POST')
        return (await findShownPage(request, sources)) === null
          ? showLocked(render, request, { siteUrl, language })
          : done();
      const password = (await readForm(request)).get('password') ?? '';
      const outcome = await unlock(page, password, request.client);
      if (outcome.kind === 'accepted') return done(outcome.headers);
      const problem: UnlockProblem =
        outcome.kind === 'refused'
          ? { status: 403, text: texts.wrongPassword }
          : {
              status: 429,
              text: texts.tooManyPasswords(outcome.seconds),
              headers: { 'Retry-After': String(outcome.seconds) },
            };
      return showLocked(render, request, { siteUrl, language }, problem);
    },
  };
}
