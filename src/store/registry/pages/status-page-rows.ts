/** Status pages of owners, and their pictures. */
import { createHash } from 'node:crypto';
import {
  type OwnedPage,
  PAGE_BOUNDS,
  PAGE_TEXT_NAMES,
  type PageAccess,
  type PageTexts,
  PICTURE_USES,
} from '../../../domain/status-page.ts';
import { noteRuleChange } from '../../../resources/rules/rule-rows.ts';
import { addNotice } from '../../database/notice-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { RegistryError, requireRevision } from '../../database/registry-error.ts';
import { fromRow, type RegistryStore } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import type {
  NewPage,
  PageDomainStore,
  PageEdit,
  PageStore,
  PutPictures,
  SeenPage,
  StoredPicture,
} from '../../ports/status-pages.ts';
import { endSubscriptions } from '../alerts/subscription-changes.ts';
import { refuseServiceName, refuseTakenNames } from '../services/slugs.ts';
import { planOccurrencesOfPage } from './owner-maintenance-rows.ts';
import { BY_TRUST, domainColumns, PAGE_DOMAIN_CALLS, UNPROVED } from './page-domain-rows.ts';

/** The tables of the pictures' bytes. The page's row has the rest in a column of the same name as the use. */
const MARK_CHARACTERS = 32;
const PICTURE_TABLES = { logo: 'status_page_logos', favicon: 'status_page_favicons' } as const;

export const PAGE_CALLS: Calls<PageStore & PageDomainStore> = {
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
  putPictures: write(putPictures),
  findPagePassword: read(async ({ kysely, queries }, pageId) => {
    const pages = kysely.selectFrom('status_pages').where('id', '=', pageId).where('removed', '=', 0);
    return (await queries.first(pages.select('password_hash')))?.password_hash ?? null;
  }),
  findPicture: read(async (store, slug, use) => {
    const row = await findRow(store, slug);
    const about = row?.[use] ?? null;
    if (row === undefined || about === null) return null;
    const { kysely, queries } = store;
    const stored = await queries.first(
      kysely.selectFrom(PICTURE_TABLES[use]).select('bytes').where('page_id', '=', row.id),
    );
    return stored === undefined ? null : { ...JSON.parse(about), bytes: stored.bytes };
  }),
  removePage: write(removePage),
  provePageDomain: write(provePageDomain),
  ...PAGE_DOMAIN_CALLS,
};

/** Creates a page inside the caller's transaction. Throws `account_limit` or `slug_taken`. */
export async function addPage(store: RegistryStore, page: NewPage): Promise<OwnedPage> {
  const { kysely, queries } = store;
  const {
    accountId,
    slug,
    groups,
    logo = null,
    favicon = null,
    colour = null,
    access = 'public',
    passwordHash = null,
    domain = null,
    now,
  } = page;
  if ((await pagesOf(store, accountId)).length >= PAGE_BOUNDS.pagesPerAccount)
    throw new RegistryError('account_limit', { code: 'too_many_pages', max: PAGE_BOUNDS.pagesPerAccount });
  await refuseServiceName(store, slug);
  await refuseTakenNames(store, accountId, groups, []);
  const holder = await queries.first(kysely.selectFrom('status_pages').selectAll().where('slug', '=', slug));
  if (holder !== undefined && (holder.removed === 0 || holder.account_id !== accountId))
    throw new RegistryError('slug_taken', { code: 'page_slug_taken', slug });
  const texts = { ...NO_TEXTS, ...textsOf(page) };
  const atDomain = await domainColumns(store, accountId, domain, now);
  const look = { colour, ...readersOf(access, passwordHash), ...atDomain };
  const shown = { groups: JSON.stringify(groups), ...describePictures({ logo, favicon }), ...look };
  const said = { ...texts, ...shown, updated_at: now, removed: 0 };
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
  await putBytes(store, row.id, { logo, favicon });
  await noteRuleChange(store);
  return toPage(row);
}

/** Changes a page inside the caller's transaction, as the port describes it. */
export async function changePage(
  store: RegistryStore,
  { accountId, slug, revision }: SeenPage,
  edit: PageEdit,
  now: number,
): Promise<void> {
  const row = await requireRow(store, accountId, slug, [revision]);
  const { groups, logo, favicon, colour, access, passwordHash, domain } = edit;
  if (groups !== undefined) await refuseTakenNames(store, accountId, groups, JSON.parse(row.groups));
  await putBytes(store, row.id, { logo, favicon });
  if (groups !== undefined) await noteRuleChange(store);
  const isMoved = domain !== undefined && domain !== row.domain;
  const atDomain = isMoved ? await domainColumns(store, accountId, domain, now) : {};
  await store.queries.run(
    store.kysely
      .updateTable('status_pages')
      .set({
        ...textsOf(edit),
        ...(groups === undefined ? {} : { groups: JSON.stringify(groups) }),
        ...describePictures({ logo, favicon }),
        ...(colour === undefined ? {} : { colour }),
        ...(access === undefined ? {} : readersOf(access, passwordHash ?? row.password_hash)),
        ...atDomain,
        revision: revision + 1,
        updated_at: now,
      })
      .where('id', '=', row.id),
  );
  // Maintenance of a page concerns the services on it.
  if (groups !== undefined || access !== undefined)
    await planOccurrencesOfPage(store, accountId, row.id, now);
}

const NO_TEXTS = Object.fromEntries(PAGE_TEXT_NAMES.map((name) => [name, ''])) as Required<PageTexts>;

function textsOf(given: Partial<PageTexts>): Partial<PageTexts> {
  return Object.fromEntries(
    PAGE_TEXT_NAMES.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  );
}

/**
 * The columns of who sees a page. A page with a password is also marked as one for members, so that an earlier version hides it,
 * and queries for public pages read one column.
 */
function readersOf(access: PageAccess, passwordHash: string | null) {
  if (access === 'password' && passwordHash === null) throw new Error('the page has no password');
  return {
    members_only: access === 'public' ? 0 : 1,
    password_hash: access === 'password' ? passwordHash : null,
  };
}

/** Sets or removes pictures inside the caller's transaction, as the port describes it. */
export async function putPictures(
  store: RegistryStore,
  { accountId, slug }: Omit<SeenPage, 'revision'>,
  pictures: PutPictures,
  now: number,
): Promise<boolean> {
  const { kysely, queries } = store;
  const row = await findRow(store, slug, accountId);
  if (row === undefined) return false;
  await putBytes(store, row.id, pictures);
  await queries.run(
    kysely
      .updateTable('status_pages')
      .set({ ...describePictures(pictures), revision: row.revision + 1, updated_at: now })
      .where('id', '=', row.id),
  );
  return true;
}

async function putBytes({ kysely, queries }: RegistryStore, pageId: number, put: PutPictures): Promise<void> {
  for (const use of PICTURE_USES) {
    const picture = put[use];
    if (picture === undefined) continue;
    const table = PICTURE_TABLES[use];
    await queries.run(kysely.deleteFrom(table).where('page_id', '=', pageId));
    if (picture !== null)
      await queries.run(kysely.insertInto(table).values({ page_id: pageId, bytes: picture.bytes }));
  }
}

/** The columns of pictures: JSON without their bytes. */
function describePictures(put: PutPictures): { logo?: string | null; favicon?: string | null } {
  const describe = (picture: StoredPicture | null) => {
    if (picture === null) return null;
    const { bytes: _, ...about } = picture;
    return JSON.stringify(about);
  };
  return {
    ...(put.logo === undefined ? {} : { logo: describe(put.logo) }),
    ...(put.favicon === undefined ? {} : { favicon: describe(put.favicon) }),
  };
}

/** Removes a page inside the caller's transaction, as the port describes it. */
export async function removePage(
  store: RegistryStore,
  accountId: number,
  slug: string,
  revision?: number,
): Promise<void> {
  const { kysely, queries } = store;
  const row = await requireRow(store, accountId, slug, revision === undefined ? undefined : [revision]);
  await putBytes(store, row.id, { logo: null, favicon: null });
  await queries.run(
    kysely
      .updateTable('status_pages')
      .set({
        ...NO_TEXTS,
        groups: '[]',
        logo: null,
        favicon: null,
        colour: null,
        password_hash: null,
        domain: null,
        ...UNPROVED,
        removed: 1,
      })
      .where('id', '=', row.id),
  );
  await endSubscriptions(store, `page:${row.id}`);
  await noteRuleChange(store);
}

// biome-ignore lint/complexity/useMaxParams: the store, then the arguments of the port's method
async function provePageDomain(
  store: RegistryStore,
  accountId: number,
  slug: string,
  domain: string,
  now: number,
): Promise<OwnedPage | 'missing'> {
  const { kysely, queries } = store;
  const row = await findRow(store, slug, accountId);
  if (row === undefined || row.domain !== domain) return 'missing';
  const former = await queries.first(
    kysely
      .updateTable('status_pages')
      .set({ ...UNPROVED, revision: (eb) => eb('revision', '+', 1) })
      .where('domain', '=', domain)
      .where('domain_proved_at', 'is not', null)
      .where('id', '<>', row.id)
      .returning('account_id'),
  );
  if (former !== undefined && former.account_id !== accountId)
    await addNotice(store, former.account_id, now, { code: 'page_domain_lost', domain });
  const proved = await queries.first(
    kysely
      .updateTable('status_pages')
      .set({
        domain_proved_at: row.domain_proved_at ?? now,
        domain_checked_at: now,
        domain_missing_since: null,
        ...(row.domain_proved_at === null ? { revision: row.revision + 1 } : {}),
      })
      .where('id', '=', row.id)
      .returningAll(),
  );
  return proved === undefined ? 'missing' : toPage(proved);
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

/** The live page with that slug, of any account or of the given one. */
async function findRow({ kysely, queries }: RegistryStore, slug: string, accountId?: number) {
  const pages = kysely
    .selectFrom('status_pages')
    .selectAll()
    .where('slug', '=', slug)
    .where('removed', '=', 0);
  return await queries.first(accountId === undefined ? pages : pages.where('account_id', '=', accountId));
}

async function requireRow(store: RegistryStore, accountId: number, slug: string, revisions?: number[]) {
  return requireRevision(await findRow(store, slug, accountId), revisions, {
    missing: { code: 'no_page', slug },
    stale: { code: 'page_stale' },
  });
}

function withPassword(hash: string): Pick<OwnedPage, 'access' | 'passwordMark'> {
  const passwordMark = createHash('sha256').update(hash).digest('hex').slice(0, MARK_CHARACTERS);
  return { access: 'password', passwordMark };
}

function toPage(stored: Row<'status_pages'>): OwnedPage {
  const { removed: _, members_only: isPrivate, password_hash: hash, colour, groups, note, ...rest } = stored;
  const { logo, favicon, domain, domain_proved_at, domain_missing_since, domain_checked_at, ...row } = rest;
  return {
    ...fromRow(row),
    groups: JSON.parse(groups),
    logo: logo === null ? null : JSON.parse(logo),
    ...(favicon === null ? {} : { favicon: JSON.parse(favicon) }),
    ...(colour === null ? {} : { colour }),
    ...(note === '' ? {} : { note }),
    ...(isPrivate === 0 ? {} : hash === null ? { access: 'members' } : withPassword(hash)),
    ...(domain === null
      ? {}
      : {
          domain: {
            ...{ name: domain, provedAt: domain_proved_at, missingSince: domain_missing_since },
            ...(domain_checked_at === BY_TRUST ? { byTrust: true } : {}),
          },
        }),
  };
}
