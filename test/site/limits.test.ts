/** Request limits and keys (contract 5, 8; decisions, Keys and limits). */
import { connect } from 'node:net';
import t from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import type { Answer } from './answer.ts';
import { from, NOW, service, startApi } from './site-world.ts';

const PATH = '/api/v1/status/shop';
const SERVICES = [service(1, 'shop')];
const limits = ({ headers }: Answer) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
const RESET = String(NOW / 1_000 + 60);

t.test('it counts fifteen anonymous requests a minute for each address', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 15 });
  t.teardown(world.close);
  for (let left = 14; left >= 0; left--) {
    const answer = await world.get(PATH, from('203.0.113.1'));
    t.strictSame([answer.status, ...limits(answer)], [200, '15', String(left), RESET]);
    t.equal(answer.headers.get('retry-after'), null);
  }
  const refused = await world.get(PATH, from('203.0.113.1'));
  t.strictSame([refused.status, ...limits(refused)], [429, '15', '0', RESET]);
  t.equal(refused.headers.get('retry-after'), '60');
  t.equal(refused.headers.get('content-type'), 'application/problem+json');
  t.match(refused.json, { code: 'rate_limited', status: 429, retry_after: 60 });
  t.equal((await world.get(PATH, from('203.0.113.2'))).status, 200, 'another address has its own');

  await world.clock.advance(59_999);
  const late = await world.get(PATH, from('203.0.113.1'));
  t.strictSame([late.status, late.headers.get('retry-after')], [429, '1'], 'at least one second');
  await world.clock.advance(1);
  const again = await world.get(PATH, from('203.0.113.1'));
  t.strictSame([again.status, ...limits(again)], [200, '15', '14', String(NOW / 1_000 + 120)]);
});

t.test('it rounds the time to wait up, so that a client that waits as long is served', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 1 });
  t.teardown(world.close);
  await world.get(PATH);
  for (const [advanceMs, expected] of [
    [1, '60'],
    [998, '60'],
    [1, '59'],
    [500, '59'],
    [56_600, '2'],
    [899, '2'],
    [1, '1'],
    [999, '1'],
  ] as const) {
    await world.clock.advance(advanceMs);
    const refused = await world.get(PATH);
    t.strictSame([refused.status, refused.headers.get('retry-after')], [429, expected]);
    t.match(refused.json, { retry_after: Number(expected) });
  }
  await world.clock.advance(1);
  t.equal((await world.get(PATH)).status, 200);
});

t.test('it rounds the reset up to whole seconds', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 15 });
  t.teardown(world.close);
  await world.clock.advance(1);
  t.equal(limits(await world.get(PATH))[2], String(NOW / 1_000 + 61));
  await world.clock.advance(1_500);
  t.equal(limits(await world.get(PATH))[2], String(NOW / 1_000 + 61), 'and keeps it through the window');
});

t.test('it lets exactly sixty of two hundred concurrent requests of a key through', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 15, authenticatedPerMinute: 60 });
  t.teardown(world.close);
  const key = world.makeKey();
  const paths = [PATH, '/api/v1/services', '/api/v1/incidents', '/api/v1/services/shop/history'];
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => world.get(paths[index % 4] ?? PATH, key)),
  );
  const passed = answers.filter(({ status }) => status === 200);
  t.equal(passed.length, 60);
  t.equal(answers.filter(({ status }) => status === 429).length, 140);
  t.strictSame(
    passed.map((answer) => Number(limits(answer)[1])).sort((a, b) => b - a),
    Array.from({ length: 60 }, (_, index) => 59 - index),
    'each is told its own count',
  );
  t.equal((await world.get(PATH)).status, 200, 'the address of the key has its own limit');
});

t.test('it counts requests that arrive in one packet', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 15 });
  t.teardown(world.close);
  for (const path of [`${PATH}/`, '/api/badge/shop-example']) {
    const one = `GET ${path} HTTP/1.1\r\nHost: a\r\n`;
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(world.port, '127.0.0.1', () => {
        socket.write(`${`${one}\r\n`.repeat(19)}${one}Connection: close\r\n\r\n`);
      });
      let read = '';
      socket.setEncoding('latin1');
      socket.on('data', (chunk: string) => {
        read += chunk;
      });
      socket.on('end', () => resolve(read));
      socket.on('error', reject);
    });
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
    const left = [...text.matchAll(/^X-RateLimit-Remaining: (\d+)/gm)].map(([, count]) => Number(count));
    t.strictSame(
      statuses,
      Array.from({ length: 20 }, (_, index) => (index < 15 ? 200 : 429)),
      path,
    );
    t.strictSame(
      left,
      Array.from({ length: 20 }, (_, index) => Math.max(0, 14 - index)),
      path,
    );
  }
});

t.test('it takes valid keys only, and counts each key by itself', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 15, authenticatedPerMinute: 60 });
  t.teardown(world.close);
  const one = world.makeKey();
  const table: readonly [string, Record<string, string>, number, string][] = [
    ['a valid key', one, 200, '60'],
    ['the scheme in any case', { authorization: one.authorization.replace('Bearer', 'bEARER') }, 200, '60'],
    ['an expired key', world.makeKey({ expiresAt: NOW }), 401, '15'],
    ['a revoked key', world.makeKey({ revokedAt: NOW - 1 }), 401, '15'],
    ['a key that expires later', world.makeKey({ expiresAt: NOW + 1 }), 200, '60'],
    ['a key with a typo', { authorization: `${one.authorization.slice(0, -1)}!` }, 401, '15'],
    ['an unknown word', { authorization: 'Bearer nonsense' }, 401, '15'],
    ['an empty key', { authorization: 'Bearer ' }, 401, '15'],
    ['another scheme, which is not read', { authorization: 'Basic YWRhOmFkYQ==' }, 200, '15'],
  ];
  let address = 1;
  for (const [what, headers, status, limit] of table) {
    const answer = await world.get(PATH, { ...headers, ...from(`203.0.113.${address++}`) });
    t.strictSame([answer.status, limits(answer)[0]], [status, limit], what);
    t.equal(answer.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null, what);
    if (status === 401) t.match(answer.json, { code: 'invalid_key', status: 401 }, what);
  }
  t.equal(limits(await world.get(PATH, world.makeKey()))[1], '59');
});

t.test('it answers a wrong key with 401 on every endpoint', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  const paths = [
    PATH,
    '/api/v1/status/nobody',
    '/api/v1/services',
    '/api/v1/services?limit=x',
    '/api/v1/services/shop/history',
    '/api/v1/incidents',
    '/api/v1/incidents/shop',
    '/api/v1/events',
    '/api/v1/openapi.json',
    '/api/badge/shop-example',
    '/api/v1/nothing',
  ];
  for (const path of paths) {
    const answer = await world.get(path, { authorization: 'Bearer upb_wrong' });
    t.match(answer, { status: 401, json: { code: 'invalid_key' } }, path);
    t.equal(answer.headers.get('www-authenticate'), 'Bearer', path);
  }
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    t.equal((await world.get(path, { authorization: 'Bearer of-the-scraper' })).status, 200, path);
  }
});

t.test('it charges wrong keys to the address, which never blocks a valid key', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 3, authenticatedPerMinute: 60 });
  t.teardown(world.close);
  const wrong = { ...from('203.0.113.1'), authorization: 'Bearer upb_wrong' };
  const seen = [];
  for (let count = 0; count < 4; count++) {
    const answer = await world.get(PATH, wrong);
    seen.push([answer.status, limits(answer)[1]]);
  }
  t.strictSame(seen, [
    [401, '2'],
    [401, '1'],
    [401, '0'],
    [429, '0'],
  ]);
  t.equal((await world.get(PATH, from('203.0.113.1'))).status, 429, 'the address is exhausted');
  const key = { ...world.makeKey(), ...from('203.0.113.1') };
  const answer = await world.get(PATH, key);
  t.strictSame([answer.status, ...limits(answer)], [200, '60', '59', RESET]);
});

t.test('it says how the caller stands on every answer of a limited endpoint', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 15 });
  t.teardown(world.close);
  const { headers } = await world.get(PATH, from('203.0.113.1'));
  const table: readonly [string, string, Record<string, string>, number][] = [
    ['GET', PATH, { 'if-none-match': headers.get('etag') ?? '' }, 304],
    ['HEAD', PATH, {}, 200],
    ['GET', '/api/v1/status/nobody', {}, 404],
    ['GET', '/api/v1/services?limit=x', {}, 400],
    ['POST', PATH, {}, 405],
    ['GET', PATH, { authorization: 'Bearer upb_wrong' }, 401],
  ];
  let left = 14;
  for (const [method, path, more, status] of table) {
    const answer = await world.get(path, { ...from('203.0.113.1'), ...more }, method);
    t.strictSame(
      [answer.status, ...limits(answer)],
      [status, '15', String(--left), RESET],
      `${method} ${path}`,
    );
  }
  world.faults.registry = true;
  const failed = await world.get('/api/v1/incidents', from('203.0.113.1'));
  t.strictSame([failed.status, ...limits(failed)], [500, '15', String(--left), RESET]);
  world.faults.keys = true;
  const unknown = await world.get(PATH, world.makeKey());
  t.equal(unknown.status, 500);
  t.strictSame(limits(unknown), ['15', '15', RESET], 'also where the key could not be looked up');
});

t.test('it counts the API, pictures and pages apart', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 2 });
  t.teardown(world.close);
  for (const path of [PATH, '/api/badge/shop-example']) {
    t.strictSame(
      [await world.get(path), await world.get(path), await world.get(path)].map(({ status }) => status),
      [200, 200, 429],
      path,
    );
  }
  t.equal((await world.get('/api/v1/services')).status, 429, 'endpoints of the API share one limit');
  t.equal((await world.get('/api/v1/services/shop/history')).status, 429);
  const page = await world.get('/api/v1/openapi.json');
  t.equal(page.status, 200);
  t.ok(Number(limits(page)[0]) >= 300, 'pages and what they load have a generous limit');
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const answer = await world.get(path);
    t.strictSame([answer.status, ...limits(answer)], [200, null, null, null], path);
  }
});

t.test('it charges nothing for a picture that the client has, and the rest to whom it belongs', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 3, authenticatedPerMinute: 60 });
  t.teardown(world.close);
  const badge = '/api/badge/shop-example';
  const first = await world.get(badge);
  const known = { 'if-none-match': first.headers.get('etag') ?? '' };
  for (let count = 0; count < 5; count++) {
    const answer = await world.get(badge, known);
    t.strictSame([answer.status, ...limits(answer)], [304, '3', '2', RESET]);
  }
  const seen = [];
  for (const path of ['/api/badge/nobody', `${badge}?theme=blue`, '/api/badge/nobody', badge]) {
    const answer = await world.get(path);
    seen.push([answer.status, limits(answer)[1]]);
  }
  t.strictSame(seen, [
    [404, '1'],
    [400, '0'],
    [429, '0'],
    [429, '0'],
  ]);
  t.equal((await world.get(badge, known)).status, 304, 'free is free');
  const drawn = world.asked.badges.length;
  await world.get(`${badge}?theme=dark`);
  t.equal(world.asked.badges.length, drawn, 'nothing is drawn for an address without requests left');
  for (const tag of ['"other"', '*', first.headers.get('etag') ?? '']) {
    const refused = await world.get(`${badge}?theme=dark`, { 'if-none-match': tag });
    t.equal(refused.status, 429, tag);
  }
  t.equal(world.asked.badges.length, drawn, 'whatever it says that it has');
  const answer = await world.get('/api/badge/nobody', world.makeKey());
  t.strictSame([answer.status, ...limits(answer)], [404, '60', '59', RESET], "a key's errors are the key's");
});

t.test('it counts IPv6 by /64 and IPv4 in IPv6 as IPv4', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 15 });
  t.teardown(world.close);
  const left = async (address: string) => limits(await world.get(PATH, from(address)))[1];
  t.equal(await left('2001:db8:0:1::1'), '14');
  t.equal(await left('2001:db8:0:1:ffff::2'), '13');
  t.equal(await left('[2001:0DB8:0:1::3]:443'), '12');
  t.equal(await left('2001:db8:0:2::1'), '14');
  t.equal(await left('203.0.113.9'), '14');
  t.equal(await left('::ffff:203.0.113.9'), '13');
});

t.test('it takes new limits while running', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 2 });
  t.teardown(world.close);
  await world.get(PATH, from('203.0.113.1'));
  world.api.setLimits({ anonymousPerMinute: 5, authenticatedPerMinute: 50, changesPerAccount: 7 });
  t.strictSame(limits(await world.get(PATH, from('203.0.113.1'))), ['2', '0', RESET], 'an open window stays');
  t.strictSame(limits(await world.get(PATH, from('203.0.113.2'))), ['5', '4', RESET]);
  t.strictSame(limits(await world.get(PATH, world.makeKey())), ['50', '49', RESET]);
});

t.test('it counts the changes of an account over all of its keys and sessions', async (t) => {
  const shop = service(1, 'shop', { origin: 'owner', accountId: 1 });
  const world = await startApi({ services: [shop], changesPerAccount: 4 });
  t.teardown(world.close);
  const { registry, clock } = world;
  const change = (key: Record<string, string>) =>
    world.post('/api/v1/incidents', { title: 'Late', text: 'We look.', services: ['shop'] }, key);
  const keys = [1, 2, 3].map(() => world.makeKey({ scopes: ['write'] }));
  const [first = {}, second = {}, third = {}] = keys;
  const ada = await registry.linkIdentity(1, { provider: 'acme', subject: 'ada', name: 'Ada' }, NOW);
  await registry.setRole(1, ada.id, 'owner');
  const sessions = createSessions({ registry, clock });
  const send = async (path: string) => {
    const { token } = await sessions.open(ada.id);
    const { formToken = '' } = (await sessions.find(token)) ?? {};
    const headers = { cookie: `__Host-upbeat=${token}`, 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ token: formToken });
    return await fetch(world.origin + path, { method: 'POST', headers, body, redirect: 'manual' });
  };
  t.equal((await change(first)).status, 201);
  t.equal((await send('/dashboard/account/sessions/end')).status, 400, 'a form counts, also a refused one');
  t.equal((await change(second)).status, 201);
  t.equal((await change(third)).status, 201);
  const refused = await change(second);
  t.match(refused.json, {
    status: 429,
    code: 'rate_limited',
    retry_after: 60,
    detail: /4 changes of an account/,
  });
  t.equal(refused.headers.get('retry-after'), '60');
  t.equal((await send('/dashboard/account/sessions/end')).status, 429);
  t.equal((await send('/sign-out')).status, 303, 'everyone can leave');
  t.equal((await world.get('/api/v1/incidents', first)).status, 200, 'reading goes on');
  const beat = world.makeKey({ scopes: ['heartbeat'] });
  t.equal((await world.post('/api/v1/heartbeat', { domain: 'a.example', status: 'ok' }, beat)).status, 200);
  t.not((await change(world.makeKey({ accountId: 2, scopes: ['write'] }))).status, 429, 'another account');
});

t.test('it looks for no more pictures at once than an address has requests left', async (t) => {
  let drawing = 0;
  const world = await startApi({
    services: SERVICES,
    anonymousPerMinute: 3,
    async renderBadge() {
      drawing++;
      return new Uint8Array(8);
    },
  });
  t.teardown(world.close);
  const answers = await Promise.all(
    ['light', 'dark'].flatMap((theme) =>
      ['status', 'uptime', 'latency'].flatMap((variant) =>
        ['24h', '7d', '30d', '90d', '1y'].map((window) =>
          world.get(`/api/badge/shop-example?theme=${theme}&variant=${variant}&window=${window}`, {
            'if-none-match': '"none of ours"',
          }),
        ),
      ),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 3);
  t.ok(drawing <= 6, `${drawing} were drawn`);
});
