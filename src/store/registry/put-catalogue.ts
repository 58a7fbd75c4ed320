/**
 * Replaces the public list. Its rules where names meet (decisions, Ownership and Badge):
 * - A slug of the catalogue that returns is the same service: it gets its old id back and goes on with its old status.
 * - A new entry has an id of its own. It begins without the samples, incidents and transitions of a service that had its
 *   slug before (docs/adr/0008-services-are-known-by-their-ids.md).
 * - Owners' services make room first: `displace-owners.ts`.
 */
import { isDeepStrictEqual } from 'node:util';
import { dashDomain } from '../../domain/service.ts';
import type { CatalogueOutcome, NewService } from '../ports/services.ts';
import { displaceOwners } from './displace-owners.ts';
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
export async function putCatalogue(
  store: RegistryStore,
  entries: readonly NewService[],
): Promise<CatalogueOutcome> {
  checkEntries(entries);
  const outcome = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  const known = new Map((await readCatalogue(store)).map((row) => [row.slug, row]));
  const wanted = new Set(entries.map(({ slug }) => slug));
  for (const row of known.values()) {
    if (row.removed === 1 || wanted.has(row.slug)) continue;
    await retireService(store, row);
    outcome.removed++;
  }
  await displaceOwners(store, entries);
  for (const entry of entries) {
    const row = known.get(entry.slug);
    const live = row !== undefined && row.removed === 0;
    if (live && isDeepStrictEqual(toDefinition(row), entry)) {
      outcome.unchanged++;
      continue;
    }
    if (row === undefined) await insertService(store, entry);
    else await updateService(store, row, entry);
    outcome[live ? 'changed' : 'added']++;
  }
  return outcome;
}

async function readCatalogue({ kysely, queries }: RegistryStore): Promise<ServiceRow[]> {
  return await queries.all(kysely.selectFrom('services').selectAll().where('origin', '=', 'catalogue'));
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
