/**
 * Replaces the public list. Its rules where names meet (decisions, Ownership and Badge):
 * - A slug that returns is the same service: it gets its old id back and goes on with its old status.
 * - An unverified owner service whose slug or dashed domain meets an entry's is removed, and the fact
 *   `displaced:<its id>` says by which entry; its owner can be told.
 * - Where such a service, or a removed one, has the very slug of the entry and watches the same domain, it becomes
 *   the catalogue's; with another domain it gives the slug up if it never was verified, else `slug_taken`.
 */
import { isDeepStrictEqual } from 'node:util';
import { dashDomain } from '../../domain/service.ts';
import type { CatalogueOutcome, NewService } from '../ports/registry.ts';
import { setFact } from './fact-rows.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';
import {
  insertService,
  retireService,
  type ServiceRow,
  toDefinition,
  updateService,
} from './service-rows.ts';

/** Puts the public list in, inside the caller's transaction. Throws `slug_taken` or `domain_taken`, and nothing is changed. */
export function putCatalogue(store: RegistryStore, entries: readonly NewService[]): CatalogueOutcome {
  checkEntries(entries);
  const { kysely, queries } = store;
  const outcome = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const known = new Map(
    queries
      .all(kysely.selectFrom('services').selectAll().where('origin', '=', 'catalogue'))
      .map((row) => [row.slug, row]),
  );
  const wanted = new Set(entries.map(({ slug }) => slug));
  for (const row of known.values()) {
    if (row.removed === 1 || wanted.has(row.slug)) continue;
    retireService(store, row);
    outcome.removed++;
  }
  for (const entry of entries) outcome[putEntry(store, known.get(entry.slug) ?? null, entry)]++;
  return outcome;
}

function putEntry(
  store: RegistryStore,
  known: ServiceRow | null,
  entry: NewService,
): 'added' | 'changed' | 'unchanged' {
  if (known !== null && known.removed === 0 && isDeepStrictEqual(toDefinition(known), entry))
    return 'unchanged';
  const adopted = displaceOwners(store, entry);
  const row = known ?? adopted;
  if (row === null) insertService(store, entry);
  else updateService(store, row, entry);
  return known !== null && known.removed === 0 ? 'changed' : 'added';
}

/** Removes unverified owner services that stand in the entry's way; returns the one that becomes the entry's own. */
function displaceOwners(store: RegistryStore, entry: NewService): ServiceRow | null {
  const { kysely, queries } = store;
  const dashed = dashDomain(entry.domain);
  const inTheWay = queries.all(
    kysely
      .selectFrom('services')
      .selectAll()
      .where('origin', '=', 'owner')
      .where((eb) =>
        eb.or([eb('slug', 'in', [entry.slug, dashed]), eb('dashed', 'in', [entry.slug, dashed])]),
      ),
  );
  let adopted: ServiceRow | null = null;
  for (const row of inTheWay) {
    const sameSlug = row.slug === entry.slug;
    const unclaimed = row.verified === 0 || row.removed === 1;
    if (sameSlug && unclaimed && row.domain === entry.domain) {
      adopted = row;
      if (row.removed === 0) noteDisplaced(store, row, entry);
      continue;
    }
    if (row.verified === 1) {
      if (sameSlug) throw slugTaken(row);
      continue;
    }
    if (row.removed === 0) {
      retireService(store, row);
      noteDisplaced(store, row, entry);
    }
    // A tilde stands in no slug that anyone can ask for: the old row is out of the way for ever.
    if (sameSlug) {
      queries.run(
        kysely
          .updateTable('services')
          .set({ slug: `${row.slug}~${row.id}` })
          .where('id', '=', row.id),
      );
    }
  }
  return adopted;
}

function noteDisplaced(store: RegistryStore, row: ServiceRow, entry: NewService): void {
  setFact(
    store,
    `displaced:${row.id}`,
    JSON.stringify({
      slug: row.slug,
      domain: row.domain,
      accountId: row.account_id,
      by: { slug: entry.slug, domain: entry.domain },
    }),
  );
}

function checkEntries(entries: readonly NewService[]): void {
  const slugs = new Map<string, NewService>();
  const dashed = new Map<string, NewService>();
  for (const entry of entries) {
    if (entry.origin !== 'catalogue' || entry.accountId !== null || !entry.verified)
      throw new Error(`${entry.slug} is not a service of the catalogue`);
    if (slugs.has(entry.slug))
      throw new RegistryError('slug_taken', `The catalogue has the slug ${entry.slug} twice.`);
    slugs.set(entry.slug, entry);
    const form = dashDomain(entry.domain);
    const other = dashed.get(form);
    if (other !== undefined)
      throw new RegistryError(
        'domain_taken',
        `The catalogue entries ${other.slug} and ${entry.slug} would share the badge ${form}: their domains differ in dots and dashes at most.`,
      );
    dashed.set(form, entry);
  }
}

function slugTaken(row: ServiceRow): RegistryError {
  return new RegistryError(
    'slug_taken',
    `The slug ${row.slug} belongs to the verified service ${row.domain} of an account: give the catalogue entry another slug.`,
  );
}
