/** Status pages of owners, and their logos. */

import { type OwnedPage, PAGE_BOUNDS } from '../../domain/status-page.ts';
import type { NewPage, PageEdit, PageStore, StoredLogo } from '../ports/status-pages.ts';
import { planOccurrencesOfPage } from './owner-maintenance-rows.ts';
import { type Calls, read, write } from './registry-calls.ts';
import { RegistryError } from './registry-error.ts';
import { fromRow, type RegistryStore } from './registry-store.ts';
import { noteRuleChange } from './rule-rows.ts';
import type { Row } from './schema.ts';
import { endSubscriptions } from './subscription-changes.ts';

/** Status pages. */
export const PAGE_CALLS: Calls<PageStore> = {
  addPage: write(addPage),
  findPage: read(async (store, slug) => {
    const row = await findRow(store, slug);
    return row === undefined ? null : toPage(row);
  }),
  pagesOf: read(pagesOf),
  listPages: read(async ({ kysely, queries }) => {
    const rows = await queries.all(
      kysely
        .selectFrom('status_pages')
        .innerJoin('accounts', 'accounts.id', 'status_pages.account_id')
        .selectAll('status_pages')
        .select('accounts.name as account_name')
        .where('removed', '=', 0)
        .orderBy('slug'),
    );
    return rows.map(({ account_name: accountName, ...row }) => ({ ...toPage(row), accountName }));
  }),
  changePage: write(changePage),
  putLogo: write(putLogo),
  findLogo: read(async (store, slug) => {
    const row = await findRow(store, slug);
    if (row === undefined || row.logo === null) return null;
    const { kysely, queries } = store;
    const stored = await queries.first(
      kysely.selectFrom('status_page_logos').select('bytes').where('page_id', '=', row.id),
    );
    return stored === undefined ? null : { ...JSON.parse(row.logo), bytes: stored.bytes };
  }),
  removePage: write(removePage),
};

/** Creates a page inside the caller's transaction. Throws `account_limit` or `slug_taken`. */
export async function addPage(store: RegistryStore, page: NewPage): Promise<OwnedPage> {
  const { kysely, queries } = store;
  const { accountId, slug, title, text, groups, logo = null, colour = null, membersOnly = false, now } = page;
  if ((await pagesOf(store, accountId)).length >= PAGE_BOUNDS.pagesPerAccount)
    throw new RegistryError('account_limit', { code: 'too_many_pages', max: PAGE_BOUNDS.pagesPerAccount });
  await refuseServiceName(store, slug);
  const holder = await queries.first(kysely.selectFrom('status_pages').selectAll().where('slug', '=', slug));
  if (holder !== undefined && (holder.removed === 0 || holder.account_id !== accountId))
    throw new RegistryError('slug_taken', { code: 'page_slug_taken', slug });
  const texts = { title, text, groups: JSON.stringify(groups), logo: describeLogo(logo) };
  const look = { colour, members_only: Number(membersOnly) };
  const said = { ...texts, ...look, updated_at: now, removed: 0 };
  const row = await queries.first(
    holder === undefined
      ? kysely
          .insertInto('status_pages')
          .values({ ...said, account_id: accountId, slug, revision: 1, created_at: now })
          .returningAll()
      : kysely
          .updateTable('status_pages')
          .set({ ...said, revision: holder.revision + 1, created_at: now })
          .where('id', '=', holder.id)
          .returningAll(),
  );
  if (row === undefined) throw new Error(`page ${slug} was not written`);
  await putBytes(store, row.id, logo);
  await noteRuleChange(store);
  return toPage(row);
}

/** Changes a page inside the caller's transaction, as the port describes it. */
export async function changePage(
  store: RegistryStore,
  accountId: number,
  slug: string,
  revision: number,
  { title, text, groups, logo, colour, membersOnly }: PageEdit,
  now: number,
): Promise<'changed' | 'stale' | 'missing'> {
  const row = await findRow(store, slug, accountId);
  if (row === undefined) return 'missing';
  if (row.revision !== revision) return 'stale';
  if (logo !== undefined) await putBytes(store, row.id, logo);
  if (groups !== undefined) await noteRuleChange(store);
  await store.queries.run(
    store.kysely
      .updateTable('status_pages')
      .set({
        ...(title === undefined ? {} : { title }),
        ...(text === undefined ? {} : { text }),
        ...(groups === undefined ? {} : { groups: JSON.stringify(groups) }),
        ...(logo === undefined ? {} : { logo: describeLogo(logo) }),
        ...(colour === undefined ? {} : { colour }),
        ...(membersOnly === undefined ? {} : { members_only: Number(membersOnly) }),
        revision: revision + 1,
        updated_at: now,
      })
      .where('id', '=', row.id),
  );
  // Maintenance of a page concerns the services on it.
  if (groups !== undefined || membersOnly !== undefined)
    await planOccurrencesOfPage(store, accountId, row.id, now);
  return 'changed';
}

/** Sets or removes a logo inside the caller's transaction, as the port describes it. */
export async function putLogo(
  store: RegistryStore,
  accountId: number,
  slug: string,
  logo: StoredLogo | null,
  now: number,
): Promise<boolean> {
  const { kysely, queries } = store;
  const row = await findRow(store, slug, accountId);
  if (row === undefined) return false;
  await putBytes(store, row.id, logo);
  await queries.run(
    kysely
      .updateTable('status_pages')
      .set({
        logo: describeLogo(logo),
        revision: row.revision + 1,
        updated_at: now,
      })
      .where('id', '=', row.id),
  );
  return true;
}

async function putBytes(
  { kysely, queries }: RegistryStore,
  pageId: number,
  logo: StoredLogo | null,
): Promise<void> {
  await queries.run(kysely.deleteFrom('status_page_logos').where('page_id', '=', pageId));
  if (logo !== null)
    await queries.run(kysely.insertInto('status_page_logos').values({ page_id: pageId, bytes: logo.bytes }));
}

/** JSON of the logo without its bytes. */
function describeLogo(logo: StoredLogo | null): string | null {
  if (logo === null) return null;
  const { bytes: _, ...about } = logo;
  return JSON.stringify(about);
}

/** Removes a page inside the caller's transaction, as the port describes it. */
export async function removePage(
  store: RegistryStore,
  accountId: number,
  slug: string,
  revision?: number,
): Promise<boolean> {
  const { kysely, queries } = store;
  const row = await findRow(store, slug, accountId);
  if (row === undefined || (revision !== undefined && row.revision !== revision)) return false;
  await queries.run(kysely.deleteFrom('status_page_logos').where('page_id', '=', row.id));
  await queries.run(
    kysely
      .updateTable('status_pages')
      .set({ title: '', text: '', groups: '[]', logo: null, colour: null, removed: 1 })
      .where('id', '=', row.id),
  );
  await endSubscriptions(store, `page:${row.id}`);
  await noteRuleChange(store);
  return true;
}

/** Live pages of an account, by slug. */
export async function pagesOf({ kysely, queries }: RegistryStore, accountId: number): Promise<OwnedPage[]> {
  const rows = await queries.all(
    kysely
      .selectFrom('status_pages')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('removed', '=', 0)
      .orderBy('slug'),
  );
  return rows.map(toPage);
}

/** As for badges, another account's page must not have the slug of a public service (decisions, Badge). */
async function refuseServiceName({ kysely, queries }: RegistryStore, slug: string): Promise<void> {
  const service = await queries.first(
    kysely
      .selectFrom('services')
      .select('name')
      .where('origin', '=', 'catalogue')
      .where('removed', '=', 0)
      .where((eb) => eb.or([eb('slug', '=', slug), eb('dashed', '=', slug)])),
  );
  if (service !== undefined)
    throw new RegistryError('slug_taken', { code: 'page_slug_of_service', slug, name: service.name });
}

/** The live page with that slug, of any account or of the given one. */
async function findRow({ kysely, queries }: RegistryStore, slug: string, accountId?: number) {
  const pages = kysely
    .selectFrom('status_pages')
    .selectAll()
    .where('slug', '=', slug)
    .where('removed', '=', 0);
  return await queries.first(accountId === undefined ? pages : pages.where('account_id', '=', accountId));
}

function toPage(stored: Row<'status_pages'>): OwnedPage {
  const { removed: _, members_only: membersOnly, colour, groups, logo, ...row } = stored;
  return {
    ...fromRow(row),
    groups: JSON.parse(groups),
    logo: logo === null ? null : JSON.parse(logo),
    ...(colour === null ? {} : { colour }),
    ...(membersOnly === 1 ? { membersOnly: true } : {}),
  };
}
