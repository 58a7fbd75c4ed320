/** Names of pages, and of services on them, that would pass for a service of the catalogue (decisions, Badge and Ownership). */
import type { PageGroup } from '../../../domain/status-page.ts';
import { RegistryError } from '../../database/registry-error.ts';
import type { RegistryStore } from '../../database/registry-store.ts';
import { loadNameRule } from '../services/slugs.ts';
import { isTrustedAccount } from '../trust.ts';

/** As for badges, another account's page must not have the slug of a public service. */
export async function refuseServiceName({ kysely, queries }: RegistryStore, slug: string): Promise<void> {
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

/**
 * Throws `name_taken` if a name that a service gets on a page equals or resembles that of a catalogue service: no domain follows the name
 * of a private one. The operator vouches for trusted accounts.
 */
export async function refuseTakenNames(
  store: RegistryStore,
  accountId: number,
  groups: readonly PageGroup[],
  before: readonly PageGroup[],
): Promise<void> {
  const namesOf = (list: readonly PageGroup[]) => list.flatMap(({ names = {} }) => Object.values(names));
  const known = new Set(namesOf(before));
  const added = namesOf(groups).filter((name) => !known.has(name));
  if (added.length === 0 || (await isTrustedAccount(store, accountId))) return;
  const rule = await loadNameRule(store);
  for (const name of added) {
    const refusal = rule(name, '');
    if (refusal !== null) throw new RegistryError('name_taken', refusal);
  }
}
