/** A site for its members alone: what every route of the URL table gives to strangers, and what the site begins with. */
import t, { type Test } from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import type { Route } from '../../src/http/route.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { requestAt } from './request-at.ts';
import { NOW, service, startApi, type World, type WorldOptions } from './site-world.ts';

/** Routes for everyone that strangers reach, whatever they say of a status page. A new route is closed until it is named here. */
const OPEN = [
  '/.well-known/security.txt',
  '/api/badge/:slug',
  '/api/badge/:slug/:kind',
  '/api/badge/:slug/:kind/:duration',
  '/apple-touch-icon.png',
  '/assets/:name',
  '/embed.js',
  '/favicon.ico',
  '/healthz',
  '/icon-512.png',
  '/readyz',
  '/robots.txt',
  '/sign-in',
  '/sign-in/:provider',
  '/sign-in/:provider/callback',
  '/sign-in/passkeys/challenge',
  '/site.webmanifest',
  '/tls-ask',
];
/** Routes about a status page, which strangers reach if it is public. */
const OF_PAGES = [
  '/api/v1/pages/:slug',
  '/live',
  '/p/:slug',
  '/p/:slug.json',
  '/p/:slug/api/v2/components.json',
  '/p/:slug/api/v2/incidents.json',
  '/p/:slug/api/v2/incidents/unresolved.json',
  '/p/:slug/api/v2/scheduled-maintenances.json',
  '/p/:slug/api/v2/scheduled-maintenances/active.json',
  '/p/:slug/api/v2/scheduled-maintenances/upcoming.json',
  '/p/:slug/api/v2/status.json',
  '/p/:slug/api/v2/summary.json',
  '/p/:slug/brand.css',
  '/p/:slug/calendar.ics',
  '/p/:slug/embed',
  '/p/:slug/favicon',
  '/p/:slug/incidents.atom',
  '/p/:slug/incidents.json',
  '/p/:slug/incidents/:id',
  '/p/:slug/logo',
  '/p/:slug/unlock',
  '/pages/:slug/api/v2/components.json',
  '/pages/:slug/api/v2/incidents.json',
  '/pages/:slug/api/v2/incidents/unresolved.json',
  '/pages/:slug/api/v2/scheduled-maintenances.json',
  '/pages/:slug/api/v2/scheduled-maintenances/active.json',
  '/pages/:slug/api/v2/scheduled-maintenances/upcoming.json',
  '/pages/:slug/api/v2/status.json',
  '/pages/:slug/api/v2/summary.json',
  '/subscribe',
];
const BROWSER = { accept: 'text/html,*/*;q=0.8' };

/** A world with a service, a public page, two that are not, and somebody who is signed in. */
async function start(t: Test, options: WorldOptions = {}) {
  const world = await startApi({
    services: [service(1, 'shop'), service(2, 'vault')],
    isForMembers: true,
    ...options,
  });
  t.teardown(world.close);
  const groups = [{ name: '', services: [1] }];
  await world.putPage('open', { groups, title: 'Open page' });
  await world.putPage('inside', { groups, access: 'members', title: 'Inner page' });
  await world.putPage('locked', { groups, access: 'password', passwordHash: 'x', title: 'Locked page' });
  const sessions = createSessions({ registry: world.registry, clock: createFakeClock(NOW) });
  const person = await world.registry.addPerson('ada', NOW);
  const { token } = await sessions.open(person.id);
  return { world, member: { cookie: `__Host-upbeat=${token}` } };
}

/** Asks a route for a page that is public, or for one that is not. */
async function ask(
  world: World,
  { path }: Route,
  headers: Record<string, string>,
  page: string,
  method = 'GET',
) {
  const slug = path.includes('pages') || path.startsWith('/p/') ? page : 'shop-example';
  const filled = path.replace(':slug', slug).replace(/:\w+/g, 'none');
  const leave = new AbortController();
  const response = await fetch(`${world.origin}${filled}?page=${page}`, {
    ...{ method, headers, redirect: 'manual', signal: leave.signal },
  });
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const code = isJson ? (((await response.json()) as { code?: string }).code ?? '') : '';
  leave.abort();
  return { status: response.status, headers: response.headers, code };
}

/** Whether strangers were sent away. */
function isRefused({ status, headers, code }: Awaited<ReturnType<typeof ask>>): boolean {
  return code === 'invalid_key' || (status === 303 && headers.get('location') === '/sign-in');
}

t.test('every route is closed to strangers unless it says that it is open', async (t) => {
  const { world, member } = await start(t);
  const key = world.makeKey({ scopes: ['read'] });
  const found = { open: [] as string[], ofPages: [] as string[] };
  const wrong: string[] = [];
  for (const route of world.api.routes) {
    // The other kinds of access close a route by themselves (access.test.ts).
    if (route.access !== 'everyone') continue;
    const { path } = route;
    const [atPublic, atInner, atLocked] = [
      await ask(world, route, {}, 'open'),
      await ask(world, route, {}, 'inside'),
      await ask(world, route, {}, 'locked'),
    ];
    if (!isRefused(atPublic)) (isRefused(atInner) ? found.ofPages : found.open).push(path);
    if (isRefused(atInner) !== isRefused(atLocked)) wrong.push(`${path} of a page with a password`);
    if (isRefused(await ask(world, route, {}, 'nothing')) !== isRefused(atInner))
      wrong.push(`${path} tells whether there is a page`);
    for (const headers of [key, member]) {
      const admitted = await ask(world, route, headers, 'open');
      if (isRefused(admitted)) wrong.push(`${path} with ${Object.keys(headers)}`);
      const cache = admitted.headers.get('cache-control') ?? '';
      if (isRefused(atPublic) && /public|s-maxage/.test(cache)) wrong.push(`${path} is kept by caches`);
    }
    if (path.startsWith('/api/') && isRefused(atInner) && atInner.status !== 401)
      wrong.push(`${path} is a part of the API`);
    if (route.anyMethod === true && !OPEN.includes(path)) {
      const sent = await ask(world, route, {}, 'inside', 'POST');
      if (!isRefused(sent)) wrong.push(`POST ${path}`);
    }
  }
  t.same(found.open.sort(), OPEN);
  t.same(found.ofPages.sort(), OF_PAGES);
  t.same(wrong, []);
});

t.test('a person is led to sign in and back, a program gets the problem', async (t) => {
  const { world, member } = await start(t);
  const asked = await world.get('/status/shop-example?lang=de', BROWSER);
  t.match(
    [asked.status, asked.headers.get('location'), asked.text],
    [303, '/sign-in', ''],
    'and nothing is said about the service',
  );
  const [cookie = ''] = (asked.headers.get('set-cookie') ?? '').split(';');
  const back = await world.get('/dashboard', { cookie: `${member.cookie}; ${cookie}` });
  t.equal(back.headers.get('location'), '/status/shop-example?lang=de');
  t.match(back.headers.get('set-cookie'), /upbeat-return=;.*Max-Age=0/);
  const problem = await world.get('/api/v1/services');
  t.match(problem.json, { status: 401, code: 'invalid_key', detail: /for its members/ });
  t.equal(problem.headers.get('www-authenticate'), 'Bearer');
  for (const path of ['/search.json', '/incidents.atom', '/sparklines.svg'])
    t.equal((await world.get(path)).status, 401, path);
  t.equal((await world.get('/live', { accept: 'text/event-stream' })).status, 401);
  t.equal((await world.get('/nothing-here', BROWSER)).status, 404);
  const wrong = await world.get('/', { authorization: `Bearer upb_${'A'.repeat(38)}` });
  t.equal(wrong.status, 401);
  t.equal((await world.get('/', world.makeKey({ scopes: ['heartbeat'] }))).status, 403);
  t.equal((await world.get('/metrics', world.makeKey({ scopes: ['heartbeat'] }))).status, 401);
});

t.test('pages for strangers say nothing of the site', async (t) => {
  const { world } = await start(t);
  world.state.prober = { online: false, offlineSince: NOW, reason: 'away' };
  for (const path of ['/sign-in', '/nothing-here']) {
    const { text } = await world.get(path, BROWSER);
    t.notMatch(text, /href="\/(incidents|heatmap|docs|metrics|api)/, path);
    t.notMatch(text, /<nav aria-label="Site"|data-live="away">[^<]/, path);
  }
  t.same((await world.get('/readyz')).json, { status: 'ready' });
  t.match((await world.get('/readyz', world.makeKey())).json, { status: 'ready', parts: {} });
  t.equal((await world.get('/robots.txt')).text, 'User-agent: *\nDisallow: /\nAllow: /p/\n');
});

t.test('a public status page is whole for strangers, and stays the only thing that they see', async (t) => {
  const { world } = await start(t);
  const { text, status } = await world.get('/p/open', BROWSER);
  t.equal(status, 200);
  t.match(text, /data-live-page="open"/);
  t.notMatch(text, 'og:image"', 'no preview names a chart that strangers do not get');
  const named = [...text.matchAll(/(?:src|href)="(\/(?:assets|p|embed)[^"]*)"/g)].map(
    ([, path = '']) => path,
  );
  for (const path of new Set(named)) t.equal((await world.get(path)).status, 200, path);
  const leaked = await world.get('/subscribe?service=vault-example&page=open', BROWSER);
  t.notMatch(leaked.text, /VAULT/);
  t.match(leaked.text, /Open page/);
  const stream = async (query: string) => {
    const leave = new AbortController();
    const response = await fetch(`${world.origin}/live?${query}`, { signal: leave.signal });
    const reader = response.body?.getReader();
    let heard = '';
    while (reader !== undefined && !heard.includes('monitor')) {
      const { done, value } = await reader.read();
      if (done) break;
      heard += Buffer.from(value).toString();
    }
    leave.abort();
    return heard;
  };
  const heard = await stream('page=open&of=vault-example');
  t.match(heard, /shop-example/);
  t.notMatch(heard, /vault-example/);
});

t.test('at the domain of a page there is what there is for strangers', async (t) => {
  const { world } = await start(t);
  for (const slug of ['open', 'locked']) {
    await world.registry.changePage(
      { accountId: 1, slug, revision: 2 },
      { domain: `${slug}.acme.example` },
      NOW,
    );
    await world.registry.provePageDomain(1, slug, `${slug}.acme.example`, NOW);
  }
  await world.pageDomains.refresh();
  const at = requestAt(world.port);
  t.equal((await at('open.acme.example', '/')).status, 200);
  t.match(await at('locked.acme.example', '/', { headers: BROWSER }), {
    status: 303,
    headers: { location: 'https://upbeat.test/sign-in' },
  });
});

t.test('the site begins with what its operator has chosen', async (t) => {
  const signIn = await start(t, { home: 'sign-in', isForMembers: false });
  const first = await signIn.world.get('/');
  t.match([first.status, first.headers.get('location')], [303, '/sign-in']);
  t.equal((await signIn.world.get('/', signIn.member)).headers.get('location'), '/dashboard');
  const list = await signIn.world.get('/services', BROWSER);
  t.match(list.text, /href="\/services\?status=up"/);
  t.match((await signIn.world.get('/status/shop-example')).text, /href="\/services\?category=developer"/);

  const page = await start(t, { home: 'page:open' });
  t.match((await page.world.get('/', BROWSER)).text, /<h1[^>]*>[\s\S]*Open page/);
  t.equal((await page.world.get('/services', BROWSER)).status, 303);

  const missing = await start(t, { home: 'page:coming', isForMembers: false });
  const kind = await missing.world.get('/', BROWSER);
  t.equal(kind.status, 404);
  t.match(kind.text, /begins with the status page &quot;coming&quot;[\s\S]*href="\/sign-in"/);
  t.match((await missing.world.get('/')).json, { code: 'page_not_found' });
  const inner = await start(t, { home: 'page:inside', isForMembers: false });
  t.match((await inner.world.get('/', BROWSER)).text, /which does not exist yet or is not public/);
});
