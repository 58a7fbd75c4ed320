/** Slugs of domains that have the same dashed form: a number for each, and no more work for the last than for the first. */
import t from 'tap';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { ensureAccount } from '../../src/store/registry/account-rows.ts';
import { claimDomain } from '../../src/store/registry/claim-domain.ts';
import { createQueries } from '../../src/store/registry/kysely-sqlite.ts';
import { removeService } from '../../src/store/registry/owner-services.ts';
import { proveDomain } from '../../src/store/registry/ownership.ts';
import { openRegistryDatabase } from '../../src/store/registry/registry-database.ts';
import type { RegistryStore } from '../../src/store/registry/registry-store.ts';
import { insertService } from '../../src/store/registry/service-rows.ts';
import { entry } from './registry-fixtures.ts';

const LIMITS = { perAccount: 1_000, perDay: 1_000 };
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
    slugs.push(claimDomain(store, alike(n), id, LIMITS).slug);
    questions.push(asked);
  }
  t.same(slugs.slice(0, 3), ['a-b-c-d-e-f-g-h', 'a-b-c-d-e-f-g-h-2', 'a-b-c-d-e-f-g-h-3']);
  t.equal(slugs.at(-1), 'a-b-c-d-e-f-g-h-64');
  t.equal(questions.at(-1), questions[1]);

  removeService(store, 'a-b-c-d-e-f-g-h-30');
  t.equal(claimDomain(store, alike(63), id, LIMITS).slug, 'a-b-c-d-e-f-g-h-30', 'it was never verified');
  t.equal(claimDomain(store, alike(93), id, LIMITS).slug, 'a-b-c-d-e-f-g-h-65');
});

t.test('it judges ownership at every heartbeat, not only at the first', async (t) => {
  const { database, kysely } = await openRegistryDatabase(t.testdir());
  t.teardown(() => database.close());
  const store: RegistryStore = { database, kysely, queries: createQueries(database) };
  const { id } = ensureAccount(store, 'ada', 1);
  const mine = claimDomain(store, 'api.big.com', id, LIMITS);
  // An entry that came past the rules that make room for it.
  insertService(store, entry('big', { check: DEFAULT_CHECK }));
  t.throws(() => claimDomain(store, 'api.big.com', id, LIMITS), { code: 'catalogue_domain' });
  proveDomain(store, id, 'api.big.com', 'heartbeat', 2, LIMITS);
  t.equal(claimDomain(store, 'api.big.com', id, LIMITS).id, mine.id);
});

t.test('it counts registrations of the last 24 hours, whatever the clock did', async (t) => {
  const { database, kysely } = await openRegistryDatabase(t.testdir());
  t.teardown(() => database.close());
  const store: RegistryStore = { database, kysely, queries: createQueries(database) };
  const { id } = ensureAccount(store, 'ada', 1);
  const limits = { perAccount: 100, perDay: 3 };
  const moveAll = (byMs: number) => database.exec(`UPDATE domain_registrations SET at = at + ${byMs}`);
  const claim = (domain: string) => claimDomain(store, domain, id, limits).domain;
  for (const domain of ['a.org', 'b.org', 'c.org']) claim(domain);
  moveAll(-86_400_000 + 60_000);
  t.throws(() => claim('d.org'), { code: 'account_limit' }, 'a minute too early');
  moveAll(-60_000);
  t.equal(claim('d.org'), 'd.org');
  moveAll(7 * 86_400_000);
  for (const domain of ['e.org', 'f.org', 'g.org']) t.equal(claim(domain), domain, 'the clock was set back');
  t.throws(() => claim('h.org'), { code: 'account_limit' });
});
