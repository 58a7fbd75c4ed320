/** Tests of the registry that hold over SQLite and over PostgreSQL alike. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { addressOf, openPostgresDatabase } from '../../src/store/database/postgres/postgres-database.ts';
import { PostgresLink } from '../../src/store/database/postgres/postgres-link.ts';
import { connectTo } from '../../src/store/database/postgres/postgres-servers.ts';
import { createWriteStore } from '../../src/store/database/postgres/postgres-store.ts';
import { openRegistryDatabase } from '../../src/store/database/registry-database.ts';
import type { RegistryStore } from '../../src/store/database/registry-store.ts';
import { createSqliteStore } from '../../src/store/database/sqlite-store.ts';
import { openMethods } from '../../src/store/registry/open-registry.ts';
import type { RegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { NEEDS_POSTGRES } from './postgres-server.ts';
import { createRegistry, usePostgres } from './run-servers.ts';

/** Where a registry is: whatever opens it shares what it holds. */
export interface RegistryPlace {
  readonly dataDir: string;
  /** Null: it is in the data directory. */
  readonly postgresUrl: string | null;
  /** Opens it once more; it is closed after the test. */
  open(options?: {
    readonly secretKey?: string | null;
    readonly checksKey?: string | null;
  }): Promise<RegistryMethods>;
  /** Opens what rows are written through, beside no other process; over PostgreSQL inside one transaction. */
  openStore(): Promise<RegistryStore>;
  /** The rows of a query past the registry. */
  read(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Makes a place of a new registry. */
export type MakePlace = (t: Test) => Promise<RegistryPlace>;

/** Runs a test over each database, in a test of that title. */
export function testOverBoth(title: string, work: (t: Test, makePlace: MakePlace) => Promise<void>): void {
  t.test(title, async (t) => {
    await t.test('SQLite', (t) => work(t, (t) => makePlace(t, null)));
    await t.test('PostgreSQL', NEEDS_POSTGRES, (t) =>
      work(t, async (t) => {
        const server = await sharedServer();
        const name = `test_${randomUUID().replaceAll('-', '')}`;
        await createRegistry(server, name);
        return await makePlace(t, server.url(name));
      }),
    );
  });
}

let server: ReturnType<typeof usePostgres> | null = null;

/** One server for all tests of a file. */
function sharedServer(): ReturnType<typeof usePostgres> {
  server ??= usePostgres(t);
  return server;
}

async function makePlace(t: Test, postgresUrl: string | null): Promise<RegistryPlace> {
  const dataDir = t.testdir();
  return {
    dataDir,
    postgresUrl,
    async open(keys = {}) {
      const methods = await openMethods({ dataDir, domainsPerAccount: 10, postgresUrl, ...keys });
      let closing: Promise<void> | null = null;
      const close = (): Promise<void> => {
        closing ??= methods.close();
        return closing;
      };
      t.teardown(close);
      return { ...methods, close };
    },
    openStore: () => (postgresUrl === null ? openFileStore(t, dataDir) : openServerStore(t, postgresUrl)),
    async read(sql) {
      if (postgresUrl === null) {
        const database = new DatabaseSync(registryFile(dataDir), { readOnly: true });
        const rows = database.prepare(sql).all();
        database.close();
        return rows;
      }
      const { client, end } = await connectTo(postgresUrl);
      const { rows } = await client.query<Record<string, unknown>>(sql);
      await end();
      return rows;
    },
  };
}

async function openFileStore(t: Test, dataDir: string): Promise<RegistryStore> {
  const opened = await openRegistryDatabase(dataDir);
  t.teardown(() => opened.database.close());
  return createSqliteStore(() => opened, { monotonic: () => 0, busyTimeoutMs: () => 0 }).store;
}

async function openServerStore(t: Test, url: string): Promise<RegistryStore> {
  const kysely = await openPostgresDatabase(url);
  const link = new PostgresLink({
    url,
    address: addressOf(url),
    clock: systemClock,
    onNotice() {},
    onLostCommits() {},
  });
  await link.open();
  const { store, transactions } = createWriteStore({
    kysely,
    connection: link.writer,
    onCommitted() {},
    notice: 'test',
  });
  await transactions.begin(async () => {});
  t.teardown(async () => {
    await transactions.rollback();
    await link.close();
  });
  return store;
}
