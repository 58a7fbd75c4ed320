/** What every answer has in common: methods, CORS, lines of the log, and requests that no honest client sends. */
import { request } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import type { Answer } from '../site/answer.ts';
import { NOW, node, service, startApi, type World } from '../site/site-world.ts';

const SERVICES = [service(1, 'shop')];

const READING = [
  '/api/v1/status/shop',
  '/api/v1/services',
  '/api/v1/incidents',
  '/api/v1/incidents/shop',
  '/api/v1/services/shop/history?to=2026-11-20',
  '/api/v1/openapi.json',
  '/api/badge/shop-example',
];

/** The methods of those addresses that change something. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  '/api/v1/services': ['POST'],
  '/api/v1/incidents': ['POST'],
  '/api/v1/incidents/shop': ['PATCH', 'DELETE'],
};

const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, Link';

t.test('it answers HEAD as GET without the body', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  const shown = ({ status, headers }: Answer) => [
    status,
    ...['content-type', 'content-length', 'etag', 'cache-control', 'allow', 'www-authenticate'].map((name) =>
      headers.get(name),
    ),
  ];
  for (const path of [
    ...READING,
    '/healthz',
    '/readyz',
    '/api/v1/status/nobody',
    '/api/v1/services?limit=x',
    '/no',
  ]) {
    const head = await world.get(path, {}, 'HEAD');
    t.equal(head.text, '', path);
    t.strictSame(shown(head), shown(await world.get(path)), path);
  }
});

t.test(
  'it allows every origin to read, preflight included, and says which headers they may see',
  async (t) => {
    const world = await startApi({ services: SERVICES });
    t.teardown(world.close);
    for (const path of [...READING, '/api/v1/status/nobody', '/api/v1/services?limit=x']) {
      const { headers } = await world.get(path, { origin: 'https://elsewhere.example' });
      t.equal(headers.get('access-control-allow-origin'), '*', path);
      t.equal(headers.get('access-control-expose-headers'), EXPOSED, path);
      t.equal(headers.get('x-content-type-options'), 'nosniff', path);
      const preflight = await world.get(
        path,
        {
          origin: 'https://elsewhere.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'authorization',
        },
        'OPTIONS',
      );
      t.strictSame([preflight.status, preflight.text], [204, '']);
      t.equal(preflight.headers.get('access-control-allow-origin'), '*');
      t.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD');
      t.match(preflight.headers.get('access-control-allow-headers'), /Authorization/);
      t.match(preflight.headers.get('allow'), /^GET, HEAD, (?:POST, |PATCH, DELETE, )?OPTIONS$/);
      for (const name of ['limit', 'remaining', 'reset'])
        t.match(preflight.headers.get(`x-ratelimit-${name}`), /^\d+$/, `${path}: ${name}`);
      const [left, leftBefore] = [preflight.headers, headers].map((of) => of.get('x-ratelimit-remaining'));
      t.equal(left, leftBefore, 'a preflight costs nothing');
    }
    const post = await world.get('/api/v1/services', { origin: 'https://elsewhere.example' }, 'POST');
    t.equal(post.headers.get('access-control-allow-origin'), null, 'POST does not');
  },
);

t.test('it names the methods of an address, and knows no address but those of the table', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  for (const path of [...READING, '/api/v1/events', '/healthz']) {
    // Keys with the scope `write` create and change something there.
    const written = WRITTEN[path] ?? [];
    const others = ['POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !written.includes(method));
    for (const method of others) {
      const answer = await world.get(path, {}, method);
      t.match(
        answer,
        { status: 405, json: { code: 'method_not_allowed', status: 405 } },
        `${method} ${path}`,
      );
      t.equal(answer.headers.get('allow'), ['GET', 'HEAD', ...written, 'OPTIONS'].join(', '), path);
    }
  }
  for (const path of [
    '/api',
    '/api/v1',
    '/api/v1/nothing',
    '/api/v1/status',
    '/api/v1/status/a/b',
    '/api/v2/services',
  ]) {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await world.get(path, {}, method);
      t.match(answer, { status: 404, json: { code: 'route_not_found', status: 404 } }, `${method} ${path}`);
    }
  }
});

t.test('it writes a line for each request, without queries and keys', async (t) => {
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(JSON.stringify({ ...fields, message }));
  const world = await startApi({
    services: SERVICES,
    log: { debug: note, info: note, warn: note, error: note },
  });
  t.teardown(world.close);
  const key = world.makeKey();
  await world.get('/api/v1/status/shop?token=query-secret', key);
  await world.get('/api/v1/services?token=query-secret', key);
  await world.get('/nowhere?token=query-secret', { authorization: 'Bearer header-secret' });
  t.equal(lines.length, 3);
  t.match(lines[0], /"method":"GET".*"status":200/);
  t.notMatch(lines.join('\n'), /query-secret|header-secret|upb_/);
});

t.test('it ignores bodies of reading requests', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  const headers = { 'content-length': '200000' };
  const asked = request(`${world.origin}/api/v1/status/shop`, { method: 'GET', headers, agent: false });
  const answered = new Promise<number>((resolve, reject) => {
    asked.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', reject);
  });
  asked.end('x'.repeat(200_000));
  t.equal(await answered, 200);
});

t.test('it survives requests that no honest client sends', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  const paths = [
    '//',
    '///api/v1/status/shop',
    '/%',
    '/api/v1/status/%',
    '/api/badge/%zz',
    '/api/v1/status/a%2Fb',
    '/?',
    '/..',
  ];
  for (const path of [
    ...paths,
    'http://elsewhere.example/api/v1/status/shop',
    '*',
    '/api/v1/services?%',
    '/api/v1/services?limit=%',
  ]) {
    const status = await raw(world, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    t.ok(status >= 200 && status < 500, `${path} is answered ${status}`);
  }
  t.equal(await raw(world, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`), 431);
  t.equal(await raw(world, 'GARBAGE\r\n\r\n'), 400);
  t.equal((await world.get('/api/v1/status/shop')).status, 200, 'and goes on');
});

t.test('it answers the hot routes alike, past Koa and through it', async (t) => {
  const world = await startApi({ services: SERVICES, anonymousPerMinute: 1_000 });
  t.teardown(world.close);
  const wrong = { authorization: 'Bearer upb_wrong' };
  // A slash at the end goes through the router; the other form does not.
  const paths = [
    '/api/v1/status/shop',
    '/api/v1/status/nobody',
    '/api/badge/shop-example',
    '/api/badge/nobody',
  ];
  const etags = await Promise.all(
    paths.map(async (path) => (await world.get(path)).headers.get('etag') ?? '"none"'),
  );
  for (const [index, path] of paths.entries()) {
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      for (const headers of [{}, { 'if-none-match': etags[index] ?? '' }, wrong, world.makeKey()]) {
        const [past, through] = [
          await world.get(path, headers, method),
          await world.get(`${path}/`, headers, method),
        ];
        const shown = ({ status, text, headers: given }: Answer) => [
          status,
          text,
          [...given].filter(([name]) => name !== 'x-ratelimit-remaining' && name !== 'date'),
        ];
        t.strictSame(
          shown(past),
          shown(through),
          `${method} ${path} ${JSON.stringify(Object.keys(headers))}`,
        );
      }
    }
  }
});

t.test('it sends text in ASCII and beyond it with its length in bytes', async (t) => {
  const names = { plain: 'Plain', umlaut: 'Müller', wide: '状态 ✓' };
  const services = Object.entries(names).map(([slug, name], index) => service(index + 1, slug, { name }));
  const world = await startApi({ services });
  t.teardown(world.close);
  for (const [slug, name] of Object.entries(names)) {
    const { headers, text, json } = await world.get(`/api/v1/status/${slug}`);
    t.equal(Number(headers.get('content-length')), Buffer.byteLength(text), name);
    t.match(json, { name });
  }
});

t.test('it reports how the program is', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  t.match(await world.get('/healthz'), { status: 200, json: { status: 'ok' } });
  t.match(await world.get('/readyz'), {
    status: 200,
    json: {
      status: 'ready',
      role: 'monitor',
      node: 'one',
      region: 'local',
      roles: ['judge', 'probe', 'serve'],
      nodes: { local: 1 },
      degraded: [],
      prober: { online: true, offline_since: null },
      events: [],
    },
  });
  world.state.nodes = [
    node('us-1', { region: 'us' }),
    node('eu-1', { region: 'eu' }),
    node('us-2', { region: 'us' }),
  ];
  t.match((await world.get('/readyz')).text, '"nodes":{"eu":1,"us":2}');
  world.state.prober = { online: false, offlineSince: NOW, reason: 'no control target answers' };
  world.state.parts = { registry: { problem: null }, redis: { problem: 'away' } };
  t.match(await world.get('/readyz'), {
    status: 200,
    json: {
      degraded: ['prober', 'redis'],
      prober: {
        online: false,
        offline_since: '2026-11-20T10:00:00.000Z',
        reason: 'no control target answers',
      },
      parts: { registry: { problem: null }, redis: { problem: 'away' } },
    },
  });
  world.state.events = [{ event: 'redis_away', count: 3, lastAt: NOW }];
  t.match((await world.get('/readyz')).json, {
    events: [{ event: 'redis_away', count: 3, last_at: '2026-11-20T10:00:00.000Z' }],
  });
  for (const phase of ['starting', 'stopping'] as const) {
    world.state.phase = phase;
    t.match(await world.get('/readyz'), { status: 503, json: { status: phase } });
    t.equal((await world.get('/healthz')).status, 200, 'the process lives');
  }
});

t.test('it counts its requests for Prometheus, by route and never by path', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  await world.get('/api/v1/status/shop');
  await world.get('/api/v1/status/nobody');
  await world.get('/some/secret/path');
  const metrics = await world.get('/metrics');
  t.equal(metrics.status, 200);
  t.match(metrics.headers.get('content-type'), /^text\/plain/);
  for (const line of [
    'upbeat_http_requests_total{route="/api/v1/status/:slug",status="200"} 1',
    'upbeat_http_requests_total{route="/api/v1/status/:slug",status="404"} 1',
    'upbeat_http_requests_total{route="unknown",status="404"} 1',
    'upbeat_http_request_duration_seconds_count{route="/api/v1/status/:slug"} 2',
  ]) {
    t.ok(metrics.text.split('\n').includes(line), line);
  }
  t.match(metrics.text, /^upbeat_process_resident_memory_bytes \d+/m);
  t.match(metrics.text, /^upbeat_nodejs_eventloop_lag_p99_seconds /m);
  t.notMatch(metrics.text, 'secret');
});

/** Sends bytes and reads the status code of the answer. */
function raw(world: World, bytes: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(world.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      if (status === undefined) return;
      resolve(Number(status));
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed without an answer')));
  });
}
