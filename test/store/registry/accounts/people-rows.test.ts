/** People of a registry that an earlier version has written: who signed in is the owner of their account. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { POSTGRES_STEPS } from '../../../../src/store/database/migrations.ts';
import { openPostgresMethods } from '../../../../src/store/registry/postgres-methods.ts';
import { openRegistryMethods, type RegistryMethods } from '../../../../src/store/registry/registry-thread.ts';
import { registryFile } from '../../../../src/store/sqlite/private-files.ts';
import { createDatabase, NEEDS_POSTGRES } from '../../../support/postgres-server.ts';
import { usePostgres } from '../../../support/run-servers.ts';
import { openEarlier } from '../../earlier-registry.ts';
import { NOON } from '../../registry-fixtures.ts';

/** Accounts of an earlier version: ada has signed in, ops was made by a command. `bytes`: 32 bytes as a literal. */
const rows = (bytes: string) => [
  `INSERT INTO accounts (id, name, created_at) VALUES (1, 'ops', ${NOON}), (7, 'ada', ${NOON + 5})`,
  `INSERT INTO identities (provider, subject, account_id, created_at) VALUES ('acme', '42', 7, ${NOON + 5})`,
  `INSERT INTO sessions (sha256, account_id, created_at, expires_at) VALUES (${bytes}, 7, ${NOON + 6}, ${NOON + 9})`,
];
const SHA256 = new Uint8Array(32).fill(0xab);
const AB = 'ab'.repeat(32);

async function examine(
  t: import('tap').Test,
  methods: RegistryMethods,
  execute: (statements: readonly string[]) => Promise<void>,
): Promise<void> {
  const ada = {
    personId: 7,
    name: 'ada',
    role: 'owner',
    since: NOON + 5,
    providers: ['acme'],
    ways: [],
  } as const;
  t.match(await methods.listAccounts(), [
    { id: 1, members: [] },
    { id: 7, members: [ada] },
  ]);
  t.match(await methods.findSession(SHA256, NOON + 6), { personId: 7, accountId: 7, role: 'owner' });
  t.match(await methods.ensureIdentity({ provider: 'acme', subject: '42', name: 'x' }, NOON), { id: 7 });
  t.match(await methods.addPerson('grace', NOON), { id: 8 }, 'numbers go on');

  // A process of the earlier version continues to write during an upgrade.
  await execute([
    `INSERT INTO accounts (id, name, created_at) VALUES (20, 'late', ${NOON})`,
    `INSERT INTO identities (provider, subject, account_id, created_at) VALUES ('acme', '43', 20, ${NOON})`,
  ]);
  const late = { provider: 'acme', subject: '43', name: 'late' };
  const person = await methods.ensureIdentity(late, NOON + 9);
  t.match(person, { name: 'late', createdAt: NOON });
  t.match(await methods.ensureIdentity(late, NOON + 9), person);
  t.match(await methods.membershipsOf(person.id), [{ accountId: 20, role: 'owner', since: NOON }]);
}

t.test('it makes people of who signed in before, in a file', async (t) => {
  const dataDir = t.testdir();
  const database = await openEarlier('0018-heartbeat-logs', registryFile(dataDir));
  const execute = async (statements: readonly string[]) => {
    for (const statement of statements) database.exec(statement);
  };
  await execute(rows(`x'${AB}'`));
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
  await examine(t, methods, execute);
  await methods.close();
  database.close();
});

t.test('it makes people of who signed in before, in PostgreSQL', NEEDS_POSTGRES, async (t) => {
  const server = await usePostgres(t);
  const name = `people_${randomUUID().replaceAll('-', '')}`;
  await createDatabase(server.url('postgres'), name);
  const client = new pg.Client({ connectionString: server.url(name) });
  await client.connect();
  const execute = async (statements: readonly string[]) => {
    for (const statement of statements) await client.query(statement);
  };
  const dataDir = t.testdir();
  // As Kysely's migrator leaves them.
  await execute([
    'CREATE TABLE kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL)',
    'CREATE TABLE kysely_migration_lock (id varchar(255) PRIMARY KEY, is_locked integer DEFAULT 0 NOT NULL)',
    `INSERT INTO kysely_migration_lock VALUES ('migration_lock', 0)`,
  ]);
  for (const step of POSTGRES_STEPS.names.filter((one) => one < '0005')) {
    await execute([
      ...POSTGRES_STEPS.statementsOf(step),
      `INSERT INTO kysely_migration VALUES ('${step}', '2026')`,
    ]);
  }
  await execute([...rows(`'\\x${AB}'`), `SELECT setval('accounts_id_seq', 7)`]);
  const methods = await openPostgresMethods(server.url(name), { dataDir, domainsPerAccount: 9 });
  await examine(t, methods, execute);
  await methods.close();
  await client.end();
});
