/** Slugs of domains that have the same dashed form: a number for each, and no more work for the last than for the first. */
import t from 'tap';
import { claimDomain } from '../../src/store/registry/claim-domain.ts';
import { ensureAccount } from '../../src/store/registry/key-rows.ts';
import { createQueries } from '../../src/store/registry/kysely-sqlite.ts';
import { removeService } from '../../src/store/registry/owner-services.ts';
import { openRegistryDatabase } from '../../src/store/registry/registry-database.ts';
import type { RegistryStore } from '../../src/store/registry/registry-store.ts';

const LABELS = [...'abcdefgh'];

/** One of 128 domains that are `a-b-c-d-e-f-g-h` with dashes for dots. */
function alike(n: number): string {
  return LABELS.map((label, index) =>
    index === 0 ? label : `${(n >> (index - 1)) & 1 ? '.' : '-'}${label}`,
  ).join('');
}

t.test('it finds the number of a slug with as many questions however many are taken', async (t) => {
  const { database, kysely } = await openRegistryDatabase(t.testdir());
  t.teardown(() => database.close());
  const queries = createQueries(database);
  let asked = 0;
  const store: RegistryStore = {
    database,
    kysely,
    queries: {
      ...queries,
      all(query) {
        asked += 1;
        return queries.all(query);
      },
      first(query) {
        asked += 1;
        return queries.first(query);
      },
    },
  };
  const { id } = ensureAccount(store, 'ada', 1);
  const questions: number[] = [];
  const slugs: string[] = [];
  for (let n = 64; n < 128; n++) {
    asked = 0;
    slugs.push(claimDomain(store, alike(n), id, 1_000).slug);
    questions.push(asked);
  }
  t.same(slugs.slice(0, 3), ['a-b-c-d-e-f-g-h', 'a-b-c-d-e-f-g-h-2', 'a-b-c-d-e-f-g-h-3']);
  t.equal(slugs.at(-1), 'a-b-c-d-e-f-g-h-64');
  t.equal(questions.at(-1), questions[1]);

  removeService(store, 'a-b-c-d-e-f-g-h-30');
  t.equal(claimDomain(store, alike(63), id, 1_000).slug, 'a-b-c-d-e-f-g-h-65', 'a slug is never given again');
  t.equal(claimDomain(store, alike(93), id, 1_000).slug, 'a-b-c-d-e-f-g-h-30', 'but to who had it');
});
