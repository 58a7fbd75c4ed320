/** The contract on PostgreSQL: a database for each registry, as a data directory is for SQLite. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { openPostgresDatabase } from '../../src/store/registry/postgres/postgres-database.ts';
import { openPostgresMethods } from '../../src/store/registry/postgres/postgres-methods.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { registryHere } from '../support/registry-here.ts';
import { usePostgres } from '../support/run-servers.ts';
import { runRegistryContract } from './registry-contract.ts';

if ('skip' in NEEDS_POSTGRES) {
  t.test('the contract of the registry on PostgreSQL', NEEDS_POSTGRES, async () => {});
} else {
  const server = await usePostgres(t);
  const nameOfItsOwn = () => `test_${randomUUID().replaceAll('-', '')}`;
  // The tables are made once, and copied from then on.
  const template = nameOfItsOwn();
  await createDatabase(server.url('postgres'), template);
  await (await openPostgresDatabase(server.url(template))).pool.end();
  /** The database of each data directory. */
  const databases = new Map<string, Promise<string>>();
  const databaseOf = (dataDir: string): Promise<string> => {
    const known = databases.get(dataDir);
    if (known !== undefined) return known;
    const name = nameOfItsOwn();
    const copied = createDatabase(server.url('postgres'), name, `TEMPLATE ${template}`);
    const made = copied.then(() => server.url(name));
    databases.set(dataDir, made);
    return made;
  };
  runRegistryContract({
    open: async (dataDir, { domainsPerAccount = 100 } = {}) =>
      registryHere(
        await openPostgresMethods(await databaseOf(dataDir), { dataDir, domainsPerAccount }),
        systemClock,
      ),
  });
}
