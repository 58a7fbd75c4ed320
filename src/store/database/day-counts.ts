/** Daily counts: requests for letters, and invitations. */
import { DAY_MS } from '../../domain/durations.ts';
import type { RegistryStore } from './registry-store.ts';

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
