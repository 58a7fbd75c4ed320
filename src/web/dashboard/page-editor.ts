/** `/dashboard/pages/:slug`: what one status page says, its services and groups, its logo, and how to embed it. */

import { readLogo } from '../../app/read-logo.ts';
import type { Service } from '../../domain/service.ts';
import {
  arrangePage,
  countServices,
  type OwnedPage,
  PAGE_BOUNDS,
  type PageStep,
  readGroupName,
  readPageText,
  readPageTitle,
} from '../../domain/status-page.ts';
import { readUpload, seeOther } from '../../http/form.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import type { PageEdit } from '../../store/ports/status-pages.ts';
import { findListed, logoPath, pageNotFound } from '../../view/status-page-view.ts';
import type { DashboardSources, ShowPage } from './dashboard-sources.ts';
import { type FieldProblems, PAGES_PATH, sayProblems } from './page-overview.ts';
import { findServices } from './page-search.ts';
import type { Problem } from './refused-form.ts';
import { findSession, requireForm, type Visitor } from './sign-in-pages.ts';

/** The outcome of a form: back to the editor, or a problem. */
type Outcome = { readonly goTo: string } | FieldProblems;

type Fields = ReadonlyMap<string, string>;

/** The routes. */
export function pageEditor(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, directory, siteUrl, now } = sources;

  /** The account's own page; another's is not found, as if it were not there. */
  const find = async ({ params }: HttpRequest, { accountId }: Visitor): Promise<OwnedPage> => {
    const slug = (params.slug ?? '').toLowerCase();
    const page = await registry.findPage(slug);
    if (page === null || page.accountId !== accountId) throw pageNotFound(slug);
    return page;
  };

  const editor = (
    page: OwnedPage,
    session: Visitor,
    { search = '', problems = {}, typed = new Map() }: Partial<EditorState> = {},
  ): HttpResponse => {
    const { slug, groups } = page;
    const url = `${siteUrl}/p/${slug}`;
    const address = `${siteUrl}/embed.js`;
    return show(
      './dashboard-page',
      {
        title: page.title,
        page,
        problems: sayProblems(problems, session.language.words),
        typed: { title: typed.get('title') ?? page.title, text: typed.get('text') ?? page.text },
        newGroup: typed.get('group_name') ?? '',
        bounds: PAGE_BOUNDS,
        url,
        logo: page.logo === null ? null : logoPath(slug, page.logo.mark),
        groups: groups.map(({ name, services }) => ({
          name,
          services: services.map((id) => ({ id, service: findListed(directory, page.accountId, id) })),
        })),
        count: countServices(groups),
        search,
        found: search === '' ? null : findServices(directory, page, search),
        frame: `<iframe src="${url}/embed" title="Status" width="100%" height="200" style="border:0" loading="lazy"></iframe>`,
        script: `<script src="${address}" data-page="${slug}" async></script>`,
      },
      session,
      Object.keys(problems).length === 0 ? 200 : 400,
    );
  };

  const form = (
    action: string,
    take: (page: OwnedPage, session: Visitor, fields: Fields) => Promise<Outcome>,
  ): Route => ({
    path: `${PAGES_PATH}/:slug/${action}`,
    bucket: 'pages',
    anyMethod: true,
    async handle(request) {
      const { session, form: fields } = await requireForm(request, sources);
      const page = await find(request, session);
      const outcome = await take(page, session, fields);
      if (isGoing(outcome)) return seeOther(outcome.goTo);
      const search = fields.get('q') ?? '';
      return editor(await find(request, session), session, { problems: outcome, typed: fields, search });
    },
  });

  /** Writes what changes, if the page is still what its owner saw. */
  const change = async (
    page: OwnedPage,
    { language }: Visitor,
    fields: Fields,
    edit: PageEdit,
    anchor: string,
  ): Promise<Outcome> => {
    const { accountId, slug } = page;
    const seen = Number(fields.get('revision'));
    const outcome = await registry.changePage(accountId, slug, seen, edit, now());
    if (outcome === 'changed') return back(page, anchor, fields.get('q'));
    const { stale, missing } = language.words.pageEditor;
    return { form: outcome === 'stale' ? stale : missing };
  };

  const arrange = async (
    page: OwnedPage,
    session: Visitor,
    fields: Fields,
    step: PageStep,
    anchor: string,
    field: string,
  ) => {
    const arranged = arrangePage(page.groups, step);
    if (!arranged.ok) return { [field]: arranged.problem };
    return await change(page, session, fields, { groups: arranged.groups }, anchor);
  };

  return [
    {
      path: `${PAGES_PATH}/:slug`,
      bucket: 'pages',
      async handle(request) {
        const session = await findSession(request, sources);
        if (session === null) return seeOther('/sign-in');
        const search = (new URLSearchParams(request.query).get('q') ?? '').trim().slice(0, 100);
        return editor(await find(request, session), session, { search });
      },
    },
    form('save', async (page, session, fields) => {
      const title = readPageTitle(fields.get('title') ?? '');
      const text = readPageText(fields.get('text') ?? '');
      if (title.ok && text.ok)
        return await change(page, session, fields, { title: title.value, text: text.value }, 'words');
      return { ...(title.ok ? {} : { title: title.problem }), ...(text.ok ? {} : { text: text.problem }) };
    }),
    form('add', async (page, session, fields) => {
      const service = directory.bySlug(fields.get('service') ?? '');
      if (service === null || findListed(directory, session.accountId, service.id) === null)
        return { search: session.language.words.pageEditor.noSuchService };
      const group = Number(fields.get('group')) || 0;
      const step = { kind: 'add_service', serviceId: service.id, group } as const;
      return await arrange(page, session, fields, step, 'add', 'search');
    }),
    form('arrange', async (page, session, fields) => {
      const step = readStep(fields.get('step') ?? '');
      if (step === null) return { form: session.language.words.pageEditor.noSuchButton };
      const anchor = 'serviceId' in step && step.kind === 'move_service' ? `s-${step.serviceId}` : 'services';
      return await arrange(page, session, fields, step, anchor, 'form');
    }),
    form('group', async (page, session, fields) => {
      const name = readGroupName(fields.get('group_name') ?? '');
      if (!name.ok) return { group_name: name.problem };
      if (name.value === '') return { group_name: session.language.words.pageEditor.groupNeedsName };
      return await arrange(
        page,
        session,
        fields,
        { kind: 'add_group', name: name.value },
        'services',
        'group_name',
      );
    }),
    form('rename', async (page, session, fields) => {
      const group = Number(fields.get('group')) || 0;
      const name = readGroupName(fields.get('name') ?? '');
      if (!name.ok) return { [`group_${group}`]: name.problem };
      return await arrange(
        page,
        session,
        fields,
        { kind: 'rename_group', group, name: name.value },
        'services',
        'form',
      );
    }),
    {
      path: `${PAGES_PATH}/:slug/logo`,
      bucket: 'pages',
      anyMethod: true,
      async handle(request) {
        // Without a session there is nothing to upload to.
        const signedIn = await findSession(request, sources);
        if (signedIn === null) return seeOther('/sign-in');
        if (request.method === 'POST') return await takeLogo(request, signedIn);
        return seeOther(`${PAGES_PATH}/${(await find(request, signedIn)).slug}`);
      },
    },
    form('unlogo', async (page, { accountId }) => {
      await registry.putLogo(accountId, page.slug, null, now());
      return back(page, 'logo');
    }),
    form('delete', async ({ slug }, { accountId, language }, fields) => {
      if (fields.get('confirm') !== slug) return { confirm: language.words.pageEditor.toDeletePage(slug) };
      await registry.removePage(accountId, slug);
      return { goTo: PAGES_PATH };
    }),
  ];

  async function takeLogo(request: HttpRequest, signedIn: Visitor): Promise<HttpResponse> {
    const upload = await readUpload(request, 'logo', PAGE_BOUNDS.logoBytes);
    const page = await find(request, signedIn);
    const words = signedIn.language.words.pageEditor;
    const say = (problem: Problem) => editor(page, signedIn, { problems: { logo: problem } });
    // A body that was too large to read has no token to verify; the response changes nothing.
    if (upload.tooLarge) return say(words.tooLarge(PAGE_BOUNDS.logoBytes / 1024));
    const { session } = await requireForm(request, sources, async () => upload.fields);
    if (upload.file === null) return say(words.chooseFirst);
    const reading = readLogo(upload.file);
    if (!reading.ok) return say(reading.problem);
    await registry.putLogo(session.accountId, page.slug, reading.logo, now());
    return seeOther(`${PAGES_PATH}/${page.slug}#logo`);
  }
}

interface EditorState {
  /** The text to search services for; empty: no search. */
  readonly search: string;
  readonly problems: FieldProblems;
  /** What was typed into the form that was not taken. */
  readonly typed: Fields;
}

/** The services of a page as its editor sees them. */
export type EditedService = { readonly id: number; readonly service: Service | null };

function isGoing(outcome: Outcome): outcome is { readonly goTo: string } {
  return 'goTo' in outcome;
}

/** The editor again, at the place where its owner was, with the same search. */
function back({ slug }: OwnedPage, anchor: string, search = ''): Outcome {
  const query = search === '' ? '' : `?${new URLSearchParams({ q: search })}`;
  return { goTo: `${PAGES_PATH}/${slug}${query}#${anchor}` };
}

/**
 * Reads a step from a form: `up 12`, `down 12`, `remove 12` with the id of a service, `group_up 1`, `group_down 1`,
 * `group_remove 1` with the number of a group. Null: no such step.
 */
function readStep(text: string): PageStep | null {
  const found = /^(up|down|remove|group_up|group_down|group_remove) (\d{1,15})$/.exec(text);
  if (found === null) return null;
  const number = Number(found[2]);
  switch (found[1]) {
    case 'up':
      return { kind: 'move_service', serviceId: number, by: -1 };
    case 'down':
      return { kind: 'move_service', serviceId: number, by: 1 };
    case 'remove':
      return { kind: 'remove_service', serviceId: number };
    case 'group_up':
      return { kind: 'move_group', group: number, by: -1 };
    case 'group_down':
      return { kind: 'move_group', group: number, by: 1 };
    default:
      return { kind: 'remove_group', group: number };
  }
}
