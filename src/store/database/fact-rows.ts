/** Small durable facts by name, and counts of a day. */
import { randomUUID } from 'node:crypto';
import { DAY_MS } from '../../domain/durations.ts';
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

/** Counts something under a name; false: there are `max` of the UTC day already, and it is not counted. */
export async function countToday(
  { kysely, queries }: RegistryStore,
  name: string,
  now: number,
  max: number,
): Promise<boolean> {
  const changed = await queries.run(
    kysely
      .insertInto('letter_counts')
      .values({ name, day: Math.floor(now / DAY_MS), count: 1 })
      .onConflict((conflict) =>
        conflict
          .columns(['name', 'day'])
          .doUpdateSet(({ eb }) => ({ count: eb('letter_counts.count', '+', 1) }))
          .where('letter_counts.count', '<', max),
      ),
  );
  return changed > 0;
}
