/** The brand colour of a status page, and pages that only members see, over HTTP. */
import t, { type Test } from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { icoOf, jpegOf, pngOf } from '../support/pictures.ts';
import { sendWith } from './send-with.ts';
import { NOW, service, startApi } from './site-world.ts';

const PNG = `data:image/png;base64,${pngOf(32, 32).toString('base64')}`;
const PAGE = { slug: 'acme', title: 'Acme', groups: [{ name: 'Web', services: ['known'] }] };
const PATHS = [
  '/p/acme',
  '/p/acme/embed',
  '/p/acme/logo',
  '/p/acme/favicon',
  '/p/acme/brand.css',
  '/p/acme.json',
  '/p/acme/incidents.atom',
  '/p/acme/incidents.json',
  '/p/acme/calendar.ics',
  '/api/v1/pages/acme',
];

async function start(t: Test) {
  const world = await startApi({ services: [service(1, 'known', { name: 'Known' })] });
  t.teardown(world.close);
  const keyOf = (accountId: number) => world.makeKey({ accountId, scopes: ['read', 'heartbeat', 'write'] });
  const [ada, grace] = [keyOf(1), keyOf(2)];
  const send = sendWith(world);
  const sessions = createSessions({ registry: world.registry, clock: createFakeClock(NOW) });
  /** The cookie of a member of an account, who has chosen another one last. */
  const cookieOf = async (accountId: number, chosen = accountId) => {
    const identity = { provider: 'acme', subject: `${accountId} ${chosen}`, name: 'Ada' };
    const person = await world.registry.linkIdentity(accountId, identity, NOW);
    if (chosen !== accountId) await world.registry.linkIdentity(chosen, identity, NOW);
    const { token } = await sessions.open(person.id);
    await sessions.switchAccount(token, chosen);
    return {
      cookie: createSiteCookie('https://upbeat.test').write(token, 60)['Set-Cookie']?.split(';')[0] ?? '',
    };
  };
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(world.origin + path, { headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { world, ada, grace, send, get, cookieOf };
}

t.test('the note of a page is for its account alone', async (t) => {
  const { ada, grace, send, get } = await start(t);
  const note = 'Ask Ada\nabout the logo.';
  const made = await send('POST', '/api/v1/pages', { ...PAGE, note: `${note} ` }, ada);
  t.match([made.status, made.json.definition], [201, { ...PAGE, note }]);
  const own = await send('GET', '/api/v1/pages/acme', undefined, ada);
  t.match(own.json.definition, { ...PAGE, note });
  for (const path of PATHS)
    for (const headers of [{}, grace]) t.notMatch((await get(path, headers)).text, 'Ask Ada', path);
  for (const wrong of ['x'.repeat(501), 'a\u202eb'])
    t.match(await send('PATCH', '/api/v1/pages/acme', { note: wrong }, ada), {
      status: 400,
      json: { errors: [{ field: 'note', code: 'member_invalid' }] },
    });
  const apply = (page: object) => send('POST', '/api/v1/apply', { pages: [{ ...PAGE, ...page }] }, ada);
  t.match(await apply({ note }), { status: 200, json: { unchanged: 1 } });
  t.match(await apply({}), {
    status: 200,
    json: { changes: [{ members: [{ field: 'note', before: note }] }] },
  });
  t.notOk('note' in (await send('GET', '/api/v1/pages/acme', undefined, ada)).json.definition);
});

t.test('a page has a brand colour, which links have in readable shades', async (t) => {
  const { ada, send, get } = await start(t);
  const made = await send('POST', '/api/v1/pages', { ...PAGE, brand_colour: '#FFCC00' }, ada);
  t.match([made.status, made.json.definition], [201, { ...PAGE, brand_colour: '#ffcc00' }]);
  t.match((await send('PATCH', '/api/v1/pages/acme', { brand_colour: 'yellow' }, ada)).json, {
    code: 'invalid_body',
    errors: [{ field: 'brand_colour' }],
  });
  const page = await get('/p/acme');
  const [, path = ''] = /<link rel="stylesheet" href="([^"]*brand\.css[^"]*)">/.exec(page.text) ?? [];
  t.equal(path, '/p/acme/brand.css?v=ffcc00');
  const style = await get(path);
  t.match(style.headers.get('content-type'), /^text\/css/);
  t.match(style.headers.get('cache-control'), /immutable/);
  t.match(
    style.text,
    /:root,\[data-theme=light\]\{--link:#8a6e00;[\s\S]*\[data-theme=dark\]\{--link:#ffcc00;/,
  );
  t.match(style.text, /\.own\{border-top:6px solid #ffcc00\}/);
  t.match((await get('/p/acme/embed')).text, /brand\.css/);
  await send('PATCH', '/api/v1/pages/acme', { brand_colour: null }, ada);
  t.notMatch((await get('/p/acme')).text, /brand\.css/);
  t.equal((await get('/p/acme/brand.css')).status, 404);
});

t.test('a page has a favicon, which a change of anything else keeps', async (t) => {
  const { ada, send, get } = await start(t);
  const favicon = `data:image/x-icon;base64,${icoOf(32, 32).toString('base64')}`;
  const iconOf = async () =>
    /<link rel="icon" href="([^"]*)" type="([^"]*)">/.exec((await get('/p/acme')).text) ?? [];
  await send('POST', '/api/v1/pages', { ...PAGE, favicon }, ada);
  const [, path = '', type] = await iconOf();
  t.match([path, type], [/^\/p\/acme\/favicon\?v=[0-9a-f]{16}$/, 'image/x-icon']);
  await send('PATCH', '/api/v1/pages/acme', { title: 'Acme anew', logo: PNG }, ada);
  const icon = await get(path);
  t.match(
    ['content-type', 'cache-control', 'content-security-policy', 'x-content-type-options'].map((name) =>
      icon.headers.get(name),
    ),
    ['image/x-icon', /immutable/, /sandbox/, 'nosniff'],
  );
  t.match((await get('/p/acme.json')).text, /"favicon_url":"https:\/\/upbeat\.test\/p\/acme\/favicon\?v=/);
  const jpeg = `data:image/jpeg;base64,${jpegOf(32, 32).toString('base64')}`;
  t.match((await send('PATCH', '/api/v1/pages/acme', { favicon: jpeg }, ada)).json, {
    errors: [{ field: 'favicon', code: 'picture_unreadable' }],
  });
  await send('PATCH', '/api/v1/pages/acme', { favicon: null }, ada);
  t.match(await iconOf(), [/rel/, /^\/assets\//, 'image/svg+xml']);
  t.match([(await get('/p/acme/favicon')).status, (await get('/p/acme/logo')).status], [404, 200]);
});

t.test('only members of the account, and its keys, see a page for members', async (t) => {
  const { world, ada, grace, send, get, cookieOf } = await start(t);
  const document = { ...PAGE, logo: PNG, favicon: PNG, brand_colour: '#0a7d4f', members_only: true };
  t.match((await send('POST', '/api/v1/pages', document, ada)).json.definition, { access: 'members' });
  const [member, guest, other] = [await cookieOf(1), await cookieOf(1, 2), await cookieOf(2)];
  for (const path of PATHS) {
    const read = async (headers: Record<string, string> = {}) => await get(path, headers);
    for (const [name, headers] of Object.entries({ nobody: {}, other, grace })) {
      const answer = await read(headers);
      t.equal(answer.status, 404, `${path} ${name}`);
      t.notMatch(answer.text, /Acme|0a7d4f/, `${path} ${name}`);
      const missing = await get(path.replace('acme', 'gone'), headers);
      t.equal(answer.text.replaceAll('acme', 'gone'), missing.text, `${path} ${name}: as if there were none`);
    }
    for (const [name, headers] of Object.entries({ member, guest })) {
      const answer = await read(headers);
      t.match(
        [answer.status, answer.headers.get('cache-control')],
        [200, 'private, no-store'],
        `${path} ${name}`,
      );
    }
  }
  for (const path of ['/api/v1/pages/acme', '/p/acme.json', '/p/acme/incidents.atom']) {
    t.equal((await get(path, ada)).status, 200, path);
  }
  for (const path of [
    '/',
    '/sitemap.xml',
    '/?q=acme',
    '/api/v1/services?q=acme',
    '/incidents.atom',
    '/robots.txt',
  ]) {
    t.notMatch((await get(path)).text, /\/p\/acme|Acme/, path);
  }
  await send('PATCH', '/api/v1/pages/acme', { members_only: null }, ada);
  t.equal((await get('/p/acme')).status, 200);
  t.match((await world.registry.findPage('acme'))?.access, undefined);
});
