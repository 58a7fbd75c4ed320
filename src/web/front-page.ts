/** `/`, the first page of the site (`site.home`): the list of services, a status page, or the way to sign in. */
import { seeOther } from '../http/form.ts';
import { prefersPage } from '../http/problem.ts';
import type { HttpRequest, Route } from '../http/route.ts';
import { findLockedPage, findShownPage, pageNotFound } from '../view/status-page-view.ts';
import { HOME } from './dashboard/return-cookie.ts';
import { findSession, type SignInSources } from './dashboard/sign-in-pages.ts';
import { chooseLanguage } from './language/language.ts';
import { listPath, type RenderPage, type ViewSources } from './parts/views.ts';
import type { StatusPageViewSources } from './status-page/status-page.ts';

export interface FrontPageSources extends Pick<ViewSources, 'home'> {
  readonly siteUrl: string;
  /** Null: nobody can sign in. */
  readonly owners: Pick<SignInSources, 'sessions'> | null;
  /** Null: this site has no status pages. */
  readonly ownedPages: StatusPageViewSources['pages'] | null;
  readonly mayRead: StatusPageViewSources['mayRead'];
}

/** The routes of the first page and of the list of services, which has another path if it is not the first page. */
export function frontPage(
  render: RenderPage,
  list: Route,
  statusPages: readonly Route[],
  { cookie, ...sources }: FrontPageSources & Pick<SignInSources, 'cookie'>,
): Route[] {
  const { home = 'services', owners, ownedPages } = sources;
  if (home === 'services') return [list];
  const front = { path: '/', bucket: 'pages', access: 'everyone' } as const;
  const moved: Route = { ...list, path: listPath(sources) };
  if (home === 'sign-in') {
    const find = async (request: HttpRequest) =>
      owners === null ? null : await findSession(request, { ...owners, cookie });
    const handle = async (request: HttpRequest) =>
      seeOther((await find(request)) === null ? '/sign-in' : HOME);
    return [{ ...front, open: true, handle }, moved];
  }
  const slug = home.slice('page:'.length);
  const page = statusPages.find(({ path }) => path === '/p/:slug');
  return [
    {
      ...front,
      open: `page:${slug}`,
      async handle(given) {
        const request = { ...given, params: { slug } };
        const isShown = ownedPages !== null && (await isThere(request, { ...sources, pages: ownedPages }));
        if (isShown && page?.handle !== undefined) return await page.handle(request);
        if (!prefersPage(request.headers.accept)) throw pageNotFound(slug);
        const language = chooseLanguage(request);
        const { notFound, noHome } = language.texts.statusPage;
        return render('./status-page-missing', { language, title: notFound, message: noHome(slug) }, 404);
      },
    },
    moved,
  ];
}

async function isThere(
  request: HttpRequest,
  sources: Pick<StatusPageViewSources, 'pages' | 'mayRead'>,
): Promise<boolean> {
  return (
    (await findShownPage(request, sources)) !== null || (await findLockedPage(request, sources)) !== null
  );
}
