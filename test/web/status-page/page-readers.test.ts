/** Status pages that visitors see with a password, over HTTP: what shows, what does not, and what attackers try. */
import t, { type Test } from 'tap';
import { DAY_MS, SECOND_MS } from '../../../src/domain/durations.ts';
import { requestAt } from '../../site/request-at.ts';
import { sendWith } from '../../site/send-with.ts';
import { from, service, startApi } from '../../site/site-world.ts';
import { pngOf } from '../../support/pictures.ts';

const PASSWORD = 'tulips in the rain';
const PNG = `data:image/png;base64,${pngOf(32, 32).toString('base64')}`;
const DOMAIN = 'status.acme.example';
const PAGE = {
  slug: 'acme',
  title: 'Acme Secret',
  groups: [{ name: 'Web', services: ['known'] }],
  logo: PNG,
  favicon: PNG,
  brand_colour: '#0a7d4f',
  access: 'password',
  password: PASSWORD,
};
const BASIC_PATHS = ['/p/acme.json', '/p/acme/incidents.atom', '/p/acme/calendar.ics', '/api/v1/pages/acme'];
const OTHER_PATHS = ['/p/acme', '/p/acme/embed', '/p/acme/logo', '/p/acme/favicon', '/p/acme/brand.css'];

async function start(t: Test) {
  const world = await startApi({ services: [service(1, 'known', { name: 'Known' })] });
  t.teardown(world.close);
  const ada = world.makeKey({ accountId: 1, scopes: ['read', 'heartbeat', 'write'] });
  const send = sendWith(world);
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(world.origin + path, { headers, redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const enter = async (password: string, { slug = 'acme', headers = {} } = {}) => {
    const response = await fetch(`${world.origin}/p/${slug}/unlock`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ password, next: 'https://evil.example/' }),
    });
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
    return { status: response.status, headers: response.headers, text: await response.text(), cookie };
  };
  const make = async (more: object = {}) =>
    (await send('POST', '/api/v1/pages', { ...PAGE, ...more }, ada)).json;
  const change = async (patch: object, slug = 'acme') =>
    (await send('PATCH', `/api/v1/pages/${slug}`, patch, ada)).json;
  return { world, ada, send, get, enter, make, change };
}

const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`anyone:${password}`).toString('base64')}`,
});

t.test('without the password nothing of the page shows, and no cache keeps that', async (t) => {
  const { get, make } = await start(t);
  const made = await make();
  t.match(made.definition, { access: 'password' });
  t.notMatch(JSON.stringify(made), PASSWORD);
  for (const path of [...BASIC_PATHS, ...OTHER_PATHS, '/p/acme/unlock']) {
    const { status, text, headers } = await get(path);
    t.ok([403, 401, 404].includes(status), `${path}: ${status}`);
    t.notMatch(text, /Acme Secret|0a7d4f|Known|PNG/, path);
    t.match(headers.get('cache-control'), /no-store|no-cache/, path);
    t.equal(headers.get('set-cookie'), null, path);
  }
  for (const path of BASIC_PATHS)
    t.match(
      [(await get(path)).status, (await get(path)).headers.get('www-authenticate')],
      [401, 'Basic realm="acme", charset="UTF-8"'],
    );
  const form = await get('/p/acme', { accept: 'text/html' });
  t.match(form, { status: 403, text: /<form[^>]*method="post" action="\/p\/acme\/unlock">/ });
  t.match(form.headers.get('x-robots-tag'), 'noindex');
  t.match(form.headers.get('x-frame-options'), 'DENY');
  for (const path of ['/', '/sitemap.xml', '/?q=acme', '/incidents.atom', '/robots.txt'])
    t.notMatch((await get(path)).text, /\/p\/acme|Acme/, path);
  t.match((await get('/subscribe?page=acme')).status, 404);
});

t.test('the password opens everything of the page, by a cookie or by HTTP Basic', async (t) => {
  const { ada, get, enter, make } = await start(t);
  await make();
  const entered = await enter(PASSWORD);
  t.match([entered.status, entered.headers.get('location')], [303, '/p/acme']);
  t.match(
    entered.headers.get('set-cookie'),
    /^__Host-upbeat-page-\d+=[^;]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
  );
  for (const path of [...BASIC_PATHS, ...OTHER_PATHS]) {
    const { status, headers } = await get(path, { cookie: entered.cookie });
    t.match([status, headers.get('cache-control')], [200, 'private, no-store'], path);
  }
  for (const path of BASIC_PATHS) {
    t.equal((await get(path, basic(PASSWORD))).status, 200, path);
    t.equal((await get(path, basic('another one'))).status, 401, path);
    t.equal((await get(path, ada)).status, 200, `${path}: keys of the account need none`);
  }
  t.equal((await get('/p/acme/unlock', { cookie: entered.cookie })).status, 303);
});

t.test('another password, another access and the end of its time end a cookie', async (t) => {
  const { world, get, enter, make, change } = await start(t);
  await make();
  const { cookie } = await enter(PASSWORD);
  const see = async (held = cookie) => (await get('/p/acme', { cookie: held })).status;
  t.equal(await see(), 200);
  await change({ title: 'Acme anew' });
  t.equal(await see(), 200, 'other changes do not');
  t.match(await change({ password: 'short' }), { errors: [{ field: 'password', code: 'password_length' }] });
  await change({ password: 'another season of tulips' });
  t.equal(await see(), 403);
  t.equal((await get('/p/acme.json', basic(PASSWORD))).status, 401);
  const { cookie: second } = await enter('another season of tulips');
  t.equal(await see(second), 200);
  await change({ password: PASSWORD });
  t.equal(await see(), 403, 'nor does the first password bring its cookies back');
  await change({ access: 'members' });
  t.equal(await see(second), 404);
  t.match(await change({ access: 'password' }), {
    errors: [{ field: 'password', code: 'page_password_missing' }],
  });
  t.match(await change({ access: 'public', password: PASSWORD }), {
    errors: [{ field: 'password', code: 'page_password_unused' }],
  });
  await change({ access: 'password', password: PASSWORD });
  const { cookie: third } = await enter(PASSWORD);
  t.equal(await see(third), 200);
  await world.clock.skip(31 * DAY_MS);
  t.equal(await see(third), 403);
});

t.test('the cookie of a page opens no other page', async (t) => {
  const { get, enter, make } = await start(t);
  await make();
  await make({ slug: 'other' });
  const { cookie } = await enter(PASSWORD);
  const value = cookie.slice(cookie.indexOf('=') + 1);
  const { cookie: own } = await enter(PASSWORD, { slug: 'other' });
  const name = own.slice(0, own.indexOf('='));
  t.equal((await get('/p/other', { cookie })).status, 403);
  t.equal((await get('/p/other', { cookie: `${name}=${value}` })).status, 403, 'nor under its name');
  t.equal((await get('/p/other', { cookie: `${name}=${value.slice(0, -2)}AA` })).status, 403);
  t.equal((await get('/p/other', { cookie: `${name}=` })).status, 403);
  t.equal((await get('/p/other', { cookie: own })).status, 200);
});

t.test('guesses are bounded by form and by Basic, while those who are in stay in', async (t) => {
  const { world, get, enter, make } = await start(t);
  await make();
  const { cookie } = await enter(PASSWORD);
  t.equal((await get('/p/acme.json', basic(PASSWORD))).status, 200);
  for (let n = 0; n < 5; n++)
    t.equal(
      (n % 2 === 0 ? await enter(`guess ${n}`) : await get('/p/acme.json', basic(`guess ${n}`))).status,
      n % 2 === 0 ? 403 : 401,
    );
  const bounded = await enter('guess 6');
  t.match([bounded.status, bounded.headers.get('retry-after')], [429, '5']);
  t.match(bounded.text, /Too many wrong passwords/);
  t.equal((await enter(PASSWORD)).status, 429, 'the right one is not tried either');
  t.equal((await get('/p/acme.json', basic('guess 7'))).status, 429);
  t.equal((await get('/p/acme', { cookie })).status, 200);
  t.equal((await get('/p/acme.json', basic(PASSWORD))).status, 200, 'a password that was right is known');
  await world.clock.advance(6 * SECOND_MS);
  t.equal((await enter(PASSWORD)).status, 303);
});

t.test('guesses of others delay nobody', async (t) => {
  const { enter, make } = await start(t);
  await make();
  for (let n = 0; n < 60; n++)
    t.equal((await enter('a guess', { headers: from(`203.0.113.${n}`) })).status, 403);
  t.equal((await enter(PASSWORD, { headers: from('198.51.100.7') })).status, 303);
  // The addresses of one network are one client.
  const guess = (host: number) => enter('a guess', { headers: from(`2001:db8:1:2::${host}`) });
  for (let n = 1; n <= 5; n++) t.equal((await guess(n)).status, 403);
  t.equal((await guess(6)).status, 429);
  t.equal((await enter(PASSWORD, { headers: from('2001:db8:1:3::6') })).status, 303);
});

t.test('many passwords at a time wait for a moment, and count as no guess', async (t) => {
  const { world, enter, make } = await start(t);
  await make();
  const clients = Array.from({ length: 60 }, (_, n) => from(`203.0.113.${n}`));
  const answers = await Promise.all(clients.map((headers) => enter('a guess', { headers })));
  const waits = answers.flatMap(({ status, headers }) =>
    status === 429 ? [headers.get('retry-after')] : [],
  );
  t.ok(waits.length > 0 && waits.length < clients.length, `${waits.length}`);
  t.ok(waits.every((seconds) => seconds === '1'));
  await world.clock.advance(SECOND_MS);
  for (const headers of clients.slice(-3)) t.equal((await enter(PASSWORD, { headers })).status, 303);
});

t.test('the form takes nothing from other sites, and leads nowhere else', async (t) => {
  const { world, get, enter, make, send, ada } = await start(t);
  await make();
  t.equal((await enter(PASSWORD, { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403);
  // Browsers send no Fetch Metadata to http, and some none at all.
  for (const origin of ['https://evil.example', 'http://127.0.0.1:1', 'null', 'no address'])
    t.equal((await enter(PASSWORD, { headers: { origin } })).status, 403, origin);
  for (const origin of [world.origin, 'https://upbeat.test'])
    t.equal((await enter(PASSWORD, { headers: { origin } })).status, 303, origin);
  const { headers } = await enter(PASSWORD);
  t.equal(headers.get('location'), '/p/acme', 'whatever the form names');
  const asked = await get('/p/acme/unlock?next=//evil.example/&action=//evil.example/');
  t.notMatch(asked.text, /(action|href|src)="[^"?]*evil/);
  await send('POST', '/api/v1/pages', { slug: 'members', title: 'M', access: 'members' }, ada);
  await send('POST', '/api/v1/pages', { slug: 'public', title: 'P' }, ada);
  const missing = await enter(PASSWORD, { slug: 'missing' });
  for (const slug of ['members', 'public']) {
    const answer = await enter(PASSWORD, { slug });
    t.equal(answer.status, 404, slug);
    t.equal(answer.text.replaceAll(slug, 'missing'), missing.text, `${slug}: as if there were none`);
  }
});

t.test('the older name of the access for members is still read', async (t) => {
  const { change, make, world } = await start(t);
  const { access: _, password: __, ...page } = PAGE;
  await make({ ...page, access: undefined, password: undefined, members_only: true });
  const accessOf = async () => (await world.registry.findPage('acme'))?.access;
  t.equal(await accessOf(), 'members');
  t.match((await change({ members_only: false })).definition, { access: undefined });
  t.equal(await accessOf(), undefined);
  await change({ members_only: true });
  t.equal(await accessOf(), 'members');
  await change({ title: 'Anew' });
  t.equal(await accessOf(), 'members');
});

t.test('at its domain a page asks for the password, and its address on this site leads there', async (t) => {
  const { world, ada, send, make } = await start(t);
  const at = requestAt(world.port);
  await make({ custom_domain: DOMAIN });
  world.proofs.add(DOMAIN);
  await send('POST', '/api/v1/pages/acme/verify', undefined, ada);
  await world.pageDomains.refresh();
  t.match((await at('upbeat.test', '/p/acme')).headers.location, `https://${DOMAIN}/`);
  const form = await at(DOMAIN, '/');
  t.match(form, { status: 403, text: /action="\/unlock"/ });
  t.notMatch(form.text, /Acme Secret|Known/);
  for (const path of ['/logo', '/favicon.ico', '/brand.css', '/embed'])
    t.equal((await at(DOMAIN, path)).status, 404, path);
  const enter = (origin: string) =>
    at(DOMAIN, '/unlock', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin },
      body: new URLSearchParams({ password: PASSWORD }).toString(),
    });
  t.equal((await enter('https://other.example')).status, 403);
  const entered = await enter(`https://${DOMAIN}`);
  t.match(entered, { status: 303, headers: { location: '/' } });
  const [cookie = ''] = String(entered.headers['set-cookie']).split(';');
  t.match(await at(DOMAIN, '/', { headers: { cookie } }), { status: 200, text: /Acme Secret/ });
  t.equal((await at(DOMAIN, '/page.json')).status, 401);
  t.equal((await at(DOMAIN, '/page.json', { headers: basic(PASSWORD) })).status, 200);
  t.equal((await at(DOMAIN, '/page.json', { headers: ada })).status, 401, 'keys are for this site alone');
});
