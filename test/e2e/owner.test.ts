/** An owner's way, through the whole program and a certified provider: from signing in to a badge. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { createBrowser, startIdentityServer } from '../support/identity-server.ts';
import { until } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';
import { install } from '../support/program.ts';

t.setTimeout(180_000);

/** What the name server says of the domains of this test. */
const texts = new Map<string, string>();

const names = await startNameServer(({ name, type }) => {
  const text = texts.get(name);
  return type === 'TXT' && text !== undefined ? { texts: [text] } : { code: 3 };
});
t.teardown(() => names.close());
const installation = await install([{ slug: 'known', domain: 'known.example' }], async (siteUrl) => ({
  checks: { nameservers: [names.address], ownersMayProbePrivate: true },
  auth: {
    providers: [
      {
        id: 'acme',
        kind: 'oidc',
        name: 'Acme & Co',
        ...(await startIdentityServer(t, `${siteUrl}/sign-in/acme/callback`)),
      },
    ],
  },
}));
t.teardown(() => installation.remove());
const program = await installation.start();
t.teardown(() => program.killHard());
const { siteUrl } = installation;
const { name: session } = createSiteCookie(siteUrl);
const tokenOf = (html: string) => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? '';

t.test(
  'an owner signs in and registers a service with a badge; other accounts cannot change it',
  async (t) => {
    const ada = createBrowser();
    const grace = createBrowser();

    t.equal(
      (await ada.visit(`${siteUrl}/dashboard`)).url,
      `${siteUrl}/sign-in`,
      'who is not signed in is sent there',
    );
    t.match((await ada.visit(`${siteUrl}/sign-in`)).text, /Sign in with Acme &amp; Co</);
    const landed = await ada.signIn(`${siteUrl}/sign-in/acme`, 'ada');
    t.equal(landed.url, `${siteUrl}/dashboard`);
    t.match(landed.text, /<span class="soft">ada, [^<]+<\/span>/);
    const token = tokenOf(landed.text);
    await grace.signIn(`${siteUrl}/sign-in/acme`, 'grace');

    // A key, and a heartbeat with it.
    const made = await ada.visit(`${siteUrl}/dashboard/keys/add`, {
      token,
      name: 'laptop <b>',
      expires: '30d',
    });
    const key = /value="(upb_[A-Za-z0-9]{38})"/.exec(made.text)?.[1] ?? '';
    t.notMatch(made.text, /laptop <b>/);
    const beat = (status: string, domain = 'shop.example.org') =>
      fetch(`${siteUrl}/api/v1/heartbeat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domain, status }),
      });
    t.equal((await beat('ok')).status, 200);
    t.match((await program.get('/api/v1/status/shop-example-org')).body, {
      status: 'up',
      self_reported: true,
    });
    const page = await ada.visit(`${siteUrl}/dashboard/services/shop-example-org`);
    t.match(page.text, /not|Verify the domain/);
    t.match(page.text, /"domain":"shop\.example\.org","status":"ok"|&quot;status&quot;:&quot;ok&quot;/);

    // Lifetimes that are not offered, names of inherited properties among them.
    for (const expires of ['soon', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])
      t.match(
        await ada.visit(`${siteUrl}/dashboard/keys/add`, { token, name: 'laptop', expires }),
        { status: 400 },
        `expires=${expires}`,
      );

    // Settings.
    const path = `${siteUrl}/dashboard/services/shop-example-org`;
    const saved = await ada.visit(`${path}/save`, {
      token,
      name: 'My shop',
      category: 'ecommerce',
      kind: 'heartbeat',
    });
    t.match(saved, { url: `${path}?saved=yes`, status: 200, text: /role="status">Saved\./ });
    t.match((await program.get('/api/v1/status/shop-example-org')).body, {
      name: 'My shop',
      category: 'ecommerce',
    });
    t.match(await ada.visit(`${path}/save`, { token, name: '', category: 'ecommerce', kind: 'root' }), {
      status: 400,
      text: /A service needs a name/,
    });
    for (const [name, said] of [
      ['KN0WN', /equals or resembles known of the public catalogue/],
      ['a\u202eb', /must not contain U\+202E/],
      ['a\u001b]52;c;ZXY=', /must not contain U\+001B/],
    ] as const)
      t.match(await ada.visit(`${path}/save`, { token, name, category: 'ecommerce', kind: 'heartbeat' }), {
        status: 400,
        text: said,
      });
    t.match(await ada.visit(`${siteUrl}/dashboard/keys/add`, { token, name: 'a\u009b2J', expires: '30d' }), {
      status: 400,
      text: /must not contain U\+009B/,
    });
    t.match((await program.get('/api/v1/status/shop-example-org')).body, { name: 'My shop' });
    const times = { period: '', grace: '', schedule: '', timezone: '' };
    const kept = { token, name: 'My shop', category: 'ecommerce', kind: 'heartbeat', ...times };
    t.match(await ada.visit(`${path}/save`, { ...kept, period: 'soon' }), {
      status: 400,
      text: /are durations/,
    });
    const longer = await ada.visit(`${path}/save`, { ...kept, period: '1h', grace: '5m' });
    t.match(longer.text, /name="period" value="1h"/);
    t.match(longer.text, /name="grace" value="5m"/);
    t.match((await ada.visit(`${path}/save`, kept)).text, /name="period" value="" placeholder="10m"/);

    const scheduled = await ada.visit(`${path}/save`, {
      ...kept,
      schedule: '30 3 * * 1-5',
      timezone: 'europe/berlin',
    });
    t.match(scheduled.text, /name="schedule" value="30 3 \* \* 1-5"/);
    t.match(scheduled.text, /name="timezone" value="Europe\/Berlin"/);
    await ada.visit(`${path}/save`, kept);

    // A heartbeat address, for a cron job.
    t.equal((await beat('ok', 'job.example.org')).status, 200);
    const job = `${siteUrl}/dashboard/services/job-example-org`;
    const statusOfJob = async () => (await program.get('/api/v1/status/job-example-org')).body;
    const addressed = await ada.visit(`${job}/address`, { token });
    const address = new RegExp(`${siteUrl}/beat/[\\w-]{36}`).exec(addressed.text)?.[0] ?? '';
    t.match(addressed.text, /shown only this once/);
    t.notMatch((await ada.visit(job)).text, address, 'it is not shown again');
    const ping = async (suffix: string, init?: RequestInit) => (await fetch(address + suffix, init)).status;
    t.equal(await ping('/start?run=nightly'), 200);
    t.equal(await ping('/log', { method: 'POST', body: 'half <b>done' }), 200);
    t.equal(await ping('/3?run=nightly', { method: 'POST', body: 'disk full' }), 200);
    t.match(await statusOfJob(), { status: 'down' });
    t.match(
      JSON.stringify((await program.get('/api/v1/incidents/job-example-org')).body),
      /it reports that a run failed with exit code 3/,
    );
    const reports = await ada.visit(job);
    t.match(reports.text, /half &lt;b(>|&gt;)done/);
    t.match(reports.text, /disk full/);
    t.equal(await ping(''), 200);
    t.match(await statusOfJob(), { status: 'up' });
    const hers = { token: tokenOf((await grace.visit(`${siteUrl}/dashboard`)).text) };
    t.match(await grace.visit(`${job}/address`, hers), { status: 404 });
    await ada.visit(`${job}/address`, { token, remove: 'yes', replaces: 'yes', confirmed: 'yes' });
    t.equal(await ping(''), 404, 'it is ended');
    await ada.visit(`${job}/delete`, { token, confirm: 'job.example.org' });

    // Other accounts.
    const graceToken = tokenOf((await grace.visit(`${siteUrl}/dashboard`)).text);
    t.match(await grace.visit(path), { status: 404 });
    t.match(await grace.visit(`${path}/delete`, { token: graceToken, confirm: 'shop.example.org' }), {
      status: 404,
    });
    t.match(
      await ada.visit(`${path}/pause`, { token: graceToken }),
      { status: 403 },
      'a token of another session',
    );
    t.match(await ada.visit(`${path}/pause`, {}), { status: 403 }, 'no token');
    t.match(await createBrowser().visit(`${path}/pause`, { token }), { status: 403 }, 'no session');
    const foreign = await fetch(`${siteUrl}/dashboard/keys/add`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site', 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${token}&name=x`,
    });
    t.equal(foreign.status, 403);

    // A domain of one's own, by DNS.
    const adding = `${siteUrl}/dashboard/services/new/save`;
    const blog = `${siteUrl}/dashboard/services/blog-example-org`;
    const blogAdded = await ada.visit(adding, { token, domain: 'Blog.Example.ORG', kind: 'root' });
    t.match(blogAdded, { url: `${blog}?saved=new`, text: /_upbeat\.blog\.example\.org/ });
    const word = /upbeat-verify=[0-9a-f]{40}/.exec(blogAdded.text)?.[0] ?? '';
    t.match(await ada.visit(`${blog}/verify`, { token }), { status: 400, text: /there is no TXT record/ });
    texts.set('_upbeat.blog.example.org', word);
    t.match(await ada.visit(`${blog}/verify`, { token }), { url: blog, status: 200 });
    t.match((await program.get('/api/v1/status/blog-example-org')).body, { self_reported: false });
    for (const domain of ['localhost', '127.0.0.1', 'http://127.0.0.1/x', 'a b.org'])
      t.match(await ada.visit(adding, { token, domain, kind: 'root' }), { status: 400 }, domain);

    // A webhook: tested, told of a change, replayed. The other service would speak between.
    t.match(await ada.visit(`${siteUrl}/dashboard/services/blog-example-org/pause`, { token }), {
      status: 200,
    });
    const told: string[] = [];
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        told.push((JSON.parse(body) as { type: string }).type);
        response.writeHead(204).end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    t.teardown(() => receiver.close());
    const hooks = `${siteUrl}/dashboard/webhooks`;
    const hookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    t.match(await ada.visit(`${hooks}/add`, { token, url: 'ftp://x.org' }), { status: 400 });
    const added = await ada.visit(`${hooks}/add`, { token, url: hookUrl });
    t.match(added.text, /value="whsec_[A-Za-z0-9+/]{43}="/);
    t.notMatch((await ada.visit(hooks)).text, /whsec_/, 'the secret is shown once');
    const hookId = /name="id" value="(\d+)"/.exec(added.text)?.[1] ?? '';
    await ada.visit(`${hooks}/test`, { token, id: hookId });
    t.match(await grace.visit(`${hooks}/test`, { token: graceToken, id: hookId }), { status: 400 });
    await until(() => told.length === 1);
    t.equal((await beat('down')).status, 200);
    await until(() => told.length === 3);
    t.same([...told].sort(), ['incident.opened', 'service.status_changed', 'test']);
    const delivered = await ada.visit(hooks);
    const replay =
      /action="\/dashboard\/webhooks\/replay">.*?name="id" value="(\d+)"/.exec(delivered.text)?.[1] ?? '';
    t.match(await ada.visit(`${hooks}/replay`, { token, id: replay }), { url: hooks, status: 200 });
    await until(() => told.length === 4);
    await ada.visit(`${hooks}/remove`, { token, id: hookId, confirmed: 'yes' });

    // A domain of the catalogue, and one that moves.
    t.equal((await beat('ok', 'known.example')).status, 403);
    const taking = { token: graceToken, domain: 'shop.example.org', kind: 'health', name: 'Shop' };
    const offer = await grace.visit(adding, taking);
    t.match(offer, { status: 400, text: /is registered by another account/ });
    texts.set('_upbeat.shop.example.org', /upbeat-verify=[0-9a-f]{40}/.exec(offer.text)?.[0] ?? '');
    t.match(await grace.visit(adding, taking), { url: `${path}?saved=new`, text: /<h1>Shop / });
    const moved = await grace.visit(`${siteUrl}/dashboard`);
    t.match(moved.text, /You have verified it; it is yours now/);
    t.match((await ada.visit(`${siteUrl}/dashboard`)).text, /was verified by another account/);
    t.equal((await beat('ok')).status, 403, 'its former owner is refused at once');
    t.match(await ada.visit(path), { status: 404 });

    // The end of a service, a key and a session.
    t.match(await grace.visit(`${path}/delete`, { token: graceToken, confirm: 'no' }), { status: 400 });
    t.match(await grace.visit(`${path}/delete`, { token: graceToken, confirm: 'shop.example.org' }), {
      url: `${siteUrl}/dashboard`,
    });
    t.equal((await program.get('/api/v1/status/shop-example-org')).status, 404);
    const id = /name="id" value="(\d+)"/.exec((await ada.visit(`${siteUrl}/dashboard/keys`)).text)?.[1];
    await ada.visit(`${siteUrl}/dashboard/keys/revoke`, { token, id: id ?? '', confirmed: 'yes' });
    // Within a second by the rule; later by what a busy machine adds.
    while ((await beat('ok', 'blog.example.org')).status !== 401)
      await new Promise((resolve) => setTimeout(resolve, 100));
    const cookies = new Map(ada.cookies(siteUrl));
    t.equal((await ada.visit(`${siteUrl}/sign-out`, { token })).url, `${siteUrl}/`);
    for (const [name, value] of cookies) ada.cookies(siteUrl).set(name, value);
    t.equal(
      (await ada.visit(`${siteUrl}/dashboard`)).url,
      `${siteUrl}/sign-in`,
      'the old cookie opens nothing',
    );
  },
);

t.test('it ends sessions when it should, and only then', async (t) => {
  const hook = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(hook, 'listening');
  t.teardown(() => hook.close());
  const asks = (cookie: string, path = '/dashboard') =>
    fetch(siteUrl + path, { headers: { cookie: `${session}=${cookie}` }, redirect: 'manual' });
  const [laptop, phone] = [createBrowser(), createBrowser()];
  const cookieOf = (browser: typeof laptop) => browser.cookies(siteUrl).get(session) ?? '';
  await laptop.signIn(`${siteUrl}/sign-in/acme`, 'ida');
  await phone.signIn(`${siteUrl}/sign-in/acme`, 'ida');

  // A person who follows a link to a provider stays signed in.
  const first = cookieOf(laptop);
  const led = await asks(first, '/sign-in/acme');
  t.equal(led.status, 302);
  const [, both = ''] =
    /^upbeat-\d+=([^;]+); Path=\/; Max-Age=2592000;/.exec(led.headers.get('set-cookie') ?? '') ?? [];
  t.match(both, /^flow\.[\w-]+\.[\w-]{43}$/);
  t.equal((await asks(both)).status, 200, 'on the way');
  t.equal((await asks(both, '/sign-in/acme/callback?code=x&state=y')).status, 400);
  t.equal((await asks(both)).status, 200, 'and when it came to nothing');

  // A new sign-in ends the old session of the browser.
  await laptop.signIn(`${siteUrl}/sign-in/acme`, 'ida');
  t.not(cookieOf(laptop), first);
  t.equal((await asks(first)).headers.get('location'), '/sign-in');
  t.equal((await asks(cookieOf(phone))).status, 200);

  // Nothing that is signed in is for other origins.
  for (const path of ['/dashboard', '/dashboard/webhooks', '/sign-in', '/dashboard/services/none'])
    t.equal((await asks(cookieOf(laptop), path)).headers.get('access-control-allow-origin'), null, path);
  const preflight = await fetch(`${siteUrl}/dashboard`, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example' },
  });
  t.equal(preflight.headers.get('access-control-allow-origin'), null);
  t.equal((await fetch(`${siteUrl}/`)).headers.get('access-control-allow-origin'), '*');

  // Tests of a webhook go to servers of others: they are throttled.
  const token = tokenOf((await laptop.visit(`${siteUrl}/dashboard`)).text);
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
  const added = await laptop.visit(`${siteUrl}/dashboard/webhooks/add`, { token, url });
  const id = /name="id" value="(\d+)"/.exec(added.text)?.[1] ?? '';
  const test = () =>
    fetch(`${siteUrl}/dashboard/webhooks/test`, {
      method: 'POST',
      headers: {
        cookie: `${session}=${cookieOf(laptop)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token, id }),
      redirect: 'manual',
    });
  const answers = await Promise.all(Array.from({ length: 12 }, test));
  const refused = answers.filter(({ status }) => status === 429);
  t.ok(refused.length >= 2 && answers.some(({ status }) => status === 303));
  for (const { headers } of refused) t.match(headers.get('retry-after'), /^[1-9]\d?$/);
  t.match(await refused[0]?.json(), { code: 'rate_limited', status: 429 });

  // And everywhere at once.
  t.match(await laptop.visit(`${siteUrl}/sign-out/everywhere`, { token: 'of another' }), { status: 403 });
  const [here, there] = [cookieOf(laptop), cookieOf(phone)];
  t.equal((await laptop.visit(`${siteUrl}/sign-out/everywhere`, { token })).url, `${siteUrl}/`);
  for (const cookie of [here, there]) t.equal((await asks(cookie)).headers.get('location'), '/sign-in');
});

t.test('it plants no session and follows no address of others', async (t) => {
  const browser = createBrowser();
  await browser.visit(`${siteUrl}/`);
  browser.cookies(siteUrl).set(session, 'A'.repeat(43));
  const landed = await browser.signIn(`${siteUrl}/sign-in/acme?return=https://evil.example/`, 'eve');
  t.equal(landed.url, `${siteUrl}/dashboard`);
  t.not(browser.cookies(siteUrl).get(session), 'A'.repeat(43), 'the session is a new one');
  t.match(await createBrowser().visit(`${siteUrl}/sign-in/acme/callback?code=x&state=y`), {
    status: 400,
    text: /started in another browser/,
  });
  t.match(await createBrowser().visit(`${siteUrl}/sign-in/nobody`), { status: 404 });
  for (const path of [
    'sign-in/acme%0d%0aset-cookie:%20evil=1',
    'dashboard/services/a%0d%0alocation:%20evil',
  ]) {
    const split = await fetch(`${siteUrl}/${path}`, { redirect: 'manual' });
    t.ok([303, 404].includes(split.status), path);
    const { location, 'set-cookie': cookie = '', ...others } = Object.fromEntries(split.headers);
    t.notMatch(location ?? '', /evil/, path);
    // The place to return to is kept encoded, within the value of its cookie.
    t.match(cookie, /^(?:upbeat-return-\d+=[\w%.-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax)?$/, path);
    t.notMatch(JSON.stringify(others), /evil/, 'no header is split');
  }
  const answer = await fetch(`${siteUrl}/sign-in/acme`, { redirect: 'manual' });
  t.match(
    answer.headers.get('set-cookie'),
    /^upbeat-\d+=flow\.[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
});

t.test('it ends well after all of that', async (t) => {
  t.equal(await program.stop(), 0);
});
