/**
 * Replaces the public list. Its rules where names meet (decisions, Ownership and Badge):
 * - A slug of the catalogue that returns is the same service: it gets its old id back and goes on with its old status.
 * - A new entry has an id of its own. It begins without the samples, incidents and transitions of a service that had its
 *   slug before (docs/adr/0008-services-are-known-by-their-ids.md).
 * - Owners' services make room first, and their owners receive a notice. One that is not verified and lies on a domain of
 *   the list, or below one, is removed: `displaced:<its id>` says by which entry. One whose slug is an entry's slug or
 *   badge gets another slug and keeps its id and its history. One whose name equals or resembles an entry's
 *   gets its domain as its name.
 */
import { isDeepStrictEqual } from 'node:util';
import { nameKeys } from '../../domain/resembling-names.ts';
import { dashDomain } from '../../domain/service.ts';
import type { CatalogueList, CatalogueOutcome, NewService } from '../ports/services.ts';
import { getFact, setFact } from './fact-rows.ts';
import { RegistryError } from './registry-error.ts';
import { type Batch, type RegistryStore, sql, statement } from './registry-store.ts';
import {
  insertServices,
  newestChange,
  retireService,
  type ServiceRow,
  type ServiceUpdate,
  toDefinition,
  updateService,
  updateServices,
} from './service-rows.ts';
import { findFreeSlug, isReleased, releasedSlug, tellOwner } from './slugs.ts';

/**
 * Replaces the public list, or adds and changes entries, inside the caller's transaction. Throws `slug_taken` or
 * `domain_taken`; nothing is then changed.
 */
export async function putCatalogue(
  store: RegistryStore,
  given: readonly NewService[] | CatalogueList,
): Promise<CatalogueOutcome> {
  const { pages, isPart, digest } =
    'pages' in given ? given : { pages: [given], isPart: false, digest: null };
  checkEntries(pages);
  const outcome = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const added: NewService[] = [];
  const updates: ServiceUpdate[] = [];
  const listed = new Set<number>();
  for (const page of pages) {
    const entries = readPage(page);
    const rows = await rowsOf(store, entries);
    entries.forEach((entry, index) => {
      const row = rows[index];
      if (row?.origin !== 'catalogue') {
        added.push(entry);
        return;
      }
      listed.add(row.id);
      if (row.removed === 0 && isSame(row, entry)) {
        outcome.unchanged++;
      } else {
        updates.push({ row, service: entry });
        outcome[row.removed === 0 ? 'changed' : 'added']++;
      }
    });
  }
  if (isPart) await refuseTakenBadges(store, [...added, ...updates.map(({ service }) => service)]);
  else outcome.removed = await retireOthers(store, listed);
  const newlyNamed = [
    ...added,
    ...updates.flatMap(({ row, service }) =>
      row.removed === 1 || row.name !== service.name ? [service] : [],
    ),
  ];
  await displaceOwners(
    store,
    isPart ? [[...added, ...updates.map(({ service }) => service)]] : pages,
    newlyNamed,
  );
  await updateServices(store, updates);
  await insertServices(store, added);
  outcome.added += added.length;
  if (digest !== null) await setFact(store, CATALOGUE_FACT, await standOf(store, digest));
  return outcome;
}

/** Which list was stored last, and the position of the feed of changes right after it. */
const CATALOGUE_FACT = 'catalogue';

async function standOf(store: RegistryStore, digest: string): Promise<string> {
  return `${digest} ${await newestChange(store)}`;
}

/** Whether the list with that digest was stored last, and no service has changed since. */
export async function hasCatalogue(store: RegistryStore, digest: string): Promise<boolean> {
  return (await getFact(store, CATALOGUE_FACT)) === (await standOf(store, digest));
}

/** Pages are texts where there may be a million entries, so that few of them are objects at a time. */
type Page = string | readonly NewService[];

function readPage(page: Page): readonly NewService[] {
  return typeof page === 'string' ? JSON.parse(page) : page;
}

const BY_SLUG: Batch<ServiceRow> = { types: ['text'], sql: 'SELECT * FROM services WHERE slug = ?' };

async function rowsOf({ queries }: RegistryStore, entries: readonly NewService[]) {
  return await queries.firstEach(
    BY_SLUG,
    entries.map(({ slug }) => [slug]),
  );
}

/** Whether a row has the definition of an entry. Texts are compared first, since nearly all rows of a reload are the same. */
function isSame(row: ServiceRow, entry: NewService): boolean {
  const isAlike =
    row.name === entry.name &&
    row.domain === entry.domain &&
    row.category === entry.category &&
    row.check_definition === JSON.stringify(entry.check) &&
    row.status_page === (entry.statusPage === null ? null : JSON.stringify(entry.statusPage));
  const isUsual =
    row.paused === 0 && row.verified === 1 && row.public_dependencies === 0 && row.former_slugs === null;
  return (isAlike && isUsual) || isDeepStrictEqual(toDefinition(row), entry);
}

/** Removes the entries that are listed no more; their number. */
async function retireOthers(store: RegistryStore, listed: ReadonlySet<number>): Promise<number> {
  const { kysely, queries } = store;
  const live = kysely
    .selectFrom('services')
    .select('id')
    .where('origin', '=', sql.lit('catalogue'))
    .where('removed', '=', sql.lit(0));
  const others: number[] = [];
  await eachPage(
    (afterId) => queries.all(live.where('id', '>', afterId).orderBy('id').limit(ROWS_PER_PAGE)),
    ({ id }) => {
      if (!listed.has(id)) others.push(id);
    },
  );
  for (const row of await queries.firstEach(
    SERVICE_BY_ID,
    others.map((id) => [id]),
  ))
    if (row !== undefined) await retireService(store, row);
  return others.length;
}

/** The entries of a part must not share a badge with those that stay as they are. Throws `domain_taken`. */
async function refuseTakenBadges(store: RegistryStore, entries: readonly NewService[]): Promise<void> {
  const bySlug = new Map(entries.map((entry) => [entry.slug, entry]));
  const holders = await store.queries.firstEach(
    BADGE_HOLDER,
    entries.map(({ domain, slug }) => [dashDomain(domain), slug]),
  );
  holders.forEach((holder, index) => {
    const entry = entries[index];
    if (holder === undefined || entry === undefined) return;
    // The holder may get another domain by the same list.
    const next = bySlug.get(holder.slug);
    if (next === undefined || dashDomain(next.domain) === holder.dashed)
      throw sharedBadge(entry, holder.slug, holder.dashed);
  });
}

const BADGE_HOLDER: Batch<Pick<ServiceRow, 'slug' | 'dashed'>> = {
  types: ['text', 'text'],
  sql: `SELECT slug, dashed FROM services
   WHERE dashed = ? AND slug <> ? AND origin = 'catalogue' AND removed = 0`,
};

function sharedBadge({ slug }: NewService, other: string, form: string): RegistryError {
  return new RegistryError(
    'domain_taken',
    `The catalogue entries ${other} and ${slug} would share the badge ${form}: their domains differ in dots and dashes at most.`,
  );
}

function checkEntries(pages: readonly Page[]): void {
  const slugs = new Set<string>();
  const holders = new Map<string, string>();
  for (const page of pages)
    for (const entry of readPage(page)) {
      const { slug, origin, accountId, verified, domain } = entry;
      if (origin !== 'catalogue' || accountId !== null || !verified)
        throw new Error(`${slug} is not a service of the catalogue`);
      if (slugs.has(slug)) throw new RegistryError('slug_taken', `The catalogue has the slug ${slug} twice.`);
      slugs.add(slug);
      const form = dashDomain(domain);
      const other = holders.get(form);
      if (other !== undefined) throw sharedBadge(entry, other, form);
      holders.set(form, slug);
    }
}

/** Indexes of the list, to find conflicts with owners' services. */
interface CatalogueNames {
  readonly byDomain: ReadonlyMap<string, NewService>;
  /** By slug and by dashed domain, which are the paths of pages and badges. */
  readonly byPageName: ReadonlyMap<string, NewService>;
  /**
   * Entries that are new or have another name. The others were compared when they got their names, and owners' later names
   * are refused where they resemble one.
   */
  readonly byNameKey: ReadonlyMap<string, NewService>;
}

/** Resolves conflicts of owners' services with `entries`, before these are written. */
async function displaceOwners(
  store: RegistryStore,
  pages: readonly Page[],
  newlyNamed: readonly NewService[],
): Promise<void> {
  // The names of a million entries are not gathered where there is nobody to displace.
  if ((await store.queries.first(ANY_OWNED())) === undefined) return;
  const entries = pages.flatMap(readPage);
  const byPageName = new Map(entries.map((entry) => [entry.slug, entry]));
  // The path belongs to the entry with that domain, even if it is the slug of another entry (decisions, Badge).
  for (const entry of entries) byPageName.set(dashDomain(entry.domain), entry);
  const names: CatalogueNames = {
    byDomain: new Map(entries.map((entry) => [entry.domain, entry])),
    byPageName,
    byNameKey: new Map(newlyNamed.flatMap((entry) => nameKeys(entry.name).map((key) => [key, entry]))),
  };
  for (const row of await findConflicting(store, names)) {
    if (row.removed === 1) await releaseRemoved(store, row, names);
    else if (!(await displace(store, row, names))) await rename(store, row, names);
  }
}

/** Rows in a page of {@link eachPage}. */
const ROWS_PER_PAGE = 10_000;
const ANY_OWNED = statement<Pick<ServiceRow, 'id'>>("SELECT id FROM services WHERE origin = 'owner' LIMIT 1");
const OWNED_BY_SLUG: Batch<{ readonly id: number }> = {
  types: ['text'],
  sql: "SELECT id FROM services WHERE slug = ? AND origin = 'owner'",
};
const SERVICE_BY_ID: Batch<ServiceRow> = { types: ['bigint'], sql: 'SELECT * FROM services WHERE id = ?' };

/**
 * Owners' services that may conflict, by id. There may be a million services, so only the columns that conflict are read,
 * by their indexes where they have one.
 */
async function findConflicting(store: RegistryStore, names: CatalogueNames): Promise<ServiceRow[]> {
  const { kysely, queries } = store;
  const { byDomain, byPageName, byNameKey } = names;
  const owners = kysely.selectFrom('services').where('origin', '=', sql.lit('owner'));
  const found = new Set<number>();
  const pageNames = [...byPageName.keys()];
  for (const row of await queries.firstEach(
    OWNED_BY_SLUG,
    pageNames.map((name) => [name]),
  ))
    if (row !== undefined) found.add(row.id);
  const formerly = owners.select(['id', 'former_slugs']).where('former_slugs', 'is not', null);
  for (const { id, former_slugs } of await queries.all(formerly)) if (former_slugs !== null) found.add(id);

  const live = owners.where('removed', '=', sql.lit(0));
  const unverified = live.where('verified', '=', sql.lit(0));
  await eachPage(
    (afterId) =>
      queries.all(
        unverified.select(['id', 'domain']).where('id', '>', afterId).orderBy('id').limit(ROWS_PER_PAGE),
      ),
    ({ id, domain }) => {
      if (findParent(byDomain, domain) !== null) found.add(id);
    },
  );
  if (byNameKey.size > 0)
    await eachPage(
      (afterId) =>
        queries.all(
          live
            .select(['id', 'name'])
            .whereRef('name', '<>', 'domain')
            .where('id', '>', afterId)
            .orderBy('id')
            .limit(ROWS_PER_PAGE),
        ),
      ({ id, name }) => {
        if (nameKeys(name).some((key) => byNameKey.has(key))) found.add(id);
      },
    );
  const ids = [...found].sort((a, b) => a - b);
  const rows = await queries.firstEach(
    SERVICE_BY_ID,
    ids.map((id) => [id]),
  );
  return rows.filter((row) => row !== undefined);
}

/** Calls `visit` for each row of pages of {@link ROWS_PER_PAGE} rows, in the order of their ids. */
async function eachPage<Row extends { readonly id: number }>(
  read: (afterId: number) => Promise<readonly Row[]>,
  visit: (row: Row) => void,
): Promise<void> {
  let page: readonly Row[];
  let afterId = 0;
  do {
    page = await read(afterId);
    page.forEach(visit);
    afterId = page.at(-1)?.id ?? afterId;
  } while (page.length === ROWS_PER_PAGE);
}

/** Gives the reserved slug of a removed service to the entry. */
async function releaseRemoved(
  store: RegistryStore,
  row: ServiceRow,
  { byPageName }: CatalogueNames,
): Promise<void> {
  if (isReleased(row.slug) || !byPageName.has(row.slug)) return;
  const { kysely, queries } = store;
  await queries.run(
    kysely
      .updateTable('services')
      .set({ slug: releasedSlug(row) })
      .where('id', '=', row.id),
  );
}

/** Removes an unverified service on a domain of the list; false: the service does not conflict and stays. */
async function displace(
  store: RegistryStore,
  row: ServiceRow,
  { byDomain }: CatalogueNames,
): Promise<boolean> {
  if (row.verified === 1) return false;
  const entry = findParent(byDomain, row.domain);
  if (entry === null) return false;
  const { slug, domain, account_id: accountId } = row;
  const keepsSlug = row.ever_verified === 1 && entry.slug !== slug && dashDomain(entry.domain) !== slug;
  await retireService(store, row, keepsSlug ? slug : releasedSlug(row));
  const by = { slug: entry.slug, domain: entry.domain };
  await setFact(store, `displaced:${row.id}`, JSON.stringify({ slug, domain, accountId, by }));
  await tellOwner(store, row, {
    code: 'service_displaced',
    slug,
    domain,
    entrySlug: entry.slug,
    entryDomain: entry.domain,
  });
  return true;
}

/** Gives a service that stays another slug or name, if an entry has the same one. */
async function rename(store: RegistryStore, row: ServiceRow, names: CatalogueNames): Promise<void> {
  const definition = toDefinition(row);
  const slugTaker = names.byPageName.get(row.slug);
  const nameTaker =
    row.name === row.domain
      ? undefined
      : nameKeys(row.name)
          .map((key) => names.byNameKey.get(key))
          .find((entry) => entry !== undefined);
  const former = definition.formerSlugs?.filter((slug) => !names.byPageName.has(slug)) ?? [];
  const formerGone = former.length < (definition.formerSlugs?.length ?? 0);
  if (slugTaker === undefined && nameTaker === undefined && !formerGone) return;

  const slug =
    slugTaker === undefined
      ? row.slug
      : await findFreeSlug(store, row.domain, {
          exceptId: row.id,
          reserved: new Set(names.byPageName.keys()),
        });
  const name = nameTaker === undefined ? row.name : row.domain;
  const { formerSlugs: _before, ...rest } = definition;
  await updateService(store, row, {
    ...rest,
    slug,
    name,
    ...(former.length > 0 ? { formerSlugs: former } : {}),
  });
  if (slugTaker !== undefined)
    await tellOwner(store, row, {
      code: 'slug_to_catalogue',
      slug: row.slug,
      takenBy: slugTaker.domain,
      domain: row.domain,
      newSlug: slug,
    });
  if (nameTaker !== undefined)
    await tellOwner(store, row, { code: 'name_to_catalogue', domain: row.domain, entryName: nameTaker.name });
}

/** The entry whose domain is this one or a parent of it. */
function findParent(byDomain: ReadonlyMap<string, NewService>, domain: string): NewService | null {
  const labels = domain.split('.');
  for (let at = 0; at < labels.length - 1; at++) {
    const entry = byDomain.get(labels.slice(at).join('.'));
    if (entry !== undefined) return entry;
  }
  return null;
}
