/** Status pages that are created and changed as documents, as the API has them (docs/api.md). */
import type { Service } from '../domain/service.ts';
import type { OwnedPage, PictureUse } from '../domain/status-page.ts';
import {
  type AccountPrincipal,
  accept,
  attempt,
  MAX_TRIES,
  mayChange,
  type Outcome,
  type Principal,
  refuse,
  refuseRole,
} from '../resources/kit/change.ts';
import { listedFinder, nameOnPage } from '../resources/kit/listed-services.ts';
import { isObject, mergePatch } from '../resources/kit/merge-patch.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import { type PageDocument, pageDocumentOf, readPageDocument } from './page-document.ts';
import { sealReaders } from './page-readers.ts';

/** The dependencies of these changes. */
export interface PageDefinitionContext {
  readonly registry: Pick<PageStore, 'addPage' | 'findPage' | 'changePage' | 'removePage'> &
    Pick<ServiceStore, 'servicesOf'>;
  /** The live service with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  readonly findServiceById: (id: number) => Service | null;
  readonly now: () => number;
}

/**
 * Creates a page. Refused with `role_required`, `page_slug_taken`, `page_slug_of_service`, `too_many_pages`, and as
 * `readPageDocument`.
 */
export async function createPage(
  context: PageDefinitionContext,
  principal: AccountPrincipal,
  document: unknown,
): Promise<Outcome<OwnedPage>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const reading = await readPage(context, principal, document);
  if (!reading.ok) return reading;
  const { password: _, ...wanted } = reading.value;
  const readers = await sealReaders(reading.value, null);
  if (!readers.ok) return readers;
  const page = { accountId: principal.accountId, ...wanted, ...readers.value, now: context.now() };
  return await attempt(() => context.registry.addPage(page), 'slug');
}

/**
 * Changes a page by a merge patch (RFC 7396) of its document; a picture that the patch does not name stays. `revisions`: those that
 * the client has seen; null: any. Refused with `role_required`, `no_page`, `page_stale`, `page_slug_fixed`, and as
 * `readPageDocument`.
 */
export async function patchPage(
  context: PageDefinitionContext,
  principal: AccountPrincipal,
  slug: string,
  patch: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<OwnedPage>> {
  return await changeSeen(context, principal, slug, revisions, async (page) => {
    const reading = await readPage(
      context,
      principal,
      mergePatch(definePage(context, page), nameAccess(patch)),
    );
    if (!reading.ok) return reading;
    const { slug: wanted, logo, favicon, password: _, ...texts } = reading.value;
    if (wanted !== page.slug) return refuse({ code: 'page_slug_fixed' }, 'slug');
    const readers = await sealReaders(reading.value, page);
    if (!readers.ok) return readers;
    const isNamed = (use: PictureUse) => isObject(patch) && Object.hasOwn(patch, use);
    const edit = {
      ...texts,
      ...readers.value,
      ...(isNamed('logo') ? { logo } : {}),
      ...(isNamed('favicon') ? { favicon } : {}),
    };
    const { accountId, revision } = page;
    const outcome = await context.registry.changePage(accountId, page.slug, revision, edit, context.now());
    if (outcome !== 'changed') return refuse({ code: 'page_stale' });
    const changed = await context.registry.findPage(page.slug);
    return changed === null ? refuse({ code: 'no_page', slug }) : accept(changed);
  });
}

/** A patch with the access in place of its older name, which must not be merged beside it. */
function nameAccess(patch: unknown): unknown {
  if (!isObject(patch) || Object.hasOwn(patch, 'access')) return patch;
  const { members_only: membersOnly, ...rest } = patch;
  if (typeof membersOnly !== 'boolean' && membersOnly !== null) return patch;
  return { ...rest, access: membersOnly === true ? 'members' : null };
}

/**
 * Removes a page permanently; its slug stays reserved for its account. Refused with `role_required`, `no_page` and `page_stale`, for
 * which see {@link patchPage}.
 */
export async function removePage(
  context: { readonly registry: Pick<PageStore, 'findPage' | 'removePage'> },
  principal: Principal,
  slug: string,
  revisions: readonly number[] | null,
): Promise<Outcome<void>> {
  return await changeSeen(
    context,
    principal,
    slug,
    revisions,
    async ({ accountId, slug: known, revision }) =>
      (await context.registry.removePage(accountId, known, revision))
        ? accept(undefined)
        : refuse({ code: 'page_stale' }),
  );
}

/** The document of a page, without its pictures and without services that are gone. */
export function definePage(
  { findServiceById }: Pick<PageDefinitionContext, 'findServiceById'>,
  page: OwnedPage,
): PageDocument {
  return pageDocumentOf(page, {}, (id) => {
    const service = findServiceById(id);
    return service === null ? null : nameOnPage(service);
  });
}

async function readPage(
  { registry, findService }: PageDefinitionContext,
  { accountId }: AccountPrincipal,
  document: unknown,
) {
  const own = new Map((await registry.servicesOf(accountId)).map((service) => [service.domain, service]));
  const reading = readPageDocument(document, listedFinder(accountId, own, findService).idOf);
  if (!reading.ok) return reading;
  const groups = reading.value.groups.map(({ name, services }) => ({
    name,
    services: services.filter((service) => typeof service === 'number'),
  }));
  return accept({ ...reading.value, groups });
}

/** Makes a change of the page in its newest state, again if another writer was faster. */
async function changeSeen<T>(
  { registry }: { readonly registry: Pick<PageStore, 'findPage'> },
  principal: Principal,
  slug: string,
  revisions: readonly number[] | null,
  change: (page: OwnedPage) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  for (let tried = 1; ; tried++) {
    const page = await registry.findPage(slug.toLowerCase());
    if (page === null || !mayChange(principal, page.accountId)) return refuse({ code: 'no_page', slug });
    if (revisions !== null && !revisions.includes(page.revision)) return refuse({ code: 'page_stale' });
    const outcome = await change(page);
    const isStale = !outcome.ok && outcome.refusals.some(({ refusal }) => refusal.code === 'page_stale');
    if (!isStale || tried === MAX_TRIES) return outcome;
  }
}
