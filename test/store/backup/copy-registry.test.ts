/** `upbeat registry copy`, both ways, by the command line: what it copies, what it refuses, and what an interrupted copy leaves. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { openPostgresSource } from '../../../src/store/backup/copy-end.ts';
import { COPIED_TABLES, openSqliteSource } from '../../../src/store/backup/copy-registry.ts';
import { openRegistryMethods } from '../../../src/store/registry/registry-thread.ts';
import { createDatabase, NEEDS_POSTGRES } from '../../support/postgres-server.ts';
import { install } from '../../support/program.ts';
import { registryHere } from '../../support/registry-here.ts';
import { usePostgres } from '../../support/run-servers.ts';
import { entry, firstTurn, incident, NOON, owned } from '../registry-fixtures.ts';

t.setTimeout(300_000);

/** Fills a registry with rows in most tables, among them bytes and characters that only some databases store. */
async function fill(dataDir: string): Promise<void> {
  const registry = registryHere(await openRegistryMethods({ dataDir, domainsPerAccount: 9 }), systemClock);
  const { id: accountId } = await registry.ensureAccount('ada \u{1f600}', NOON);
  const ada = await registry.linkIdentity(accountId, { provider: 'acme', subject: '1', name: 'ada' }, NOON);
  await registry.createSession({
    sha256: new Uint8Array(32),
    personId: ada.id,
    createdAt: NOON,
    expiresAt: NOON,
  });
  await registry.addWebhook({
    accountId,
    url: 'https://hooks.example',
    secret: 'whsec_c2VjcmV0',
    createdAt: NOON,
  });
  await registry.putCatalogue(Array.from({ length: 600 }, (_, n) => entry(`s${n}`)));
  const { id } = await registry.addService(owned('shop.example', accountId));
  await registry.commitUpdates([
    { ...firstTurn(id, 'down', NOON), incident: incident(id, `own-${id}-1`) },
    {
      ...firstTurn(1, 'up', NOON),
      memory: { needsGet: true, headSeen: false, healthSeen: false, askHealthAt: 9 },
    },
  ]);
  await registry.putInInbox({ kind: 'beat', accountId, arrivedAt: NOON, body: 'a \0 and a \u0010 in it' });
  const page = await registry.addPage({ accountId, slug: 'p', title: 'P', text: '', groups: [], now: NOON });
  const logo = { bytes: new Uint8Array([0, 255, 10]), type: 'image/png', width: 1, height: 1 } as const;
  await registry.putPictures(
    { accountId: accountId, slug: page.slug },
    { logo: { ...logo, mark: 'x' } },
    NOON,
  );
  await registry.putPictures(
    { accountId: accountId, slug: page.slug },
    { favicon: { ...logo, mark: 'y' } },
    NOON,
  );
  await registry.removeService('shop-example');
  await registry.close();
}

t.test('it copies a registry to PostgreSQL and back, whole', NEEDS_POSTGRES, async (t) => {
  const server = await usePostgres(t);
  const name = `copy_${process.pid}_${Date.now()}`;
  await createDatabase(server.url('postgres'), name);
  const url = server.url(name);
  const [first, second] = [await install([]), await install([])];
  t.teardown(() => {
    first.remove();
    second.remove();
  });
  const dataDir = join(first.folder, 'data');
  await fill(dataDir);

  const there = await first.run('registry', 'copy', '--to', url);
  t.equal(there.status, 0, there.stderr);
  const [, rows, tables, digest] =
    /^([\d,]+) rows of (\d+) tables copied from .* SHA-256 ([0-9a-f]{64})$/m.exec(there.stdout) ?? [];
  t.equal(Number(tables), COPIED_TABLES.length);
  t.ok(Number(rows?.replace(',', '')) > 1_800);
  const again = await first.runHere('registry', 'copy', '--to', url);
  t.match([again.status, again.stderr], [1, /is not empty: accounts has 1 rows/]);

  const back = await second.runHere('registry', 'copy', '--from', url, '--json');
  t.equal(back.status, 0, back.stderr);
  t.match(JSON.parse(back.stdout), { tables: COPIED_TABLES.length, digest }, 'the same, there and back');
  const counts = (folder: string) => {
    const database = new DatabaseSync(join(folder, 'data/registry.sqlite'), { readOnly: true });
    const found = COPIED_TABLES.map(([table]) => [table, database.prepare(`SELECT * FROM ${table}`).all()]);
    const numbers = database.prepare('SELECT * FROM sqlite_sequence WHERE seq > 0 ORDER BY name').all();
    database.close();
    return { found, numbers };
  };
  t.same(counts(second.folder), counts(first.folder));

  // A registry that was copied is used as any other, and numbers of removed rows are not given again.
  const list = await first.runHere('accounts', 'list', '--json');
  t.match(JSON.parse(list.stdout), [{ account: 'ada \u{1f600}' }]);
});

t.test(
  'it refuses a source at work, and leaves nothing of a copy that is cut off',
  NEEDS_POSTGRES,
  async (t) => {
    const server = await usePostgres(t);
    const name = `cut_${process.pid}_${Date.now()}`;
    await createDatabase(server.url('postgres'), name);
    const url = server.url(name);
    const installation = await install([]);
    t.teardown(() => installation.remove());
    const missing = await installation.runHere('registry', 'copy', '--to', url);
    t.match([missing.status, missing.stderr], [1, /There is no registry at /]);
    const usage = await installation.runHere('registry', 'copy');
    t.match([usage.status, usage.stderr], [2, /--to and --from/]);
    const dataDir = join(installation.folder, 'data');
    await fill(dataDir);

    const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
    const { fence, renewedAt } = await methods.readLease();
    await methods.takeLease({ pid: 7, host: 'here', replacing: fence, renewedAt, now: Date.now() });
    const renewing = setInterval(() => void methods.renewLease(fence + 1, Date.now()), 500);
    const busy = await installation.runHere('registry', 'copy', '--to', url);
    t.match([busy.status, busy.stderr], [1, /Process 7 on here is the monitor of .*Stop it first/]);
    clearInterval(renewing);
    await methods.releaseLease(fence + 1);
    await methods.close();

    // The connection ends in the middle, as with a program that is killed.
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$`);
    await client.query('CREATE TRIGGER cut BEFORE INSERT ON transitions FOR EACH ROW EXECUTE FUNCTION cut()');
    const cut = await installation.runHere('registry', 'copy', '--to', url);
    t.equal(cut.status, 1);
    t.same((await client.query('SELECT count(*)::int AS n FROM services')).rows, [{ n: 0 }]);
    await client.query('DROP TRIGGER cut ON transitions');
    await client.end();
    const whole = await installation.runHere('registry', 'copy', '--to', url);
    t.equal(whole.status, 0, whole.stderr);
  },
);

t.test('both databases have the same tables and columns', NEEDS_POSTGRES, async (t) => {
  const server = await usePostgres(t);
  const name = `same_${process.pid}_${Date.now()}`;
  await createDatabase(server.url('postgres'), name);
  const dataDir = t.testdir();
  await fill(dataDir);
  const installation = await install([]);
  t.teardown(() => installation.remove());
  const made = await (await import('../../../src/store/database/postgres/examine-postgres.ts')).setUpPostgres(
    server.url(name),
  );
  t.match(made, [{}, { what: 'tables', advice: null }]);
  const [sqlite, postgres] = [await openSqliteSource(dataDir), await openPostgresSource(server.url(name))];
  const database = new DatabaseSync(join(dataDir, 'registry.sqlite'), { readOnly: true });
  const tables = database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'kysely%'",
    )
    .all()
    .map(({ name }) => String(name));
  database.close();
  t.same(tables.toSorted(), [...COPIED_TABLES.map(([table]) => table), 'lease'].toSorted(), 'each is copied');
  for (const table of tables)
    t.same((await postgres.columnsOf(table)).toSorted(), (await sqlite.columnsOf(table)).toSorted(), table);
  await sqlite.close();
  await postgres.close();
});
