/** `/dashboard/pages`: the status pages of an account, and the form that makes one. */

import { countServices, PAGE_BOUNDS, readPageSlug, readPageTitle } from '../../domain/status-page.ts';
import { seeOther } from '../../http/form.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import type { Words } from '../language/english.ts';
import { time } from '../language/phrase.ts';
import { type DashboardSources, refusable, type ShowPage } from './dashboard-sources.ts';
import { type Problem, sayProblem } from './refused-form.ts';
import { findSession, requireForm, type Visitor } from './sign-in-pages.ts';

/** Where the pages of an account are edited. */
export const PAGES_PATH = '/dashboard/pages';

/** The problems of a form, by the name of the field; `form` concerns all of it. */
export type FieldProblems = Readonly<Record<string, Problem>>;

/** The problems in the language of the page. */
export function sayProblems(problems: FieldProblems, { dashboard }: Words): Readonly<Record<string, string>> {
  const entries = Object.entries(problems).map(([field, problem]) => [field, sayProblem(problem, dashboard)]);
  return Object.fromEntries(entries);
}

/** The routes. */
export function pageOverview(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, now } = sources;

  const overview = async (
    session: Visitor,
    problems: FieldProblems,
    typed: { readonly slug: string; readonly title: string },
  ): Promise<HttpResponse> => {
    const { words } = session.language;
    const pages = await registry.pagesOf(session.accountId);
    return show(
      './dashboard-pages',
      {
        title: words.dashboard.pages,
        problems: sayProblems(problems, words),
        typed,
        bounds: PAGE_BOUNDS,
        pages: pages.map((page) => ({
          ...page,
          about: words.pageEditor.about(page.slug, countServices(page.groups), time(page.updatedAt)),
        })),
      },
      session,
      Object.keys(problems).length === 0 ? 200 : 400,
    );
  };

  return [
    {
      path: PAGES_PATH,
      bucket: 'pages',
      async handle(request) {
        const session = await findSession(request, sources);
        return session === null ? seeOther('/sign-in') : await overview(session, {}, { slug: '', title: '' });
      },
    },
    {
      path: `${PAGES_PATH}/add`,
      bucket: 'pages',
      anyMethod: true,
      async handle(request) {
        const { session, form } = await requireForm(request, sources);
        const typed = { slug: form.get('slug') ?? '', title: form.get('title') ?? '' };
        const [slug, title] = [readPageSlug(typed.slug), readPageTitle(typed.title)];
        if (!slug.ok || !title.ok)
          return await overview(
            session,
            { ...(slug.ok ? {} : { slug: slug.problem }), ...(title.ok ? {} : { title: title.problem }) },
            typed,
          );
        const { accountId } = session;
        const page = { accountId, slug: slug.value, title: title.value, text: '', groups: [], now: now() };
        const problem = await refusable(() => registry.addPage(page));
        return problem === null
          ? seeOther(`${PAGES_PATH}/${slug.value}`)
          : await overview(session, { slug: problem }, typed);
      },
    },
  ];
}
