/** Small durable facts by name. */
import { randomUUID } from 'node:crypto';
import type { RegistryStore } from './registry-store.ts';

/** The fact of that name; null: unset. */
export function getFact({ kysely, queries }: RegistryStore, name: string): string | null {
  return queries.first(kysely.selectFrom('facts').select('value').where('name', '=', name))?.value ?? null;
}

/** Sets a fact, replacing an older value. */
export function setFact({ kysely, queries }: RegistryStore, name: string, value: string): void {
  queries.run(
    kysely
      .insertInto('facts')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value })),
  );
}

const INSTALLATION_FACT = 'installation';

/** The identity of this installation; null: it was not given one yet. */
export function readInstallation(store: RegistryStore): string | null {
  return getFact(store, INSTALLATION_FACT);
}

/** The identity of this installation, given at the first call: stores that do not belong together are told by it. */
export function ensureInstallation(store: RegistryStore): string {
  const known = readInstallation(store);
  if (known !== null) return known;
  const made = randomUUID();
  setFact(store, INSTALLATION_FACT, made);
  return made;
}
