/** The contract on the registry's own methods, without the start of a thread for each of its many registries. */
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../src/clock.ts';
import { registryFile } from '../../src/store/database/registry-file.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { registryHere } from '../support/registry-here.ts';
import { runRegistryContract } from './registry-contract.ts';

runRegistryContract({
  open: async (dataDir, { domainsPerAccount = 100 } = {}) =>
    registryHere(await openRegistryMethods({ dataDir, domainsPerAccount }), systemClock),
  async execute(dataDir, sql) {
    const database = new DatabaseSync(registryFile(dataDir));
    database.exec(sql);
    database.close();
  },
});
