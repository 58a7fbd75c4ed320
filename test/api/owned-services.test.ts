/** Services over the API for writing: created, read, changed, verified and removed with the key of an account. */
import t, { type Test } from 'tap';
import { sendWith } from '../site/send-with.ts';
import { from, service, startApi } from '../site/site-world.ts';

/** The API with the key of account 1 and one of account 2. The list follows the registry, as in the program. */
async function start(t: Test) {
  const catalogue = [service(1, 'known', { name: 'Known', domain: 'known.example' })];
  const world = await startApi({ services: catalogue });
  t.teardown(world.close);
  t.teardown(world.registry.watchChanges(await world.registry.lastChange(), world.directory.apply));
  await world.registry.ensureAccount('ada', 1);
  await world.registry.ensureAccount('grace', 1);
  const keyOf = (accountId: number) => world.makeKey({ accountId, scopes: ['read', 'heartbeat', 'write'] });
  const [ada, grace] = [keyOf(1), keyOf(2)];
  const send = sendWith(world);
  const create = (document: object, key: Record<string, string> = ada) =>
    send('POST', '/api/v1/services', document, key);
  const read = async (slug: string, key: Record<string, string> = ada) =>
    await send('GET', `/api/v1/services/${slug}`, undefined, key);
  return { world, ada, grace, send, create, read };
}

const SHOP = { domain: 'shop.example.com', name: 'Our shop', category: 'ecommerce' };

t.test('a service is created, read, changed and removed', async (t) => {
  const { ada, grace, world, send, create, read } = await start(t);
  const check = { kind: 'http', accept: ['2xx', 401], settings: { path: '/login' } };
  const made = await create({ ...SHOP, check });
  t.equal(made.status, 201);
  t.equal(made.headers.get('location'), 'https://upbeat.test/api/v1/services/shop-example-com');
  t.equal(made.headers.get('access-control-allow-origin'), null, 'no other origin may write');
  t.strictSame(made.json, {
    slug: 'shop-example-com',
    name: 'Our shop',
    domain: 'shop.example.com',
    category: 'ecommerce',
    status: 'unknown',
    response_time: null,
    last_checked: null,
    stale: false,
    since: null,
    self_reported: true,
    definition: { ...SHOP, check },
    verification: {
      verified: false,
      txt_record: { name: '_upbeat.shop.example.com', value: 'upbeat-verify=1' },
      file: { url: 'https://shop.example.com/.well-known/upbeat-verify', content: 'upbeat-verify=1' },
    },
  });
  const seen = await read('Shop-Example-Com');
  t.strictSame(seen.json, made.json);
  t.equal(seen.headers.get('etag'), made.headers.get('etag'));
  t.match(seen.headers.get('etag'), /^"1-[\w-]{22}"$/);
  const { definition: _, verification: _v, ...shown } = made.json;
  for (const [who, headers] of [
    ['everyone', {}],
    ['another account', grace],
  ] as const) {
    const { json, headers: got } = await read('shop-example-com', headers);
    t.strictSame(json, shown, `${who} sees what the list has`);
    t.equal(got.get('vary'), 'Authorization');
  }
  const reader = world.makeKey({ accountId: 1, scopes: ['read', 'heartbeat'] });
  const { definition, verification } = (await read('shop-example-com', reader)).json;
  const { settings: _settings, ...chosen } = check;
  t.strictSame([definition, verification], [{ ...SHOP, check: chosen }, made.json.verification]);
  const known = { ...ada, 'if-none-match': seen.headers.get('etag') ?? '' };
  t.equal((await read('shop-example-com', known)).status, 304);

  const patched = await send(
    'PATCH',
    '/api/v1/services/shop-example-com',
    { name: null, paused: true, check: { accept: null, settings: { plain: true } } },
    { ...ada, 'content-type': 'application/merge-patch+json' },
  );
  t.equal(patched.status, 200);
  const changed = { kind: 'http', settings: { path: '/login', plain: true } };
  t.strictSame(patched.json.definition, {
    domain: SHOP.domain,
    category: 'ecommerce',
    paused: true,
    check: changed,
  });
  t.match(patched.headers.get('etag'), /^"2-/);
  t.strictSame((await read('shop-example-com')).json, patched.json);
  const other = await send('PATCH', '/api/v1/services/shop-example-com', { check: { kind: 'tls' } }, ada);
  t.strictSame(other.json.definition.check, { kind: 'tls' }, 'settings of the former kind are dropped');
  t.match(await send('PATCH', '/api/v1/services/shop-example-com', { check: { method: 'GET' } }, ada), {
    status: 400,
    json: { errors: [{ field: 'check.method', code: 'method_of_root' }] },
  });

  t.equal((await send('DELETE', '/api/v1/services/shop-example-com', undefined, grace)).status, 404);
  t.equal((await send('DELETE', '/api/v1/services/shop-example-com', undefined, ada)).status, 204);
  t.equal((await read('shop-example-com')).status, 404);
  t.match(await send('DELETE', '/api/v1/services/shop-example-com', undefined, ada), {
    status: 404,
    json: { code: 'service_not_found' },
  });
});

t.test('what a service depends on is among the services of its account', async (t) => {
  const { ada, send, create, read } = await start(t);
  await create({ domain: 'router.example.com' });
  const made = await create({ ...SHOP, dependsOn: ['Router.example.com'] });
  t.strictSame(made.json.definition.dependsOn, ['router-example-com']);
  const patch = (slug: string, dependsOn: unknown) =>
    send('PATCH', `/api/v1/services/${slug}`, { dependsOn }, ada);
  t.match(await patch('router-example-com', ['shop-example-com']), {
    status: 400,
    json: {
      errors: [{ field: 'dependsOn', code: 'parent_circle' }],
    },
  });
  t.match(await patch('shop-example-com', ['nobody']), {
    status: 400,
    json: { errors: [{ field: 'dependsOn', code: 'no_parent' }] },
  });
  t.match(await patch('shop-example-com', ['a', 'b', 'c', 'd', 'e', 'f']), {
    status: 400,
    json: { errors: [{ field: 'dependsOn', code: 'member_invalid' }] },
  });
  await send('DELETE', '/api/v1/services/router-example-com', undefined, ada);
  t.equal((await read('shop-example-com')).json.definition.dependsOn, undefined);
});

t.test('a note is for the account alone', async (t) => {
  const { ada, grace, send, create, read } = await start(t);
  const note = 'Runs on host 7.\nAsk Ada first.';
  const made = await create({ ...SHOP, note: ` ${note}\n` });
  t.strictSame(made.json.definition, { ...SHOP, note });
  t.strictSame((await read('shop-example-com')).json.definition, { ...SHOP, note });
  for (const path of [
    '/api/v1/services',
    '/api/v1/services/shop-example-com',
    '/api/v1/status/shop-example-com',
  ])
    for (const headers of [{}, grace]) {
      const { status, json } = await send('GET', path, undefined, headers);
      t.equal(status, 200, path);
      t.notMatch(JSON.stringify(json), 'host 7', path);
    }
  const patch = (change: unknown) =>
    send('PATCH', '/api/v1/services/shop-example-com', { note: change }, ada);
  for (const wrong of ['x'.repeat(501), 'a\u202eb', 'a\u0007', 7])
    t.match(await patch(wrong), {
      status: 400,
      json: { errors: [{ field: 'note', code: 'member_invalid' }] },
    });
  t.equal((await patch('é'.repeat(500))).json.definition.note.length, 500);
  for (const none of [null, ' '])
    t.strictSame([(await patch('x')).status, (await patch(none)).json.definition], [200, SHOP]);
});

t.test(
  'times and regions of checks are read, changed and set back, within the bounds for owners',
  async (t) => {
    const { ada, world, send, create } = await start(t);
    const patch = (check: object | null) =>
      send('PATCH', '/api/v1/services/shop-example-com', { check }, { ...ada });
    const check = {
      ...{ interval: '30s', timeout: '5s', slowOver: '800ms' },
      ...{ confirmAfter: ['2s'], regions: ['eu', 'us'] },
    };
    const made = await create({ ...SHOP, check });
    t.strictSame([made.status, made.json.definition.check], [201, check]);
    const changed = await patch({ interval: '1h', timeout: null, confirmAfter: [], regions: ['eu'] });
    t.strictSame(changed.json.definition.check, {
      ...{ interval: '1h', slowOver: '800ms', confirmAfter: [], regions: ['eu'] },
    });
    const other = await patch({ kind: 'tls' });
    t.match(other.json.definition.check, { kind: 'tls', interval: '1h', regions: ['eu'] }, 'of every kind');
    const refused = await patch({ interval: '29s', timeout: '2m', slowOver: '1', regions: ['mars'] });
    t.match(refused, {
      status: 400,
      json: { errors: [{ field: 'check.slowOver', code: 'member_invalid' }] },
    });
    const unfit = await patch({ interval: '29s', timeout: '2m', regions: ['mars'] });
    t.same(
      unfit.json.errors.map(({ field, message }: { field: string; message: string }) => [field, message]),
      [
        ['check.interval', 'interval must be at least 30s.'],
        ['check.timeout', 'timeout must be at most 1m.'],
        ['check.regions', 'regions names mars, where no node makes checks: choose from eu, us.'],
      ],
    );
    const before = world.directory.bySlug('shop-example-com');
    if (before === null) throw new Error('the service is gone');
    const hasty = { ...before.check, intervalMs: 5_000 };
    await world.registry.changeService('shop-example-com', { check: hasty });
    const kept = await patch({ slowOver: '1s' });
    t.match(
      kept,
      { status: 200, json: { definition: { check: { interval: '5s' } } } },
      "the operator's interval stays",
    );
    t.strictSame((await patch(null)).json.definition.check, undefined, 'the settings count again');
  },
);

t.test('a refused document names each wrong member', async (t) => {
  const { ada, world, send, create } = await start(t);
  const refused = await create({
    domain: 'localhost',
    name: '',
    period: 'soon',
    check: { kind: 'tcp', settings: { port: 0 } },
  });
  t.match(refused, { status: 400, json: { code: 'invalid_body' } });
  t.same(
    refused.json.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [
      ['domain', 'domain_invalid'],
      ['name', 'service_name_missing'],
      ['check.settings.port', 'setting_invalid'],
      ['period', 'duration_invalid'],
    ],
  );
  for (const [document, field, code] of [
    [{}, 'domain', 'member_invalid'],
    [{ ...SHOP, colour: 'red' }, 'colour', 'member_invalid'],
    [{ ...SHOP, check: { kind: 'carrier pigeon' } }, 'check.kind', 'member_invalid'],
    [{ ...SHOP, check: { url: 'ftp://x' } }, 'check.url', 'member_invalid'],
    [{ ...SHOP, check: { kind: 'http', url: 'https://other.example/' } }, 'check.url', 'url_elsewhere'],
    [[], null, 'member_invalid'],
    [{ ...SHOP, name: 'KN0WN' }, 'name', 'name_taken'],
    [{ ...SHOP, period: '1h', schedule: '@daily' }, 'schedule', 'period_and_schedule'],
    [JSON.parse('{"domain":"a.example.com","__proto__":{"paused":true}}'), '__proto__', 'member_invalid'],
  ] as const) {
    const { status, json } = await create(document);
    t.match([status, json.errors[0]], [400, { field, code }], JSON.stringify(document));
    t.equal(typeof json.errors[0].message, 'string');
  }
  for (const body of ['{', '"\\ud800"x', 'null', ''])
    t.equal((await send('POST', '/api/v1/services', body, ada)).status, 400, body);
  const nested = `${'{"check":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
  await create(SHOP);
  t.equal(
    (await send('PATCH', '/api/v1/services/shop-example-com', nested, ada)).status,
    400,
    'deeply nested',
  );
  const long = { ...SHOP, name: 'x'.repeat(70_000) };
  t.match(await create(long), { status: 413, json: { code: 'body_too_large', limit: 65_536 } });
  const typed = { ...ada, 'content-type': 'text/plain' };
  t.equal((await send('POST', '/api/v1/services', '{}', typed)).status, 415);
  t.match(await send('PATCH', '/api/v1/services/shop-example-com', { domain: 'b.example.com' }, ada), {
    status: 400,
    json: { errors: [{ field: 'domain', code: 'domain_fixed' }] },
  });
  t.match(await create(SHOP), {
    status: 409,
    json: { code: 'conflict', errors: [{ code: 'domain_taken' }] },
  });
  t.equal(world.directory.all().length, 2, 'nothing else was created');
});

t.test('domains of others and of the catalogue must be proved before', async (t) => {
  const { ada, grace, world, create, read, send } = await start(t);
  t.equal((await create(SHOP)).status, 201);
  const verification = { txt_record: { name: '_upbeat.shop.example.com', value: 'upbeat-verify=2' } };
  t.match(await create({ ...SHOP, name: 'Hers' }, grace), {
    status: 403,
    json: {
      ...{ code: 'forbidden_domain', title: 'Domain must be verified first' },
      detail: 'shop.example.com is registered by another account. If it is yours, verify the domain.',
      ...{ errors: [{ field: 'domain', code: 'foreign_domain' }], verification },
    },
  });
  t.match(await create({ domain: 'api.known.example' }), {
    status: 403,
    json: {
      ...{ code: 'forbidden_domain', title: 'Domain must be verified first' },
      detail: /^api\.known\.example lies within known\.example of the public catalogue/,
      errors: [{ code: 'catalogue_domain' }],
    },
  });
  world.proofs.add('shop.example.com').add('api.known.example');
  const won = await create({ ...SHOP, name: 'Hers', check: { kind: 'tls' } }, grace);
  t.match(won, {
    status: 201,
    json: { name: 'Hers', self_reported: false, verification: { verified: true } },
  });
  t.same(won.json.definition.check, { kind: 'tls' });
  t.equal((await send('PATCH', '/api/v1/services/shop-example-com', { paused: true }, ada)).status, 404);
  t.equal((await create({ domain: 'api.known.example' })).status, 201);
  t.match((await read('api-known-example')).json, { self_reported: false });
});

t.test('a domain is verified', async (t) => {
  const { ada, grace, world, create, send } = await start(t);
  await create(SHOP);
  const verify = (key = ada) => send('POST', '/api/v1/services/shop-example-com/verify', undefined, key);
  t.match(await verify(), {
    status: 409,
    json: {
      code: 'domain_unverified',
      errors: [{ code: 'proof_missing' }],
      verification: { verified: false },
    },
  });
  t.equal((await verify(grace)).status, 404);
  world.proofs.add('shop.example.com');
  const verified = await verify();
  t.match(verified, { status: 200, json: { self_reported: false, verification: { verified: true } } });
  t.equal(verified.headers.get('content-location'), 'https://upbeat.test/api/v1/services/shop-example-com');
  t.match(verified.json.definition, SHOP, 'the definition stays');
  t.equal((await verify()).status, 200);

  const once = { ...ada, 'idempotency-key': 'v' };
  const first = await verify(once);
  await send('PATCH', '/api/v1/services/shop-example-com', { name: 'Changed' }, ada);
  world.proofs.delete('shop.example.com');
  t.equal((await verify()).status, 409);
  const replay = await verify(once);
  t.strictSame([replay.status, replay.json], [200, first.json]);
  for (const name of ['content-location', 'etag', 'cache-control'])
    t.equal(replay.headers.get(name), first.headers.get(name), name);
  t.equal(replay.headers.get('idempotent-replayed'), 'true');
  const shop = '/api/v1/services/shop-example-com/address';
  t.equal((await send('POST', shop, undefined, once)).status, 422);
});

t.test('a change may name the revision that it replaces', async (t) => {
  const { ada, send, create, read } = await start(t);
  const made = await create(SHOP);
  const [path, first] = ['/api/v1/services/shop-example-com', made.headers.get('etag') ?? ''];
  const patch = (tag: string, body: object) => send('PATCH', path, body, { ...ada, 'if-match': tag });
  t.equal((await patch(first, { paused: true })).status, 200);
  for (const tag of ['"1-x"', 'W/"2-x"', '2-x', '"x"', '""', '"2"'])
    t.equal((await patch(tag, {})).status, 412, tag);
  const remove = (tag: string) => send('DELETE', path, undefined, { ...ada, 'if-match': tag });
  t.match((await read('shop-example-com')).json.definition, { paused: true });
  t.equal((await patch('"7-a", "2-b"', {})).status, 200, 'only the revision counts');
  t.equal((await patch('*', { paused: false })).status, 200);
  t.equal((await remove('*')).status, 204);
});

t.test('changes at once lose nothing', async (t) => {
  const { ada, send, create, read } = await start(t);
  await create({ ...SHOP, check: { kind: 'http' } });
  const patches = [
    { name: 'Both' },
    { category: 'cloud' },
    { check: { accept: [204] } },
    { check: { settings: { path: '/a' } } },
  ];
  const path = '/api/v1/services/shop-example-com';
  const answers = await Promise.all(patches.map((patch) => send('PATCH', path, patch, ada)));
  t.same(
    answers.map(({ status }) => status),
    patches.map(() => 200),
  );
  t.strictSame((await read('shop-example-com')).json.definition, {
    domain: SHOP.domain,
    name: 'Both',
    category: 'cloud',
    check: { kind: 'http', accept: [204], settings: { path: '/a' } },
  });
  const tags = await Promise.all(
    [1, 2, 3].map(() => send('PATCH', path, { paused: true }, { ...ada, 'if-match': '"5-x"' })),
  );
  t.same(tags.map(({ status }) => status).sort(), [200, 412, 412], 'one of those that name a revision wins');
});

t.test('credentials are written and never read, and stay until they would be sent elsewhere', async (t) => {
  const { ada, world, send, create } = await start(t);
  const settings = { path: '/private', username: 'ada', password: 'correct horse' };
  const made = await create({ ...SHOP, check: { kind: 'http', settings } });
  t.equal(made.status, 201);
  t.strictSame(made.json.definition.check, { kind: 'http', settings: { path: '/private' } });
  const stored = async () => (await world.registry.findService('shop-example-com'))?.check.sealed ?? {};
  const sealed = await stored();
  t.match(sealed, { username: /^(?!.*ada)/, password: /^(?!.*horse)/ });
  const path = '/api/v1/services/shop-example-com';
  const patch = (change: object) => send('PATCH', path, { check: { settings: change } }, ada);
  const request = { method: 'POST', body: '{"password":"staple"}', headers: ['A: b', 'X-Api-Key: battery'] };
  const api = { domain: 'api.example.com', check: { kind: 'http', settings: request } };
  const shown = { kind: 'http', settings: { method: 'POST', headers: ['A: b'] } };
  t.strictSame((await create(api)).json.definition.check, shown);
  const row = JSON.stringify(await world.registry.findService('api-example-com'));
  t.notMatch(row, /staple|battery/, 'the registry has no text of a request in the clear');
  t.match(row, /"sealed":\{"body":"check:v1:[^"]*","secretHeaders":"check:v1:/);
  t.equal((await patch({ path: '/other' })).status, 200);
  t.strictSame(await stored(), sealed, 'they stay');
  t.match(await patch({ port: 444 }), {
    status: 400,
    json: {
      errors: [
        { field: 'check.settings.username', code: 'setting_invalid' },
        { field: 'check.settings.password', code: 'setting_invalid' },
      ],
    },
  });
  t.equal((await patch({ port: 444, username: 'ada', password: 'again' })).status, 200);
  t.not((await stored()).password, sealed.password);
  t.equal((await patch({ username: null, password: null })).status, 200);
  t.strictSame(await stored(), {});
});

t.test('a service gets a heartbeat address', async (t) => {
  const { ada, grace, world, send, create } = await start(t);
  await create({ ...SHOP, check: { kind: 'heartbeat' } });
  const path = '/api/v1/services/shop-example-com/address';
  t.equal((await send('POST', path, undefined, grace)).status, 404);
  const made = await send('POST', path, undefined, ada);
  t.equal(made.status, 201);
  const { url, slug } = made.json;
  t.equal(slug, 'shop-example-com');
  const beat = () => world.get(url.replace('https://upbeat.test', ''), from('192.0.2.1'));
  t.equal((await beat()).status, 200);
  await send('PATCH', '/api/v1/services/shop-example-com', { grace: '5m' }, ada);
  t.equal((await beat()).status, 200, 'a change of the definition keeps it');
  const newest = { ...ada, 'if-match': '"3-a"' };
  const again = await send('POST', path, undefined, newest);
  t.equal(again.status, 201);
  t.equal((await beat()).status, 404, 'the former address has ended');
  const renewed = again.json.url.replace('https://upbeat.test', '');
  t.equal((await world.get(renewed, from('192.0.2.1'))).status, 200);
  t.equal((await send('DELETE', path, undefined, newest)).status, 412, 'a new address is a new revision');
  t.equal((await send('DELETE', path, undefined, ada)).status, 204);
  t.equal((await world.get(renewed, from('192.0.2.1'))).status, 404);
});

t.test('a request that is sent again changes nothing, and gets the same answer', async (t) => {
  const { ada, grace, world, send, create, read } = await start(t);
  const again = { ...ada, 'idempotency-key': '"a-1"' };
  const first = await create(SHOP, again);
  t.equal(first.status, 201);
  t.equal(first.headers.get('idempotent-replayed'), null);
  await send('PATCH', '/api/v1/services/shop-example-com', { name: 'Changed' }, ada);
  for (const key of ['"a-1"', 'a-1']) {
    const replay = await create(SHOP, { ...ada, 'idempotency-key': key });
    t.strictSame([replay.status, replay.json], [201, first.json], key);
    for (const name of ['location', 'etag']) t.equal(replay.headers.get(name), first.headers.get(name), name);
    t.equal(replay.headers.get('idempotent-replayed'), 'true');
  }
  t.match((await read('shop-example-com')).json, { name: 'Changed' });
  const mismatch = { status: 422, json: { code: 'idempotency_mismatch' } };
  t.match(await create({ ...SHOP, name: 'Other' }, again), mismatch, 'another body');
  const address = '/api/v1/services/shop-example-com/address';
  t.match(await send('POST', address, undefined, again), mismatch, 'another operation');
  const second = world.makeKey({ scopes: ['write'] });
  t.match(await create(SHOP, { ...second, 'idempotency-key': 'a-1' }), mismatch, 'another API key');
  const theirs = await create({ domain: 'a.example.com' }, { ...grace, 'idempotency-key': 'a-1' });
  t.equal(theirs.status, 201, 'the keys of another account are apart');

  const refused = await create({ domain: 'b.example.com', name: '' }, { ...ada, 'idempotency-key': 'b' });
  t.equal(refused.status, 400);
  t.equal((await create({ domain: 'b.example.com' }, { ...ada, 'idempotency-key': 'b' })).status, 201);
  const made = await send('POST', address, undefined, { ...ada, 'idempotency-key': 'c' });
  const same = await send('POST', address, undefined, { ...ada, 'idempotency-key': 'c' });
  t.strictSame(same.json, made.json, 'with the secret');
  t.equal((await world.get(same.json.url.replace('https://upbeat.test', ''))).status, 200);
  for (const key of ['', '"', 'a b', 'x'.repeat(256), '"x\\"'])
    t.match(
      await create(SHOP, { ...ada, 'idempotency-key': key }),
      { status: 400, json: { code: 'bad_request' } },
      key,
    );

  const atOnce = { ...ada, 'idempotency-key': 'd' };
  const answers = await Promise.all([1, 2, 3].map(() => create({ domain: 'c.example.com' }, atOnce)));
  t.same(
    answers.map(({ status }) => status),
    [201, 201, 201],
  );
  t.strictSame(new Set(answers.map(({ json }) => JSON.stringify(json))).size, 1);
});

t.test('it answers as before where no program may write', async (t) => {
  const { world, send } = await start(t);
  const preflight = async (path: string, method: string) => {
    const headers = { origin: 'https://a.example', 'access-control-request-method': method };
    const answer = await send('OPTIONS', path, undefined, headers);
    return [answer.headers.get('allow'), answer.headers.get('access-control-allow-origin')];
  };
  t.same(await preflight('/api/v1/services', 'GET'), ['GET, HEAD, POST, OPTIONS', '*']);
  t.same(await preflight('/api/v1/services', 'POST'), ['GET, HEAD, POST, OPTIONS', null]);
  t.same(await preflight('/api/v1/services/known', 'DELETE'), ['GET, HEAD, PATCH, DELETE, OPTIONS', null]);
  t.match(await send('PUT', '/api/v1/services', {}), { status: 405 });
  t.equal(world.directory.all().length, 1);
});

t.test('services beyond the limit of an account are refused', async (t) => {
  const { create, world } = await start(t);
  let last = { status: 0, json: null as unknown };
  for (let number = 0; number <= 100; number++) last = await create({ domain: `s${number}.example.com` });
  t.match(last, { status: 403, json: { code: 'domain_limit', errors: [{ code: 'too_many_domains' }] } });
  t.equal(world.directory.all().length, 101);
  t.ok((await world.registry.servicesOf(1)).every(({ verified }) => !verified));
});

t.test('a trusted account names private hosts without a proof, and loses them with the trust', async (t) => {
  const { world, ada, send, create, read } = await start(t);
  const nas = { domain: '192.168.1.5', name: 'NAS', check: { url: 'http://192.168.1.5:5000/' } };
  t.match(await create(nas), {
    status: 400,
    json: { errors: [{ field: 'domain', code: 'domain_invalid' }] },
  });
  await world.registry.trustAccount(1, 'setup-link', 1);
  t.match(await create(nas), {
    status: 201,
    json: { slug: '192-168-1-5', verification: { verified: true } },
  });
  t.match(await create({ domain: 'known.example' }), {
    status: 201,
    json: { verification: { verified: true } },
  });
  t.match(await create({ domain: 'fd00::5' }), { status: 201, json: { slug: 'fd00--5', domain: 'fd00::5' } });
  t.match(await create({ domain: '169.254.169.254' }), {
    status: 400,
    json: { errors: [{ code: 'url_refused' }] },
  });
  const file = { services: [nas, { domain: 'printer.local', name: 'Printer' }] };
  t.match(await send('POST', '/api/v1/apply', file, ada), {
    status: 200,
    json: { changes: [{ type: 'service' }] },
  });
  t.notMatch((await read('192-168-1-5', ada)).text, /trusted/, 'what the registry notes is not shown');
  await world.registry.trustAccount(1, null, 1);
  t.match(await read('192-168-1-5', ada), { json: { verification: { verified: false } } });
  t.equal((await read('fd00--5', ada)).status, 200);
  const paused = await send('PATCH', '/api/v1/services/192-168-1-5', { paused: true }, ada);
  t.match(paused, { status: 200, json: { definition: { paused: true } } }, 'its host may stay');
  t.equal((await send('DELETE', '/api/v1/services/192-168-1-5', undefined, ada)).status, 204);
});
