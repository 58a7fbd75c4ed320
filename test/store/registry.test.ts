/** The contract on the registry's own methods, without the start of a thread for each of its many registries. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { registryHere } from '../support/registry-here.ts';
import { runRegistryContract } from './registry-contract.ts';

/** A new registry, made once: most of the time of opening one of the many would be that of its migrations. */
const EMPTY = registryFile(t.testdir());
await (await openRegistryMethods({ dataDir: dirname(EMPTY), domainsPerAccount: 100 })).close();

runRegistryContract({
  async open(dataDir, { domainsPerAccount = 100 } = {}) {
    mkdirSync(dataDir, { recursive: true });
    if (!existsSync(registryFile(dataDir))) copyFileSync(EMPTY, registryFile(dataDir));
    return registryHere(await openRegistryMethods({ dataDir, domainsPerAccount }), systemClock);
  },
  async execute(dataDir, sql) {
    const database = new DatabaseSync(registryFile(dataDir));
    database.exec(sql);
    database.close();
  },
});
