/** `http` checks against real servers on loopback: what they send, and what they expect of the response. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { type CredentialPlace, deriveChecksKey, sealCredential } from '../../src/domain/credential-seal.ts';
import type { CheckDefinition, CheckSettings } from '../../src/domain/service.ts';
import { readAssertion } from '../../src/kinds/assertions.ts';
import { type AssertedResponse, createTrial } from '../../src/kinds/judge-assertions.ts';
import { validateSettings } from '../../src/kinds/settings.ts';
import { openProbe, type TryProbe } from '../probe/try-probe.ts';
import { listenOn, listenRaw, until } from '../support/loopback.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function serve(t: Test, handle: Handler) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handle(request, response, Buffer.concat(chunks).toString()));
  });
  const loopback = await listenOn(server);
  t.teardown(loopback.close);
  return loopback;
}

const checkOf = (port: number, settings: CheckSettings) =>
  ({ kind: 'http', settings: { plain: true, port, ...settings } }) as const;

t.test('it sends what the owner chose', async (t) => {
  const probe = openProbe(t);
  const seen: unknown[] = [];
  const { port } = await serve(t, ({ method, url, headers }, response, body) => {
    seen.push([method, url, headers.accept, headers['x-one'], headers['user-agent'], body]);
    response.writeHead(201).end();
  });
  const agent = 'Upbeat/1.2.3 (+https://status.example)';
  const post = {
    method: 'POST',
    path: '/in?a=1',
    headers: ['Accept: text/plain', 'X-One: 1'],
    body: 'grüße',
  };
  t.match(await probe(null, { check: checkOf(port, post) }), {
    answered: true,
    statusCode: 201,
    failure: null,
    via: 'http',
  });
  t.match(await probe(null, { check: checkOf(port, {}), number: 2 }), { failure: null });
  t.same(seen, [
    ['POST', '/in?a=1', 'text/plain', '1', agent, 'grüße'],
    ['GET', '/', '*/*', undefined, agent, ''],
  ]);
});

t.test('it judges the status by what is expected, and reads no body without need', async (t) => {
  const probe = openProbe(t);
  const { port, open } = await serve(t, ({ url = '' }, response) => {
    response.writeHead(Number(url.slice(1)), { 'content-length': '1000000' });
    response.write('x');
  });
  const rows: readonly (readonly [number, readonly ['2xx', 401] | null, boolean])[] = [
    [200, null, true],
    [302, null, false],
    [401, null, false],
    [401, ['2xx', 401], true],
    [503, ['2xx', 401], false],
    [429, null, true],
  ];
  for (const [status, accept, good] of rows) {
    const attempt = await probe(null, { check: { ...checkOf(port, { path: `/${status}` }), accept } });
    t.match(attempt, { statusCode: status, blocked: status === 429 });
    t.equal(attempt.failure?.class ?? null, good ? null : 'status', `${status} ${accept}`);
  }
  for (const [status, accept, assertions, failureClass] of [
    [404, null, ['status is 404'], null],
    [200, null, ['status is 404'], 'status'],
    [404, ['2xx'], ['status is 404'], 'status'],
    [503, null, ['status is not 404'], 'status'],
  ] as const) {
    const settings = { path: `/${status}`, assertions: [...assertions] };
    const attempt = await probe(null, { check: { ...checkOf(port, settings), accept } });
    t.equal(attempt.failure?.class ?? null, failureClass, `${status} ${accept} ${assertions}`);
  }
  await until(() => open() === 0);
});

const RESPONSE: AssertedResponse = {
  statusCode: 200,
  responseTimeMs: 120,
  headers: { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] },
  body: {
    kind: 'text',
    text: '{"status":"ok","n":7,"list":[{"up":true},{"up":false}],"none":null}',
    whole: true,
  },
};

function holds(line: string, response: AssertedResponse): boolean {
  const assertion = readAssertion(line);
  return assertion !== null && createTrial(response)(assertion) === 'holds';
}

t.test('assertions hold for what the response has', async (t) => {
  const rows: readonly (readonly [line: string, expected: boolean])[] = [
    ['status is 200', true],
    ['status is not 204', true],
    ['status below 200', false],
    ['time below 121', true],
    ['time below 120', false],
    ['header content-type is application/json', true],
    ['header Content-Type matches ^text/', false],
    ['header set-cookie contains b=', true],
    ['header x-powered-by exists', false],
    ['header x-powered-by lacks php', true],
    ['body contains "ok"', true],
    ['body lacks error', true],
    ['body lacks ok', false],
    ['body matches "n":\\d+,', true],
    ['body matches ^\\[', false],
    ['json $.status is ok', true],
    ['json $.status is not ok', false],
    ['json $.n above 6', true],
    ['json $.n above 7', false],
    ['json $.list[*].up is false', true],
    ['json $.list[1].up is true', false],
    ['json $.none exists', true],
    ['json $.nothing exists', false],
    ['json $.nothing missing', true],
    ['json $.none missing', true],
    ['header x-powered-by missing', true],
    ["json $['status'] contains o", true],
  ];
  for (const [line, expected] of rows) {
    t.equal(holds(line, RESPONSE), expected, line);
  }
});

t.test('it refuses settings that say nothing, or that could take long', async (t) => {
  const wrong = [
    ...[
      '',
      'body',
      'body is',
      'body below 3',
      'status contains 2',
      'status is ok',
      'time above',
      'cookie is 1',
    ],
    ...['body matches (', 'body matches (?=x)', `body matches ${'(ab){50}'.repeat(20)}`, 'header a b exists'],
    ...[
      'json x is 1',
      'json $..a is 1',
      'json $[?@.a] exists',
      'json $.a exists 1',
      'body exists',
      'body missing',
    ],
  ];
  for (const line of wrong) t.equal(readAssertion(line), null, line);
  const refused: readonly (readonly [CheckSettings, setting: string, code: string])[] = [
    [{ path: 'x' }, 'path', 'format'],
    [{ path: '/ü' }, 'path', 'format'],
    [{ headers: ['Authorization: Bearer x'] }, 'headers', 'format'],
    [{ headers: ['Host: a'] }, 'headers', 'format'],
    [{ headers: ['A: b\r\nC: d'] }, 'headers', 'format'],
    [{ headers: Array.from({ length: 21 }, () => 'A: b') }, 'headers', 'limit'],
    [{ method: 'TRACE' }, 'method', 'choice'],
    [{ body: 'x' }, 'body', 'choice'],
    [{ method: 'PUT', body: 'x'.repeat(16_385) }, 'body', 'limit'],
    [{ assertions: Array.from({ length: 11 }, () => 'status is 200') }, 'assertions', 'limit'],
    [{ assertions: ['body matches ('] }, 'assertions', 'assertion'],
    [{ method: 'HEAD', assertions: ['status is 200', 'body contains a'] }, 'assertions', 'not_with'],
    [{ method: 'HEAD', assertions: ['json $.a exists'] }, 'assertions', 'not_with'],
    [{ username: 'a:b' }, 'username', 'format'],
    [{ username: 'a', password: 'b\nc' }, 'password', 'format'],
    [{ password: 'b' }, 'username', 'missing'],
    [{ token: 'a b' }, 'token', 'format'],
    [{ token: 'a', username: 'b' }, 'token', 'not_with'],
    [{ secretHeaders: ['Host: a'] }, 'secretHeaders', 'format'],
    [{ secretHeaders: ['X-Key: a\r\nHost: b'] }, 'secretHeaders', 'format'],
  ];
  for (const [settings, setting, code] of refused) {
    const reading = validateSettings('http', settings);
    t.match(
      reading,
      { ok: false, wrong: [{ setting, problem: { code } }] },
      JSON.stringify(settings).slice(0, 60),
    );
  }
});

t.test('what a check sends, and headers that name a credential, are credentials', async (t) => {
  const plain = 'Accept: text/html';
  t.strictSame(validateSettings('http', { method: 'POST', body: 'a', headers: [plain, 'X-Api-Key: k'] }), {
    ok: true,
    settings: { method: 'POST', headers: [plain] },
    secrets: { body: 'a', secretHeaders: ['X-Api-Key: k'] },
  });
  t.strictSame(validateSettings('http', { headers: ['X-Token: t'], secretHeaders: ['A: b'] }), {
    ok: true,
    settings: undefined,
    secrets: { secretHeaders: ['A: b', 'X-Token: t'] },
  });
  t.strictSame(validateSettings('http', { headers: [plain] }, ['secretHeaders']), {
    ok: true,
    settings: { headers: [plain] },
  });
  const list = (length: number) => Array.from({ length }, (_, index) => `X-Key-${index}: k`);
  t.match(validateSettings('http', { headers: list(11), secretHeaders: list(10) }), {
    wrong: [{ setting: 'secretHeaders', problem: { code: 'limit' } }],
  });
  t.match(
    validateSettings('http', { headers: [plain, 'X-Api-Key: k'] }, ['secretHeaders']),
    { wrong: [{ setting: 'headers', problem: { code: 'format', example: /secretHeaders/ } }] },
    'those that are stored cannot be added to',
  );
  t.match(validateSettings('http', { method: 'GET' }, ['body']), { wrong: [{ setting: 'body' }] });
  t.strictSame(validateSettings('websocket', { send: 'x' }), {
    ok: true,
    settings: undefined,
    secrets: { send: 'x' },
  });
});

t.test('an expression takes linear time', async (t) => {
  const before = process.cpuUsage();
  const body = { kind: 'text', text: 'x'.repeat(262_144), whole: true } as const;
  t.equal(holds('body matches (x+x+)+y', { ...RESPONSE, body }), false);
  t.ok(process.cpuUsage(before).user < 5_000_000, 'a backtracking engine would not end');
});

t.test('a failed assertion is named, and a long body is read to its bound', async (t) => {
  const probe = openProbe(t);
  const { port, open } = await serve(t, ({ url }, response) => {
    if (url === '/endless') {
      response.on('close', () => clearInterval(timer));
      const timer = setInterval(() => response.write('x'.repeat(50_000)), 1);
    } else response.end('{"status":"failing"}');
  });
  const attempt = (path: string, ...assertions: string[]) =>
    probe(null, { check: checkOf(port, { path, assertions }) });
  t.match(await attempt('/', 'status is 200', 'json $.status is ok'), {
    statusCode: 200,
    failure: { class: 'content', phase: 'body', detail: 'expected: json $.status is ok' },
  });
  t.match(await attempt('/', 'header x-a exists'), { failure: { class: 'content', phase: 'first_byte' } });
  t.match(await attempt('/endless', 'body lacks error'), { failure: null });
  t.match(await attempt('/endless', 'json $.a exists'), { failure: { class: 'content' } });
  await until(() => open() === 0);
});

t.test('it reads no body that never ends beyond its deadline', async (t) => {
  const probe = openProbe(t);
  const { port, open, close } = await listenRaw((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'));
  });
  t.teardown(close);
  const check = checkOf(port, { assertions: ['body contains y'] });
  t.match(await probe(null, { check, timeoutMs: 300 }), { failure: { class: 'timeout', phase: 'body' } });
  await until(() => open() === 0);
});

t.test('its headers go to no other origin, and a POST follows no redirect', async (t) => {
  const probe = openProbe(t);
  const seen: unknown[] = [];
  const other = await serve(t, ({ headers }, response) => {
    seen.push([headers['x-one'], headers.accept]);
    response.end();
  });
  const { port } = await serve(t, ({ url, headers }, response) => {
    seen.push([headers['x-one'], headers.accept]);
    const location = url === '/here' ? '/there' : `http://127.0.0.1:${other.port}/`;
    response.writeHead(302, { location }).end();
  });
  const headers = ['X-One: 1', 'Accept: text/html'];
  t.match(await probe(null, { check: checkOf(port, { path: '/here', headers }) }), { failure: null });
  t.same(seen, [
    ['1', 'text/html'],
    ['1', 'text/html'],
    [undefined, undefined],
  ]);
  t.match(await probe(null, { check: checkOf(port, { method: 'POST' }) }), {
    statusCode: 302,
    failure: { class: 'status' },
  });
  t.equal(other.accepted(), 1);
});

const CHECKS_KEY = deriveChecksKey(Buffer.alloc(32, 1));

/** Credentials of the check, as they are stored. */
function sealFor(port: number, secrets: CheckSettings, place: Partial<CredentialPlace> = {}) {
  const destination = `http:${port}`;
  return Object.fromEntries(
    Object.entries(secrets).map(([setting, value]) => [
      setting,
      sealCredential(
        CHECKS_KEY,
        { domain: '127.0.0.1', kind: 'http', destination, setting, ...place },
        JSON.stringify(value),
        randomBytes(12),
      ),
    ]),
  );
}

t.test('it sends credentials to their destination only', async (t) => {
  const probe = openProbe(t, { checksKey: CHECKS_KEY });
  const seen: unknown[] = [];
  const note = ({ authorization, cookie, 'x-api-key': key }: IncomingMessage['headers']) =>
    seen.push([authorization, cookie, key]);
  const other = await serve(t, ({ headers }, response) => {
    note(headers);
    response.end();
  });
  const { port } = await serve(t, ({ url, headers }, response) => {
    note(headers);
    const location = url === '/away' ? `http://127.0.0.1:${other.port}/` : '/';
    if (url === '/') response.end();
    else response.writeHead(302, { location }).end();
  });
  const attempt = (path: string, secrets: CheckSettings, settings: CheckSettings = {}) =>
    probe(null, { check: { ...checkOf(port, { path, ...settings }), sealed: sealFor(port, secrets) } });
  const basic = `Basic ${Buffer.from('ärger:pass:word').toString('base64')}`;
  const secretHeaders = ['Cookie: a=1', 'X-Api-Key: k'];
  const rows: readonly (readonly [CheckSettings, ...unknown[]])[] = [
    [{ username: 'ärger', password: 'pass:word' }, basic, undefined, undefined],
    [{ username: 'key' }, 'Basic a2V5Og==', undefined, undefined],
    [{ token: 'abc' }, 'Bearer abc', undefined, undefined],
    [{ token: 'abc', secretHeaders: ['Authorization: Own x'] }, 'Own x', undefined, undefined],
    [{ secretHeaders }, undefined, 'a=1', 'k'],
  ];
  for (const [secrets, ...expected] of rows) {
    t.match(await attempt('/there', secrets), { failure: null, statusCode: 200 });
    t.same(seen.splice(0), [expected, expected], JSON.stringify(secrets));
    t.match(await attempt('/away', secrets), { failure: null, statusCode: 200 });
    t.same(seen.splice(0), [expected, [undefined, undefined, undefined]], 'to another origin');
  }
});

t.test('credentials that cannot be read are a fault of ours, and nothing is sent', async (t) => {
  const { port, accepted } = await serve(t, (_request, response) => response.end());
  const sealed = sealFor(port, { token: 'abc' });
  const rows: readonly (readonly [string, TryProbe, Partial<CheckDefinition>])[] = [
    ['no_key', openProbe(t), { sealed }],
    ['other_key', openProbe(t, { checksKey: deriveChecksKey(Buffer.alloc(32, 2)) }), { sealed }],
    [
      'changed',
      openProbe(t, { checksKey: CHECKS_KEY }),
      { sealed: sealFor(port, { token: 'abc' }, { domain: 'b' }) },
    ],
    ['changed', openProbe(t, { checksKey: CHECKS_KEY }), { sealed, url: 'http://127.0.0.1/' }],
  ];
  for (const [problem, probe, check] of rows) {
    const attempt = await probe(null, { check: { ...checkOf(port, {}), ...check } });
    t.match(attempt, {
      answered: false,
      suspect: 'own_fault',
      failure: { cause: { code: 'credentials_unreadable', problem } },
    });
  }
  t.equal(accepted(), 0);
});

t.test('the guard judges every hop', async (t) => {
  const hostsFile = `${t.testdir({ hosts: '127.0.0.1 outside.demo.test\n127.0.0.2 inside.demo.test\n' })}/hosts`;
  const probe = openProbe(t, { hostsFile, allowPrivate: ['127.0.0.1/32'] });
  const { port } = await serve(t, (_request, response) =>
    response.writeHead(302, { location: 'http://inside.demo.test/' }).end(),
  );
  const forbidden = { failure: { class: 'forbidden_address' } };
  t.match(await probe(null, { domain: 'outside.demo.test', check: checkOf(port, {}) }), forbidden);
  t.match(await probe(null, { origin: 'owner', check: checkOf(port, {}) }), forbidden, 'of an owner');
});
