/** Small durable facts by name. */
import { randomUUID } from 'node:crypto';
import type { RegistryStore } from './registry-store.ts';

/** The fact with that name; null: unset. */
export async function getFact({ kysely, queries }: RegistryStore, name: string): Promise<string | null> {
  return (
    (await queries.first(kysely.selectFrom('facts').select('value').where('name', '=', name)))?.value ?? null
  );
}

/** Sets a fact, replacing an older value. */
export async function setFact(
  { kysely, queries }: RegistryStore,
  name: string,
  value: string,
): Promise<void> {
  await queries.run(
    kysely
      .insertInto('facts')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value })),
  );
}

/** The identity of this installation; unset before the first start. */
export const INSTALLATION_FACT = 'installation';

/** The identity of this installation, created by the first call. It shows which stores belong together. */
export async function ensureInstallation(store: RegistryStore): Promise<string> {
  const known = await getFact(store, INSTALLATION_FACT);
  if (known !== null) return known;
  const made = randomUUID();
  await setFact(store, INSTALLATION_FACT, made);
  return made;
}
