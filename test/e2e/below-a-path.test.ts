/** The site below a path of another one, behind a proxy that passes the path on and behind one that strips it. */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import { systemClock } from '../../src/clock.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';
import { openPage } from '../support/watched-page.ts';

/** The routes of services begin with it too, so that a URL can be of either kind. */
const BASE = '/status';
const MAX_PAGES = 160;

t.setTimeout(300_000);

/** What the proxy was asked for beside the site. */
const outside: string[] = [];
let isStripped = false;
let upstream = 0;
let health = 200;
const proxy = createServer((request, response) => {
  const { url = '/', method, headers } = request;
  if (!/^\/status(?:[/?]|$)/.test(url)) {
    outside.push(`${method} ${url}`);
    response.writeHead(421).end();
    return;
  }
  const below = url.slice(BASE.length);
  const path = !isStripped ? url : below.startsWith('/') ? below : `/${below}`;
  const asked = send({ host: '127.0.0.1', port: upstream, path, method, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
  });
  asked.on('error', () => response.destroy());
  response.on('close', () => asked.destroy());
  request.pipe(asked);
});
const target = createServer((_request, response) => response.writeHead(health).end());

let installation: Installation;
let program: RunningProgram;
let siteUrl = '';
let cookie = '';
let token = '';

t.before(async () => {
  for (const server of [proxy, target]) await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
  siteUrl = `${origin}${BASE}`;
  installation = await install([{ slug: 'library', name: 'Library', check: { url } }], (direct) => {
    upstream = Number(new URL(direct).port);
    return { http: { siteUrl: `${siteUrl}/` }, checks: { controlTargets: [url] } };
  });
  await installation.withRegistry(async (registry) => {
    const { id } = await registry.ensureAccount('ada', Date.now());
    const ada = await registry.linkIdentity(id, { provider: 'acme', subject: '1', name: 'Ada' }, Date.now());
    await registry.setRole(id, ada.id, 'owner');
    const sessions = createSessions({ registry, clock: systemClock });
    const session = await sessions.open(ada.id);
    cookie = `${createSiteCookie(siteUrl).name}=${session.token}`;
    token = (await sessions.find(session.token))?.formToken ?? '';
  });
  program = await installation.start();
  await program.until<{ status: string }>('/api/v1/status/library', ({ status }) => status === 'up');
});

t.teardown(async () => {
  await program?.killHard();
  installation?.remove();
  for (const server of [proxy, target]) {
    server.closeAllConnections();
    server.close();
  }
});

/** Addresses that a page or a style names; those of forms that are posted are not followed. */
function addressesIn(type: string, text: string): { address: string; isFollowed: boolean }[] {
  if (type.startsWith('text/css'))
    return [...text.matchAll(/url\("?([^")]+)"?\)/g)].map(([, address = '']) => ({
      address,
      isFollowed: true,
    }));
  if (type.startsWith('application/manifest'))
    return [...text.matchAll(/"(?:src|start_url)":"([^"]+)"/g)].map(([, address = '']) => ({
      address,
      isFollowed: true,
    }));
  if (!type.startsWith('text/html')) return [];
  const found = [
    ...text.matchAll(
      /<([a-z]+)[^>]*?\s(href|src|srcset|action|formaction|data-from|data-search|data-challenge)="([^"]*)"/g,
    ),
    ...text.matchAll(/<(meta) (property)="og:(?:url|image)" content="([^"]*)"/g),
  ];
  return found.map(([tag = '', element, name, address = '']) => ({
    address: address.replaceAll('&amp;', '&'),
    isFollowed:
      !(element === 'form' && /method="post"/.test(tag)) &&
      name !== 'formaction' &&
      name !== 'data-challenge',
  }));
}

/** Follows every link from the first page on. Returns the faults, and the paths that were read. */
async function crawl(first: string) {
  const { origin } = new URL(siteUrl);
  const queue = [first];
  const known = new Set<string>();
  const faults: string[] = [];
  for (let at = 0; at < queue.length && known.size < MAX_PAGES; at++) {
    const here = queue[at] ?? '';
    const leave = new AbortController();
    const answer = await fetch(here, {
      ...{ headers: { accept: 'text/html', cookie }, redirect: 'manual', signal: leave.signal },
    });
    // The documentation offers what needs a key too.
    const needsKey = answer.status === 401 && here.includes('/api/v1/');
    if (answer.status >= 400 && !needsKey) faults.push(`${answer.status} ${here}`);
    const type = answer.headers.get('content-type') ?? '';
    const isRead = /^(?:text\/(?:html|css)|application\/manifest)/.test(type);
    const found = addressesIn(type, isRead ? await answer.text() : '');
    leave.abort();
    const location = answer.headers.get('location');
    for (const { address, isFollowed } of [
      ...found,
      ...(location === null ? [] : [{ address: location, isFollowed: true }]),
    ]) {
      const url = URL.parse(address, here);
      if (url === null || url.origin !== origin) continue;
      if (url.pathname !== BASE && !url.pathname.startsWith(`${BASE}/`))
        faults.push(`${here} leads to ${address}`);
      // One example of each page and set of parameters.
      const key = `${url.pathname}?${[...url.searchParams.keys()].sort()}`;
      if (!isFollowed || known.has(key)) continue;
      known.add(key);
      url.hash = '';
      queue.push(url.href);
    }
  }
  return { faults, known };
}

for (const strips of [false, true])
  t.test(
    `every address is below the path where the proxy ${strips ? 'strips' : 'passes on'} it`,
    async (t) => {
      isStripped = strips;
      const { faults, known } = await crawl(`${siteUrl}/`);
      t.same(faults, []);
      for (const path of [
        '/status/library-example',
        '/dashboard',
        '/docs',
        '/incidents',
        '/api/v1/openapi.json',
      ])
        t.ok(known.has(`${BASE}${path}?`), path);
      const text = async (path: string) => await (await fetch(siteUrl + path)).text();
      t.match(JSON.parse(await text('/api/v1/openapi.json')).servers, [{ url: siteUrl }]);
      t.match(await text('/sitemap.xml'), `<loc>${siteUrl}/sitemaps/`);
      t.match(await text('/robots.txt'), `Disallow: ${BASE}/dashboard\n`);
      t.match(await text('/incidents.atom'), `"${siteUrl}/`);
      t.equal((await fetch(siteUrl)).status, 200, 'the path without a slash at its end');
      t.match(
        await (await fetch(`${siteUrl}/nobody`, { headers: { accept: 'text/html' } })).text(),
        `href="${BASE}/"`,
      );
      const german = await fetch(`${siteUrl}/?lang=de`);
      t.match(german.headers.get('set-cookie'), `; Path=${BASE};`);
      const ended = await fetch(`${siteUrl}/dashboard/services`, {
        ...{ method: 'POST', redirect: 'manual', headers: { cookie } },
        body: new URLSearchParams({ token, domain: 'nowhere.invalid' }),
      });
      const location = ended.headers.get('location') ?? `${BASE}/`;
      t.ok(location.startsWith(`${BASE}/`), `a form leads to ${location}`);
      t.same(outside, []);
    },
  );

t.test('health checks, metrics and badges work at the port, with the path and without', async (t) => {
  for (const path of [
    '/healthz',
    '/readyz',
    '/metrics',
    '/api/badge/library-example',
    '/api/v1/status/library',
  ])
    for (const base of ['', BASE]) t.equal((await program.get(base + path)).status, 200, base + path);
});

t.test('a page in a browser follows what happens', NEEDS_BROWSER, async (t) => {
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const { page, complaints } = await openPage(browser);
  await page.goto(siteUrl);
  await page.locator('main[data-live-state="connected"]').waitFor();
  health = 503;
  await page.locator('[data-live="troubled"]').getByText('Library').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('lib');
  await page.locator('#found strong').getByText('Library').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${siteUrl}/status/library-example`);
  await page.locator('main[data-live-state="connected"]').waitFor();
  await page.goto(`${siteUrl}/docs`);
  t.same([complaints, outside], [[], []]);
});
