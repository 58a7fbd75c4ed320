/** The endpoints that services report to (contract 4.5; decisions, Heartbeats, Keys and limits, Errors). */
import { request } from 'node:http';
import { connect } from 'node:net';
import { Ajv } from 'ajv';
import t from 'tap';
import { STATUS_WORDS } from '../../src/domain/heartbeat/heartbeat-body.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { HeartbeatRefused } from '../../src/record/observation.ts';
import { check as checked, current, from, NOW, service, startApi, type World } from '../site/site-world.ts';
import { at, listAt, objectAt } from '../support/json.ts';

const PATH = '/api/v1/heartbeat';
const BODY = { domain: 'shop.example.com', status: 'ok' };
const AT = '2026-11-20T10:00:00.000Z';
const coded = (code: string) => Object.assign(new Error(`a sentence about ${code}`), { code });

t.test('its timestamp is compared with the clock of the cluster', async (t) => {
  // The clock of this node is a quarter of an hour behind.
  const world = await startApi({ clockOffsetMs: -900_000 });
  t.teardown(world.close);
  const key = world.makeKey({ accountId: 7 });
  for (const [timestamp, status] of [
    ['2026-11-20T10:15:00.000Z', 200],
    ['2026-11-20T10:20:00.001Z', 400],
    [AT, 400],
  ] as const)
    t.equal((await world.post(PATH, { ...BODY, timestamp }, key)).status, status, timestamp);
});

t.test('it answers a heartbeat with what became of it', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey({ accountId: 7 });
  const body = {
    ...BODY,
    checks: { db: { status: 'down', latency: 31 } },
    timestamp: '2026-11-20T09:59:00Z',
  };
  const answer = await world.post(PATH, body, key);
  t.strictSame(
    [answer.status, answer.json],
    [
      200,
      {
        ok: true,
        service: 'shop.example.com',
        status: 'up',
        response_time: 31,
        checked_at: '2026-11-20T09:59:00.000Z',
      },
    ],
  );
  t.strictSame(
    ['content-type', 'cache-control', 'link', 'etag', 'access-control-allow-origin', 'x-ratelimit-limit'].map(
      (name) => answer.headers.get(name),
    ),
    [
      'application/json; charset=utf-8',
      'no-store',
      '<https://upbeat.test/api/v1/status/shop-example-com>; rel="status"',
      null,
      null,
      '200000',
    ],
  );
  t.strictSame(world.heartbeats.taken, [
    {
      report: {
        kind: 'beat',
        domain: 'shop.example.com',
        word: 'up',
        reported: 'ok',
        timestamp: NOW - 60_000,
        dependencies: [{ name: 'db', status: 'down', latencyMs: 31 }],
        run: null,
      },
      accountId: 7,
      arrivedAt: NOW,
      body: JSON.stringify(body),
    },
  ]);
  t.match((await world.post(PATH, BODY, key)).json, { response_time: 0, checked_at: AT });
  t.equal((await world.post(PATH, BODY, { ...key, 'if-none-match': '*' })).status, 200);
});

t.test('it takes starts and failures, with the duration of a run', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey();
  const start = await world.post(`${PATH}/start`, { domain: BODY.domain, run: 'r' }, key);
  t.match(start, { status: 200, json: { ok: true, status: 'unknown', run: { id: 'r', duration_ms: null } } });
  const { answer } = world.heartbeats;
  world.heartbeats.answer = (received) => ({ ...answer(received), runMs: 1_234 });
  const fail = await world.post(`${PATH}/fail`, { domain: BODY.domain, run: 'r' }, key);
  t.match(fail.json, { status: 'down', run: { id: 'r', duration_ms: 1_234 } });
  t.same(
    world.heartbeats.taken.map(({ report }) => report.kind),
    ['start', 'fail'],
  );
});

t.test('it ignores the members that heartbeat addresses write, as any unknown one', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey();
  const down = { ...BODY, status: 'down' };
  const more = { ping: 9_000, message: 'disk full', service_id: 3, unknown: 1 };
  await world.post(PATH, { ...down, ...more }, key);
  await world.post(`${PATH}/start`, { domain: BODY.domain, service_id: 3 }, key);
  await world.post(PATH, down, key);
  const [first, start, plain] = world.heartbeats.taken;
  t.strictSame(first?.report, plain?.report);
  t.strictSame(JSON.parse(first?.body ?? ''), { ...down, unknown: 1 });
  t.notOk(start?.report.serviceId);
});

t.test('it tells an owner whose form of the domain is taken', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { answer } = world.heartbeats;
  world.heartbeats.answer = (received) => {
    const receipt = answer(received);
    return { ...receipt, service: { ...receipt.service, slug: 'shop-example-com-2' } };
  };
  t.equal(at((await world.post(PATH, BODY, world.makeKey())).json, 'slug'), 'shop-example-com-2');
});

t.test('it names the place of what is wrong with a body', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey();
  const cases: readonly [unknown, string, readonly string[] | undefined][] = [
    ['', '', undefined],
    ['{', '', undefined],
    ['[]', '', undefined],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), '', undefined],
    [{}, '/domain', undefined],
    [{ ...BODY, domain: 'http://x.example' }, '/domain', undefined],
    [{ ...BODY, status: 'fine' }, '/status', STATUS_WORDS],
    [{ ...BODY, checks: { a: { status: 'ok', latency: 1.5 } } }, '/checks/a/latency', undefined],
    [{ ...BODY, timestamp: '2026-11-20T10:05:00.001Z' }, '/timestamp', undefined],
    [{ ...BODY, timestamp: '2026-11-20T09:49:59.999Z' }, '/timestamp', undefined],
  ];
  for (const [body, place, allowed] of cases) {
    const answer = await world.post(PATH, body, key);
    t.equal(answer.status, 400, String(JSON.stringify(body)));
    t.match(answer.json, { code: 'invalid_body', place, status: 400 });
    t.strictSame(at(answer.json, 'allowed'), allowed);
    if (allowed !== undefined) t.match(at(answer.json, 'detail'), 'ok, up, pass');
    t.equal(answer.headers.get('content-type'), 'application/problem+json');
  }
  for (const timestamp of ['2026-11-20T10:05:00.000Z', '2026-11-20T09:50:00.000Z'])
    t.equal((await world.post(PATH, { ...BODY, timestamp }, key)).status, 200);
  const bom = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(BODY))]);
  t.equal((await world.post(PATH, bom, key)).status, 200);
  t.equal(world.heartbeats.refusals, 0, 'none of this is a fault of ours');
});

t.test('it takes 16 KiB and not a byte more', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey();
  const padded = (length: number) => {
    const text = JSON.stringify({ ...BODY, x: '' });
    return text.replace('"x":""', `"x":"${'y'.repeat(length - text.length)}"`);
  };
  t.equal((await world.post(PATH, padded(16_384), key)).status, 200);
  for (const length of [16_385, 500_000]) {
    const answer = await world.post(PATH, padded(length), key);
    t.match(answer, { status: 413, json: { code: 'body_too_large', limit: 16_384 } });
  }
  const chunked = await new Promise<number>((resolve, reject) => {
    const headers = { ...key, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const sending = request(`${world.origin}${PATH}`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.on('error', reject);
    for (let n = 0; n < 20; n++) sending.write('x'.repeat(1_000));
    sending.end();
  });
  t.equal(chunked, 413, 'of a body without a length too');
  t.equal((await world.post(PATH, BODY, key)).status, 200);
  t.equal(world.heartbeats.taken.length, 2);
});

t.test('it cuts off a client that sends without an end', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { authorization } = world.makeKey();
  const received = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(world.port, '127.0.0.1', () => {
      socket.write(
        `POST ${PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const send = () => {
        if (!socket.destroyed) socket.write(chunk, send);
      };
      send();
    });
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => {
      text += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
  t.match(received, /^(HTTP\/1\.1 413 |$)/);
  t.equal(world.heartbeats.taken.length, 0);
});

t.test('it takes JSON alone', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey();
  const post = (type: string, more = {}) => world.post(PATH, BODY, { ...key, 'content-type': type, ...more });
  for (const type of ['application/json', 'Application/JSON ; charset=UTF-8'])
    t.equal((await post(type)).status, 200, type);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ' '])
    t.match(await post(type), { status: 415, json: { code: 'unsupported_media_type' } }, type);
  t.match(await post('application/json', { 'content-encoding': 'gzip' }), { status: 415 });
  t.equal((await post('text/plain', { authorization: 'Bearer x' })).status, 401, 'the key comes first');
});

t.test('it asks for a valid key', async (t) => {
  const world = await startApi({ anonymousPerMinute: 15 });
  t.teardown(world.close);
  const keys: readonly [string, Record<string, string>][] = [
    ['none', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['not a key', { authorization: 'Bearer x' }],
    ['unknown', { authorization: `Bearer upb_${'0'.repeat(38)}` }],
    ['expired', world.makeKey({ expiresAt: NOW - 1 })],
    ['revoked', world.makeKey({ revokedAt: NOW - 1 })],
  ];
  for (const [what, headers] of keys) {
    const answer = await world.post(PATH, '{', { ...headers, ...from('203.0.113.9') });
    t.match(answer, { status: 401, json: { code: 'invalid_key' } }, what);
    t.equal(answer.headers.get('www-authenticate'), 'Bearer', what);
    t.equal(answer.headers.get('x-ratelimit-limit'), '15', `${what} counts against the address`);
  }
  for (let n = keys.length; n < 15; n++) await world.post(PATH, BODY, from('203.0.113.9'));
  t.equal((await world.post(PATH, BODY, from('203.0.113.9'))).status, 429);
  const valid = { ...world.makeKey(), ...from('203.0.113.9') };
  t.equal((await world.post(PATH, BODY, valid)).status, 200, 'an exhausted address never blocks a valid key');
});

t.test('it lets exactly sixty of two hundred concurrent heartbeats of a key through', async (t) => {
  const world = await startApi({ authenticatedPerMinute: 60 });
  t.teardown(world.close);
  const key = world.makeKey();
  const answers = await Promise.all(Array.from({ length: 200 }, () => world.post(PATH, BODY, key)));
  t.equal(answers.filter(({ status }) => status === 200).length, 60);
  t.equal(answers.filter(({ status }) => status === 429).length, 140);
  t.equal(world.heartbeats.taken.length, 60);
  const refused = await world.post(PATH, 'x'.repeat(20_000), { ...key, 'content-type': 'text/plain' });
  t.match(
    refused,
    { status: 429, json: { code: 'rate_limited' } },
    'before anything of the body is looked at',
  );
  t.equal(refused.headers.get('retry-after'), '60');
});

t.test('it is posted to, and nothing else, from no other origin', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey();
  for (const path of [PATH, `${PATH}/start`, `${PATH}/fail`]) {
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      for (const headers of [{}, key]) {
        const answer = await world.get(path, headers, method);
        t.equal(answer.status, 405, `${method} ${path}`);
        t.equal(answer.headers.get('allow'), 'POST, OPTIONS');
        t.equal(answer.headers.get('access-control-allow-origin'), null);
      }
    }
    const preflight = await world.get(
      path,
      { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      'OPTIONS',
    );
    t.strictSame(
      [
        preflight.status,
        preflight.headers.get('allow'),
        preflight.headers.get('access-control-allow-origin'),
      ],
      [204, 'POST, OPTIONS', null],
    );
    const posted = await world.post(path, BODY, { ...key, origin: 'https://evil.example' });
    t.equal(posted.headers.get('access-control-allow-origin'), null);
  }
});

t.test('it refuses the domains of others with 403', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey();
  const cases = [
    ['foreign_domain', 'forbidden_domain'],
    ['catalogue_domain', 'forbidden_domain'],
    ['account_limit', 'domain_limit'],
  ] as const;
  for (const [fault, code] of cases) {
    world.faults.heartbeats = coded(fault);
    const answer = await world.post(PATH, BODY, key);
    t.match(answer, { status: 403, json: { code, status: 403, detail: `a sentence about ${fault}` } }, fault);
  }
  t.equal(world.heartbeats.refusals, 0);
});

t.test('it tells the record where it refuses by a fault of ours', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const key = world.makeKey();
  world.faults.heartbeats = new HeartbeatRefused('not now');
  const away = await world.post(PATH, BODY, key);
  t.match(away, { status: 503, json: { code: 'unavailable' } });
  t.equal(away.headers.get('retry-after'), '5');
  t.equal(world.heartbeats.refusals, 1);
  world.faults.heartbeats = coded('registry_full');
  const broken = await world.post(PATH, BODY, key);
  t.match(broken, { status: 500, json: { code: 'internal_error' } });
  t.notMatch(broken.text, /registry/, 'and keeps the inside to itself');
  t.equal(world.heartbeats.refusals, 2);
  world.faults.heartbeats = null;
  world.faults.keys = true;
  t.equal((await world.post(PATH, BODY, world.makeKey())).status, 500);
  t.equal(world.heartbeats.refusals, 3, 'also where the key could not be looked up');
});

t.test('it forgets a client that leaves while it sends', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { authorization } = world.makeKey();
  await new Promise<void>((resolve) => {
    const socket = connect(world.port, '127.0.0.1', () => {
      const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n`;
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`, () => {
        setTimeout(() => socket.destroy(), 20);
      });
    });
    socket.on('close', () => resolve());
  });
  while (world.connections() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.same([world.heartbeats.taken, world.heartbeats.refusals], [[], 0]);
});

t.test('it documents the endpoints, their bodies and the limits in force', async (t) => {
  const world = await startApi({ anonymousPerMinute: 33, authenticatedPerMinute: 44 });
  t.teardown(world.close);
  const read = async () => (await world.get('/api/v1/openapi.json')).json;
  const document = await read();
  t.match(
    at(document, 'info', 'description'),
    /from 33 requests a minute for each address to 44 requests a minute for each key/,
  );
  const ajv = new Ajv({ strict: false, formats: { 'date-time': true } });
  const post = at(document, 'paths', PATH, 'post');
  const components = at(document, 'components');
  const content = at(post, 'requestBody', 'content', 'application/json');
  const example = objectAt(content, 'example');
  const schema = { ...objectAt(content, 'schema'), components };
  t.ok(ajv.validate(schema, example), JSON.stringify(ajv.errors));
  t.notOk(ajv.validate(schema, { ...example, status: 'fine' }));
  t.match(
    at(post, 'description'),
    /At most 44 a minute for each key.*at most 100 for each account.*After 10m/,
  );
  const answer = await world.post(PATH, { ...example, run: 'r' }, world.makeKey());
  const answered = {
    ...objectAt(post, 'responses', '200', 'content', 'application/json', 'schema'),
    components,
  };
  t.ok(ajv.validate(answered, answer.json), JSON.stringify(ajv.errors));
  for (const status of [400, 401, 403, 413, 415, 429, 500, 503])
    t.ok(at(post, 'responses', String(status)), `${status}`);

  const page = (await world.get('/docs')).text;
  t.match(
    page,
    /POST \/api\/v1\/heartbeat<[\s\S]*curl -X POST[\s\S]*33 requests|33 requests[\s\S]*curl -X POST/,
  );
  world.api.setLimits({ anonymousPerMinute: 5, authenticatedPerMinute: 6, changesPerAccount: 7 });
  t.match(
    at(await read(), 'info', 'description'),
    /from 5 requests a minute for each address to 6 requests a minute for each key/,
  );
  t.match(
    (await world.get('/docs')).text,
    /5 requests a minute for each address without a key, 6 for each key/,
  );
});

t.test('it shows the dependencies of a service where its owner has made them public', async (t) => {
  const services = [
    service(1, 'open', { publicDependencies: true }),
    service(2, 'closed', { origin: 'owner', accountId: 1 }),
    service(3, 'public'),
  ];
  const world = await startApi({ services });
  t.teardown(world.close);
  const path = (slug: string) => `/api/v1/services/${slug}/dependencies`;
  t.strictSame((await world.get(path('open'))).json, {
    service: { name: 'OPEN', slug: 'open' },
    reported_at: null,
    dependencies: [],
    changes: [],
  });
  await world.report(1, NOW - 3_000, [{ name: 'old', status: 'up', latencyMs: 1 }]);
  await world.report(1, NOW - 2_000, []);
  await world.report(1, NOW - 1_000, [{ name: '<db>', status: 'down', latencyMs: null }]);
  await world.report(1, NOW, [{ name: '<db>', status: 'down', latencyMs: null }]);
  t.strictSame((await world.get(`${path('OPEN')}?limit=1`)).json, {
    service: { name: 'OPEN', slug: 'open' },
    reported_at: AT,
    dependencies: [{ name: '<db>', status: 'down', latency: null, since: '2026-11-20T09:59:59.000Z' }],
    changes: [{ name: '<db>', status: 'down', at: '2026-11-20T09:59:59.000Z' }],
  });
  const refused = [await world.get(path('closed')), await world.get(path('public'))];
  t.match(refused, [
    {
      status: 403,
      json: {
        code: 'dependencies_private',
        detail: 'The owner of closed has not made its dependencies public.',
      },
    },
    {
      status: 403,
      json: {
        code: 'dependencies_private',
        detail: 'public is a service of the public catalogue, which sends no heartbeats with dependencies.',
      },
    },
  ]);
  t.match(await world.get(path('nobody')), { status: 404, json: { code: 'service_not_found' } });
  t.match(await world.get(`${path('open')}?limit=0`), { status: 400 });
});

t.test('it counts what is failing over all services', async (t) => {
  const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
  const services = Array.from({ length: 14 }, (_, index) =>
    service(index + 1, `s${index}`, { check, publicDependencies: true }),
  );
  const world = await startApi({ services });
  t.teardown(world.close);
  for (const { id } of services) {
    const names = id <= 2 ? ['s3', 'Stripe'] : ['stripe'];
    await world.report(
      id,
      NOW,
      names.map((name) => ({ name, status: 'down', latencyMs: null })),
    );
  }
  const get = async (query: string) => (await world.get(`/api/v1/dependencies${query}`)).json;
  t.strictSame(await get(''), {
    dependencies: [
      { name: 'stripe', services: 14, since: AT },
      { name: 's3', services: 2, since: AT },
    ],
    total: 2,
    limit: 50,
    offset: 0,
  });
  t.match(await get('?limit=1&offset=1'), { dependencies: [{ name: 's3' }], total: 2, limit: 1, offset: 1 });
  t.match(await get('?limit=1000'), { limit: 100 });
});

t.test('it calls nothing stale before its own period has passed', async (t) => {
  const check = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: 3_600_000, graceMs: 600_000 } as const;
  const world = await startApi({ services: [service(1, 'daily', { check }), service(2, 'shop')] });
  t.teardown(world.close);
  await world.status.put([1, 2].map((id) => current(id, checked(NOW))));
  const stale = async () =>
    listAt((await world.get('/api/v1/services')).json, 'services').map((one) => at(one, 'stale'));
  await world.clock.advance(600_001);
  t.same(await stale(), [false, true]);
  await world.clock.advance(2 * 4_200_000 - 600_000);
  t.same(await stale(), [true, true]);
});

t.test('it marks what is not verified', async (t) => {
  const owned: World = await startApi({
    services: [service(1, 'own', { origin: 'owner', verified: false }), service(2, 'shop')],
  });
  t.teardown(owned.close);
  const services = listAt((await owned.get('/api/v1/services')).json, 'services');
  t.same(
    services.map((one) => [at(one, 'slug'), at(one, 'self_reported')]),
    [
      ['own', true],
      ['shop', false],
    ],
  );
});
