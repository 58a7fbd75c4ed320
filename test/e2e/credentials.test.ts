/** Credentials of a check in a whole run over PostgreSQL and Redis: the site that is checked gets them, and nothing shows them. */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import { systemClock } from '../../src/clock.ts';
import { sealCredential } from '../../src/domain/credential-seal.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { silentLog } from '../../src/log.ts';
import { connectTo } from '../../src/store/database/postgres/postgres-servers.ts';
import { openRegistryInProcess } from '../../src/store/registry/open-registry.ts';
import { listenOn, until } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { install, type RunningProgram } from '../support/program.ts';
import { NEEDS_REDIS } from '../support/redis-server.ts';
import { usePostgres, useRedis } from '../support/run-servers.ts';

t.setTimeout(180_000);

const TOKEN = 'tok-3f9c1d7e55';
const USER = 'user-8a21b0c4';
const PASSWORD = 'pass-77d0e1f2';
const COOKIE = 'cook-19ab42ef';
const BODY = 'body-52fe09aa';
const API_KEY = 'api-key-c6d1b3';
const BASIC = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;

/** What must stand nowhere: the credentials, and what is sent of them, in clear text or in base64. */
const SECRETS = [TOKEN, USER, PASSWORD, COOKIE, BODY, API_KEY, BASIC.slice(6)].flatMap((text) => [
  text,
  Buffer.from(text).toString('base64').slice(0, -4),
]);

interface Status {
  readonly status: string;
  readonly last_checked: string;
}

t.test('credentials are sent, and found nowhere else', { ...NEEDS_POSTGRES, ...NEEDS_REDIS }, async (t) => {
  const seen: string[] = [];
  const paths = new Set<string | undefined>();
  const posted = new Set<string>();
  const site = await listenOn(
    createServer((request, response) => {
      const { headers, url } = request;
      paths.add(url);
      if (request.method === 'POST')
        request.on('data', (text) => posted.add(`${headers['x-api-key']} ${text}`));
      seen.push(`${headers.authorization} ${headers.cookie}`);
      response.end('fine');
    }),
  );
  t.teardown(site.close);
  const names = await startNameServer(({ type }) =>
    type === 'A' ? { addresses: ['127.0.0.1'] } : { code: 0 },
  );
  t.teardown(() => names.close());
  const [postgres, redis] = await Promise.all([usePostgres(t), useRedis(t)]);
  const database = redis.prefix;
  await createDatabase(postgres.url('postgres'), database);
  const postgresUrl = postgres.url(database);
  const installation = await install([{ slug: 'known', domain: 'known.example' }], {
    checks: { nameservers: [names.address], ownersMayProbePrivate: true },
    storage: { postgres: { url: postgresUrl }, redis: { url: `${redis.url}?prefix=${redis.prefix}` } },
    log: { level: 'debug' },
  });
  t.teardown(() => installation.remove());
  const dataDir = join(installation.folder, 'data');
  const outputs: string[] = [];
  const run = async (...args: string[]) => {
    const { status, stdout, stderr } = await installation.runHere(...args);
    outputs.push(stdout, stderr);
    return { status, stdout, stderr };
  };

  const program = await installation.start();
  t.teardown(() => program.killHard());
  const events = listen(program);
  t.teardown(events.stop);
  const secretFile = join(installation.folder, 'token');
  writeFileSync(secretFile, `${TOKEN}\n`);
  const place = ['--setting', 'plain=true', '--setting', `port=${site.port}`];
  const kind = ['--kind', 'http', ...place, '--setting-file', `token=${secretFile}`];
  t.match(await run('services', 'add', 'in.example.org', '--account', 'ada', ...kind), { status: 0 });
  const path = '/api/v1/status/in-example-org';
  await program.until(path, ({ status }: Status) => status === 'up');
  t.equal(seen.at(-1), `Bearer ${TOKEN} undefined`);

  const file = join(installation.folder, 'list.yaml');
  const listed = `settings: { plain: true, port: ${site.port}, path: /two, token: ${TOKEN}, method: POST, body: ${BODY}, headers: ['x-api-key: ${API_KEY}'] }`;
  writeFileSync(file, `services: [{ domain: two.example.org, kind: http, ${listed} }]`);
  for (const outcome of [/1 added/, /1 there already/])
    t.match(await run('services', 'import', file, '--account', 'ada'), { status: 0, stdout: outcome });
  await program.until('/api/v1/status/two-example-org', ({ status }: Status) => status === 'up');
  t.same(new Set(seen), new Set([`Bearer ${TOKEN} undefined`]));
  t.same([...posted], [`${API_KEY} ${BODY}`]);

  // The owner replaces them on the dashboard.
  const registry = await openRegistryInProcess({ dataDir, postgresUrl, log: silentLog, clock: systemClock });
  t.teardown(() => registry.close());
  const { id } = await registry.ensureAccount('ada', Date.now());
  const sessions = createSessions({ registry, clock: systemClock });
  const identity = { provider: 'test', subject: 'ada', name: 'ada' };
  const person = await registry.linkIdentity(id, identity, Date.now());
  const { token: session } = await sessions.open(person.id);
  const form = (await sessions.find(session))?.formToken ?? '';
  let revision = '';
  const page = async (path: string, fields?: Record<string, string>) => {
    const response = await fetch(installation.siteUrl + path, {
      headers: { cookie: `${createSiteCookie(installation.siteUrl).name}=${session}` },
      redirect: 'manual',
      ...(fields === undefined
        ? {}
        : { method: 'POST', body: new URLSearchParams({ token: form, revision, ...fields }) }),
    });
    const text = await response.text();
    outputs.push(text);
    revision = / name="revision" value="(\d+)"/.exec(text)?.[1] ?? revision;
    return { status: response.status, text };
  };
  const dashboard = '/dashboard/services/in-example-org';
  t.match((await page(dashboard)).text, /placeholder="stored; enter a new one to replace it"/);
  const entered = {
    ...{ name: 'in.example.org', category: 'developer', kind: 'http', accept: '' },
    ...{ 'settings.plain': 'true', 'settings.port': String(site.port), 'remove.token': 'yes' },
    ...{ 'settings.username': USER, 'settings.password': PASSWORD, 'settings.token': '' },
    'settings.secretHeaders': `Cookie: a=${COOKIE}`,
  };
  t.match(await page(`${dashboard}/save`, { ...entered, 'settings.path': 'wrong' }), { status: 400 });
  t.match(await page(`${dashboard}/save`, entered), { status: 303 });
  await until(() => seen.includes(`${BASIC} a=${COOKIE}`), 30_000);
  await page(dashboard);
  const kept = { ...entered, 'settings.username': '', 'settings.password': '', 'settings.secretHeaders': '' };
  t.match(await page(`${dashboard}/save`, { ...kept, 'settings.path': '/in' }), { status: 303 });
  await page(dashboard);
  t.match(await page(`${dashboard}/save`, { ...kept, 'settings.plain': '' }), {
    status: 400,
    text: /Password must be entered again or removed/,
  });

  // Credentials of another key: the check is not made, nothing is called down, and the operator is told.
  const stranger = { domain: 'other.example.org', kind: 'http', destination: `http:${site.port}` };
  const sealed = {
    token: sealCredential(randomBytes(32), { ...stranger, setting: 'token' }, '"x"', randomBytes(12)),
  };
  await registry.addService({
    ...{ slug: 'other-example-org', name: 'other', domain: stranger.domain, category: 'developer' },
    ...{ origin: 'owner', accountId: id, verified: true, paused: false, statusPage: null },
    check: {
      ...DEFAULT_CHECK,
      kind: 'http',
      settings: { plain: true, port: site.port, path: '/other' },
      sealed,
    },
  });
  await until(() => program.output().includes('they were encrypted with another key'), 30_000);
  t.match((await program.get('/api/v1/status/other-example-org')).body, { status: 'unknown' });
  t.match((await page('/metrics')).text, /^upbeat_credentials_unreadable 1$/m);
  t.match(
    (await page('/dashboard/services/other-example-org')).text,
    /credentials of this check cannot be decrypted/,
  );
  t.notMatch((await page(dashboard)).text, /cannot be decrypted/);

  // Everything that can be read.
  await program.until(path, ({ status }: Status) => status === 'up');
  for (const path of [
    ...['/', '/status/in-example-org', '/api/v1/services', '/api/v1/status/in-example-org', '/readyz'],
    ...['/metrics?services=1', '/api/v1/openapi.json', '/api/v1/incidents', dashboard],
    '/api/v1/services/in-example-org/history',
  ])
    await page(path);
  for (const format of ['csv', 'yaml', 'json'])
    t.match(await run('services', 'export', '--format', format), {
      stderr: /those of 3 services are left out/,
    });
  await run('services', 'list', '--json');
  const doctor = await run('doctor', '--json');
  t.match(
    JSON.parse(doctor.stdout).find(({ what }: { what: string }) => what === 'credentials'),
    { state: 'FIX', found: /3 .*; those of other\.example\.org cannot be decrypted/, advice: /checks-key/ },
  );
  t.match(await run('services', 'set', 'in-example-org', '--setting', 'token=x y'), { status: 2 });
  t.equal(await program.stop(), 0);
  t.ok(paths.has('/two') && !paths.has('/other'), 'nothing is sent without credentials');

  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'));
  const everything = [
    ['the log', program.output(), 'the catalogue is loaded'],
    ['events', events.heard(), 'in-example-org'],
    ['pages, API and commands', outputs.join('\n'), 'in-example-org'],
    ['Redis', await dumpRedis(redis), 'in-example-org'],
    ['PostgreSQL', await dumpPostgres(postgresUrl), 'in-example-org'],
    ['files', files.join('\n'), 'SQLite'],
  ] as const;
  for (const [where, text, written] of everything) {
    t.ok(text.includes(written), `${where} has what was written`);
    for (const secret of SECRETS) t.notOk(text.includes(secret), `${where}: ${secret}`);
  }
});

/** The events of the program as text. */
function listen({ siteUrl }: RunningProgram) {
  const controller = new AbortController();
  let heard = '';
  const read = async () => {
    const response = await fetch(`${siteUrl}/api/v1/events`, { signal: controller.signal });
    for await (const chunk of response.body ?? []) heard += Buffer.from(chunk).toString();
  };
  read().catch(() => {});
  return { heard: () => heard, stop: () => controller.abort() };
}

async function dumpRedis({ client, prefix }: Awaited<ReturnType<typeof useRedis>>): Promise<string> {
  const keys = await client.keys(`${prefix}:*`);
  const values = await Promise.all(
    keys.map(async (key) => {
      switch (await client.type(key)) {
        case 'string':
          return await client.get(key);
        case 'hash':
          return await client.hgetall(key);
        case 'stream':
          return await client.xrange(key, '-', '+');
        default:
          return await client.dump(key);
      }
    }),
  );
  return JSON.stringify([keys, values]);
}

async function dumpPostgres(url: string): Promise<string> {
  const { client, end } = await connectTo(url);
  const tables = await client.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const dumps: unknown[] = [];
  for (const { name } of tables.rows)
    dumps.push((await client.query(`SELECT t::text FROM ${name} AS t`)).rows);
  await end();
  return JSON.stringify(dumps);
}
