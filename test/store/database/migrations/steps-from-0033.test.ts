/** Updates of owners' incidents that an earlier version wrote as JSON become rows, on both databases. */
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import type { MigrationSteps } from '../../../../src/store/database/migrations.ts';
import { POSTGRES_STEPS, SQLITE_STEPS } from '../../../../src/store/database/migrations.ts';
import { createDatabase, executeSql, NEEDS_POSTGRES } from '../../../support/postgres-server.ts';
import { usePostgres } from '../../../support/run-servers.ts';

const STEP = 'owner-updates-compatible';

type Execute = (sql: string) => Promise<readonly unknown[]>;

/** Does the steps before the one that is tried, and returns its statements. */
async function prepare(
  { names, statementsOf }: MigrationSteps,
  execute: (sql: string) => unknown,
): Promise<readonly string[]> {
  const last = names.findIndex((name) => name.endsWith(STEP));
  for (const name of names.slice(0, last))
    for (const statement of statementsOf(name)) await execute(statement);
  return statementsOf(names[last] ?? '');
}

const update = (at: number, text = `text ${at}`) => ({
  at,
  status: 'investigating',
  markdown: `*${text}*`,
  plain: text,
});
const LONG = 'x'.repeat(3_000);
const UPDATES = [update(1), update(2), update(3), update(4, LONG)];
const TIMELINE = UPDATES.map(({ at, status, plain }) => ({ at, status, text: plain }));

const insert = (updates: readonly object[]) =>
  `INSERT INTO owner_incidents (account_id, title, severity, status, started_at, services, pages, updates, site_url, revision,
     created_at, updated_at) VALUES (1, 't', 'minor', 'investigating', 1, '[1]', '[]', '${JSON.stringify(updates)}', '', 1, 1, 1)`;
const READ =
  'SELECT incident_id, place, at, status, markdown, plain FROM owner_updates ORDER BY incident_id, place';

async function check(t: Test, execute: Execute, step: readonly string[]) {
  const read = async (sql: string) =>
    (await execute(sql)).map((row) =>
      Object.fromEntries(
        Object.entries(row as object).map(([name, value]) => [
          name,
          /^\d+$/.test(value) ? Number(value) : value,
        ]),
      ),
    );
  await execute("INSERT INTO accounts (id, name, created_at) VALUES (1, 'ada', 0)");
  await execute(`INSERT INTO services (id, slug, dashed, name, domain, category, origin, verified, paused, check_definition,
    revision) VALUES (1, 's', 's', 'n', 'd', 'ai', 'catalogue', 1, 0, '{}', 1)`);
  await execute(insert(UPDATES));
  for (const id of ['owner-1-1', 'owner-m1-1-1'])
    await execute(`INSERT INTO incidents (id, service_id, source, title, description, severity, status, started_at, source_url,
      good_checks, updates, listed, verified, by_owner)
      VALUES ('${id}', 1, 'vendor', 't', '${LONG}', 'minor', 'investigating', 1, '', 0, '${JSON.stringify(TIMELINE)}', 1, 1, 1)`);
  for (const statement of step) await execute(statement);
  const rows = (id: number, updates: readonly object[], first = 1) =>
    updates.map((one, index) => ({ incident_id: id, place: first + index, ...one }));
  t.strictSame(await read(READ), rows(1, UPDATES));
  const [short, maintenance] = await read(
    `SELECT description, updates, earlier FROM incidents WHERE service_id = 1 ORDER BY id`,
  );
  t.match(short, { description: `${'x'.repeat(1_000)}…`, earlier: 1 });
  t.strictSame(JSON.parse(String(short?.updates)), [
    ...TIMELINE.slice(1, 3),
    { at: 4, status: 'investigating', text: `${'x'.repeat(1_000)}…` },
  ]);
  t.match(maintenance, { earlier: 0, updates: JSON.stringify(TIMELINE) }, 'maintenance is short already');

  await execute(
    `UPDATE owner_incidents SET updates = '${JSON.stringify([update(5)])}', revision = 2 WHERE id = 1`,
  );
  await execute(insert([update(6), update(7)]));
  t.strictSame(
    await read(READ),
    [...rows(1, [...UPDATES, update(5)]), ...rows(2, [update(6), update(7)])],
    'what an earlier version writes meanwhile is kept',
  );
  t.strictSame(await read('SELECT DISTINCT updates FROM owner_incidents'), [{ updates: '[]' }]);
  await execute('DELETE FROM owner_incidents WHERE id = 1');
  t.strictSame(await read(READ), rows(2, [update(6), update(7)]));
}

t.test('it makes rows of the updates in SQLite', async (t) => {
  const database = new DatabaseSync(':memory:');
  const step = await prepare(SQLITE_STEPS, (sql) => database.exec(sql));
  await check(t, async (sql) => database.prepare(sql).all(), step);
  database.close();
});

t.test('it makes rows of the updates in PostgreSQL', NEEDS_POSTGRES, async (t) => {
  const server = await usePostgres(t);
  await createDatabase(server.url('postgres'), 'earlier');
  const execute: Execute = (sql) => executeSql(server.url('earlier'), sql);
  await check(t, execute, await prepare(POSTGRES_STEPS, execute));
});
