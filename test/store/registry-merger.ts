/**
 * A child process for the test to kill: merges the account that has everything into the next one, without end, and says on standard
 * output into which one, a line after each merge.
 */
import { writeSync } from 'node:fs';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { NOON } from './registry-fixtures.ts';

const registry = await openRegistryMethods({ dataDir: process.argv[2] ?? '', domainsPerAccount: 1_000 });
let from = (await registry.listAccounts()).find(({ services }) => services > 0)?.id ?? 0;
for (;;) {
  const { id: into } = await registry.ensureAccount(`account ${from + 1}`, NOON);
  await registry.mergeAccounts(from, into, NOON);
  // Synchronous: what was said was said, however soon the end comes.
  writeSync(1, `${into}\n`);
  from = into;
}
