/** Status pages of an account: its owners, its editors or the operator create, change, arrange and remove them. */
import type { Service } from '../domain/service.ts';
import {
  arrangePage,
  type FieldReading,
  isListable,
  type OwnedPage,
  type PageAccess,
  type PageGroup,
  type PageStep,
  type PictureUse,
  readGroupName,
  readPageColour,
  readPageSlug,
  readPageText,
  readPageTitle,
} from '../domain/status-page.ts';
import {
  type AccountPrincipal,
  accept,
  attempt,
  mayChange,
  type Outcome,
  type Principal,
  refuse,
  refuseRole,
} from '../resources/kit/change.ts';
import { readAll } from '../resources/kit/read-input.ts';
import type { PageEdit, PageStore, StoredPicture } from '../store/ports/status-pages.ts';
import { sealReaders, type WantedReaders } from './page-readers.ts';
import { readPicture } from './read-picture.ts';

/** The dependencies of changes of status pages. */
export interface PageContext {
  readonly registry: Pick<PageStore, 'addPage' | 'findPage' | 'changePage' | 'putPicture'>;
  /** The live service with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  readonly now: () => number;
}

/** The input of a status page. */
export interface PageInput {
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  /** Groups in their order, with the slugs of their services. */
  readonly groups: readonly { readonly name: string; readonly services: readonly string[] }[];
  /** The bytes of a picture; null: none. */
  readonly logo: Uint8Array | null;
  readonly favicon: Uint8Array | null;
  /** Default public. */
  readonly access?: PageAccess;
  /** For access by password. */
  readonly password?: string;
}

/** A requested change of a page's list. Groups are numbered from 0. */
export type PageArrangement =
  | Exclude<PageStep, { readonly kind: 'add_service' }>
  | { readonly kind: 'add_service'; readonly service: string; readonly group: number };

/**
 * Makes a page. Refused with `role_required`, for its slug (`page_slug_invalid`, `page_slug_reserved`,
 * `page_slug_taken`, `page_slug_of_service`, `too_many_pages`), its texts (`page_title_missing`, `page_text_too_long`,
 * `page_text_character`), its groups as {@link arrangeStatusPage}, and its pictures as {@link setPagePicture}.
 */
export async function addStatusPage(
  context: PageContext,
  principal: AccountPrincipal,
  input: PageInput,
): Promise<Outcome<OwnedPage>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const reading = readPageInput(input);
  if (!reading.ok) return reading;
  const listed = readAll({ groups: readGroups(context, accountId, input.groups) });
  if (!listed.ok) return listed;
  const { access = 'public', password = null } = input;
  const readers = await sealReaders({ slug: reading.value.slug, access, password }, null);
  if (!readers.ok) return readers;
  const { registry, now } = context;
  const page = { accountId, ...reading.value, ...listed.value, ...readers.value, now: now() };
  return await attempt(() => registry.addPage(page), 'slug');
}

/** Reads the parts of a new page that do not depend on the registry: all except its groups. */
export function readPageInput({ slug, title, text, logo, favicon }: PageInput) {
  return readAll({
    slug: readField(readPageSlug(slug)),
    title: readField(readPageTitle(title)),
    text: readField(readPageText(text)),
    logo: readUploaded(logo, 'logo'),
    favicon: readUploaded(favicon, 'favicon'),
  });
}

/**
 * Changes the texts of a page that is still at `revision`. Refused with `role_required`, `no_page`, `page_stale`, and
 * for its texts as {@link addStatusPage}.
 */
export async function editStatusPage(
  context: PageContext,
  principal: Principal,
  slug: string,
  revision: number,
  { title, text }: Pick<PageInput, 'title' | 'text'>,
): Promise<Outcome<OwnedPage>> {
  const reading = readAll({
    title: readField(readPageTitle(title)),
    text: readField(readPageText(text)),
  });
  if (!reading.ok) return reading;
  const page = await findOwnedPage(context, principal, slug);
  return page.ok ? await write(context, page.value, revision, reading.value) : page;
}

/**
 * Changes the brand colour, empty for none, and who sees a page that is still at `revision`. Refused with `role_required`, `no_page`,
 * `page_stale`, `page_colour_invalid`, and as {@link sealReaders}.
 */
export async function changePageLook(
  context: PageContext,
  principal: Principal,
  slug: string,
  revision: number,
  { colour, access, password }: { readonly colour: string } & Omit<WantedReaders, 'slug'>,
): Promise<Outcome<void>> {
  const reading = readAll({ colour: readField(readPageColour(colour)) });
  if (!reading.ok) return reading;
  const page = await findOwnedPage(context, principal, slug);
  if (!page.ok) return page;
  const readers = await sealReaders({ slug: page.value.slug, access, password }, page.value);
  if (!readers.ok) return readers;
  const written = await write(context, page.value, revision, { ...reading.value, ...readers.value });
  return written.ok ? accept(undefined) : written;
}

/**
 * Changes the list of a page that is still at `revision` by one step. Refused with `role_required`, `no_page`,
 * `page_stale`, `no_page_service`, `page_has_service`, `page_services_full`, `page_groups_full`,
 * `page_group_name_missing`, and for the name of a group as for a text.
 */
export async function arrangeStatusPage(
  context: PageContext,
  principal: Principal,
  slug: string,
  revision: number,
  arrangement: PageArrangement,
): Promise<Outcome<OwnedPage>> {
  const page = await findOwnedPage(context, principal, slug);
  if (!page.ok) return page;
  if (arrangement.kind === 'add_group' && arrangement.name.trim() === '')
    return refuse({ code: 'page_group_name_missing' }, 'name');
  const groups = arrange(context, page.value.accountId, page.value.groups, arrangement);
  return groups.ok ? await write(context, page.value, revision, { groups: groups.value }) : groups;
}

/**
 * Sets the logo or the favicon of a page that is still at `revision` by the bytes of a picture, or removes it with null. Refused
 * with `role_required`, `no_page`, `page_stale`, and as {@link readPicture}.
 */
export async function setPagePicture(
  context: PageContext,
  principal: Principal,
  slug: string,
  revision: number,
  { use, bytes }: { readonly use: PictureUse; readonly bytes: Uint8Array | null },
): Promise<Outcome<void>> {
  const page = await findOwnedPage(context, principal, slug);
  if (!page.ok) return page;
  if (page.value.revision !== revision) return refuse({ code: 'page_stale' });
  const picture = readUploaded(bytes, use);
  if (!picture.ok) return picture;
  await context.registry.putPicture(page.value.accountId, page.value.slug, use, picture.value, context.now());
  return accept(undefined);
}

/**
 * The page that the principal may change. Pages of other accounts count as missing. Refused with `role_required` or
 * `no_page`.
 */
export async function findOwnedPage(
  { registry }: { readonly registry: Pick<PageStore, 'findPage'> },
  principal: Principal,
  slug: string,
): Promise<Outcome<OwnedPage>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const page = await registry.findPage(slug.toLowerCase());
  return page !== null && mayChange(principal, page.accountId)
    ? accept(page)
    : refuse({ code: 'no_page', slug });
}

async function write(
  { registry, now }: PageContext,
  page: OwnedPage,
  revision: number,
  edit: PageEdit,
): Promise<Outcome<OwnedPage>> {
  const { accountId, slug } = page;
  const outcome = await registry.changePage(accountId, slug, revision, edit, now());
  const { title = page.title, text = page.text, groups = page.groups } = edit;
  if (outcome === 'changed') return accept({ ...page, title, text, groups, revision: revision + 1 });
  return refuse(outcome === 'stale' ? { code: 'page_stale' } : { code: 'no_page', slug });
}

/** Builds the groups of a new page step by step, so that the limits of each step apply. */
function readGroups(
  context: PageContext,
  accountId: number,
  wanted: PageInput['groups'],
): Outcome<readonly PageGroup[]> {
  let groups: Outcome<readonly PageGroup[]> = accept([]);
  for (const [group, { name, services }] of wanted.entries()) {
    const steps: PageArrangement[] = [
      { kind: 'add_group', name },
      ...services.map((service) => ({ kind: 'add_service', service, group }) as const),
    ];
    for (const step of steps) if (groups.ok) groups = arrange(context, accountId, groups.value, step);
  }
  return groups;
}

/** The list after a step. A page may show services of the catalogue and of its own account. */
function arrange(
  { findService }: PageContext,
  accountId: number,
  groups: readonly PageGroup[],
  arrangement: PageArrangement,
): Outcome<readonly PageGroup[]> {
  const step = readStep(findService, accountId, arrangement);
  if (!step.ok) return step;
  const arranged = arrangePage(groups, step.value);
  return arranged.ok ? accept(arranged.groups) : refuse(arranged.problem, fieldOf(arrangement));
}

function readStep(
  findService: PageContext['findService'],
  accountId: number,
  arrangement: PageArrangement,
): Outcome<PageStep> {
  if (arrangement.kind === 'add_service') {
    const { group, service: slug } = arrangement;
    const service = findService(slug.toLowerCase());
    return service !== null && isListable(service, accountId)
      ? accept({ kind: 'add_service', serviceId: service.id, group })
      : refuse({ code: 'no_page_service', slug }, 'service');
  }
  if (arrangement.kind !== 'add_group' && arrangement.kind !== 'rename_group') return accept(arrangement);
  const name = readGroupName(arrangement.name);
  return name.ok ? accept({ ...arrangement, name: name.value }) : refuse(name.problem, 'name');
}

/** The member of an arrangement that a refusal concerns. */
function fieldOf({ kind }: PageArrangement): string | null {
  if (kind === 'add_service') return 'service';
  return kind === 'add_group' ? 'name' : null;
}

/** The outcome of reading a member of a page. */
export function readField<T>(
  reading: { readonly ok: true; readonly value: T } | Extract<FieldReading, { readonly ok: false }>,
): Outcome<T> {
  return reading.ok ? accept(reading.value) : refuse(reading.problem);
}

/** The picture of these bytes; null: none. Refused as {@link readPicture}, with the use as field. */
export function readUploaded(bytes: Uint8Array | null, use: PictureUse): Outcome<StoredPicture | null> {
  if (bytes === null) return accept(null);
  const reading = readPicture(bytes, use);
  return reading.ok ? accept(reading.picture) : refuse(reading.problem, use);
}
