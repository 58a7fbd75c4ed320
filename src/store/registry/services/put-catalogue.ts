/**
 * Replaces the public list. Its rules where names meet (decisions, Ownership and Badge):
 * - A slug of the catalogue that returns is the same service: it gets its old id back and goes on with its old status.
 * - A new entry has an id of its own. It begins without the samples, incidents and transitions of a service that had its
 *   slug before (docs/adr/0008-services-are-known-by-their-ids.md).
 * - Owners' services make room first (`displace-owners.ts`).
 */
import { isDeepStrictEqual } from 'node:util';
import { dashDomain } from '../../../domain/service.ts';
import { getFact, setFact } from '../../database/fact-rows.ts';
import { RegistryError } from '../../database/registry-error.ts';
import {
  type Batch,
  eachPage,
  type RegistryStore,
  ROWS_PER_PAGE,
  sql,
  statement,
} from '../../database/registry-store.ts';
import type {
  CatalogueList,
  CatalogueOutcome,
  CataloguePageOutcome,
  NewService,
} from '../../ports/services.ts';
import { displaceByDomain, displaceOwners } from './displace-owners.ts';
import { retireService } from './retire-service.ts';
import {
  insertServices,
  newestChange,
  type ServiceRow,
  type ServiceUpdate,
  toDefinition,
  updateServices,
} from './service-rows.ts';

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
  const changes: EntryChanges = { added: [], updates: [], outcome: createOutcome() };
  const listed = new Set<number>();
  for (const page of pages) await compareEntries(store, readPage(page), changes, (id) => listed.add(id));
  if (isPart) await refuseTakenBadges(store, givenBy(changes));
  else changes.outcome.removed = await retireOthers(store, listed);
  await displaceOwners(store, {
    entries: () => (isPart ? givenBy(changes) : pages.flatMap(readPage)),
    newlyNamed: newlyNamedBy(changes),
    domains: 'now',
  });
  await writeChanges(store, changes);
  if (digest !== null) await noteCatalogue(store, digest);
  return changes.outcome;
}

/**
 * Adds and changes the entries of one page of a list that is too long for a transaction, inside the caller's transaction; all
 * other entries stay. `endCatalogue` follows after the last page. The list as a whole must be valid.
 */
export async function putCataloguePage(store: RegistryStore, page: string): Promise<CataloguePageOutcome> {
  const entries = readPage(page);
  checkEntries([entries]);
  const changes: EntryChanges = { added: [], updates: [], outcome: createOutcome() };
  const ids: number[] = [];
  await compareEntries(store, entries, changes, (id) => ids.push(id));
  if (changes.added.length > 0 || changes.updates.length > 0)
    await displaceOwners(store, {
      entries: () => givenBy(changes),
      newlyNamed: newlyNamedBy(changes),
      domains: 'later',
    });
  for (const { id } of await writeChanges(store, changes)) ids.push(id);
  const { added, changed, unchanged } = changes.outcome;
  return { added, changed, unchanged, ids };
}

/**
 * Removes the entries that were on none of the pages, inside the caller's transaction. `ids`: those of all pages. Returns
 * the number of entries removed.
 */
export async function endCatalogue(store: RegistryStore, ids: Float64Array, digest: string): Promise<number> {
  // A count costs a twentieth of reading all ids.
  const removed = (await countEntries(store)) === ids.length ? 0 : await retireOthers(store, new Set(ids));
  await displaceByDomain(store);
  await noteCatalogue(store, digest);
  return removed;
}

interface EntryChanges {
  readonly added: NewService[];
  readonly updates: ServiceUpdate[];
  readonly outcome: { -readonly [Name in keyof CatalogueOutcome]: number };
}

function createOutcome(): EntryChanges['outcome'] {
  return { added: 0, changed: 0, removed: 0, unchanged: 0 };
}

/** Adds to `changes` what the entries change; calls `onListed` with the id of each that is stored already. */
async function compareEntries(
  store: RegistryStore,
  entries: readonly NewService[],
  { added, updates, outcome }: EntryChanges,
  onListed: (id: number) => void,
): Promise<void> {
  const rows = await rowsOf(store, entries);
  entries.forEach((entry, index) => {
    const row = rows[index];
    if (row?.origin !== 'catalogue') {
      added.push(entry);
      outcome.added++;
      return;
    }
    onListed(row.id);
    if (row.removed === 0 && isSame(row, entry)) {
      outcome.unchanged++;
    } else {
      updates.push({ row, service: entry });
      outcome[row.removed === 0 ? 'changed' : 'added']++;
    }
  });
}

function givenBy({ added, updates }: EntryChanges): readonly NewService[] {
  return [...added, ...updates.map(({ service }) => service)];
}

function newlyNamedBy({ added, updates }: EntryChanges): readonly NewService[] {
  const renamed = updates.filter(({ row, service }) => row.removed === 1 || row.name !== service.name);
  return [...added, ...renamed.map(({ service }) => service)];
}

/** Resolves with the services that were added. */
async function writeChanges(store: RegistryStore, { added, updates }: EntryChanges) {
  await updateServices(store, updates);
  return await insertServices(store, added);
}

/** Which list was stored last, and the position of the feed of changes right after it. */
const CATALOGUE_FACT = 'catalogue';

async function noteCatalogue(store: RegistryStore, digest: string): Promise<void> {
  await setFact(store, CATALOGUE_FACT, await standOf(store, digest));
}

async function standOf(store: RegistryStore, digest: string): Promise<string> {
  return `${digest} ${await newestChange(store)}`;
}

/** Returns true if the list with that digest was stored last, and no service has changed since. */
export async function hasCatalogue(store: RegistryStore, digest: string): Promise<boolean> {
  const [stored, present] = await Promise.all([getFact(store, CATALOGUE_FACT), standOf(store, digest)]);
  return stored === present;
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

/** Returns true if a row has the definition of an entry. Texts are compared first, since nearly all rows of a reload are the same. */
function isSame(row: ServiceRow, entry: NewService): boolean {
  const isAlike =
    row.name === entry.name &&
    row.domain === entry.domain &&
    row.category === entry.category &&
    row.check_definition === JSON.stringify(entry.check) &&
    row.status_page === (entry.statusPage === null ? null : JSON.stringify(entry.statusPage));
  const isUsual =
    row.paused === 0 &&
    row.verified === 1 &&
    row.public_dependencies === 0 &&
    row.former_slugs === null &&
    row.visibility === null;
  return (isAlike && isUsual) || isDeepStrictEqual(toDefinition(row), entry);
}

const SERVICE_BY_ID: Batch<ServiceRow> = { types: ['bigint'], sql: 'SELECT * FROM services WHERE id = ?' };

async function countEntries({ queries }: RegistryStore): Promise<number> {
  return (await queries.first(ENTRY_COUNT()))?.count ?? 0;
}

const ENTRY_COUNT = statement<{ readonly count: number }>(
  "SELECT count(*) AS count FROM services WHERE origin = 'catalogue' AND removed = 0",
);

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
    (rows) => {
      for (const { id } of rows) if (!listed.has(id)) others.push(id);
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
