/** `/dashboard/pages`: the status pages of an account, and the form that creates one. */

import { countServices, PAGE_BOUNDS, PAGE_TEXTS } from '../../domain/status-page.ts';
import { seeOther } from '../../http/form.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { pageChanges } from '../../resources/pages/pages.ts';
import {
  changeContext,
  type DashboardSources,
  type RefusedForm,
  type ShowPage,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

export const PAGES_PATH = '/dashboard/pages';

export function pageOverview(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry } = sources;

  const overview = async (session: Visitor, refused: RefusedForm | null): Promise<HttpResponse> => {
    const { texts } = session.language;
    const pages = await registry.pagesOf(session.accountId);
    return show('./dashboard-pages', session, refused, {
      title: texts.dashboard.pages,
      problems: refused?.problems ?? {},
      typed: { slug: refused?.typed.get('slug') ?? '', title: refused?.typed.get('title') ?? '' },
      bounds: PAGE_BOUNDS,
      maxTitle: PAGE_TEXTS.title,
      pages: pages.map((page) => ({
        ...page,
        about: texts.pageEditor.about(page.slug, countServices(page.groups), time(page.updatedAt)),
      })),
    });
  };

  return [
    visitorRoute(sources, PAGES_PATH, 'viewer', (session) => overview(session, null)),
    visitorForms(
      sources,
      PAGES_PATH,
      overview,
    )('add', async (_, session, fields) => {
      const { title = '', slug = '' } = Object.fromEntries(fields);
      const outcome = await pageChanges.add(changeContext(sources), session, { slug, title });
      return outcome.ok ? seeOther(`${PAGES_PATH}/${outcome.value.slug}`) : outcome;
    }),
  ];
}
