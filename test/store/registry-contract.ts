/** What every registry must do, whatever it is built on: tests that run over SQLite and over PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { COPIED_TABLES } from '../../src/store/backup/copy-registry.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { openPostgresMethods } from '../../src/store/registry/postgres-methods.ts';
import { openRegistryMethods, type RegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { registryHere } from '../support/registry-here.ts';
import { createRegistry, usePostgres } from '../support/run-servers.ts';

interface RegistryOptions {
  readonly domainsPerAccount?: number;
}

/** How tests open registries: two over the same directory share what they hold. */
interface RegistryAdapter {
  open(dataDir: string, domainsPerAccount: number): Promise<RegistryMethods>;
  /** Runs a statement that every SQL takes on the tables of the open registries of `dataDir`. */
  execute(dataDir: string, sql: string): Promise<void>;
}

/** Opens a registry that is closed after the test. */
export type OpenForTest = (t: Test, dataDir?: string, options?: RegistryOptions) => Promise<Registry>;

type Contract = (t: Test, open: OpenForTest, execute: RegistryAdapter['execute']) => Promise<void>;

/** Tests a part of the contract over each database, without the start of a thread for each of its many registries. */
export function overBoth(contract: Contract): void {
  const run = (t: Test, { open, execute }: RegistryAdapter) => {
    const openForTest: OpenForTest = async (t, dataDir = t.testdir(), { domainsPerAccount = 100 } = {}) => {
      const registry = registryHere(await open(dataDir, domainsPerAccount), systemClock);
      t.teardown(() => registry.close());
      return registry;
    };
    return contract(t, openForTest, execute);
  };
  // Dozens of registries are opened; on a busy machine that takes its time.
  t.setTimeout(600_000);
  t.test('SQLite', (t) => run(t, sqlite));
  t.test('PostgreSQL', NEEDS_POSTGRES, async (t) => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    t.teardown(() => process.off('warning', note));
    await run(t, await openPostgresAdapter());
    t.test('it uses the driver in no way that is deprecated', async (t) => {
      t.same(
        warnings.map(({ message }) => message),
        [],
      );
    });
  });
}

/** A new registry, made once: most of the time of opening one of the many would be that of its migrations. */
let empty: Promise<Buffer> | null = null;

async function makeEmpty(): Promise<Buffer> {
  const file = registryFile(t.testdir());
  await (await openRegistryMethods({ dataDir: dirname(file), domainsPerAccount: 100 })).close();
  return readFileSync(file);
}

const sqlite: RegistryAdapter = {
  async open(dataDir, domainsPerAccount) {
    empty ??= makeEmpty();
    mkdirSync(dataDir, { recursive: true });
    if (!existsSync(registryFile(dataDir))) writeFileSync(registryFile(dataDir), await empty);
    return await openRegistryMethods({ dataDir, domainsPerAccount });
  },
  async execute(dataDir, sql) {
    const database = new DatabaseSync(registryFile(dataDir));
    database.exec(sql);
    database.close();
  },
};

/** The databases of the data directories of the running test, and those of tests that have ended. */
const databases = new Map<string, string>();
const spare: string[] = [];
let openRegistries = 0;

/** Empties a database in a fraction of the time that a new one takes. */
const EMPTY = [
  ...COPIED_TABLES.toReversed().map(([table]) => `DELETE FROM ${table}`),
  'UPDATE lease SET fence = 0, pid = NULL, host = NULL, process = NULL, renewed_at = 0',
  `SELECT setval(oid, 1, false) FROM pg_class
   WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace`,
].join('; ');

/** A database for each data directory, on a server of this file. */
async function openPostgresAdapter(): Promise<RegistryAdapter> {
  const server = await usePostgres(t);
  const databaseOf = async (dataDir: string): Promise<string> => {
    const known = databases.get(dataDir);
    if (known !== undefined) return known;
    if (openRegistries === 0) {
      // The test before has ended.
      spare.push(...databases.values());
      databases.clear();
    }
    let url = spare.pop();
    if (url === undefined) {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      await createRegistry(server, name);
      url = server.url(name);
    } else await query(url, EMPTY);
    databases.set(dataDir, url);
    return url;
  };
  return {
    async open(dataDir, domainsPerAccount) {
      const url = await databaseOf(dataDir);
      openRegistries += 1;
      const methods = await openPostgresMethods(url, { dataDir, domainsPerAccount });
      let isOpen = true;
      return {
        ...methods,
        async close() {
          if (isOpen) openRegistries -= 1;
          isOpen = false;
          await methods.close();
        },
      };
    },
    execute: async (dataDir, sql) => query(await databaseOf(dataDir), sql),
  };
}

/** Runs statements on a database. */
async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
