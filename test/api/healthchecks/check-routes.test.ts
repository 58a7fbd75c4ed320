/** The management API of Healthchecks: the requests of its clients, and what they are answered. */
import t, { type Test } from 'tap';
import { hashAddressSecret } from '../../../src/domain/heartbeat/heartbeat-rules.ts';
import type { KeyScope } from '../../../src/domain/role.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { check, current, NOW, service, startApi, transition } from '../../site/site-world.ts';

const UUID = '0b3a1d8e-6c7f-4f1e-9a52-3f6f0c1d2e4b';
const IMPORTED = service(1, 'imported', {
  ...{ name: 'Imported', domain: 'imported.example.com', origin: 'owner', accountId: 1 },
  note: 'A job.\nTags: prod, eu',
  check: { ...DEFAULT_CHECK, kind: 'heartbeat', addressHash: hashAddressSecret(UUID) },
});
const OTHERS = service(2, 'others', {
  ...IMPORTED,
  id: 2,
  slug: 'others',
  domain: 'o.example.com',
  accountId: 2,
});
const SITE = service(3, 'site', { origin: 'owner', accountId: 1, domain: 'site.example.com' });

/** The API with services of two accounts; the list follows the registry, as in the program. */
async function start(t: Test) {
  const world = await startApi({ services: [IMPORTED, OTHERS, SITE] });
  t.teardown(world.close);
  t.teardown(world.registry.watchChanges(await world.registry.lastChange(), world.directory.apply));
  for (const name of ['ada', 'grace']) await world.registry.ensureAccount(name, 1);
  const keyOf = (...scopes: KeyScope[]) =>
    world.makeKey({ accountId: 1, scopes }).authorization?.slice('Bearer '.length) ?? '';
  const send =
    (key: string) =>
    async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(`${world.origin}/api/${path}`, {
        method,
        headers: { 'X-Api-Key': key, ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      return { status: response.status, text, json: isJson ? JSON.parse(text) : null };
    };
  return { world, keyOf, send, write: send(keyOf('read', 'write')) };
}

t.test('a check is added, read, changed, paused, resumed and deleted', async (t) => {
  const { world, write } = await start(t);
  const wanted = {
    name: 'Nightly Backup',
    tags: 'prod  db',
    desc: 'Of the shop.',
    timeout: 3600,
    grace: 900,
  };
  const made = await write('POST', 'v3/checks/', wanted);
  t.equal(made.status, 201);
  const { uuid } = made.json;
  t.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const url = `https://upbeat.test/api/v3/checks/${uuid}`;
  const view = {
    ...{ name: 'Nightly Backup', slug: 'nightly-backup', tags: 'prod db', desc: 'Of the shop.', grace: 900 },
    ...{ n_pings: 0, status: 'new', started: false, last_ping: null, next_ping: null },
    ...{ manual_resume: false, methods: '', subject: '', subject_fail: '', start_kw: '', success_kw: '' },
    ...{ failure_kw: '', filter_subject: false, filter_body: false, filter_http_body: false },
    filter_default_fail: false,
    badge_url: made.json.badge_url,
    ...{ uuid, ping_url: `https://upbeat.test/ping/${uuid}`, update_url: url },
    ...{ pause_url: `${url}/pause`, resume_url: `${url}/resume`, channels: '', timeout: 3600 },
  };
  t.strictSame(made.json, view);
  t.match(made.json.badge_url, /^https:\/\/upbeat\.test\/badge\/[\w-]{40}\.svg$/);
  t.strictSame((await write('GET', `v3/checks/${uuid}`)).json, view);
  t.equal(await (await fetch(`${world.origin}/ping/${uuid}`)).text(), 'OK');
  t.equal(await (await fetch(`${world.origin}/${uuid}/start`)).text(), 'OK');

  const changed = await write('POST', `v3/checks/${uuid}`, { schedule: '30 3 * * 1-5', tz: 'Europe/Berlin' });
  const { timeout: _, ...rest } = view;
  t.strictSame(changed.json, { ...rest, schedule: '30 3 * * 1-5', tz: 'Europe/Berlin' });
  t.equal((await write('POST', `v3/checks/${uuid}`, { tz: 'UTC' })).json.tz, 'UTC');
  const again = await write('POST', `v3/checks/${uuid}`, { name: 'Backup', tags: '', timeout: 60 });
  t.strictSame(again.json, { ...view, name: 'Backup', tags: '', timeout: 60 });

  t.equal((await write('POST', `v3/checks/${uuid}/resume`)).status, 409);
  const paused = await write('POST', `v3/checks/${uuid}/pause`, 'null');
  t.match(paused, { status: 200, json: { status: 'paused', uuid } });
  t.equal((await write('POST', `v3/checks/${uuid}/resume`)).json.status, 'new');
  await write('POST', `v3/checks/${uuid}/pause`);
  t.equal(await (await fetch(`${world.origin}/ping/${uuid}`)).text(), 'OK');
  t.equal((await write('GET', `v3/checks/${uuid}`)).json.status, 'new', 'a ping resumes it');

  const gone = await write('DELETE', `v3/checks/${uuid}`);
  t.match(gone, { status: 200, json: { uuid, name: 'Backup' } });
  t.match(await write('GET', `v3/checks/${uuid}`), { status: 404, json: { error: 'not found' } });
  t.equal((await fetch(`${world.origin}/ping/${uuid}`)).status, 404);
});

t.test('the requests of the Terraform provider and of Ansible work in each version', async (t) => {
  const { write } = await start(t);
  const type = { 'content-type': 'application/json' };
  const terraform = {
    channels: '',
    grace: 3600,
    methods: '',
    name: 'Jobs',
    slug: 'jobs',
    tags: 'a b',
    timeout: 60,
  };
  const { json } = await write('POST', 'v1/checks/', terraform, type);
  const id = json.update_url.split('/').at(-1);
  t.match(json.update_url, /^https:\/\/upbeat\.test\/api\/v1\/checks\//);
  const listed = (await write('GET', 'v1/checks/', undefined, type)).json.checks;
  t.strictSame(
    listed.find((one: { update_url: string }) => one.update_url.endsWith(id)),
    json,
  );
  const updated = await write(
    'POST',
    `v1/checks/${id}`,
    { ...terraform, desc: 'More', schedule: '0 * * * *' },
    type,
  );
  t.match(updated.json, { desc: 'More', schedule: '0 * * * *', tz: 'UTC' });
  const ansible = {
    ...{ name: 'Ansible', tags: 'x', desc: '', timeout: 300, grace: 3600, manual_resume: false, methods: '' },
    ...{ channels: '*', unique: ['name'], slug: '', ping_api_token: null, management_api_token: 'hidden' },
  };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const first = await write('POST', 'v2/checks/', ansible, form);
  t.equal(first.status, 201);
  const second = await write('POST', 'v2/checks/', { ...ansible, timeout: 600 }, form);
  t.match(second, { status: 200, json: { uuid: first.json.uuid, timeout: 600 } });
  const unique = { ...ansible, tags: ' x ', unique: ['name', 'tags', 'timeout'], timeout: 600 };
  t.equal((await write('POST', 'v2/checks/', unique, form)).status, 200, 'however tags are separated');
  t.equal((await write('POST', 'v2/checks/', { ...unique, grace: 60, unique: ['slug'] }, form)).status, 201);
  t.equal(first.json.ping_url.split('/').at(-1), first.json.uuid, 'which Ansible takes it from');
  t.equal((await write('DELETE', `v2/checks/${first.json.uuid}`, undefined, form)).status, 200);
  t.equal((await write('POST', 'v3/checks/', undefined)).json.slug, 'check');
  t.equal((await write('POST', 'v3/checks/', {}, type)).json.slug, 'check-2', 'slugs differ');
  t.equal((await write('POST', 'v3/checks/', { slug: 'imported' })).json.slug, 'imported-2');
});

t.test('lists are chosen by tags and slug, and show heartbeat services of the account alone', async (t) => {
  const { write } = await start(t);
  await write('POST', 'v3/checks/', { name: 'One', slug: 'one', tags: 'prod' });
  const slugsOf = async (query: string) =>
    (await write('GET', `v3/checks/${query}`)).json.checks.map(({ slug }: { slug: string }) => slug).sort();
  t.strictSame(await slugsOf(''), ['imported', 'one']);
  t.strictSame(await slugsOf('?tag=prod'), ['imported', 'one']);
  t.strictSame(await slugsOf('?tag=prod&tag=eu'), ['imported']);
  t.strictSame(await slugsOf('?tag=pro'), []);
  t.strictSame(await slugsOf('?slug=one'), ['one']);
});

t.test('an imported check has an identity, and is found by the UUID that it had', async (t) => {
  const { keyOf, send, write } = await start(t);
  const { json } = await write('GET', `v3/checks/${UUID}`);
  t.match(json, {
    slug: 'imported',
    desc: 'A job.',
    tags: 'prod eu',
    ping_url: null,
    timeout: 600,
    grace: 0,
  });
  t.not(json.uuid, UUID);
  t.equal((await write('GET', `v3/checks/${json.uuid}`)).json.name, 'Imported');
  const read = send(keyOf('read'));
  const seen = (await read('GET', 'v3/checks/')).json.checks[0];
  t.match(seen.unique_key, /^[0-9a-f]{40}$/);
  for (const member of ['uuid', 'ping_url', 'update_url', 'channels']) t.notOk(member in seen, member);
  t.equal((await read('GET', `v3/checks/${seen.unique_key}`)).json.name, 'Imported');
});

t.test('the status and the times of a check are those of its heartbeats', async (t) => {
  const { world, write } = await start(t);
  await world.report(1, NOW - 500_000, [], JSON.stringify({ log: 'done' }));
  await world.status.put([current(1, check(NOW - 500_000, { source: 'heartbeat' }))]);
  const view = async () => (await write('GET', `v3/checks/${UUID}`)).json;
  t.match(await view(), {
    ...{
      status: 'up',
      n_pings: 1,
      last_ping: '2026-11-20T09:51:40+00:00',
      next_ping: '2026-11-20T10:01:40+00:00',
    },
  });
  await world.registry.addHeartbeatLog(1, 1, { at: NOW, run: null, text: 'later' });
  const { pings } = (await write('GET', `v3/checks/${UUID}/pings/`)).json;
  t.match(pings, [
    { type: 'log', n: null, body_url: null },
    { type: 'success', date: '2026-11-20T09:51:40.000Z', n: 1, body_url: /\/pings\/1\/body$/ },
  ]);
  t.equal((await write('GET', `v3/checks/${UUID}/pings/1/body`)).text, 'done');
  t.equal((await write('GET', `v3/checks/${UUID}/pings/2/body`)).status, 404);
  world.tell(
    transition(1, 'imported', { from: 'unknown', to: 'up', at: NOW - 9_000 }),
    transition(2, 'imported', { from: 'up', to: 'slow', at: NOW - 8_000 }),
    transition(3, 'imported', { from: 'slow', to: 'down', at: NOW - 7_000 }),
  );
  t.strictSame((await write('GET', `v3/checks/${UUID}/flips/`)).json.flips, [
    { timestamp: '2026-11-20T09:59:53+00:00', up: 0 },
    { timestamp: '2026-11-20T09:59:51+00:00', up: 1 },
  ]);
  t.equal((await write('GET', `v3/checks/${UUID}/flips/?seconds=8`)).json.flips.length, 1);
  t.equal((await write('GET', `v3/checks/${UUID}/flips/?start=x`)).status, 400);
});

t.test('channels are those that rules notify, and others are refused', async (t) => {
  const { world, write } = await start(t);
  const [mail, chat] = await Promise.all(
    ['Mail', 'Chat'].map((name) =>
      world.registry.addChannel({
        ...{ accountId: 1, name, kind: 'pushover', settings: {}, language: 'en' },
        ...{ confirmedAt: 1, createdAt: 1 },
      }),
    ),
  );
  await world.registry.addRule({
    ...{
      accountId: 1,
      name: 'all',
      events: ['down'],
      channels: [mail?.id ?? 0],
      enabled: true,
      createdAt: 1,
    },
    of: { own: true, services: [], categories: [], publicCategories: [], pages: [] },
    ...{ afterMs: 0, repeatMs: null, quiet: null },
  });
  const { channels } = (await write('GET', 'v3/channels/')).json;
  t.match(channels, [
    { id: /^[0-9a-f-]{36}$/, name: 'Chat', kind: 'po' },
    { name: 'Mail', kind: 'po' },
  ]);
  t.strictSame((await write('GET', 'v1/channels/')).json.channels, channels, 'in version 1 too');
  t.match(await (await world.get('/api/v1/channels', world.makeKey({ scopes: ['read'] }))).json, {
    total: 2,
  });
  const made = await write('POST', 'v3/checks/', { name: 'A', channels: 'Mail' });
  t.match(made, { status: 201, json: { channels: channels[1].id } });
  t.equal((await write('POST', `v3/checks/${made.json.uuid}`, { channels: channels[1].id })).status, 200);
  t.ok(chat);
  for (const [given, error] of [
    ['*', /rules of alerts/],
    ['Chat', /rules of alerts/],
    ['Nobody', 'invalid channel identifier: Nobody'],
  ] as const)
    t.match(await write('POST', 'v3/checks/', { name: 'B', channels: given }), {
      status: 400,
      json: { error },
    });
});

t.test('what is wrong, forbidden or without an equal is said in the form of Healthchecks', async (t) => {
  const { world, keyOf, send, write } = await start(t);
  for (const [body, error] of [
    ['{', 'could not parse request body'],
    ['[]', 'json validation error: value is not an object'],
    [{ name: 1 }, 'json validation error: name is not a string'],
    [{ name: null }, 'json validation error: name is not a string'],
    [{ name: 'x'.repeat(101) }, 'json validation error: name is too long'],
    [{ slug: 'A' }, 'json validation error: slug does not match pattern'],
    [{ timeout: 59 }, 'json validation error: timeout is too small'],
    [{ grace: 31_536_001 }, 'json validation error: grace is too large'],
    [{ timeout: '60' }, 'json validation error: timeout is not a number'],
    [{ schedule: 'daily at 3' }, /^json validation error: schedule is not a valid cron expression/],
    [{ schedule: '* * * * *', tz: 'Moon' }, 'json validation error: tz is not a valid timezone'],
    [{ unique: ['color'] }, 'json validation error: unique has unexpected value'],
    [{ methods: 'POST' }, /^json validation error: methods has no equal here/],
    [{ manual_resume: true }, /manual_resume has no equal here/],
    [{ failure_kw: 'error' }, /failure_kw has no equal here/],
    [{ desc: 'x'.repeat(501) }, /^desc and tags are too long/],
    [{ slug: '-x' }, /./],
  ] as const)
    t.match(await write('POST', 'v3/checks/', body), { status: 400, json: { error } });
  t.equal((await write('POST', `v3/checks/${UUID}`, { slug: 'other' })).status, 400);
  const read = send(keyOf('read'));
  t.match(await read('POST', 'v3/checks/', { name: 'x' }), { status: 403, json: { error: /./ } });
  t.equal((await read('GET', 'v3/channels/')).status, 403);
  t.equal((await read('GET', `v3/checks/${UUID}/pings/`)).status, 403);
  t.match(await send('nonsense')('GET', 'v3/checks/'), { status: 401, json: { error: 'wrong api key' } });
  const bare = await fetch(`${world.origin}/api/v3/checks/`);
  t.strictSame([bare.status, await bare.json()], [401, { error: 'missing api key' }]);
  t.equal((await write('GET', 'v3/badges/')).status, 404);
  const asked = { Origin: 'https://wall.example', 'Access-Control-Request-Method': 'GET' };
  const preflight = await fetch(`${world.origin}/api/v3/checks/`, { method: 'OPTIONS', headers: asked });
  t.match(preflight.headers.get('access-control-allow-headers'), /X-Api-Key/, 'for dashboards in browsers');
  const seen = await fetch(`${world.origin}/api/v3/checks/`, { headers: { 'X-Api-Key': keyOf('read') } });
  t.equal(seen.headers.get('access-control-allow-origin'), '*');
  t.equal((await write('GET', 'v3/checks/ffffffff-6c7f-4f1e-9a52-3f6f0c1d2e4b')).status, 404);
  t.equal((await world.registry.servicesOf(1)).length, 2, 'nothing was added');
});
