/**
 * `/dashboard/pages`: the status pages of an account, and the form that creates one. `/dashboard/pages/:slug`: the texts,
 * services, groups, pictures and embed of a status page.
 */
import type { Service } from '../../domain/service.ts';
import {
  countServices,
  nameOfEntry,
  type OwnedPage,
  PAGE_ACCESS,
  PAGE_BOUNDS,
  PAGE_TEXT_NAMES,
  PAGE_TEXTS,
  PICTURE_BOUNDS,
  PICTURE_USES,
  type PictureUse,
} from '../../domain/status-page.ts';
import { readUpload, seeOther } from '../../http/body.ts';
import { type HttpRequest, type HttpResponse, pageRoute, type Route } from '../../http/route.ts';
import { type Phrase, time } from '../../language/phrase.ts';
import { type Refused, refuse } from '../../resources/kit/change.ts';
import { pictureUrlOf } from '../../resources/pages/page-document.ts';
import { verifyPageDomain } from '../../resources/pages/page-domains.ts';
import { arrangeStatusPage, type PageArrangement, pageChanges } from '../../resources/pages/pages.ts';
import { pageUrl } from '../../view/page-address.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import { findListed, pageNotFound, picturePart } from '../../view/status-page-view.ts';
import {
  changeContext,
  type DashboardForm,
  type DashboardSources,
  describeRefusals,
  type FormFields,
  type FormOutcome,
  formRoute,
  numberIn,
  type RefusedForm,
  renameFields,
  requireRole,
  type ShowPage,
  shownRevision,
  targetIn,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import { findSession, requireForm, type Visitor } from './sign-in-pages.ts';

export function pageEditor(show: ShowPage, sources: DashboardSources): Route[] {
  const context = changeContext(sources);
  const find = createFinder(sources);
  const editor = createEditor(show, sources);

  /** Creates the route of a form. `anchor` is the part of the editor that contains it. */
  const form = (name: string, anchor: string, take: DashboardForm<OwnedPage>['take']): Route =>
    formRoute(sources, {
      path: `${PAGES_PATH}/:slug/${name}`,
      name,
      find,
      take,
      labels:
        (_, { language }) =>
        (name) => {
          const text = PAGE_TEXT_NAMES.find((one) => one === name);
          return text === undefined ? undefined : language.texts.pageEditor[text];
        },
      back: (page, fields) => editorPath(page, anchor, fields),
      page: (page, session, refused) => editor(page, session, refused, refused.typed.get('q')),
    });

  const arrange = ({ slug }: OwnedPage, session: Visitor, fields: FormFields, arrangement: PageArrangement) =>
    arrangeStatusPage(context, session, targetIn(slug, fields), arrangement);

  const patch = ({ slug }: OwnedPage, session: Visitor, fields: FormFields, change: object) =>
    pageChanges.patch(context, session, targetIn(slug, fields), change);

  return [
    visitorRoute(sources, `${PAGES_PATH}/:slug`, 'editor', async (session, request) => {
      const search = (new URLSearchParams(request.query).get('q') ?? '').trim().slice(0, 100);
      return editor(await find(request, session), session, null, search);
    }),
    form('save', 'words', async (page, session, fields) => {
      const texts = PAGE_TEXT_NAMES.map((name) => [name, fields.get(name)?.replaceAll('\r\n', '\n') ?? '']);
      return await patch(page, session, fields, Object.fromEntries(texts));
    }),
    form('look', 'look', async (page, session, fields) => {
      const { colour = '', access: wanted, password = '' } = Object.fromEntries(fields);
      const access = PAGE_ACCESS.find((one) => one === wanted) ?? page.access ?? 'public';
      const look = { brand_colour: colour, access, password };
      return renameFields(await patch(page, session, fields, look), { brand_colour: 'colour' });
    }),
    form('domain', 'domain', async (page, session, fields) => {
      return await patch(page, session, fields, { custom_domain: fields.get('custom_domain') ?? '' });
    }),
    form('verify', 'domain', async ({ slug }, session) => {
      return await verifyPageDomain(context, session, slug);
    }),
    form('add', 'add', async (page, session, fields) => {
      const ticked = [...fields.keys()].filter((name) => name.startsWith('service:'));
      const services = [
        fields.get('service') ?? [],
        ticked.map((name) => name.slice('service:'.length)),
      ].flat();
      if (services.length === 0)
        return { problems: { search: session.language.texts.pageEditor.noneChosen } };
      const named = services.map((slug) => [slug, fields.get(`name:${slug}`) ?? ''] as const);
      const outcome = await arrange(page, session, fields, {
        ...{ kind: 'add_services', services: named },
        group: groupOf(fields),
      });
      return renameFields(outcome, { service: 'search', name: 'search' });
    }),
    form('arrange', 'services', async (page, session, fields): Promise<FormOutcome> => {
      const step = readStep(fields.get('step') ?? '');
      if (step === null) return { problems: { form: session.language.texts.pageEditor.noSuchButton } };
      const outcome = await arrange(page, session, fields, step);
      const isMove = outcome.ok && step.kind === 'move_service';
      return isMove ? seeOther(editorPath(page, `s-${step.serviceId}`, fields)) : outcome;
    }),
    form('entry', 'services', async (page, session, fields) => {
      const serviceId = numberIn(fields, 'service');
      const name = fields.get('name') ?? '';
      const outcome = await arrange(page, session, fields, { kind: 'name_service', serviceId, name });
      if (outcome.ok) return seeOther(editorPath(page, `s-${serviceId}`, fields));
      return renameFields(outcome, { name: `entry_${serviceId}` });
    }),
    form('group', 'services', async (page, session, fields) => {
      const name = fields.get('group_name') ?? '';
      const outcome = await arrange(page, session, fields, { kind: 'add_group', name });
      return renameFields(outcome, { name: 'group_name' });
    }),
    form('rename', 'services', async (page, session, fields) => {
      const [group, name] = [groupOf(fields), fields.get('name') ?? ''];
      const outcome = await arrange(page, session, fields, { kind: 'rename_group', group, name });
      return renameFields(outcome, { name: `group_${group}` });
    }),
    ...PICTURE_USES.flatMap((use) => [
      uploadRoute(use, sources, editor),
      form(`un${use}`, use, (page, session, fields) => patch(page, session, fields, { [use]: null })),
    ]),
    form('delete', 'end', async ({ slug }, session, fields) => {
      if (fields.get('confirm') !== slug)
        return { problems: { confirm: session.language.texts.pageEditor.toDeletePage(slug) } };
      const outcome = await pageChanges.remove(context, session, targetIn(slug, fields));
      return outcome.ok ? seeOther(PAGES_PATH) : outcome;
    }),
  ];
}

/** Finds a status page of the account of a visitor. Pages of other accounts are not found. */
function createFinder({ registry }: DashboardSources) {
  return async ({ params }: HttpRequest, { accountId }: Visitor): Promise<OwnedPage> => {
    const slug = (params.slug ?? '').toLowerCase();
    const page = await registry.findPage(slug);
    if (page === null || page.accountId !== accountId) throw pageNotFound(slug);
    return page;
  };
}

function createEditor(show: ShowPage, { directory, proofs, siteUrl }: DashboardSources) {
  return (page: OwnedPage, session: Visitor, refused: RefusedForm | null, search = ''): HttpResponse => {
    const { problems = {}, typed = new Map<string, string>() } = refused ?? {};
    const { slug, groups } = page;
    const url = pageUrl(siteUrl, page);
    const address = `${siteUrl}/embed.js`;
    return show('./dashboard-page', session, refused, {
      title: page.title,
      page,
      revision: shownRevision(refused, page),
      problems,
      isOvertaken: refused?.isOvertaken === true,
      texts: PAGE_TEXT_NAMES.map((name) => ({
        ...{ name, label: session.language.texts.pageEditor[name], max: PAGE_TEXTS[name] },
        value: typed.get(name) ?? page[name] ?? '',
      })),
      colour: typed.get('colour') ?? page.colour ?? '',
      newGroup: typed.get('group_name') ?? '',
      bounds: PAGE_BOUNDS,
      url,
      pictures: [viewPicture(page, 'logo', session), viewPicture(page, 'favicon', session)],
      readers: PAGE_ACCESS.map((access) => ({
        access,
        chosen: access === (typed.get('access') ?? page.access ?? 'public'),
        ...session.language.texts.pageEditor.access[access],
      })),
      domain: typed.get('custom_domain') ?? page.domain?.name ?? '',
      proof: page.domain === undefined ? null : proofs.instructions(page.accountId, page.domain.name),
      proved: viewProof(page, session),
      groups: groups.map((group) => ({
        name: group.name,
        services: group.services.map((id) => ({
          ...{ id, service: findListed(directory, page.accountId, id) },
          own: nameOfEntry(group, id),
          entered: typed.get('service') === String(id) ? typed.get('name') : undefined,
        })),
      })),
      count: countServices(groups),
      search,
      found: findServices(directory, page, search),
      isTicked: (service: string) => typed.has(`service:${service}`),
      nameEntered: (service: string) => typed.get(`name:${service}`) ?? '',
      frame: `<iframe src="${siteUrl}/p/${slug}/embed" title="Status" width="100%" height="200" style="border:0" loading="lazy"></iframe>`,
      script: `<script src="${address}" data-page="${slug}" async></script>`,
    });
  };
}

/** The route that takes a picture of a page. */
function uploadRoute(
  use: PictureUse,
  sources: DashboardSources,
  editor: ReturnType<typeof createEditor>,
): Route {
  const find = createFinder(sources);
  const context = changeContext(sources);
  const take = async (request: HttpRequest, signedIn: Visitor): Promise<HttpResponse> => {
    const { bytes: maxBytes } = PICTURE_BOUNDS[use];
    const upload = await readUpload(request, use, maxBytes);
    const page = await find(request, signedIn);
    const showRefused = (outcome: Refused) =>
      editor(page, signedIn, { form: use, problems: describeRefusals(outcome, signedIn), typed: new Map() });
    // A body that was too large has no token to verify. The response changes nothing.
    if (upload.tooLarge) return showRefused(refuse({ code: 'picture_too_large', maxBytes }, use));
    const { session } = await requireForm(request, sources, async () => upload.fields);
    const bytes = upload.file ?? new Uint8Array();
    const change = { [use]: pictureUrlOf({ type: 'image/png', bytes }) };
    const target = targetIn(page.slug, upload.fields);
    const outcome = await pageChanges.patch(context, session, target, change);
    return outcome.ok ? seeOther(editorPath(page, use)) : showRefused(outcome);
  };
  return pageRoute(
    { path: `${PAGES_PATH}/:slug/${use}`, access: { member: 'editor' }, anyMethod: true },
    async (request) => {
      // An upload requires a session.
      const signedIn = await findSession(request, sources);
      if (signedIn === null) return seeOther('/sign-in');
      requireRole(signedIn, 'editor');
      if (request.method === 'POST') return await take(request, signedIn);
      return seeOther(`${PAGES_PATH}/${(await find(request, signedIn)).slug}`);
    },
  );
}

/** The form of a picture: its words, its bounds, and the picture if there is one. */
function viewPicture(page: OwnedPage, use: PictureUse, { language }: Visitor) {
  const { logo, favicon } = language.texts.pageEditor;
  const { bytes, maxPixels, formats } = PICTURE_BOUNDS[use];
  const words = use === 'logo' ? logo : favicon;
  const picture = page[use] ?? null;
  return {
    use,
    ...words,
    label: words.label(formats, bytes / 1024, maxPixels),
    accept: formats.map((format) => `.${format.toLowerCase()}`).join(),
    shown:
      picture === null ? null : { ...picture, path: `/p/${page.slug}/${picturePart(use, picture.mark)}` },
  };
}

/** The state of the proof of a page's domain, in words; null: it has none. */
function viewProof({ domain }: OwnedPage, { language }: Visitor): Phrase | null {
  if (domain === undefined) return null;
  const { domainProved, domainMissing, domainUnproved } = language.texts.pageEditor;
  if (domain.provedAt === null) return domainUnproved;
  return domain.missingSince === null
    ? domainProved(time(domain.provedAt))
    : domainMissing(time(domain.missingSince));
}

/** The path of the editor with the same anchor and search. */
function editorPath({ slug }: OwnedPage, anchor: string, fields: FormFields = new Map()): string {
  const search = fields.get('q') ?? '';
  const query = search === '' ? '' : `?${new URLSearchParams({ q: search })}`;
  return `${PAGES_PATH}/${slug}${query}#${anchor}`;
}

function groupOf(fields: FormFields): number {
  return numberIn(fields, 'group');
}

/**
 * Reads a step from a form: `up 12`, `down 12`, `remove 12` with the id of a service, `group_up 1`, `group_down 1`,
 * `group_remove 1` with the number of a group. Null: no such step.
 */
function readStep(
  text: string,
): Exclude<PageArrangement, { kind: 'add_services' | 'name_service' | 'add_group' | 'rename_group' }> | null {
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

const MAX_RESULTS = 20;

/**
 * Finds services that the account may show and that are not on the page yet, whose name, domain or slug contains the
 * text; without a text only the account's own. These come first, then those that begin with the text. Returns at most 20, and
 * the number of others.
 */
function findServices(
  directory: ShownDirectory,
  { accountId, groups }: OwnedPage,
  text: string,
): { readonly services: readonly Service[]; readonly more: number } {
  const wanted = text.trim().toLowerCase();
  const listed = new Set(groups.flatMap(({ services }) => services));
  const found = directory.whole
    .all()
    .filter(({ origin }) => wanted !== '' || origin === 'owner')
    .filter((service) => !listed.has(service.id) && findListed(directory, accountId, service.id) !== null)
    .filter(({ name, domain, slug }) => `${name}\n${domain}\n${slug}`.toLowerCase().includes(wanted));
  const rank = ({ origin, name }: Service) =>
    (origin === 'owner' ? 0 : 2) + (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  const sorted = [...found].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en'));
  return { services: sorted.slice(0, MAX_RESULTS), more: Math.max(0, sorted.length - MAX_RESULTS) };
}

const PAGES_PATH = '/dashboard/pages';

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
