/** Status pages of an account: what they show, to whom and at which domain (docs/status-pages.md). */
import { findPasswordProblem, hashPassword, verifyPassword } from '../../auth/password-hash.ts';
import type { Service } from '../../domain/service.ts';
import {
  arrangePage,
  isListable,
  nameOfEntry,
  type OwnedPage,
  type PageAccess,
  type PageStep,
  type PictureUse,
  readGroupName,
} from '../../domain/status-page.ts';
import type { AccountStore } from '../../store/ports/accounts.ts';
import type { ServiceStore } from '../../store/ports/services.ts';
import type { PageEdit, PageReads, PageStore } from '../../store/ports/status-pages.ts';
import {
  accept,
  attempt,
  mayChange,
  type Outcome,
  type Principal,
  refuse,
  refuseRole,
} from '../kit/change.ts';
import { type ChangeTarget, createChanges, type ReadingOf } from '../kit/create-changes.ts';
import { byNameOnPage, type ListedOnPage, listedFinder, nameOnPage } from '../kit/listed-services.ts';
import { isObject } from '../kit/read-document.ts';
import {
  entryOf,
  type PageDocument,
  pageDocumentOf,
  type ReadPage,
  readPageDocument,
} from './page-document.ts';

export interface PageContext {
  readonly registry: PageStore & ServiceStore & AccountStore;
  /** The live service with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  readonly findServiceById: (id: number) => Service | null;
  /** Public URL of this site, whose domain no page may have. */
  readonly siteUrl: string;
  readonly now: () => number;
}

/** A page as a document describes it, with the members that change where it changes one. */
interface StoredPage {
  readonly page: Omit<ReadPage, 'password' | 'groups'> & {
    readonly groups: OwnedPage['groups'];
  } & SealedReaders;
  readonly edit: PageEdit;
}

/** The changes of pages, which are known by their slugs, in any case. The operator changes those of every account. */
export const pageChanges = createChanges<OwnedPage, string, PageDocument, StoredPage, PageContext>({
  mayChange: 'editor',
  codes: {
    missing: (slug) => ({ code: 'no_page', slug }),
    stale: 'page_stale',
    at: {
      page_slug_taken: 'slug',
      page_slug_of_service: 'slug',
      too_many_pages: 'slug',
      name_taken: 'groups',
    },
  },
  keyOf: ({ slug }) => slug,
  list: ({ registry }, accountId) => registry.pagesOf(accountId),
  async find({ registry }, accountId, slug) {
    const page = await registry.findPage(slug.toLowerCase());
    return page !== null && mayChange({ role: 'operator', accountId }, page.accountId) ? page : null;
  },
  writer: async (context) => (page) => definePage(context, page),
  read: readPage,
  add: ({ registry, now }, accountId, { page }) =>
    attempt(() => registry.addPage({ accountId, ...page, now: now() })),
  async change({ registry, now }, { accountId, slug, revision }, { edit }) {
    const change = () => registry.changePage({ accountId, slug, revision }, edit, now());
    const outcome = await attempt(change, 'groups');
    if (!outcome.ok) return outcome;
    const changed = await registry.findPage(slug);
    return changed === null ? refuse({ code: 'no_page', slug }) : accept(changed);
  },
  remove: ({ registry }, { accountId, slug, revision }) =>
    attempt(() => registry.removePage(accountId, slug, revision)),
});

/** The document of a page, without its pictures and without services that are gone. */
export function definePage(
  { findServiceById }: Pick<PageContext, 'findServiceById'>,
  page: OwnedPage,
): PageDocument {
  return pageDocumentOf(page, {}, (id) => {
    const service = findServiceById(id);
    return service === null || !isListable(service, page.accountId) ? null : nameOnPage(service);
  });
}

/** Pictures and services that a patch does not name stay; the slug cannot be changed (`page_slug_fixed`). */
async function readPage(
  { registry, findService, findServiceById, siteUrl }: PageContext,
  document: unknown,
  { accountId, before, patch }: ReadingOf<OwnedPage>,
): Promise<Outcome<StoredPage>> {
  const own = byNameOnPage(await registry.servicesOf(accountId));
  const find = listedFinder(accountId, own, findService).idOf;
  const byId = (id: ListedOnPage) => (typeof id === 'number' ? findServiceById(id) : null);
  const services = { find, needsName: (id: ListedOnPage) => needsName(before, id, byId) };
  const ofDomain = { siteUrl, anyHost: await registry.isTrusted(accountId) };
  const reading = readPageDocument(withAccess(document, patch), services, ofDomain);
  if (!reading.ok) return reading;
  if (before !== null && reading.value.slug !== before.slug)
    return refuse({ code: 'page_slug_fixed' }, 'slug');
  const { password: _, ...wanted } = reading.value;
  const readers = await sealReaders(reading.value, before);
  if (!readers.ok) return readers;
  const groups = wanted.groups.map((group) => ({
    ...group,
    services: group.services.filter((service) => typeof service === 'number'),
  }));
  const page = { ...wanted, ...readers.value, groups };
  const isNamed = (member: PictureUse | 'groups') =>
    patch === null || (isObject(patch) && Object.hasOwn(patch, member));
  const { slug: _slug, logo, favicon, groups: _groups, ...texts } = page;
  const edit = {
    ...texts,
    ...(isNamed('groups') ? { groups } : {}),
    ...(isNamed('logo') ? { logo } : {}),
    ...(isNamed('favicon') ? { favicon } : {}),
  };
  return accept({ page, edit });
}

/**
 * Returns true if a service needs a name on a page: a private one does that is added. What turned private there stays, and is
 * not shown until it has a name.
 */
export function needsName(
  before: OwnedPage | null,
  listed: ListedOnPage,
  findService: (listed: ListedOnPage) => Pick<Service, 'visibility'> | null,
): boolean {
  if (findService(listed)?.visibility !== 'private') return false;
  const group = before?.groups.find(({ services }) => services.some((id) => id === listed));
  return group === undefined || nameOfEntry(group, listed) !== '';
}

/** A document whose patch has the older name of the access, which must not be merged beside it. */
function withAccess(document: unknown, patch: unknown): unknown {
  if (!isObject(document) || !isObject(patch) || Object.hasOwn(patch, 'access')) return document;
  const { members_only: membersOnly } = patch;
  if (typeof membersOnly !== 'boolean' && membersOnly !== null) return document;
  const { members_only: _, access: __, ...rest } = document;
  return membersOnly === true ? { ...rest, access: 'members' } : rest;
}

/** Who is to see a page. */
interface WantedReaders {
  readonly slug: string;
  readonly access: PageAccess;
  /** A new password in clear text; null or empty: that of before stays. */
  readonly password: string | null;
}

/** The stored form of a page's readers. */
type SealedReaders = Required<Pick<PageEdit, 'access' | 'passwordHash'>>;

/** The problem of a page's readers, before anything is hashed; for the codes see {@link sealReaders}. */
export function checkReaders(
  { slug, access = 'public', password = '' }: Partial<WantedReaders> & Pick<WantedReaders, 'slug'>,
  before: OwnedPage | null,
): Outcome<void> {
  const isNew = password !== null && password !== '';
  if (access !== 'password')
    return isNew ? refuse({ code: 'page_password_unused' }, 'password') : accept(undefined);
  if (!isNew)
    return before?.access === 'password'
      ? accept(undefined)
      : refuse({ code: 'page_password_missing' }, 'password');
  const problem = findPasswordProblem(password, slug);
  return problem === null ? accept(undefined) : refuse(problem, 'password');
}

/**
 * Hashes the password of a page; one that the page has already stays. `before`: the page as it is; null: it is new. Refused with
 * `page_password_missing`, `page_password_unused`, `password_length` and `password_weak`.
 */
export async function sealReaders(
  { slug, access, password }: WantedReaders,
  before: OwnedPage | null,
  registry?: PageReads,
): Promise<Outcome<SealedReaders>> {
  // Forms cut spaces at the ends, where people do not see them.
  const text = (password ?? '').trim();
  const checked = checkReaders({ slug, access, password: text }, before);
  if (!checked.ok) return checked;
  const kept = { access, passwordHash: null };
  if (text === '') return accept(kept);
  const stored = before === null ? null : ((await registry?.findPagePassword(before.id)) ?? null);
  if (stored !== null && (await verifyPassword(text, stored))) return accept(kept);
  return accept({ access, passwordHash: await hashPassword(text) });
}

/** A requested change of a page's list. Groups are numbered from 0. */
export type PageArrangement =
  | Exclude<PageStep, { readonly kind: 'add_service' }>
  | {
      readonly kind: 'add_services';
      /** By their slugs, with the name that each has on the page; empty: none. */
      readonly services: readonly (readonly [slug: string, name: string])[];
      readonly group: number;
    }
  /** The name that a service has on the page; empty: none. */
  | { readonly kind: 'name_service'; readonly serviceId: number; readonly name: string };

/**
 * Changes the list of a page by one step. Refused with `role_required`, `no_page`,
 * `page_stale`, `no_page_service`, `page_entry_unnamed`, `page_has_service`, `page_services_full`, `page_groups_full`,
 * `page_group_name_missing`, and for the name of a group or service as for a text.
 */
export async function arrangeStatusPage(
  context: PageContext,
  principal: Principal,
  { key: slug, revisions }: ChangeTarget<string>,
  arrangement: PageArrangement,
): Promise<Outcome<OwnedPage>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const found = await pageChanges.find(context, principal, slug);
  if (!found.ok) return found;
  if (revisions !== null && !revisions.includes(found.value.revision)) return refuse({ code: 'page_stale' });
  if (arrangement.kind === 'add_group' && arrangement.name.trim() === '')
    return refuse({ code: 'page_group_name_missing' }, 'name');
  const steps = readSteps(context.findService, found.value.accountId, arrangement);
  if (!steps.ok) return steps;
  const names = new Map(
    found.value.groups.flatMap((group) => group.services.map((id) => [id, nameOfEntry(group, id)] as const)),
  );
  if (arrangement.kind === 'name_service') names.set(arrangement.serviceId, arrangement.name);
  if (arrangement.kind === 'add_services')
    for (const [slug, name] of arrangement.services) {
      const id = context.findService(slug.toLowerCase())?.id;
      if (id !== undefined) names.set(id, name);
    }
  let arranged = found.value.groups;
  for (const step of steps.value) {
    const next = arrangePage(arranged, step);
    if (!next.ok) return refuse(next.problem, fieldOf(arrangement));
    arranged = next.groups;
  }
  const groups = arranged.map(({ name, services }) => ({
    name,
    services: services.flatMap((id) => {
      const service = context.findServiceById(id);
      return service === null ? [] : [entryOf(service.slug, names.get(id) ?? '')];
    }),
  }));
  const outcome = await pageChanges.patch(context, principal, { key: slug, revisions }, { groups });
  if (outcome.ok) return outcome;
  // Forms have other fields in place of the paths in the document.
  return {
    ...outcome,
    refusals: outcome.refusals.map((one) =>
      /^groups(?:\.|$)/.test(one.field ?? '') ? { ...one, field: fieldOf(arrangement) } : one,
    ),
  };
}

function readSteps(
  findService: PageContext['findService'],
  accountId: number,
  arrangement: PageArrangement,
): Outcome<readonly PageStep[]> {
  if (arrangement.kind === 'add_services') {
    const steps: PageStep[] = [];
    for (const [slug] of arrangement.services) {
      const service = findService(slug.toLowerCase());
      if (service === null || !isListable(service, accountId))
        return refuse({ code: 'no_page_service', slug }, 'service');
      steps.push({ kind: 'add_service', serviceId: service.id, group: arrangement.group });
    }
    return accept(steps);
  }
  if (arrangement.kind === 'name_service') return accept([]);
  if (arrangement.kind !== 'add_group' && arrangement.kind !== 'rename_group') return accept([arrangement]);
  const name = readGroupName(arrangement.name);
  return name.ok ? accept([{ ...arrangement, name: name.value }]) : refuse(name.problem, 'name');
}

/** The member of an arrangement that a refusal concerns. */
function fieldOf({ kind }: PageArrangement): string | null {
  if (kind === 'add_services') return 'service';
  return kind === 'add_group' || kind === 'name_service' ? 'name' : null;
}
