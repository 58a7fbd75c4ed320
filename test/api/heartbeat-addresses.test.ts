/** Heartbeat addresses (`/beat/<secret>`): cron jobs report by a plain request. */
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { hashAddressSecret } from '../../src/domain/heartbeat/heartbeat-rules.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import type { Log } from '../../src/log.ts';
import { HeartbeatRefused } from '../../src/record/observation.ts';
import { from, NOW, service, startApi } from '../site/site-world.ts';

const SECRET = 'q8mOGyrv6Jc0vTGTUlZ5Yg';
const check = { ...DEFAULT_CHECK, kind: 'heartbeat', addressHash: hashAddressSecret(SECRET) } as const;
const JOB = service(1, 'job', { check, origin: 'owner', accountId: 7, domain: 'job.example.com' });

async function start(t: Test) {
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(JSON.stringify([fields, message]));
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const world = await startApi({ services: [JOB, service(2, 'shop')], log });
  t.teardown(world.close);
  const send = (path: string, init: RequestInit = {}) => fetch(`${world.origin}/beat/${path}`, init);
  return { world, send, logged: () => lines.join('\n') };
}

t.test('it takes each signal by GET, HEAD, POST and PUT', async (t) => {
  const { world, send } = await start(t);
  const answer = await send(SECRET);
  t.equal(answer.status, 200);
  t.equal(await answer.text(), 'OK\n');
  t.match(Object.fromEntries(answer.headers), {
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
    link: '<https://upbeat.test/api/v1/status/job>; rel="status"',
  });
  for (const [path, method] of [
    ['', 'HEAD'],
    ['', 'POST'],
    ['/0', 'GET'],
    ['/start?run=nightly-7', 'GET'],
    ['/fail?rid=nightly-7', 'POST'],
    ['/255', 'GET'],
    ['/-1', 'GET'],
    ['/3221225786', 'PUT'],
  ] as const)
    t.equal((await send(`${SECRET}${path}`, { method })).status, 200, `${method} ${path}`);
  const beat = { kind: 'beat', domain: 'job.example.com', word: 'up', reported: 'ok', run: null };
  t.match(
    world.heartbeats.taken.map(({ report }) => report),
    [
      ...[beat, beat, beat, beat],
      { kind: 'start', word: null, run: 'nightly-7' },
      { kind: 'fail', word: 'down', run: 'nightly-7', exitCode: undefined },
      { kind: 'fail', word: 'down', run: null, exitCode: 255 },
      { kind: 'fail', word: 'down', run: null, exitCode: -1 },
      { kind: 'fail', word: 'down', run: null, exitCode: 3_221_225_786 },
    ],
  );
  t.match(world.heartbeats.taken[0], { accountId: 7, arrivedAt: NOW });
});

t.test('it keeps the body of a POST as a log', async (t) => {
  const { world, send } = await start(t);
  const post = (path: string, body: string | Uint8Array<ArrayBuffer>) => send(path, { method: 'POST', body });
  t.equal((await post(`${SECRET}/fail`, 'no space left\n')).status, 200);
  t.same(JSON.parse(world.heartbeats.taken[0]?.body ?? ''), {
    domain: 'job.example.com',
    service_id: 1,
    log: 'no space left',
  });
  t.equal((await post(`${SECRET}/log?run=r1`, new Uint8Array([0x61, 0, 0xff, 0x62]))).status, 200);
  t.equal((await post(`${SECRET}/log?run=r2`, Buffer.from('\uFEFFzweite Öffnung', 'utf16le'))).status, 200);
  t.equal((await post(`${SECRET}/log`, 'x'.repeat(20_000))).status, 200);
  t.equal((await post(`${SECRET}/log`, ' ')).status, 200, 'an empty log is nothing to keep');
  t.same(await world.registry.heartbeatLogs(1), [
    { at: NOW, run: null, text: `${'x'.repeat(9_994)}\n[cut]` },
    { at: NOW, run: 'r2', text: 'zweite Öffnung' },
    { at: NOW, run: 'r1', text: 'a\uFFFD\uFFFDb' },
  ]);
  t.equal(world.heartbeats.taken.length, 1, 'a log is no heartbeat');
});

t.test('it counts what the path reports, whatever the body is', async (t) => {
  const { world, send } = await start(t);
  const post = (
    path: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    headers: Record<string, string> = {},
  ) => send(`${SECRET}/${path}`, { method: 'POST', body, headers });
  const longLog = `${'e'.repeat(9_994)}\n[cut]`;
  t.equal(await (await post('fail', 'e'.repeat(90_000))).text(), 'OK\n');
  t.equal((await post('3', 'e'.repeat(3_000_000))).status, 200);
  t.equal(
    (await post('4', new Uint8Array([0xff, 0xfe]), { 'content-type': 'application/json' })).status,
    200,
  );
  t.equal((await post('5', 'x', { 'content-encoding': 'br', 'content-type': 'nonsense' })).status, 200);
  t.equal((await post('6?run=a&run=b&rid=', null)).status, 200);
  t.equal((await post(`7?run=${'x'.repeat(65)}&status=up&ping=1`, null)).status, 200);
  t.match(
    world.heartbeats.taken.map(({ report: { exitCode, run }, body }) => [
      exitCode,
      run,
      JSON.parse(body).log,
    ]),
    [
      [undefined, null, longLog],
      [3, null, longLog],
      [4, null, '\uFFFD\uFFFD'],
      [5, null, 'x'],
      [6, 'a', undefined],
      [7, null, undefined],
    ],
  );
});

t.test(
  'it counts a failure whose client never ends its log, or leaves, and answers while it sends',
  async (t) => {
    const { world } = await start(t);
    const { hostname, port } = new URL(world.origin);
    const head = (path: string, more: string) =>
      `POST /beat/${SECRET}/${path} HTTP/1.1\r\nHost: ${hostname}\r\n${more}\r\n\r\n`;
    const endless = connect(Number(port), hostname);
    endless.write(head('fail', 'Transfer-Encoding: chunked'));
    const chunk = `10000\r\n${'e'.repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 4; sent++) endless.write(chunk);
    let answer = '';
    for await (const data of endless) {
      answer += data;
      if (answer.includes('\r\n\r\nOK\n')) break;
    }
    t.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    t.match(answer, /\r\nConnection: close\r\n/i, 'which makes curl stop');
    const leaving = connect(Number(port), hostname);
    leaving.write(`${head('9', 'Content-Length: 1000')}the disk is fu`, () => leaving.destroy());
    while (world.heartbeats.taken.length < 2) await setImmediate();
    t.match(
      world.heartbeats.taken.map(({ report: { exitCode }, body }) => [exitCode, JSON.parse(body).log]),
      [
        [undefined, /^e{9994}\n\[cut\]$/],
        [9, 'the disk is fu\n[cut]'],
      ],
    );
  },
);

t.test('it understands the parameters of Uptime Kuma', async (t) => {
  const { world, send } = await start(t);
  for (const query of [
    'status=up&msg=OK&ping=',
    'status=&msg=&ping=12.6',
    'status=down&msg=No%20space%00&ping=abc',
    'status=DEGRADED&ping=-1',
    'ping=1e9&rid=7',
  ])
    t.equal((await send(`${SECRET}?${query}`)).status, 200, query);
  t.equal((await send(`${SECRET}/3?status=up&msg=why`)).status, 200, 'the exit code says that it failed');
  const plain = { log: undefined, pingMs: undefined };
  t.match(
    world.heartbeats.taken.map(({ report: { word, run, pingMs }, body }) => ({
      word,
      run,
      pingMs,
      log: JSON.parse(body).log,
    })),
    [
      { ...plain, word: 'up', log: 'OK' },
      { ...plain, word: 'up', pingMs: 13 },
      { ...plain, word: 'down', log: 'No space\uFFFD' },
      { ...plain, word: 'slow' },
      { ...plain, word: 'up', run: '7', pingMs: 600_000 },
      { ...plain, word: 'down', log: 'why' },
    ],
  );
  for (const query of ['status=pending', 'status=1', 'status=up&status=down']) {
    const answer = await send(`${SECRET}?${query}`);
    t.match([answer.status, await answer.json()], [400, { code: 'invalid_parameter', parameter: 'status' }]);
  }
  t.equal(world.heartbeats.taken.length, 6, 'a status that is not known is not counted as up');
});

t.test('it refuses what it does not know, and says why', async (t) => {
  const { send } = await start(t);
  const refused = async (path: string, init?: RequestInit) => {
    const answer = await send(path, init);
    const { code } = (await answer.json()) as { code: string };
    return [answer.status, code];
  };
  t.same(await refused('q8mOGyrv6Jc0vTGTUlZ5Yh'), [404, 'address_not_found']);
  t.same(await refused(SECRET.toLowerCase()), [404, 'address_not_found']);
  for (const signal of ['done', '4294967296', '-2147483649', '-0', '01', '1e2', '0x1'])
    t.same(await refused(`${SECRET}/${signal}`), [404, 'route_not_found'], signal);
  t.same(await refused(SECRET, { method: 'DELETE' }), [405, 'method_not_allowed']);
  t.same(await refused(SECRET, { headers: { authorization: 'Bearer upb_wrong' } }), [401, 'invalid_key']);
});

t.test('it counts requests by service, and wrong addresses by client', async (t) => {
  const { world, send } = await start(t);
  const limit = async (path: string) => (await send(path)).headers.get('x-ratelimit-limit');
  const [known, unknown] = [await limit(SECRET), await limit('nonsense')];
  t.equal(known, (await world.get('/api/v1/services', world.makeKey())).headers.get('x-ratelimit-limit'));
  const remaining = async (path: string) => Number((await send(path)).headers.get('x-ratelimit-remaining'));
  const before = await remaining(SECRET);
  await remaining(`${SECRET}/log`);
  t.equal(await remaining(SECRET), before - 1, 'logs count apart');
  t.equal(
    unknown,
    (await world.get('/api/v1/services', from('203.0.113.9'))).headers.get('x-ratelimit-limit'),
  );
});

t.test('it tells a job to come back where nothing can be written, and logs no secret', async (t) => {
  const { world, send, logged } = await start(t);
  world.faults.heartbeats = new HeartbeatRefused('The heartbeat could not be written; send it again.');
  const away = await send(`${SECRET}/3`);
  t.match([away.status, away.headers.get('retry-after')], [503, '5']);
  t.equal(world.heartbeats.refusals, 1, 'no missed heartbeat follows from it');
  world.faults.heartbeats = new Error('a bug');
  t.equal((await send(`${SECRET}/3`)).status, 500);
  t.match(logged(), /a request failed/);
  t.notMatch(logged(), new RegExp(SECRET));
});

t.test('it takes what scripts send to Uptime Kuma at its push address, and answers as it does', async (t) => {
  const { world } = await start(t);
  const push = async (rest: string, init?: RequestInit) => {
    const answer = await fetch(`${world.origin}/api/push/${rest}`, init);
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  };
  const type = 'application/json; charset=utf-8';
  const ok = { status: 200, type, text: '{"ok":true}' };
  for (const [query, init] of [
    ['?status=up&msg=OK&ping='],
    [''],
    ['?status=&msg=&ping=12.6', { method: 'POST', body: 'anything' }],
    ['?status=down&msg=No%20space%0Aleft&ping=7'],
    ['?status=down', { method: 'PUT' }],
    ['?status=pending&msg=why', { method: 'DELETE' }],
    ['?status=up&status=down', { method: 'PATCH' }],
    ['?status=UP', { method: 'OPTIONS' }],
    ['?status=warning'],
  ] as const)
    t.same(await push(SECRET + query, init), ok, query);
  t.match(await push(SECRET, { method: 'HEAD' }), { status: 200, type, text: '' });
  const up = { word: 'up', message: undefined, pingMs: undefined };
  t.match(
    world.heartbeats.taken.map(({ report: { kind, word, message, pingMs }, body }) => {
      return { kind, word, message, pingMs, log: JSON.parse(body).log };
    }),
    [
      { ...up, kind: 'beat', log: 'OK' },
      { ...up, log: undefined },
      { ...up, pingMs: 13, log: 'anything' },
      { word: 'down', message: 'No space left', pingMs: 7, log: 'No space\nleft' },
      { word: 'down', message: undefined },
      { word: 'down', message: 'why' },
      { word: 'down' },
      up,
      { word: 'slow' },
      up,
    ],
  );
  const unknown = { status: 404, type, text: '{"ok":false,"msg":"Monitor not found or not active."}' };
  t.same(await push('nothing?status=up', { headers: { accept: 'text/html' } }), unknown);
  t.same(await push(SECRET.toLowerCase()), unknown);
  world.faults.heartbeats = new HeartbeatRefused('The heartbeat could not be written; send it again.');
  t.match(await push(SECRET), { status: 503 }, 'a fault of ours is no answer of Kuma');
  t.equal(world.heartbeats.refusals, 1);
});

t.test('it takes heartbeats of a service that is on no public host', async (t) => {
  const world = await startApi({ services: [{ ...JOB, domain: 'nightly-backup' }] });
  t.teardown(world.close);
  t.equal((await fetch(`${world.origin}/beat/${SECRET}`)).status, 200);
  t.match(world.heartbeats.taken, [{ report: { domain: 'nightly-backup' } }]);
});

t.test('it knows no push monitor that is paused', async (t) => {
  const world = await startApi({ services: [{ ...JOB, paused: true }] });
  t.teardown(world.close);
  t.equal((await fetch(`${world.origin}/api/push/${SECRET}`)).status, 404);
  t.equal(world.heartbeats.taken.length, 0);
});
