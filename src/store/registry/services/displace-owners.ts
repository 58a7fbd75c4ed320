/**
 * Owners' services make room for entries of the catalogue, and their owners receive a notice. One that is not verified and
 * lies on a domain of the list, or below one, is removed: `displaced:<its id>` says by which entry. One whose slug is an
 * entry's slug or badge gets another slug and keeps its id and its history. One whose name equals or resembles an entry's
 * gets its domain as its name (decisions, Ownership and Badge).
 */

import { dashDomain } from '../../../domain/service.ts';
import { setFact } from '../../database/fact-rows.ts';
import {
  type Batch,
  eachPage,
  type RegistryStore,
  ROWS_PER_PAGE,
  sql,
  statement,
} from '../../database/registry-store.ts';
import type { NewService } from '../../ports/services.ts';
import { retireService } from './retire-service.ts';
import { type ServiceRow, toDefinition, updateService } from './service-rows.ts';
import { findOtherSlug, isReleased, nameKeys, releasedSlug, releaseSlug, tellOwner } from './slugs.ts';

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

/**
 * Resolves conflicts of owners' services with entries, before these are written. `entries`: called only if there are such
 * services. `newlyNamed`: those of them that are new or have another name. `domains`: whether all unverified services
 * are compared by their domains now, or later by {@link displaceByDomain}.
 */
export async function displaceOwners(
  store: RegistryStore,
  {
    entries: read,
    newlyNamed,
    domains,
  }: {
    readonly entries: () => readonly NewService[];
    readonly newlyNamed: readonly NewService[];
    readonly domains: 'now' | 'later';
  },
): Promise<void> {
  if (!(await hasOwned(store))) return;
  const entries = read();
  const byPageName = new Map(entries.map((entry) => [entry.slug, entry]));
  // The path belongs to the entry with that domain, even if it is the slug of another entry (decisions, Badge).
  for (const entry of entries) byPageName.set(dashDomain(entry.domain), entry);
  const names: CatalogueNames = {
    byDomain: new Map(entries.map((entry) => [entry.domain, entry])),
    byPageName,
    byNameKey: new Map(newlyNamed.flatMap((entry) => nameKeys(entry.name).map((key) => [key, entry]))),
  };
  for (const row of await findConflicting(store, names, domains)) {
    if (row.removed === 1) await releaseRemoved(store, row, names);
    else if (!(await displace(store, row, names))) await rename(store, row, names);
  }
}

/** Removes the unverified services of owners on domains of the stored catalogue; reads as few rows of it as it needs. */
export async function displaceByDomain(store: RegistryStore): Promise<void> {
  if (!(await hasOwned(store))) return;
  await eachPage(
    (afterId) => unverifiedAfter(store, afterId),
    async (rows) => {
      const domains = [...new Set(rows.flatMap(({ domain }) => [...parentsOf(domain)]))];
      const listed = await store.queries.firstEach(
        ENTRY_BY_DOMAIN,
        domains.map((domain) => [domain]),
      );
      const byDomain = new Map(
        listed.flatMap((row) => (row === undefined ? [] : [[row.domain, toDefinition(row)]])),
      );
      const found = rows.filter(({ domain }) => findParent(byDomain, domain) !== null);
      for (const row of await readRows(
        store,
        found.map(({ id }) => id),
      ))
        await displace(store, row, { byDomain });
    },
  );
}

async function hasOwned(store: RegistryStore): Promise<boolean> {
  return (await store.queries.first(ANY_OWNED())) !== undefined;
}

/** The condition on the account has an index, so that a million entries are not read for it. */
const ANY_OWNED = statement<Pick<ServiceRow, 'id'>>(
  "SELECT id FROM services WHERE account_id IS NOT NULL AND origin = 'owner' LIMIT 1",
);
const ENTRY_BY_DOMAIN: Batch<ServiceRow> = {
  types: ['text'],
  sql: "SELECT * FROM services WHERE domain = ? AND origin = 'catalogue' AND removed = 0",
};
const OWNED_BY_SLUG: Batch<{ readonly id: number }> = {
  types: ['text'],
  sql: "SELECT id FROM services WHERE slug = ? AND origin = 'owner'",
};
const SERVICE_BY_ID: Batch<ServiceRow> = { types: ['bigint'], sql: 'SELECT * FROM services WHERE id = ?' };

/**
 * Owners' services that may conflict, by id. There may be a million services, so only the columns that conflict are read,
 * by their indexes where they have one.
 */
async function findConflicting(
  store: RegistryStore,
  { byDomain, byPageName, byNameKey }: CatalogueNames,
  domains: 'now' | 'later',
): Promise<ServiceRow[]> {
  const { kysely, queries } = store;
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

  if (domains === 'now')
    await eachPage(
      (afterId) => unverifiedAfter(store, afterId),
      (rows) => {
        for (const { id, domain } of rows) if (findParent(byDomain, domain) !== null) found.add(id);
      },
    );
  if (byNameKey.size > 0)
    await eachPage(
      (afterId) =>
        queries.all(
          owners
            .where('removed', '=', sql.lit(0))
            .select(['id', 'name'])
            .whereRef('name', '<>', 'domain')
            .where('id', '>', afterId)
            .orderBy('id')
            .limit(ROWS_PER_PAGE),
        ),
      (rows) => {
        for (const { id, name } of rows) if (nameKeys(name).some((key) => byNameKey.has(key))) found.add(id);
      },
    );
  return await readRows(
    store,
    [...found].sort((a, b) => a - b),
  );
}

/** A page of owners' unverified services. */
async function unverifiedAfter({ kysely, queries }: RegistryStore, afterId: number) {
  return await queries.all(
    kysely
      .selectFrom('services')
      .where('origin', '=', sql.lit('owner'))
      .where('removed', '=', sql.lit(0))
      .where('verified', '=', sql.lit(0))
      .select(['id', 'domain'])
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(ROWS_PER_PAGE),
  );
}

async function readRows({ queries }: RegistryStore, ids: readonly number[]): Promise<ServiceRow[]> {
  const rows = await queries.firstEach(
    SERVICE_BY_ID,
    ids.map((id) => [id]),
  );
  return rows.filter((row) => row !== undefined);
}

/** Gives the reserved slug of a removed service to the entry. */
async function releaseRemoved(
  store: RegistryStore,
  row: ServiceRow,
  { byPageName }: CatalogueNames,
): Promise<void> {
  if (!isReleased(row.slug) && byPageName.has(row.slug)) await releaseSlug(store, row);
}

/** Removes an unverified service on a domain of the list; false: the service does not conflict and stays. */
async function displace(
  store: RegistryStore,
  row: ServiceRow,
  { byDomain }: Pick<CatalogueNames, 'byDomain'>,
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
    slugTaker === undefined ? row.slug : await findOtherSlug(store, row, new Set(names.byPageName.keys()));
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
  for (const parent of parentsOf(domain)) {
    const entry = byDomain.get(parent);
    if (entry !== undefined) return entry;
  }
  return null;
}

/** The domain itself and its parents, without the top-level domain. */
function* parentsOf(domain: string): Generator<string> {
  const labels = domain.split('.');
  for (let at = 0; at < labels.length - 1; at++) yield labels.slice(at).join('.');
}
