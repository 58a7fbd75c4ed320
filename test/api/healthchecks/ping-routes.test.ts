/** Ping addresses of Healthchecks: a UUID, or a ping key with a slug. */
import t, { type Test } from 'tap';
import { hashAddressSecret } from '../../../src/domain/heartbeat/heartbeat-rules.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import type { Log } from '../../../src/log.ts';
import { service, startApi } from '../../site/site-world.ts';

const UUID = '0b3a1d8e-6c7f-4f1e-9a52-3f6f0c1d2e4b';
const BEAT = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
const check = { ...BEAT, addressHash: hashAddressSecret(UUID) };
const JOB = service(1, 'job-example-com', {
  check,
  origin: 'owner',
  accountId: 1,
  domain: 'job.example.com',
});

async function start(t: Test, more: { readonly isTrusted?: boolean } = {}) {
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(JSON.stringify([fields, message]));
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const world = await startApi({ services: [JOB, service(2, 'shop')], log });
  t.teardown(world.close);
  t.teardown(world.registry.watchChanges(await world.registry.lastChange(), world.directory.apply));
  for (const name of ['ada', 'grace']) await world.registry.ensureAccount(name, 1);
  if (more.isTrusted === true) await world.registry.trustAccount(1, 'command:ada', 1);
  const keyOf = (accountId: number, scopes: readonly ('read' | 'heartbeat')[] = ['heartbeat']) =>
    world.makeKey({ accountId, scopes }).authorization?.slice('Bearer '.length) ?? '';
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(world.origin + path, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const taken = () =>
    world.heartbeats.taken.map(({ report: { kind, domain, exitCode, run }, accountId }) => [
      ...[kind, domain, accountId],
      ...(exitCode === undefined ? [] : [exitCode]),
      ...(run === null ? [] : [run]),
    ]);
  return { world, keyOf, send, taken, logged: () => lines.join('\n') };
}

t.test('a UUID is pinged below /ping and at the root, with each signal and method', async (t) => {
  const { send, taken } = await start(t);
  const answer = await send(`/ping/${UUID}`);
  t.strictSame([answer.status, answer.text], [200, 'OK']);
  t.match(Object.fromEntries(answer.headers), {
    'ping-body-limit': '10000',
    'access-control-allow-origin': '*',
    'content-type': 'text/plain; charset=utf-8',
  });
  for (const [method, path] of [
    ['HEAD', `/${UUID}`],
    ['POST', `/${UUID}/start?rid=6f9f8c2e-93f7-4a3b-9f0e-5d7f0a1b2c3d`],
    ['GET', `/ping/${UUID}/`],
    ['POST', `/ping/${UUID}/fail`],
    ['GET', `/${UUID}/0`],
    ['POST', `/${UUID}/7`],
    ['POST', `/${UUID}/log`],
  ] as const) {
    const body = method === 'POST' ? { body: 'x'.repeat(200_000) } : {};
    const sent = await send(path, { method, ...body });
    t.strictSame([sent.status, sent.text], [200, method === 'HEAD' ? '' : 'OK'], `${method} ${path}`);
    t.equal(sent.headers.get('access-control-allow-origin'), '*');
  }
  t.strictSame(taken(), [
    ['beat', 'job.example.com', 1],
    ['beat', 'job.example.com', 1],
    ['start', 'job.example.com', 1, '6f9f8c2e-93f7-4a3b-9f0e-5d7f0a1b2c3d'],
    ['beat', 'job.example.com', 1],
    ['fail', 'job.example.com', 1],
    ['beat', 'job.example.com', 1],
    ['fail', 'job.example.com', 1, 7],
  ]);
});

t.test('what is not there is not found, in the words of Healthchecks', async (t) => {
  const { world, keyOf, send, taken } = await start(t);
  const other = 'ffffffff-6c7f-4f1e-9a52-3f6f0c1d2e4b';
  for (const path of [
    `/ping/${other}`,
    `/${other}/start`,
    `/ping/${UUID}/stop`,
    `/ping/${UUID}/job-example-com/start`,
    '/ping/upb_unknown/job-example-com?create=1',
    `/ping/${keyOf(2)}/job-example-com`,
    `/ping/${keyOf(1)}/other`,
    `/ping/${keyOf(1)}/other/stop?create=1`,
    `/ping/${keyOf(1)}`,
  ]) {
    const { status, text, headers } = await send(path, { headers: { accept: 'text/html' } });
    t.strictSame([status, text], [404, 'not found'], path);
    t.equal(headers.get('access-control-allow-origin'), '*');
  }
  t.equal((await send(`/ping/${UUID}`, { method: 'DELETE' })).status, 405);
  t.equal((await send(`/ping/${keyOf(1, ['read'])}/job-example-com`)).status, 403);
  t.equal((await send(`/ping/${keyOf(1)}/Job-example-com`)).status, 400);
  t.strictSame(taken(), []);
  t.equal((await world.registry.servicesOf(1)).length, 1, 'nothing was added');
  t.equal((await send(`/${UUID.toUpperCase()}`)).status, 404);
  t.equal((await send(`/${UUID}x`)).status, 404);
});

t.test('a key and a slug ping a service of the account, and create=1 adds it', async (t) => {
  const { world, keyOf, send, taken, logged } = await start(t);
  const key = keyOf(1);
  t.equal((await send(`/ping/${key}/job-example-com/start`)).text, 'OK');
  const made = await send(`/ping/${key}/nightly_backup?create=1`, { method: 'POST', body: 'done' });
  t.strictSame([made.status, made.text], [201, 'Created']);
  t.match(await world.registry.findService('nightly_backup-account-1-alt'), {
    ...{ name: 'nightly_backup', domain: 'nightly_backup.account-1.alt', accountId: 1 },
    ...{ visibility: 'private', verified: false },
    check: { kind: 'heartbeat', periodMs: 86_400_000, graceMs: 3_600_000, addressHash: /^[0-9a-f]{64}$/ },
  });
  const again = await send(`/ping/${key}/nightly_backup/3?create=1`, { method: 'POST' });
  t.strictSame([again.status, again.text], [200, 'OK']);
  t.equal((await send(`/ping/${keyOf(2)}/nightly_backup?create=1`)).status, 201, 'each account has its own');
  t.strictSame(taken().slice(0, 4), [
    ['start', 'job.example.com', 1],
    ['beat', 'nightly_backup.account-1.alt', 1],
    ['fail', 'nightly_backup.account-1.alt', 1, 3],
    ['beat', 'nightly_backup.account-2.alt', 2],
  ]);
  const together = await Promise.all([1, 2, 3].map(() => send(`/ping/${key}/hourly?create=1`)));
  t.strictSame(together.map(({ status }) => status).sort(), [200, 200, 201]);
  t.equal((await world.registry.servicesOf(1)).length, 3, 'one service for pings that arrive together');
  for (const slug of ['-dash', '123', 'a.b', 'a'.repeat(64)]) {
    const { status, text } = await send(`/ping/${key}/${slug}?create=1`);
    t.match([status, text], [400, /^A slug has at most 63 /], slug);
  }
  t.notMatch(logged(), key, 'a key in a path is not logged');
});

t.test(
  'a ping by slug is not for a service that is checked otherwise, whose check it would end',
  async (t) => {
    const { world, keyOf, send, taken } = await start(t, { isTrusted: true });
    const web = { domain: 'web.example.com', check: { kind: 'http' } };
    const write = world.makeKey({ accountId: 1, scopes: ['write'] });
    t.equal((await world.post('/api/v1/services', web, write)).status, 201);
    t.equal((await send(`/ping/${keyOf(1)}/web-example-com`)).status, 404);
    t.equal((await send(`/ping/${keyOf(1)}/web-example-com?create=1`)).status, 201);
    t.equal((await send(`/ping/${keyOf(1)}/web-example-com`)).status, 200);
    t.strictSame(
      taken().map(([, domain]) => domain),
      ['web-example-com', 'web-example-com'],
    );
  },
);

t.test('a trusted account has checks whose hosts are their slugs', async (t) => {
  const { world, keyOf, send, taken } = await start(t, { isTrusted: true });
  t.equal((await send(`/ping/${keyOf(1)}/shop?create=1`)).status, 201);
  t.equal(
    (await send(`/ping/${keyOf(1)}/shop?create=1`)).status,
    200,
    'though another service has that slug',
  );
  t.equal((await send(`/ping/${keyOf(1)}/backup?create=1`)).status, 201);
  t.match(await world.registry.findService('backup'), { domain: 'backup', visibility: 'private' });
  t.equal((await send(`/ping/${keyOf(1)}/backup`)).text, 'OK');
  t.strictSame(
    taken().map(([, domain]) => domain),
    ['shop', 'shop', 'backup', 'backup'],
  );
});

t.test('create=1 adds no second check where it cannot have the slug', async (t) => {
  const { world, keyOf, send, taken } = await start(t, { isTrusted: true });
  const host = { ...JOB, name: 'nas', domain: 'nas', slug: 'nas', check: DEFAULT_CHECK };
  await world.registry.addService(host);
  for (let n = 0; n < 2; n++) {
    const { status, text } = await send(`/ping/${keyOf(1)}/nas?create=1`);
    t.strictSame([status, text], [409, 'The slug nas is reserved. nas-2 is free.']);
  }
  t.strictSame(taken(), []);
  t.equal((await world.registry.servicesOf(1)).length, 2);
});

t.test('checks of an account that is merged into another one keep their slugs', async (t) => {
  const { world, keyOf, send, taken } = await start(t);
  t.equal((await send(`/ping/${keyOf(2)}/nightly?create=1`)).status, 201);
  await world.registry.mergeAccounts(2, 1, 1);
  t.equal((await send(`/ping/${keyOf(1)}/nightly?create=1`)).status, 200);
  t.strictSame(taken(), [
    ['beat', 'nightly.account-2.alt', 2],
    ['beat', 'nightly.account-2.alt', 1],
  ]);
});

t.test('pings count by check, others by their key, and faults are told as they are', async (t) => {
  const others = ['one', 'two'].map((name, index) =>
    service(index + 2, name, { check: BEAT, origin: 'owner', accountId: 1 }),
  );
  const world = await startApi({ services: [JOB, ...others], authenticatedPerMinute: 2 });
  t.teardown(world.close);
  const keyOf = (scope: 'read' | 'heartbeat') =>
    world.makeKey({ accountId: 1, scopes: [scope] }).authorization?.slice('Bearer '.length);
  const [key, reading] = [keyOf('heartbeat'), keyOf('read')];
  const send = (path: string) => fetch(world.origin + path);
  for (const status of [403, 403, 429]) t.equal((await send(`/ping/${reading}/one`)).status, status);
  for (const slug of ['one', 'two']) {
    for (const status of [200, 200, 429]) t.equal((await send(`/ping/${key}/${slug}`)).status, status);
    t.equal((await send(`/ping/${key}/${slug}/log`)).status, 200, 'logs count apart');
  }
  for (const status of [404, 404, 429]) t.equal((await send(`/ping/${key}/nobody`)).status, status);
  world.faults.heartbeats = Object.assign(new Error('not now'), { code: 'unavailable' });
  const refused = await send(`/${UUID}`);
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('retry-after'), '5');
  t.equal(world.heartbeats.refusals, 1);
});
