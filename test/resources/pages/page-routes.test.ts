/** Status pages over the API for writing. */
import t from 'tap';
import { start } from '../../site/owned-account.ts';
import { service } from '../../site/site-world.ts';
import { pngOf } from '../../support/pictures.ts';

const PNG = `data:image/png;base64,${pngOf(32, 32).toString('base64')}`;

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
