/**
 * Replaces the public list. Its rules where names meet (decisions, Ownership and Badge):
 * - A slug that returns is the same service: it gets its old id back and goes on with its old status.
 * - An unverified owner service whose slug or dashed domain meets an entry's is removed, and the fact
 *   `displaced:<its id>` says by which entry; its owner can be told.
 * - Where such a service, or a removed one, has the very slug of the entry and watches the same domain, it becomes
 *   the catalogue's; with another domain it gives the slug up if it never was verified, else `slug_taken`.
 */
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../clock.ts';
import { dashDomain, type ServiceOrigin } from '../../domain/service.ts';
import type { CatalogueOutcome, NewService } from '../ports/registry.ts';
import { setFact } from './fact-rows.ts';
import { tell } from './ownership.ts';
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
  const outcome = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const known = new Map(readServices(store, 'catalogue').map((row) => [row.slug, row]));
  const wanted = new Set(entries.map(({ slug }) => slug));
  for (const row of known.values()) {
    if (row.removed === 1 || wanted.has(row.slug)) continue;
    retireService(store, row);
    outcome.removed++;
  }
  // Read once, not once an entry: a first start puts the whole list in.
  let owners: OwnerNames | null = null;
  for (const entry of entries) {
    const row = known.get(entry.slug) ?? null;
    const live = row !== null && row.removed === 0;
    if (live && isDeepStrictEqual(toDefinition(row), entry)) {
      outcome.unchanged++;
      continue;
    }
    owners ??= nameOwners(readServices(store, 'owner'));
    const adopted = displaceOwners(store, entry, owners);
    const service = row ?? adopted;
    if (service === null) insertService(store, entry);
    else updateService(store, service, entry);
    outcome[live ? 'changed' : 'added']++;
  }
  return outcome;
}

/**
 * Owners' services by every name that an entry could meet: slug and dashed domain. The rows follow what is done to
 * them, for two entries can meet the same one.
 */
type OwnerNames = ReadonlyMap<string, readonly ServiceRow[]>;

function nameOwners(rows: readonly ServiceRow[]): OwnerNames {
  const names = new Map<string, ServiceRow[]>();
  for (const row of rows) {
    for (const name of new Set([row.slug, row.dashed])) names.set(name, [...(names.get(name) ?? []), row]);
  }
  return names;
}

/** Removes unverified owner services that stand in the entry's way; returns the one that becomes the entry's own. */
function displaceOwners(store: RegistryStore, entry: NewService, owners: OwnerNames): ServiceRow | null {
  const { kysely, queries } = store;
  const named = [entry.slug, dashDomain(entry.domain)].flatMap((name) => owners.get(name) ?? []);
  // One that an earlier entry has adopted is an owner's no more.
  const inTheWay = new Set(named.filter(({ origin }) => origin === 'owner'));
  let adopted: ServiceRow | null = null;
  for (const row of inTheWay) {
    const sameSlug = row.slug === entry.slug;
    const unclaimed = row.verified === 0 || row.removed === 1;
    if (sameSlug && unclaimed && row.domain === entry.domain) {
      adopted = row;
      if (row.removed === 0) noteDisplaced(store, row, entry);
      row.origin = 'catalogue';
      continue;
    }
    if (row.verified === 1) {
      if (sameSlug) throw slugTaken(row);
      continue;
    }
    if (row.removed === 0) {
      retireService(store, row);
      noteDisplaced(store, row, entry);
      row.removed = 1;
      row.revision++;
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

function readServices({ kysely, queries }: RegistryStore, origin: ServiceOrigin): ServiceRow[] {
  return queries.all(kysely.selectFrom('services').selectAll().where('origin', '=', origin));
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
  if (row.account_id === null) return;
  const text = `${entry.domain} is part of the public catalogue now, as ${entry.slug}. Your service ${row.slug} (${row.domain}) was not verified and gave way; verify the domain to have one of your own beside it.`;
  tell(store, row.account_id, systemClock.now(), text);
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
