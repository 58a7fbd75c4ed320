/** Nodes of a cluster with the rights in PostgreSQL and Redis that docs/cluster.md gives, and no others. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { openPostgresDatabase } from '../../src/store/database/postgres/postgres-database.ts';
import { startNameServer } from '../support/name-server.ts';
import { NEEDS_POSTGRES, PASSWORD, startPostgres } from '../support/postgres-server.ts';
import { install } from '../support/program.ts';
import { NEEDS_REDIS, startRedis } from '../support/redis-server.ts';

interface Status {
  readonly status: string;
}

t.setTimeout(300_000);

/** The blocks of code below a heading of the document, with a password in place of the dots. */
function readBlocks(heading: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs/cluster.md'), 'utf8');
  const [part = ''] = text.slice(text.indexOf(`\n${heading}\n`) + heading.length + 2).split(/^##/m);
  const blocks = [...part.matchAll(/```(\w*)\n(.*?)```/gs)];
  return blocks.flatMap(([, language, code = '']) =>
    language === 'sh' ? [] : [code.replaceAll('…', PASSWORD)],
  );
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

/** A server of each kind with the users of the document. */
async function startServers(t: Test) {
  const [postgres, redis] = await Promise.all([startPostgres(t, { password: true }), startRedis(t)]);
  const urlOf = (user: string) => postgres.url('upbeat').replace('upbeat:', `${user}:`);
  const [roles = '', rights = ''] = readBlocks('### Least rights');
  await execute(postgres.url('postgres'), ...roles.split(';\n').filter((sql) => sql.trim() !== ''));
  await openPostgresDatabase(urlOf('upbeat_owner'));
  await execute(urlOf('upbeat_owner'), rights);
  const [users = ''] = readBlocks('### Redis with least rights');
  for (const line of users.trim().split('\n')) {
    const [command = '', ...words] = line.split(' ');
    await redis.client.call(command, ...words);
  }
  const password = encodeURIComponent(PASSWORD);
  return {
    redis,
    /** `storage` of a node whose users have these names. */
    storageOf: (user: string) => ({
      postgres: { url: urlOf(user) },
      redis: { url: `redis://${user}:${password}@127.0.0.1:${redis.port}` },
    }),
  };
}

t.test('nodes work with the least rights', { ...NEEDS_POSTGRES, ...NEEDS_REDIS }, async (t) => {
  const servers = await startServers(t);
  const seen = new Set<string | undefined>();
  const site = createServer(({ headers }, response) => {
    seen.add(headers.authorization);
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => site.close());
  const { port } = site.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const key = 'ab'.repeat(32);
  const hosts = await startNameServer(({ type }) =>
    type === 'A' ? { addresses: ['127.0.0.1'] } : { code: 0 },
  );
  t.teardown(() => hosts.close());
  const start = async (user: string, name: string, roles: readonly string[], more: object) => {
    const settings = { storage: servers.storageOf(user), node: { name, region: name, roles }, ...more };
    const installation = await install([{ slug: 'shop', check: { url } }], (siteUrl) => ({
      ...settings,
      checks: {
        controlTargets: [`${siteUrl}/healthz`],
        ...{ nameservers: [hosts.address], ownersMayProbePrivate: true },
      },
    }));
    t.teardown(() => installation.remove());
    const program = await installation.start();
    t.teardown(() => program.killHard());
    return {
      ...program,
      run: installation.runHere,
      listNodes: () => installation.runHere('nodes', '--json'),
    };
  };
  const judge = await start('upbeat_app', 'eu', ['judge', 'serve'], { secrets: { key } });
  const { stdout: checksKey } = await judge.run('secrets', 'checks-key');
  t.match(checksKey, /^[0-9a-f]{64}\n$/);
  const probe = await start('upbeat_probe', 'us', ['probe'], { secrets: { checksKey: checksKey.trim() } });
  await judge.until('/api/v1/status/shop', ({ status }: Status) => status === 'up');
  for (const { listNodes } of [judge, probe]) {
    const { stdout } = await listNodes();
    t.match(JSON.parse(stdout), [{ name: 'eu' }, { name: 'us' }]);
  }
  const own = ['--setting', 'plain=true', '--setting', `port=${port}`, '--setting', 'token=hunter2'];
  const added = await judge.run(
    'services',
    'add',
    'in.example.org',
    '--account',
    'ada',
    '--kind',
    'http',
    ...own,
  );
  t.equal(added.status, 0, added.stderr);
  await judge.until('/api/v1/status/in-example-org', ({ status }: Status) => status === 'up');
  t.ok(seen.has('Bearer hunter2'), 'a node that has only the key of credentials decrypts them');
  t.match((await probe.get('/readyz')).body, { degraded: [], nodes: { eu: 1, us: 1 } });
  for (const program of [probe, judge]) {
    t.equal(await program.stop(), 0);
    t.notMatch(program.output(), /NOPERM|permission denied/);
    t.notMatch(program.output(), PASSWORD);
  }
  t.same(await servers.redis.client.call('ACL', 'LOG'), [], 'Redis refused nothing');
});
