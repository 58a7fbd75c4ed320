/** The dashboard's status pages: whose they are, what their forms take, and what they refuse beside which field. */
import t from 'tap';
import { jpegOf, pngOf } from '../../support/pictures.ts';
import { dashboard } from '../dashboard-world.ts';

const PAGES = '/dashboard/pages';

t.test('it makes a page, and says beside each field what is wrong with it', async (t) => {
  const { registry, ada, grace, call, post } = await dashboard(t);
  t.match(await call(PAGES, ada), { status: 200, text: /None yet/ });
  t.match(await call(PAGES, null), { status: 303, location: '/sign-in' });
  const wrong = await post(`${PAGES}/add`, ada, { slug: 'API', title: ' ' });
  t.equal(wrong.status, 400);
  t.match(wrong.text, /value="API"[^>]*aria-invalid="true" aria-describedby="problem-slug"/);
  t.match(wrong.text, /id="problem-slug" role="alert">&quot;api&quot; is a word of this site/);
  t.match(wrong.text, /id="problem-title" role="alert">A page needs a title/);
  t.match(await post(`${PAGES}/add`, ada, { slug: 'Acme', title: 'Acme' }), {
    status: 303,
    location: '/dashboard/pages/acme',
  });
  t.match(await post(`${PAGES}/add`, grace, { slug: 'acme', title: 'Me too' }), {
    status: 400,
    text: /is taken/,
  });
  t.match(await post(`${PAGES}/add`, null, { slug: 'other', title: 'x' }), { code: 'forbidden_form' });
  t.match(await post(`${PAGES}/add`, ada, { slug: 'other', title: 'x', token: grace.token }), {
    code: 'forbidden_form',
  });
  t.match(await call(PAGES, ada), { text: /\/p\/acme, 0 services/ });
  t.equal((await registry.listPages()).length, 1);
});

t.test('it changes words and arranges services, for their owner alone', async (t) => {
  const { registry, ada, grace, call, post } = await dashboard(t);
  await post(`${PAGES}/add`, ada, { slug: 'acme', title: 'Acme' });
  const page = async () => {
    const found = await registry.findPage('acme');
    if (found === null) throw new Error('no page');
    return found;
  };
  const act = async (action: string, fields: Record<string, string>, who = ada) =>
    await post(`${PAGES}/acme/${action}`, who, { revision: String((await page()).revision), ...fields });
  t.match(await call(`${PAGES}/acme`, grace), { code: 'page_not_found' });
  for (const action of ['save', 'add', 'arrange', 'group', 'rename', 'unlogo', 'delete'])
    t.match(await act(action, { confirm: 'acme' }, grace), { code: 'page_not_found' }, action);

  t.match(await act('save', { title: 'Acme & Co', text: 'One\r\nTwo' }), { location: `${PAGES}/acme#words` });
  t.match(await page(), { title: 'Acme & Co', text: 'One\nTwo' });
  t.match(await act('save', { title: '', text: 'kept' }), {
    status: 400,
    text: /A page needs a title[\s\S]*>kept<\/textarea>/,
  });

  t.match(await act('save', { title: 'Acme', note: 'Ask\r\n<Ada>' }), { status: 303 });
  t.match(await page(), { title: 'Acme', text: '', note: 'Ask\n<Ada>' });
  t.match((await call(`${PAGES}/acme`, ada)).text, /<textarea name="note"[^>]*>Ask\n&lt;Ada&gt;<\/textarea>/);
  t.match((await call(PAGES, ada)).text, /<span class="lines">Ask\n&lt;Ada&gt;<\/span>/);
  t.match(await act('save', { title: 'Acme', note: 'x'.repeat(501) }), {
    status: 400,
    text: /id="problem-note" role="alert">Note for members must/,
  });
  t.match(await act('save', { title: 'Acme', note: '' }), { status: 303 });
  t.notOk('note' in (await page()));

  t.match(await act('group', { group_name: 'Public' }), { status: 303 });
  t.match(await act('group', { group_name: '' }), { status: 400, text: /needs a name/ });
  t.match(await act('group', { group_name: 'Ours' }), { status: 303 });
  t.match(await act('add', { service: 'post', group: '0', q: 'po' }), { location: `${PAGES}/acme?q=po#add` });
  await act('add', { service: 'mine', group: '1' });
  t.match(await act('add', { service: 'mine', group: '1' }), { status: 400, text: /on this page already/ });
  t.match(await act('add', { group: '1' }), { status: 400, text: /Choose at least one service/ });
  const several = { 'service:shelf-1': 'on', 'service:shelf-2': 'on', group: '1' };
  const before = (await page()).groups;
  t.match(await act('add', { ...several, 'service:hers': 'on' }), { status: 400, text: /hers/ });
  t.same((await page()).groups, before, 'all of them or none');
  t.match(await act('add', several), { location: `${PAGES}/acme#add` });
  t.equal((await page()).groups[1]?.services.length, 3);
  for (const step of (await page()).groups[1]?.services.slice(1) ?? [])
    await act('arrange', { step: `remove ${step}` });
  t.match(await act('add', { service: 'hers', group: '0' }), {
    status: 400,
    text: /There is no such service/,
  });
  await act('add', { service: 'library', group: '0' });
  t.same((await page()).groups, [
    { name: 'Public', services: [1, 2] },
    { name: 'Ours', services: [3] },
  ]);
  t.match(await act('arrange', { step: 'up 2' }), { location: `${PAGES}/acme#s-2` });
  await act('arrange', { step: 'down 1' });
  await act('rename', { group: '1', name: 'My own' });
  await act('arrange', { step: 'group_up 1' });
  t.same((await page()).groups, [
    { name: 'My own', services: [1, 3] },
    { name: 'Public', services: [2] },
  ]);
  t.match(await act('arrange', { step: 'explode 1' }), { status: 400 });
  t.match(await act('rename', { group: '0', name: 'x'.repeat(81) }), {
    status: 400,
    text: /problem-group_0/,
  });
  await act('arrange', { step: 'remove 1' });
  await act('arrange', { step: 'group_remove 1' });
  t.same((await page()).groups, [{ name: 'My own', services: [3] }]);

  t.match(await act('delete', { confirm: 'Acme' }), { status: 400, text: /enter its address: acme/ });
  t.match(await act('delete', { confirm: 'acme' }), { location: PAGES });
  t.equal(await registry.findPage('acme'), null);
});

t.test('a private service needs a name on the page, which is all that visitors see of it', async (t) => {
  const { registry, directory, ada, call, post } = await dashboard(t);
  const mine = directory.shown.whole.byId(3);
  if (mine === null) throw new Error('no service');
  const turn = (visibility: 'public' | 'private', revision: number) => {
    const service = { ...mine, visibility, revision };
    directory.apply({ seq: revision, serviceId: 3, slug: 'mine', service });
  };
  turn('private', 2);
  await post(`${PAGES}/add`, ada, { slug: 'cellar', title: 'Cellar' });
  const groups = async () => (await registry.findPage('cellar'))?.groups;
  const act = async (action: string, fields: Record<string, string>) => {
    const revision = String((await registry.findPage('cellar'))?.revision);
    return await post(`${PAGES}/cellar/${action}`, ada, { revision, ...fields });
  };
  t.match((await call(`${PAGES}/cellar`, ada)).text, /<input name="name:mine" value="" maxlength="80"/);
  for (const name of ['', ' \u200b\u2060 '])
    t.match(await act('add', { service: 'mine', 'name:mine': name }), {
      status: 400,
      text: /id="problem-search" role="alert">mine is private: give it a name/,
    });
  t.match(await act('add', { service: 'mine', 'name:mine': 'x'.repeat(81) }), {
    status: 400,
    text: /The name of a service has at most 80 characters/,
  });
  t.match(
    await act('add', { 'service:mine': 'on', 'name:mine': 'a\u202eb' }),
    {
      status: 400,
      text: /U\+202E[\s\S]*name="service:mine" value="on" checked>[\s\S]*name="name:mine" value="a\u202eb"/,
    },
    'what was chosen and entered stays',
  );
  t.match(await act('add', { service: 'mine', 'name:mine': ' <i>Photos </i>' }), { status: 303 });
  t.match(await act('add', { service: 'library', 'name:library': '' }), { status: 303 });
  await act('arrange', { step: 'down 3' });
  t.same(await groups(), [{ name: '', services: [2, 3], names: { 3: '<i>Photos </i>' } }], 'it moves along');
  const { text } = await call(`${PAGES}/cellar`, ada);
  t.match(text, /<strong>&lt;i&gt;Photos &lt;\/i&gt;<\/strong>: Mine/);
  t.match(text, /Private: visitors see this name/);
  t.match(await act('entry', { service: '3', name: '' }), {
    status: 400,
    text: /Private: visitors see this name[\s\S]*id="problem-entry_3" role="alert">mine is private/,
  });
  t.match(await act('entry', { service: '3', name: 'NAS' }), { location: `${PAGES}/cellar#s-3` });
  t.same(await groups(), [{ name: '', services: [2, 3], names: { 3: 'NAS' } }]);

  turn('public', 3);
  t.match(await act('entry', { service: '3', name: '' }), { status: 303 });
  t.same(await groups(), [{ name: '', services: [2, 3] }]);
  turn('private', 4);
  t.match((await call(`${PAGES}/cellar`, ada)).text, /not shown until it has a name/);
  t.match(await act('arrange', { step: 'up 3' }), { status: 303 }, 'the page can still be changed');
});

t.test('it finds services that are not on the page, the own ones first', async (t) => {
  const { directory, ada, call, post } = await dashboard(t);
  await post(`${PAGES}/add`, ada, { slug: 'acme', title: 'Acme' });
  const find = async (text: string) => {
    const { text: html } = await call(`${PAGES}/acme?q=${text}`, ada);
    return {
      names: [...html.matchAll(/name="service:[^>]*> <span>([^<]+) </g)].map((found) => found[1]),
      more: /and (\d+) more/.exec(html)?.[1] ?? null,
    };
  };
  t.same(await find('MINE'), { names: ['Mine'], more: null });
  t.same(await find('hers'), { names: [], more: null });
  t.match(await find('e'), { names: { 0: 'Mine' }, more: '3' });
  t.equal((await find('shelf')).names.length, 20);
  await post(`${PAGES}/acme/add`, ada, { service: 'mine', revision: '1' });
  t.same(await find('mine'), { names: [], more: null });
  directory.apply({ seq: 1, serviceId: 3, slug: 'mine', service: null });
  t.match(await call(`${PAGES}/acme`, ada), { text: /A service that currently does not exist/ });
});

t.test('it takes a logo by its content, and says what is wrong with another', async (t) => {
  const { registry, ada, grace, post, upload, call } = await dashboard(t);
  await post(`${PAGES}/add`, ada, { slug: 'acme', title: 'Acme' });
  const path = `${PAGES}/acme/logo`;
  t.match(await upload(path, ada, pngOf(64, 32)), { status: 303, location: `${PAGES}/acme#logo` });
  const stored = await registry.findPicture('acme', 'logo');
  t.match(stored, { type: 'image/png', width: 64, height: 32, mark: /^[0-9a-f]{16}$/ });
  t.same(Buffer.from(stored?.bytes ?? []), pngOf(64, 32));
  t.match(await call(`${PAGES}/acme`, ada), { text: /\/p\/acme\/logo\?v=/ });
  const table: readonly (readonly [Uint8Array, RegExp])[] = [
    [
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      /SVG is not taken/,
    ],
    [Buffer.from('\ufeff <?xml version="1.0"?><svg/>'), /SVG is not taken/],
    [Buffer.from('<!doctype html><script>alert(1)</script>'), /SVG is not taken/],
    [Buffer.from('hello'), /no picture that can be read/],
    [Buffer.alloc(0), /Choose a picture/],
    [pngOf(8, 64), /yours has 8 by 64/],
    [jpegOf(2_049, 64), /yours has 2049 by 64/],
    [Buffer.concat([pngOf(64, 64), Buffer.alloc(262_144)]), /at most 256 KiB/],
  ];
  for (const [file, problem] of table) {
    const answer = await upload(path, ada, file);
    t.match(answer, { status: 400, text: problem }, String(problem));
    t.match(answer.text, 'id="problem-logo"');
  }
  t.match(await registry.findPicture('acme', 'logo'), { width: 64 }, 'the old one stays');
  t.match(await upload(path, ada, jpegOf(64, 32), { token: grace.token }), { code: 'forbidden_form' });
  t.match(await upload(path, grace, jpegOf(64, 32)), { code: 'page_not_found' });
  t.match(await upload(path, null, jpegOf(64, 32)), { status: 303, location: '/sign-in' });
  t.match(await post(`${PAGES}/acme/logo`, ada, {}), { code: 'unsupported_media_type' });
  t.match(await call(path, ada), { status: 303, location: `${PAGES}/acme` });
  t.match(await post(`${PAGES}/acme/unlogo`, ada, {}), { status: 303 });
  t.equal(await registry.findPicture('acme', 'logo'), null);
});

t.test('it takes a favicon beside the logo', async (t) => {
  const { registry, ada, post, upload, call } = await dashboard(t);
  await post(`${PAGES}/add`, ada, { slug: 'acme', title: 'Acme' });
  const path = `${PAGES}/acme/favicon`;
  const send = (bytes: Uint8Array) => upload(path, ada, bytes, {}, 'favicon');
  t.match(await send(pngOf(32, 32)), { status: 303, location: `${PAGES}/acme#favicon` });
  t.match(await registry.findPage('acme'), { logo: null, favicon: { type: 'image/png', width: 32 } });
  t.match(await call(`${PAGES}/acme`, ada), { text: /\/p\/acme\/favicon\?v=/ });
  const refused = await send(jpegOf(32, 32));
  t.match(refused, { status: 400, text: /id="problem-favicon"[^>]*>[^<]*send PNG, ICO, WebP, GIF/ });
  t.match(await send(Buffer.alloc(300_000)), { status: 400, text: /at most 64 KiB/ });
  t.match(await post(`${PAGES}/acme/unfavicon`, ada, {}), { status: 303 });
  t.equal(await registry.findPicture('acme', 'favicon'), null);
});

t.test('it sets who sees the page, and never shows the password', async (t) => {
  const { registry, ada, post, call } = await dashboard(t);
  await post(`${PAGES}/add`, ada, { slug: 'acme', title: 'Acme' });
  const page = async () => await registry.findPage('acme');
  const save = async (fields: Record<string, string>) =>
    await post(`${PAGES}/acme/look`, ada, { revision: String((await page())?.revision), ...fields });
  const missing = await save({ access: 'password' });
  t.match(missing, { status: 400, text: /id="problem-password" role="alert">[^<]*Enter a password/ });
  t.match(missing.text, /value="password" checked/, 'what was chosen stays');
  const password = 'tulips in the rain';
  t.match(await save({ access: 'password', password }), { status: 303 });
  const { passwordMark: mark } = (await page()) ?? {};
  t.match(await page(), { access: 'password', passwordMark: String });
  const shown = await call(`${PAGES}/acme`, ada);
  t.match(shown.text, /value="password" checked/);
  t.notMatch(shown.text, password);
  await save({ access: 'password', colour: '#0a7d4f' });
  t.match(await page(), { passwordMark: mark, colour: '#0a7d4f' }, 'an empty field keeps it');
  await save({ colour: '' });
  t.match(await page(), { access: 'password' }, 'a form that does not name the access keeps it');
  t.match(await save({ access: 'public', password }), { status: 400, text: /problem-password/ });
  await save({ access: 'members' });
  t.match(await page(), { access: 'members' });
});

t.test('it speaks the language of the reader, which the answer to a form cannot change', async (t) => {
  const { ada, call, post } = await dashboard(t);
  await post(`${PAGES}/add`, ada, { slug: 'acme', title: 'Acme' });
  const german = { headers: { cookie: ada.cookie, 'accept-language': 'de' } };
  for (const [path, said] of [
    ['/dashboard', />Webhooks<[\s\S]*<h1>Verwaltung<\/h1>[\s\S]*>Einen Dienst hinzufügen</],
    ['/dashboard/keys', /<h1>API-Schlüssel<\/h1>/],
    ['/dashboard/webhooks', /<h2>Eine URL hinzufügen<\/h2>/],
    [PAGES, /<h1>Statusseiten<\/h1>[\s\S]*0 Dienste, geändert am <time/],
    [`${PAGES}/acme`, /<h2>Titel und Text<\/h2>[\s\S]*>Teilen und einbetten</],
  ] as const) {
    const { text } = await call(path, ada, german);
    t.match(text, said, path);
    t.match(text, '<html lang="de"', path);
    t.match(text, 'href="?lang=en"', path);
    t.match((await call(path, ada)).text, '<html lang="en"', path);
  }
  const body = Buffer.from(new URLSearchParams({ token: ada.token, name: '' }).toString());
  const refused = await call('/dashboard/keys/add', ada, {
    method: 'POST',
    headers: { ...german.headers, 'content-type': 'application/x-www-form-urlencoded' },
    readBody: async () => body,
  });
  t.match(refused.text, 'Ein Schlüssel braucht einen Namen');
  t.notMatch(refused.text, 'hreflang', 'the address of a form is no page');
});

t.test('it allows an account a hundred keys, for each has a limit of its own', async (t) => {
  const { ada, grace, post } = await dashboard(t);
  const make = (who: typeof ada) => post('/dashboard/keys/add', who, { name: 'k' });
  for (let n = 0; n < 100; n++) t.match((await make(ada)).text, /upb_\w{38}/);
  t.match(await make(ada), { status: 400, text: /An account has at most 100 keys: revoke one first\./ });
  t.match(await make(grace), { status: 200 });
});
