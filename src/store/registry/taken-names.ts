/** Names of the public catalogue, which no owner's service may bear (decisions, Ownership). */

import { BoundedMap } from '../../async/bounded-map.ts';
import { nameKeys } from '../../domain/resembling-names.ts';
import { sql } from './kysely.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';

/** Keys of the catalogue's names, which are asked for again and again; of more than this, all are forgotten. */
const MAX_REMEMBERED = 10_000;
const keysOfNames = new BoundedMap<string, readonly string[]>(MAX_REMEMBERED);

/** Throws `name_taken` where a service of the catalogue has that name or one that looks like it; its own domain may be one. */
export async function refuseTakenName(
  { kysely, queries }: RegistryStore,
  name: string,
  domain: string,
): Promise<void> {
  if (name === domain) return;
  const keys = nameKeys(name);
  const found = (
    await queries.all(
      // Literals, not parameters: only so SQLite knows that the partial index serves.
      kysely
        .selectFrom('services')
        .select('name')
        .where('origin', '=', sql.lit('catalogue'))
        .where('removed', '=', sql.lit(0)),
    )
  ).find((entry) => rememberKeys(entry.name).some((key) => keys.includes(key)));
  if (found !== undefined)
    throw new RegistryError('name_taken', { code: 'name_taken', name, other: found.name });
}

function rememberKeys(name: string): readonly string[] {
  const known = keysOfNames.get(name);
  if (known !== undefined) return known;
  const keys = nameKeys(name);
  keysOfNames.set(name, keys);
  return keys;
}
