/** The contract on PostgreSQL: a database for each registry, as a data directory is for SQLite. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { openPostgresMethods } from '../../src/store/registry/postgres/postgres-methods.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { registryHere } from '../support/registry-here.ts';
import { usePostgres } from '../support/run-servers.ts';
import { runRegistryContract } from './registry-contract.ts';

if ('skip' in NEEDS_POSTGRES) {
  t.test('the contract of the registry on PostgreSQL', NEEDS_POSTGRES, async () => {});
} else {
  const server = await usePostgres(t);
  /** The database of each data directory. */
  const databases = new Map<string, Promise<string>>();
  const databaseOf = (dataDir: string): Promise<string> => {
    const known = databases.get(dataDir);
    if (known !== undefined) return known;
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    const made = createDatabase(server.url('postgres'), name).then(() => server.url(name));
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
