/** Small durable facts by name. */
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
