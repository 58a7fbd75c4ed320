/** Tests of the registry that hold over SQLite and over PostgreSQL alike. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { openMethods } from '../../src/store/registry/open-registry.ts';
import type { RegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { createDatabase, NEEDS_POSTGRES } from './postgres-server.ts';
import { usePostgres } from './run-servers.ts';

/** Where a registry is: whatever opens it shares what it holds. */
export interface RegistryPlace {
  readonly dataDir: string;
  /** Null: it is in the data directory. */
  readonly postgresUrl: string | null;
  /** Opens it once more; it is closed after the test. */
  open(options?: { readonly secretKey?: string | null }): Promise<RegistryMethods>;
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
        await createDatabase(server.url('postgres'), name);
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
    async open({ secretKey = null } = {}) {
      const methods = await openMethods({ dataDir, domainsPerAccount: 10, postgresUrl, secretKey });
      let closing: Promise<void> | null = null;
      const close = (): Promise<void> => {
        closing ??= methods.close();
        return closing;
      };
      t.teardown(close);
      return { ...methods, close };
    },
  };
}
