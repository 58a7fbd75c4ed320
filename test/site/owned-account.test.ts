/** Status pages, API keys and webhooks over the API for writing. */
import t, { type Test } from 'tap';
import { pngOf } from '../support/pictures.ts';
import { sendWith } from './send-with.ts';
import { service, startApi } from './site-world.ts';

const PNG = `data:image/png;base64,${pngOf(32, 32).toString('base64')}`;

async function start(t: Test) {
  const services = [
    service(1, 'known', { name: 'Known', domain: 'known.example' }),
    service(2, 'shop-example-com', { domain: 'shop.example.com', origin: 'owner', accountId: 1 }),
    service(3, 'hers-example-com', { domain: 'hers.example.com', origin: 'owner', accountId: 2 }),
  ];
  const world = await startApi({ services });
  t.teardown(world.close);
  const keyOf = (accountId: number) => world.makeKey({ accountId, scopes: ['read', 'heartbeat', 'write'] });
  const [ada, grace] = [keyOf(1), keyOf(2)];
  return { world, ada, grace, send: sendWith(world) };
}

const PAGE = {
  slug: 'acme',
  title: 'Acme',
  groups: [{ name: 'Web', services: ['shop.example.com', 'known'] }],
};

t.test('a status page is created, read, changed and removed', async (t) => {
  const { ada, grace, world, send } = await start(t);
  const made = await send('POST', '/api/v1/pages', { ...PAGE, logo: PNG }, ada);
  t.equal(made.status, 201);
  t.equal(made.headers.get('location'), 'https://upbeat.test/api/v1/pages/acme');
  t.match(made.json, { slug: 'acme', url: 'https://upbeat.test/p/acme', definition: PAGE });
  const read = (headers = {}) => send('GET', '/api/v1/pages/acme', undefined, headers);
  const own = await read(ada);
  t.match(own.json, { page: { title: 'Acme', logo_url: /^https:/ }, definition: PAGE });
  t.match(own.headers.get('etag'), /^"1-/);
  for (const other of [{}, grace]) t.equal((await read(other)).json.definition, undefined);
  t.match((await send('GET', '/api/v1/pages', undefined, ada)).json, { pages: [{ slug: 'acme' }] });
  t.strictSame((await send('GET', '/api/v1/pages', undefined, grace)).json, {
    pages: [],
    total: 0,
    limit: 100,
    offset: 0,
  });

  const patch = (body: object, headers: Record<string, string> = {}) =>
    send('PATCH', '/api/v1/pages/acme', body, { ...ada, ...headers });
  const tag = { 'if-match': own.headers.get('etag') ?? '' };
  const renamed = await patch({ title: 'Acme and partners' }, tag);
  t.match([renamed.status, renamed.json.definition], [200, { ...PAGE, title: 'Acme and partners' }]);
  t.match((await read()).json.page, { title: 'Acme and partners', logo_url: /^https:/ }, 'the logo stays');
  t.equal((await patch({ logo: null, groups: null })).status, 200);
  t.match((await read(ada)).json, { page: { logo_url: null }, groups: [] });
  const answers = await Promise.all([patch({ text: 'Both' }), patch({ title: 'Both' })]);
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.match((await read()).json.page, { title: 'Both', text: 'Both' });

  for (const method of ['PATCH', 'DELETE'])
    t.match(await send(method, '/api/v1/pages/acme', method === 'PATCH' ? {} : undefined, grace), {
      status: 404,
      json: { code: 'page_not_found' },
    });
  t.match(await patch({ slug: 'other' }), {
    status: 400,
    json: { errors: [{ field: 'slug', code: 'page_slug_fixed' }] },
  });
  t.equal((await send('DELETE', '/api/v1/pages/acme', undefined, ada)).status, 204);
  t.equal((await read()).status, 404);
  t.match(await send('POST', '/api/v1/pages', { ...PAGE, groups: [] }, grace), {
    status: 409,
    json: { code: 'conflict' },
  });
  t.equal((await world.registry.pagesOf(1)).length, 0);
});

t.test('a service has a name of its own on a page', async (t) => {
  const { ada, world, send } = await start(t);
  const nas = service(4, 'nas-local', { domain: 'nas.local', origin: 'owner', accountId: 1 });
  await world.addServices([nas]);
  world.directory.apply({
    ...{ seq: 9, serviceId: 4, slug: nas.slug },
    service: { ...nas, visibility: 'private', revision: 2 },
  });
  const create = (services: readonly unknown[]) =>
    send('POST', '/api/v1/pages', { ...PAGE, groups: [{ services }] }, ada);
  for (const [services, field, code] of [
    [['nas-local'], 'groups.0.services.0', 'page_entry_unnamed'],
    [[{ service: 'nas-local', name: ' ' }], 'groups.0.services.0', 'page_entry_unnamed'],
    [[{ service: 'known', name: 'a\u0007' }], 'groups.0.services.0.name', 'page_text_character'],
    [[{ service: 'known', name: 'x'.repeat(81) }], 'groups.0.services.0.name', 'page_text_too_long'],
    [[{ service: 'none', name: 'x' }], 'groups.0.services.0', 'no_page_service'],
    [[{ name: 'x' }], 'groups.0.services.0', 'member_invalid'],
    [[{ service: 'known', label: 'x' }], 'groups.0.services.0', 'member_invalid'],
  ] as const) {
    const { status, json } = await create(services);
    t.match([status, json.errors?.[0]], [400, { field, code }], JSON.stringify(services));
  }
  const named = { service: 'nas.local', name: 'Photos' };
  const made = await create([named, { service: 'known', name: 'Ours' }, 'shop.example.com']);
  t.equal(made.status, 201, JSON.stringify(made.json));
  const entries = [named, { service: 'known', name: 'Ours' }, 'shop.example.com'];
  t.same(made.json.definition.groups, [{ services: entries }]);
  const { json } = await send('GET', '/api/v1/pages/acme', undefined, {});
  t.match(json.groups[0].services, [
    { name: 'Photos', private: true, domain: undefined, slug: undefined },
    { name: 'Ours', domain: 'known.example' },
    { slug: 'shop-example-com' },
  ]);
  const taken = await create([{ service: 'nas-local', name: 'KNOWN' }]);
  t.match(
    taken.json.errors?.[0],
    { field: 'groups', code: 'name_taken' },
    'no domain follows it on the page',
  );
  const shown = await (await fetch(`${world.origin}/p/acme`)).text();
  t.match(shown, /own-name">Photos</);
  t.match(shown, '<a href="/status/known-example">Ours (known.example)</a>');
});

t.test('a refused page names each wrong member', async (t) => {
  const { ada, send, world } = await start(t);
  const create = (document: unknown) => send('POST', '/api/v1/pages', document, ada);
  for (const [more, field, code] of [
    [{ slug: 'A b' }, 'slug', 'page_slug_invalid'],
    [{ title: '' }, 'title', 'page_title_missing'],
    [{ colour: 'red' }, 'colour', 'member_invalid'],
    [{ groups: [{ services: ['hers.example.com'] }] }, 'groups.0.services.0', 'no_page_service'],
    [{ groups: [{ services: ['known', 'known'] }] }, 'groups.0.services.1', 'page_has_service'],
    [{ logo: 'data:image/png;base64,AAAA' }, 'logo', 'picture_unreadable'],
    [{ logo: 'https://example.com/a.png' }, 'logo', 'member_invalid'],
  ] as const) {
    const { status, json } = await create({ ...PAGE, ...more });
    t.match([status, json.errors?.[0]], [400, { field, code }], JSON.stringify(more));
  }
  const all = await create({
    ...{ title: '', colour: 'red', 'title.x': 1, logo: 'data:image/png;base64,AAAA' },
    groups: [{ services: 'known' }, 7, { name: 'Web', services: ['known', 'hers.example.com'], shade: 1 }],
  });
  t.strictSame(
    all.json.errors.map(({ field, code }: Record<string, string>) => [field, code]),
    [
      ['slug', 'member_invalid'],
      ['colour', 'member_invalid'],
      ['title.x', 'member_invalid'],
      ['groups.0.services', 'member_invalid'],
      ['groups.1', 'member_invalid'],
      ['groups.2.shade', 'member_invalid'],
      ['groups.2.services.1', 'no_page_service'],
      ['logo', 'picture_unreadable'],
    ],
    'what the schema refuses does not hide the rest',
  );
  t.equal((await create({ ...PAGE, text: 'x'.repeat(530_000) })).status, 413);
  t.equal((await world.registry.pagesOf(1)).length, 0);
});

t.test('keys are created with scopes that the key has, listed and revoked', async (t) => {
  const { ada, grace, world, send } = await start(t);
  const create = (body: unknown, headers: Record<string, string> = ada) =>
    send('POST', '/api/v1/keys', body, headers);
  const made = await create({ name: 'ci' });
  t.match(made, {
    status: 201,
    json: {
      name: 'ci',
      scopes: ['read', 'heartbeat'],
      state: 'valid',
      key: /^upb_\w{38}$/,
      last_used_at: null,
    },
  });
  t.equal(made.headers.get('cache-control'), 'no-store');
  const { id, key } = made.json;
  const own = { authorization: `Bearer ${key}` };
  t.match(await send('GET', '/api/v1/keys', undefined, own), { status: 200 });
  t.match(await create({ name: 'more' }, own), {
    status: 403,
    json: { code: 'insufficient_scope', scope: 'write' },
  });
  const writer = await create({ name: 'writer', expires: 'never', scopes: ['write'] });
  t.equal(writer.json.expires_at, null);
  const writes = { authorization: `Bearer ${writer.json.key}` };
  t.equal((await send('GET', '/api/v1/keys', undefined, writes)).status, 200, 'who may write may read');
  t.match(await create({ name: 'beyond', scopes: ['write', 'read'] }, writes), {
    status: 403,
    json: {
      code: 'insufficient_scope',
      scope: 'read',
      errors: [{ field: 'scopes', code: 'scope_beyond_key' }],
    },
  });
  t.equal((await create({ name: 'within', scopes: ['write'] }, writes)).status, 201);
  for (const [body, field] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x', expires: 'soon' }, 'expires'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['all'] }, 'scopes.0'],
  ] as const)
    t.match(await create(body), { status: 400, json: { errors: [{ field }] } }, JSON.stringify(body));

  const listed = await send('GET', '/api/v1/keys', undefined, ada);
  t.notMatch(JSON.stringify(listed.json), key);
  t.match(listed.json.keys.at(-3), { id, name: 'ci', prefix: key.slice(0, 8), state: 'valid' });
  t.equal((await send('DELETE', `/api/v1/keys/${id}`, undefined, grace)).status, 404);
  for (const none of ['0', '999', 'abc', '1.5'])
    t.match(await send('DELETE', `/api/v1/keys/${none}`, undefined, ada), {
      status: 404,
      json: { code: 'key_not_found' },
    });
  t.equal((await send('DELETE', `/api/v1/keys/${id}`, undefined, ada)).status, 204);
  await world.clock.advance(1_000);
  t.equal((await send('GET', '/api/v1/keys', undefined, own)).status, 401);

  const again = { ...ada, 'idempotency-key': 'k' };
  const [first, second] = [await create({ name: 'once' }, again), await create({ name: 'once' }, again)];
  t.strictSame(second.json, first.json, 'a replay has the same secret');
  t.equal((await world.registry.listKeys(1)).filter(({ name }) => name === 'once').length, 1);
  const other = { ...writes, 'idempotency-key': 'k' };
  t.equal((await create({ name: 'once' }, other)).status, 422, 'and not for another key');
});

t.test('webhooks are created, listed and removed', async (t) => {
  const { ada, grace, world, send } = await start(t);
  const create = (url: string, headers: Record<string, string> = {}) =>
    send('POST', '/api/v1/webhooks', { url }, { ...ada, ...headers });
  const once = { 'idempotency-key': 'w' };
  const made = await create('https://example.com/hook', once);
  t.match(made, { status: 201, json: { url: 'https://example.com/hook', secret: /^whsec_/ } });
  t.strictSame((await create('https://example.com/hook', once)).json, made.json);
  const list = async (headers: Record<string, string>) =>
    (await send('GET', '/api/v1/webhooks', undefined, headers)).json.webhooks;
  const { secret: _, ...shown } = made.json;
  t.strictSame([await list(ada), await list(grace)], [[shown], []]);
  const reader = world.makeKey({ accountId: 1, scopes: ['read', 'heartbeat'] });
  t.strictSame(await list(reader), [{ ...shown, url: 'https://example.com/…' }], 'a path is often a secret');
  t.match(await create('ftp://x'), {
    status: 400,
    json: { errors: [{ field: 'url', code: 'webhook_url_invalid' }] },
  });
  for (const host of ['127.0.0.1:8080', '0x7f000001', '[::1]', '169.254.169.254', 'localhost', 'db.internal'])
    t.match(await create(`http://${host}/hook`), {
      status: 400,
      json: {
        code: 'invalid_body',
        errors: [{ field: 'url', code: 'url_refused', message: /is not public/ }],
      },
    });
  for (let number = 2; number <= 10; number++)
    t.equal((await create(`https://example.com/${number}`)).status, 201);
  t.match(await create('https://example.com/11'), { status: 403, json: { code: 'account_limit' } });
  const path = `/api/v1/webhooks/${made.json.id}`;
  t.match(await send('DELETE', path, undefined, grace), { status: 404, json: { code: 'webhook_not_found' } });
  t.equal((await send('DELETE', path, undefined, ada)).status, 204);
  t.equal((await list(ada)).length, 9);
  const newest = Math.max(...(await list(ada)).map(({ id }: { readonly id: number }) => id));
  t.equal((await send('DELETE', `/api/v1/webhooks/${newest}`, undefined, ada)).status, 204);
  const next = await create('https://example.com/next');
  t.ok(next.json.id > newest, 'a number is not given again, so DELETE needs no If-Match');
});

t.test('lists of an account have pages by cursor, and miss nothing while others come and go', async (t) => {
  const { ada, world, send } = await start(t);
  const post = (path: string, body: object) => send('POST', path, body, ada);
  for (const slug of ['c', 'a', 'e', 'b', 'd'])
    await post('/api/v1/pages', { ...PAGE, slug: `page-${slug}` });
  for (const number of [1, 2, 3, 4, 5]) {
    await post('/api/v1/webhooks', { url: `https://example.com/${number}` });
    await post('/api/v1/keys', { name: `key ${number}` });
  }
  const follow = async (list: string, name: string, limit: number, between = async () => {}) => {
    const pages: string[][] = [];
    const totals = new Set<number>();
    for (let path = `/api/v1/${list}?limit=${limit}`; path !== ''; ) {
      const { status, json, headers } = await send('GET', path, undefined, ada);
      if (!t.equal(status, 200, path)) break;
      t.strictSame([json.limit, json.offset], [limit, pages.flat().length], path);
      totals.add(json.total);
      pages.push(json[list].map((item: Readonly<Record<string, string>>) => item[name]));
      path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
      await between();
    }
    return { pages, totals: [...totals] };
  };
  const names = (await send('GET', '/api/v1/keys', undefined, ada)).json.keys.map(
    ({ name }: { readonly name: string }) => name,
  );
  const table = [
    ['pages', 'slug', ['page-a', 'page-b', 'page-c', 'page-d', 'page-e']],
    ['webhooks', 'url', [1, 2, 3, 4, 5].map((number) => `https://example.com/${number}`)],
    ['keys', 'name', names],
  ] as const;
  t.ok(names.length >= 5);
  for (const [list, name, expected] of table) {
    for (const limit of [1, 2, expected.length]) {
      const { pages, totals } = await follow(list, name, limit);
      t.strictSame(pages.flat(), expected, `${list} by ${limit}`);
      t.equal(pages.length, Math.ceil(expected.length / limit), 'there is no empty page');
      t.strictSame(totals, [expected.length]);
    }
    const { json } = await send('GET', `/api/v1/${list}?offset=1&limit=2`, undefined, ada);
    t.match(json[list], [{ [name]: expected[1] }, { [name]: expected[2] }]);
    const cursor = Buffer.from(JSON.stringify([`/api/v1/${list}`, 0, 0, true])).toString('base64url');
    for (const wrong of ['x', cursor, `${cursor}&offset=1`])
      t.match((await send('GET', `/api/v1/${list}?cursor=${wrong}`, undefined, ada)).json, {
        status: 400,
        code: 'invalid_parameter',
        parameter: 'cursor',
      });
  }
  let isThere = true;
  const removed = await follow('pages', 'slug', 2, async () => {
    if (isThere) await world.registry.removePage(1, 'page-a');
    isThere = false;
  });
  t.strictSame(removed.pages.flat(), ['page-a', 'page-b', 'page-c', 'page-d', 'page-e']);
});

t.test('an id that is no number is named as it was sent', async (t) => {
  const { ada, send } = await start(t);
  for (const what of ['key', 'webhook', 'channel', 'rule']) {
    const message = `There is no ${what} "abc": ids are numbers.`;
    t.match(await send('DELETE', `/api/v1/${what}s/abc`, undefined, ada), {
      status: 404,
      json: {
        code: `${what}_not_found`,
        detail: message,
        errors: [{ field: null, code: `no_${what}`, message }],
      },
    });
  }
  t.match(await send('POST', '/api/v1/channels/abc/messages/1/replay', undefined, ada), {
    status: 404,
    json: { code: 'channel_not_found' },
  });
  t.match(await send('POST', '/api/v1/channels/1/messages/abc/replay', undefined, ada), {
    status: 404,
    json: { code: 'message_not_found', detail: 'There is no message "abc": ids are numbers.' },
  });
});
