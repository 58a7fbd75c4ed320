/** The whole program with `storage.postgres.url`: over restarts, while the server is away, and what it says of a wrong one. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createDatabase, NEEDS_POSTGRES, PASSWORD, startPostgres } from '../support/postgres-server.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';

interface Ready {
  readonly status: string;
  readonly degraded: readonly string[];
}

/** Everything is right again within this, milliseconds. */
const RIGHT_WITHIN_MS = 10_000;

t.setTimeout(300_000);

/** A service on loopback whose answers a test chooses. */
async function serveShop(t: Test) {
  const shop = { code: 200 };
  const site = createServer((_request, response) => response.writeHead(shop.code).end());
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => site.close());
  return Object.assign(shop, { url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/` });
}

function sendHeartbeat({ siteUrl }: Installation, key: string) {
  return fetch(`${siteUrl}/api/v1/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'api.example.net', status: 'ok' }),
  });
}

const isStatus = (program: RunningProgram, status: string) =>
  program.until('/api/v1/status/shop', (body: Ready) => body.status === status);

t.test('it keeps everything in PostgreSQL, over restarts of both', NEEDS_POSTGRES, async (t) => {
  const server = await startPostgres(t, { password: true, durable: true });
  const shop = await serveShop(t);
  const installation = await install([{ slug: 'shop', check: { url: shop.url } }], {
    storage: { postgres: { url: server.url('upbeat') } },
  });
  t.teardown(() => installation.remove());
  const made = await installation.runHere('doctor', '--setup', '--json');
  t.match(JSON.parse(made.stdout), [
    { state: 'made', what: 'postgres database' },
    { state: 'made', what: 'postgres tables' },
    { state: 'ok', what: 'influx' },
  ]);
  const again = await installation.runHere('doctor', '--setup', '--json');
  t.match(JSON.parse(again.stdout), [{ state: 'ok' }, { state: 'ok' }, { state: 'ok' }]);
  let program = await installation.start();
  t.teardown(() => program.killHard());
  const isDegraded = (...parts: string[]) =>
    program.until(
      '/readyz',
      (body: Ready) => JSON.stringify(body.degraded) === JSON.stringify(parts),
      RIGHT_WITHIN_MS,
    );

  await isStatus(program, 'up');
  const { stdout } = await installation.runHere('keys', 'create', '--account', 'ada', '--name', 'laptop');
  const key = stdout.trim();
  t.equal((await sendHeartbeat(installation, key)).status, 200);
  shop.code = 503;
  await isStatus(program, 'down');

  await t.test('it answers from what it has while the server is away', async (t) => {
    const withKey = { authorization: `Bearer ${key}` };
    await program.get('/api/v1/incidents/shop');
    // Lists contain what the account of the key may see, and are kept for it.
    for (const path of ['/status/shop', '/', '/api/v1/incidents', '/incidents.atom'])
      await program.get(path, withKey);
    await server.stop();
    const refused = await sendHeartbeat(installation, key);
    t.equal(refused.status, 503);
    t.ok(Number(refused.headers.get('retry-after')) > 0, 'it says when to send it again');
    await isDegraded('storage');
    const answer = await program.get('/api/v1/status/shop');
    t.match([answer.status, answer.body], [200, { status: 'down' }]);
    for (const path of [
      '/',
      '/api/v1/incidents',
      '/incidents.atom',
      '/api/v1/incidents/shop',
      '/status/shop',
    ]) {
      const { status, headers } = await program.get(path, withKey);
      t.equal(status, 200, path);
      t.match(headers.get('age'), /^\d+$/, `${path} tells how old it is`);
    }
    t.match((await program.get('/api/v1/incidents/shop')).body, { incidents: [{ status: 'investigating' }] });
    const never = await program.get('/api/v1/incidents/shop?limit=7');
    t.match(
      [never.status, never.headers.get('retry-after')],
      [503, '5'],
      'what was never read is only there',
    );
    shop.code = 200;
    // What checks find is shown before it can be written.
    await isStatus(program, 'up');
    // A lease that cannot be renewed for longer than it is fresh is not lost by that.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    t.equal((await program.get('/readyz')).status, 200);
  });

  await t.test('it is right again when the server is back', async (t) => {
    await server.start();
    const startedMs = performance.now();
    await isDegraded();
    t.equal((await sendHeartbeat(installation, key)).status, 200);
    await isStatus(program, 'up');
    t.ok(performance.now() - startedMs < RIGHT_WITHIN_MS);
    const { body, headers } = await program.get('/api/v1/incidents/shop');
    t.match(body, { incidents: [{}] }, 'one incident, before and after');
    t.equal(headers.get('age'), null, 'read just now');
  });

  await t.test('it goes on where it was after its own restart', async (t) => {
    t.equal(await program.stop(), 0);
    t.notMatch(program.output(), PASSWORD);
    t.notMatch(program.output(), encodeURIComponent(PASSWORD));
    program = await installation.start();
    const { body } = await program.get('/api/v1/status/shop');
    t.match(body, { status: 'up', since: /^20/ });
    const { body: heard } = await program.get('/api/v1/status/api-example-net');
    t.match(heard, { status: 'up' });
    t.equal((await sendHeartbeat(installation, key)).status, 200, 'the key is known');
    const found = await installation.runHere('doctor', '--json');
    t.match(found.stdout, /PostgreSQL 1\d(\.\d+)? at 127\.0\.0\.1:\d+\/upbeat/);
    t.notMatch(found.stdout + found.stderr, PASSWORD);
    t.equal(await program.stop(), 0);
  });
});

t.test('it says what is wrong with a server, and what to do', NEEDS_POSTGRES, async (t) => {
  const server = await startPostgres(t, { password: true });
  await createDatabase(server.url('postgres'), 'latin', "ENCODING 'LATIN1' TEMPLATE template0");
  await createDatabase(server.url('postgres'), 'foreign');
  const table = [
    [server.url('upbeat').replace(encodeURIComponent(PASSWORD), 'wr0ng-word'), /refuses the user upbeat/],
    [server.url('upbeat'), /no such database.*doctor --setup/],
    [server.url('latin'), /encoding LATIN1.*CREATE DATABASE "latin" ENCODING 'UTF8'/],
    ['postgres://upbeat:wr0ng-word@127.0.0.1:9/upbeat', /127\.0\.0\.1:9\/upbeat cannot be reached/],
  ] as const;
  for (const [url, expected] of table) {
    const installation = await install([], { storage: { postgres: { url } } });
    const { status, stderr, stdout } = await installation.runHere('keys', 'list');
    t.equal(status, 1);
    t.match(stderr, expected);
    t.notMatch(stderr + stdout, /wr0ng-word/);
    t.notMatch(stderr + stdout, PASSWORD);
    installation.remove();
  }
  const installation = await install([], { storage: { postgres: { url: 'mysql://u:wr0ng-word@h/d' } } });
  const { status, stderr } = await installation.run('keys', 'list');
  t.equal(status, 2);
  t.match(stderr, /storage\.postgres\.url.*postgres:\/\/user:password@host:5432\/database/);
  t.notMatch(stderr, /wr0ng-word/);
  installation.remove();
});
