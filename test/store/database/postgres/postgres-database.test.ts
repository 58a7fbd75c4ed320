/** PostgreSQL over TLS and through PgBouncer, with the rights that docs/cluster.md gives and no others. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../src/clock.ts';
import { SHARDS } from '../../../../src/domain/node.ts';
import { DEFAULT_CHECK, isTrusted } from '../../../../src/domain/service.ts';
import { COPIED_TABLES } from '../../../../src/store/backup/copy-registry.ts';
import { examinePostgres } from '../../../../src/store/database/postgres/examine-postgres.ts';
import { openPostgresDatabase } from '../../../../src/store/database/postgres/postgres-database.ts';
import { connectTo } from '../../../../src/store/database/postgres/postgres-servers.ts';
import { openPostgresMethods } from '../../../../src/store/registry/postgres-methods.ts';
import { makeCertificate } from '../../../support/certificates.ts';
import { freePort } from '../../../support/free-port.ts';
import { hasProgram } from '../../../support/install-servers.ts';
import {
  createDatabase,
  NEEDS_POSTGRES,
  PASSWORD,
  postgresUrl,
  startPostgres,
  untilReady,
} from '../../../support/postgres-server.ts';
import { install } from '../../../support/program.ts';
import { registryHere } from '../../../support/registry-here.ts';
import { usePostgres } from '../../../support/run-servers.ts';
import { entry, firstTurn, NOON, until } from '../../registry-fixtures.ts';

t.setTimeout(120_000);

const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);

/** The statements of the document's part on rights: those of the superuser, and those of the owner. */
function readStatements(): readonly [string, string] {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/cluster.md'), 'utf8');
  const part = text.slice(text.indexOf('### Least rights'), text.indexOf('### TLS'));
  const [roles = '', rights = ''] = [...part.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) => sql);
  return [roles.replaceAll('…', PASSWORD), rights];
}

async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

async function openAs(t: Test, url: string) {
  const methods = await openPostgresMethods(url, { dataDir: t.testdir(), domainsPerAccount: 10 });
  const registry = registryHere(methods, systemClock);
  t.teardown(() => registry.close());
  return registry;
}

const NEEDS_PGBOUNCER = hasProgram('pgbouncer')
  ? NEEDS_POSTGRES
  : { skip: 'PgBouncer is not there: apt-get install pgbouncer' };

/** Starts PgBouncer before a database of the server; its URL. */
async function startPooler(t: Test, serverUrl: string, mode: string): Promise<string> {
  const { port: serverPort, pathname } = new URL(serverUrl);
  const port = await freePort();
  const file = join(t.testdir(), 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${serverPort} user=upbeat`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
    `auth_type = any\npool_mode = ${mode}`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o644 });
  // It refuses to run as root.
  const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const pooler = spawn('pgbouncer', [...asUser, file], {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const ended = once(pooler, 'exit');
  t.teardown(() => {
    pooler.kill('SIGKILL');
    return ended;
  });
  const url = postgresUrl(port, pathname.slice(1));
  await untilReady(url);
  return url;
}

for (const mode of ['transaction', 'statement'])
  t.test(`PgBouncer in ${mode} mode is refused, by doctor and by a start`, NEEDS_PGBOUNCER, async (t) => {
    const server = await usePostgres(t);
    const name = `pooled_${mode}_${process.pid}`;
    await createDatabase(server.url('postgres'), name);
    const url = await startPooler(t, server.url(name), mode);
    const advice = /gives each transaction another session.*pool_mode = session/;
    // Other clients have left several sessions in its pool.
    await Promise.all([1, 2, 3].map(() => execute(url, 'SELECT pg_sleep(0.2)')));
    for (let n = 0; n < 3; n++) {
      await t.rejects(openPostgresMethods(url, { dataDir: t.testdir(), domainsPerAccount: 10 }), {
        code: 'registry_unusable',
        message: advice,
      });
      t.match(await examinePostgres(url, systemClock), [{ what: '', advice }]);
    }
  });

t.test('through PgBouncer in session mode, as it is installed', NEEDS_PGBOUNCER, async (t) => {
  const server = await usePostgres(t);
  const name = `pooled_${process.pid}`;
  await createDatabase(server.url('postgres'), name);
  const url = await startPooler(t, server.url(name), 'session');

  const [one, other] = [await openAs(t, url), await openAs(t, url)];
  let heard = 0;
  other.watchOtherProcesses(() => {
    heard += 1;
  });
  for (const value of ['1', '2', '3']) {
    await one.setFact('pooled', value);
    t.equal(await one.getFact('pooled'), value);
    t.equal(await other.getFact('pooled'), value);
  }
  await until(() => heard > 0);
  const { client, end } = await connectTo(url);
  const { rows } = await client.query(
    `SELECT current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle,
       current_setting('jit') AS jit`,
  );
  t.same(rows, [{ lock: '5s', idle: '5s', jit: 'off' }]);
  await end();
  const findings = await examinePostgres(url, systemClock);
  t.match(
    findings.find(({ what }) => what === 'transactions'),
    { found: 'none is long', advice: null },
  );
});

t.test('over TLS with least rights', NEEDS_POSTGRES, async (t) => {
  const server = await startPostgres(t, {
    password: true,
    certificate: makeCertificate({ names: ['127.0.0.1'] }),
  });
  const urlOf = (user: string) => server.url('upbeat').replace('upbeat:', `${user}:`);
  const [roles, rights] = readStatements();
  const statements = roles.split(';\n').filter((sql) => sql.trim() !== '');
  await execute(server.url('postgres'), ...statements);
  await openPostgresDatabase(urlOf('upbeat_owner'));
  await execute(urlOf('upbeat_owner'), rights);

  await t.test('it refuses a server that it cannot trust, and says why', async (t) => {
    const [plain = ''] = server.url('upbeat').split('?');
    const table: [string, { readonly code: string; readonly message: RegExp }][] = [
      [plain, { code: 'registry_unusable', message: /no encryption.*pg_hba\.conf/ }],
      [
        `${plain}?sslmode=verify-full`,
        { code: 'registry_unusable', message: /no trusted connection .*certificate.*NODE_EXTRA_CA_CERTS/ },
      ],
      [
        urlOf('upbeat').replace('127.0.0.1', 'localhost'),
        { code: 'registry_unusable', message: /no trusted connection .*altnames.*name the host/ },
      ],
    ];
    for (const [url, expected] of table) await t.rejects(openPostgresDatabase(url), expected);
  });

  await t.test('the user of judges and pages runs the program, and changes no table', async (t) => {
    const installation = await install([{ slug: 'shop' }], {
      storage: { postgres: { url: urlOf('upbeat_app') } },
    });
    t.teardown(() => installation.remove());
    const program = await installation.start();
    t.teardown(() => program.killHard());
    t.match(await program.get('/api/v1/services'), { status: 200, body: { total: 1 } });
    const { stdout } = await installation.run('keys', 'create', '--account', 'ada', '--name', 'laptop');
    const sent = await fetch(`${installation.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ domain: 'api.example.net', status: 'ok' }),
    });
    t.equal(sent.status, 200);
    const doctor = await installation.runHere('doctor', '--json');
    t.match(
      JSON.parse(doctor.stdout).filter(({ what }: { what: string }) => /^(registry|postgres)/.test(what)),
      [
        { what: 'registry', state: 'ok', found: '2 services are known' },
        { what: 'postgres', found: /over TLS$/ },
        { what: 'postgres fail-over', state: 'ok' },
        { what: 'postgres connections', state: 'ok' },
      ],
    );
    t.equal(await program.stop(), 0);
    t.notMatch(program.output(), /permission denied|"level":(50|60)/);
    const copy = join(t.testdir(), 'copy');
    const backup = await installation.runHere('backup', copy);
    t.equal(backup.status, 0, backup.stderr);
    const emptied = COPIED_TABLES.toReversed().map(([table]) => `DELETE FROM ${table}`);
    await execute(urlOf('upbeat_owner'), [...emptied, 'UPDATE lease SET fence = 0, pid = NULL'].join(';'));
    const restored = await installation.runHere('restore', copy, '--replace');
    t.equal(restored.status, 0, restored.stderr);
    t.match((await installation.runHere('services', 'list')).stdout, /api\.example\.net/);
    await t.rejects(execute(urlOf('upbeat_app'), 'CREATE TABLE other (id bigint)'), /permission denied/);
    await t.rejects(execute(urlOf('upbeat_app'), 'DELETE FROM kysely_migration'), /permission denied/);
  });

  await t.test('the user of nodes that make checks reads what a check needs, and nothing else', async (t) => {
    const app = await openAs(t, urlOf('upbeat_app'));
    const probe = await openAs(t, urlOf('upbeat_probe'));
    const slugs: string[] = [];
    t.teardown(probe.watchChanges(await probe.lastChange(), ({ slug }) => slugs.push(slug)));
    await app.putCatalogue([entry('shop'), entry('bank')]);
    await until(() => slugs.includes('bank'));
    const targets = await probe.loadTargets(ALL_SHARDS, 'eu');
    t.same(targets.map(({ domain }) => domain).sort(), ['bank.com', 'shop.com']);
    const [{ serviceId = 0 } = {}] = targets;
    await t.rejects(probe.commitUpdates([firstTurn(serviceId, 'up', NOON)]), {
      code: 'registry_unusable',
      message: /upbeat_probe lacks a right .*docs\/cluster\.md/,
    });
    for (const table of ['accounts', 'api_keys', 'webhooks', 'facts', 'sessions', 'heartbeats', 'incidents'])
      await t.rejects(execute(urlOf('upbeat_probe'), `SELECT FROM ${table}`), /permission denied/, table);
    await t.rejects(execute(urlOf('upbeat_probe'), 'SELECT slug FROM services'), /permission denied/);
    const { id: accountId } = await app.ensureAccount('home', NOON);
    await app.trustAccount(accountId, 'setting', NOON);
    const service = { domain: '10.0.0.1', name: 'nas', category: 'developer', paused: false } as const;
    await app.registerService(
      accountId,
      { ...service, check: DEFAULT_CHECK },
      { isProven: false, now: NOON },
    );
    const trusted = (await probe.loadTargets(ALL_SHARDS, 'eu')).filter(({ origin }) => origin === 'owner');
    t.same(trusted.map(isTrusted), [true], 'the trust goes with the check');
    await app.removeService('10-0-0-1');
    // As given by earlier versions: all owners then share one part of the slots.
    await execute(urlOf('upbeat_owner'), 'REVOKE SELECT (account_id) ON services FROM upbeat_probe');
    t.match(await probe.loadTargets(ALL_SHARDS, 'eu'), [{ accountId: null }, { accountId: null }]);

    await server.stop();
    await t.rejects(probe.loadTargets(ALL_SHARDS, 'eu'), { code: 'storage_unreachable' });
    await server.start();
    await until(() => probe.health.problem() === null);
    t.equal((await probe.loadTargets(ALL_SHARDS, 'eu')).length, 2);
  });

  await t.test('a password that no longer fits is an outage, not a fault', async (t) => {
    const registry = await openAs(t, urlOf('upbeat_app'));
    const change = (password: string) =>
      execute(
        server.url('postgres'),
        `ALTER ROLE upbeat_app PASSWORD '${password}'`,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'upbeat_app'",
      );
    await change('another');
    const refused = { code: 'storage_unreachable', message: /refuses the user upbeat_app/ };
    await t.rejects(registry.getFact('first'), refused);
    await t.rejects(registry.setFact('first', '1'), refused);
    await change(PASSWORD);
    await until(() => registry.health.problem() === null);
    await registry.setFact('first', '1');
  });
});
