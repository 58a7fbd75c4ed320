/** Merges of accounts: every table has a rule, and a merge that fails in the middle leaves nothing. */
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { COPIED_TABLES } from '../../src/store/registry/copy-registry.ts';
import { ENDED_TABLES, MOVED_TABLES } from '../../src/store/registry/merge-accounts.ts';
import { registryFile } from '../../src/store/registry/registry-database.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { NOON, owned } from './registry-fixtures.ts';

t.test('it has a rule for each table with an account', async (t) => {
  const dataDir = t.testdir();
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
  const database = new DatabaseSync(registryFile(dataDir), { readOnly: true });
  const columns = database.prepare(`SELECT 1 FROM pragma_table_info(?) WHERE name = 'account_id'`);
  const tables = COPIED_TABLES.map(([table]) => table).filter((table) => columns.get(table) !== undefined);
  t.same(tables.sort(), [...MOVED_TABLES, ...ENDED_TABLES].sort());
  database.close();
  await methods.close();
});

t.test('a merge that fails leaves both accounts as they were', async (t) => {
  const dataDir = t.testdir();
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
  t.teardown(() => methods.close());
  const [from, into] = [await methods.ensureAccount('ops', NOON), await methods.ensureAccount('acme', NOON)];
  const service = await methods.addService(owned('shop.example', from.id));
  const database = new DatabaseSync(registryFile(dataDir), { timeout: 5_000 });
  t.teardown(() => database.close());
  // The last step of the merge.
  database.exec(`CREATE TRIGGER cut BEFORE DELETE ON accounts BEGIN SELECT RAISE(ABORT, 'cut'); END`);
  await t.rejects(methods.mergeAccounts(from.id, into.id, NOON), /cut/);
  t.strictSame(await methods.servicesOf(from.id), [service]);
  t.equal(await methods.lastChange(), 1);
  database.exec('DROP TRIGGER cut');
  await methods.mergeAccounts(from.id, into.id, NOON);
  t.match(await methods.servicesOf(into.id), [{ slug: service.slug }]);
});
