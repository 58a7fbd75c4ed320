import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { listenOn, listenRaw } from '../support/loopback.ts';

/** Serves on loopback and notes what is asked. */
async function serve(t: Test, answer: RequestListener) {
  const requests: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];
  const server = createServer((request, response) => {
    requests.push({ method: request.method, url: request.url, headers: request.headers });
    answer(request, response);
  });
  const loopback = await listenOn(server);
  t.teardown(loopback.close);
  return {
    loopback,
    requests,
    url: `http://127.0.0.1:${loopback.port}/`,
    asked: () => requests.map(({ method, url }) => `${method} ${url}`),
  };
}

t.test('it asks by HEAD, says who it is, and closes the connection', async (t) => {
  const probe = openProbe(t);
  const { url, requests, loopback } = await serve(t, (_, response) => response.writeHead(204).end());
  const before = Date.now();
  const attempt = await probe(url);
  t.ok(attempt.startedAt >= before && attempt.startedAt <= Date.now());
  const { connectMs, firstByteMs, totalMs } = attempt.timing;
  t.ok(connectMs !== null && firstByteMs !== null && totalMs !== null);
  t.ok((totalMs ?? 0) >= (connectMs ?? 0) + (firstByteMs ?? 0));
  t.same(
    // The event loop of a busy machine is late, which the attempt says.
    { ...attempt, startedAt: 0, lostMs: 0 },
    {
      startedAt: 0,
      statusCode: 204,
      responseTimeMs: Math.round(totalMs ?? 0),
      timing: { dnsMs: null, connectMs, tlsMs: null, firstByteMs, totalMs },
      failure: null,
      reported: null,
      reportedWord: null,
      blocked: false,
      via: 'root',
      certificateExpiresAt: null,
      retryAfterMs: null,
      suspect: null,
      lostMs: 0,
      answered: true,
      headUnproven: false,
      memory: { ...NO_MEMORY, headSeen: true },
    },
  );
  t.match(requests, [
    {
      method: 'HEAD',
      url: '/',
      headers: {
        host: `127.0.0.1:${loopback.port}`,
        'user-agent': 'Upbeat/1.2.3 (+https://status.example)',
        connection: 'close',
      },
    },
  ]);
  await probe(url);
  t.equal(loopback.accepted(), 2);
});

t.test('it asks by GET where HEAD is refused, and remembers it', async (t) => {
  const probe = openProbe(t);
  const refusal = { status: 405 };
  const { url, asked, requests } = await serve(t, ({ method }, response) =>
    response.writeHead(method === 'HEAD' ? refusal.status : 200).end(method === 'GET' ? 'hello' : undefined),
  );
  for (const status of [400, 401, 403, 404, 405, 410, 418, 451, 499, 500, 501, 503, 599]) {
    refusal.status = status;
    requests.length = 0;
    const attempt = await probe(url);
    t.match(
      attempt,
      { statusCode: 200, failure: null, memory: { ...NO_MEMORY, needsGet: true } },
      String(status),
    );
    t.same(asked(), ['HEAD /', 'GET /'], String(status));
  }
  requests.length = 0;
  await probe(url, { memory: { ...NO_MEMORY, needsGet: true } });
  t.same(asked(), ['GET /']);
});

t.test('it remembers GET only where GET did better', async (t) => {
  const probe = openProbe(t);
  const answers = { head: 0, get: 0 };
  const { url, asked, requests } = await serve(t, ({ method }, response) =>
    response.writeHead(method === 'HEAD' ? answers.head : answers.get).end(),
  );
  const rows: readonly (readonly [head: number, get: number, failed: boolean, needsGet: boolean])[] = [
    [503, 503, true, false],
    [503, 403, false, true],
    [403, 403, false, false],
    [403, 404, true, false],
    [404, 500, true, false],
    [404, 204, false, true],
    [429, 403, false, false],
  ];
  for (const [head, get, failed, needsGet] of rows) {
    requests.length = 0;
    Object.assign(answers, { head, get });
    const attempt = await probe(url);
    t.match(attempt, { statusCode: get, memory: { ...NO_MEMORY, needsGet, headSeen: !needsGet } }, `${head}`);
    t.equal(attempt.failure !== null, failed, `${head}, ${get}`);
    t.same(asked(), ['HEAD /', 'GET /']);
  }
});

t.test('one bad HEAD among good ones changes nothing, two in a row do', async (t) => {
  const probe = openProbe(t);
  const bad = { head: false };
  const { url, asked, requests } = await serve(t, ({ method, socket }, response) => {
    if (method === 'HEAD' && bad.head) socket.destroy();
    else response.writeHead(200).end();
  });
  let { memory } = await probe(url);
  for (const [isBad, requested] of [
    [true, ['HEAD /', 'GET /']],
    [false, ['HEAD /']],
    [true, ['HEAD /', 'GET /']],
    [true, ['HEAD /', 'GET /']],
    [true, ['GET /']],
  ] as const) {
    requests.length = 0;
    bad.head = isBad;
    const attempt = await probe(url, { memory });
    t.match(attempt, { statusCode: 200, failure: null });
    t.same(asked(), requested);
    memory = attempt.memory;
  }
});

t.test('it tries HEAD again after an hour, and returns to it where it does as well', async (t) => {
  let hours = 0;
  const monotonic = () => systemClock.monotonic() + hours * 3_600_000;
  const probe = openProbe(t, {}, { ...systemClock, monotonic });
  const answer = { head: 405 };
  const { url, asked, requests } = await serve(t, ({ method }, response) =>
    response.writeHead(method === 'HEAD' ? answer.head : 200).end(),
  );
  let memory = { ...NO_MEMORY, needsGet: true };
  for (const [passed, head, requested] of [
    [0, 405, ['GET /']],
    [0.9, 405, ['GET /']],
    [1.1, 405, ['GET /', 'HEAD /']],
    [1.2, 200, ['GET /']],
    [2.2, 200, ['GET /', 'HEAD /']],
    [2.3, 200, ['HEAD /']],
  ] as const) {
    requests.length = 0;
    hours = passed;
    answer.head = head;
    const attempt = await probe(url, { memory });
    t.match(attempt, { statusCode: 200, failure: null });
    t.same(asked(), requested, `after ${passed} hours`);
    memory = attempt.memory;
  }
  t.same(memory, { ...NO_MEMORY, headSeen: true });
  requests.length = 0;
  hours = 9;
  await probe(url, { check: { method: 'GET' }, memory: { ...NO_MEMORY, needsGet: true } });
  t.same(asked(), ['GET /'], 'not where the service chose GET');
});

t.test('it takes a status of 600 and more for reachable', async (t) => {
  const probe = openProbe(t);
  const answer = { status: '999 Request denied' };
  const { port, close } = await listenRaw((socket) => {
    socket.once('data', () => socket.end(`HTTP/1.1 ${answer.status}\r\ncontent-length: 0\r\n\r\n`));
  });
  t.teardown(close);
  const url = `http://127.0.0.1:${port}/`;
  for (const kind of ['root', 'health', 'http'] as const) {
    t.match(await probe(url, { check: { kind } }), { statusCode: 999, failure: null, blocked: true }, kind);
  }
  answer.status = '600 Odd';
  t.match(await probe(url), { statusCode: 600, failure: null, blocked: false });
  t.match(await probe(url, { check: { kind: 'health' } }), { statusCode: 600, failure: null, via: 'root' });
  t.match(await probe(url, { check: { kind: 'http' } }), { statusCode: 600, failure: { class: 'status' } });
  t.match(await probe(url, { check: { kind: 'http', accept: ['6xx'] } }), { failure: null });
});

/** Ways in which servers leave HEAD without an answer, and go on at once or let the time-out end. */
const UNANSWERED: readonly (readonly [string, (request: IncomingMessage) => void])[] = [
  ['closed', ({ socket }) => void socket.end()],
  ['reset', ({ socket }) => void socket.resetAndDestroy()],
  ['answered in the middle of a header', ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nx-half: ')],
  ['answered by an interim answer alone', ({ socket }) => void socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ['answered by what is no HTTP', ({ socket }) => void socket.end('<!doctype html>\n')],
];

for (const [how, refuse] of UNANSWERED) {
  t.test(`it asks by GET at once where HEAD is ${how}, and remembers it`, async (t) => {
    const probe = openProbe(t);
    const { url, asked } = await serve(t, (request, response) =>
      request.method === 'HEAD' ? refuse(request) : response.end('hello'),
    );
    t.match(await probe(url), { statusCode: 200, failure: null, memory: { ...NO_MEMORY, needsGet: true } });
    t.same(asked(), ['HEAD /', 'GET /']);
  });
}

t.test('it remembers a HEAD that hangs once the re-check by GET is answered', async (t) => {
  const probe = openProbe(t);
  const answers = { get: true };
  const { url, asked, requests } = await serve(t, ({ method }, response) => {
    if (method === 'GET' && answers.get) response.writeHead(200).end('hello');
  });
  const first = await probe(url, { timeoutMs: 300 });
  t.match(first, { statusCode: 0, failure: { class: 'timeout', phase: 'first_byte' }, memory: NO_MEMORY });
  const second = await probe(url, { number: 1, memory: first.memory });
  t.match(second, { statusCode: 200, failure: null, memory: { ...NO_MEMORY, needsGet: true } });
  const third = await probe(url, { memory: second.memory });
  t.match(third, { statusCode: 200, failure: null, memory: second.memory });
  t.same(asked(), ['HEAD /', 'GET /', 'GET /']);

  // Where GET is not answered either, HEAD is not the reason.
  requests.length = 0;
  answers.get = false;
  for (const number of [0, 1]) {
    t.match(await probe(url, { number, timeoutMs: 300 }), { statusCode: 0, memory: NO_MEMORY });
  }
  answers.get = true;
  t.match(await probe(url, { number: 2 }), { statusCode: 200, memory: NO_MEMORY });
  t.same(asked(), ['HEAD /', 'GET /', 'GET /']);
});

t.test('it holds HEAD for the reason of a silence only until HEAD was answered once', async (t) => {
  const probe = openProbe(t);
  const answers = { head: false };
  const { url } = await serve(t, ({ method }, response) => {
    if (method === 'HEAD' && answers.head) response.end();
  });
  t.match(await probe(url, { timeoutMs: 300 }), { statusCode: 0, headUnproven: true });
  t.match(await probe(url, { timeoutMs: 300, number: 1 }), { statusCode: 0, headUnproven: false });
  answers.head = true;
  const { memory } = await probe(url);
  t.same(memory, { ...NO_MEMORY, headSeen: true });
  answers.head = false;
  t.match(await probe(url, { timeoutMs: 300, memory }), { statusCode: 0, headUnproven: false, memory });
});

t.test('it does not hold HEAD for the reason where no connection was made', async (t) => {
  const probe = openProbe(t, { hostsFile: '/nowhere', nameservers: ['127.0.0.1:1'] });
  const { port, close } = await listenRaw(() => {});
  await close();
  const back = await serve(t, (_, response) => response.end('hello'));
  for (const url of [`http://127.0.0.1:${port}/`, 'http://nobody.example/', `https://127.0.0.1:${port}/`]) {
    t.match(await probe(url, { timeoutMs: 300 }), { statusCode: 0, memory: NO_MEMORY });
    t.match(await probe(back.url, { number: 1 }), { statusCode: 200, memory: NO_MEMORY });
  }
});

t.test('it does not count the time of a refused HEAD', async (t) => {
  const probe = openProbe(t);
  const { url } = await serve(t, ({ method }, response) => {
    if (method === 'HEAD') setTimeout(() => response.writeHead(405).end(), 1000);
    else response.writeHead(200).end();
  });
  const startedAt = performance.now();
  const attempt = await probe(url);
  t.ok(performance.now() - startedAt >= 990);
  t.ok((attempt.responseTimeMs ?? 1000) < 900, `${attempt.responseTimeMs} ms`);
});

t.test('it chooses the first method as the service says, and GET for every re-check', async (t) => {
  const probe = openProbe(t);
  const { url, asked, requests } = await serve(t, (_, response) => response.writeHead(200).end());
  const needsGet = { ...NO_MEMORY, needsGet: true };
  const rows: readonly (readonly [Trial, string])[] = [
    [{}, 'HEAD /'],
    [{ check: { method: 'GET' } }, 'GET /'],
    [{ check: { method: 'HEAD' } }, 'HEAD /'],
    [{ check: { method: 'HEAD' }, memory: needsGet }, 'HEAD /'],
    [{ memory: needsGet }, 'GET /'],
    [{ number: 1 }, 'GET /'],
    [{ number: 2, check: { method: 'HEAD' } }, 'GET /'],
  ];
  for (const [trial, request] of rows) {
    requests.length = 0;
    t.match(await probe(url, trial), { statusCode: 200, failure: null });
    t.same(asked(), [request]);
  }
});

t.test('it reads no more than the headers of an answer to GET', async (t) => {
  const probe = openProbe(t);
  const { url, loopback } = await serve(t, (_, response) => {
    response.writeHead(200);
    const pour = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', pour);
    pour();
  });
  t.match(await probe(url, { check: { method: 'GET' } }), { statusCode: 200, failure: null });
  for (let turn = 0; turn < 400 && loopback.open() > 0; turn++) await new Promise((r) => setTimeout(r, 5));
  t.equal(loopback.open(), 0);
});

t.test('it holds a rate limit and a bot wall for reachable', async (t) => {
  const probe = openProbe(t);
  const answer = { status: 429, headers: { 'retry-after': '120' } as Record<string, string> };
  const { url, asked, requests } = await serve(t, (_, response) =>
    response.writeHead(answer.status, answer.headers).end(),
  );
  t.match(await probe(url), {
    statusCode: 429,
    failure: null,
    blocked: true,
    retryAfterMs: 120_000,
    memory: { ...NO_MEMORY, headSeen: true },
  });
  t.same(asked(), ['HEAD /', 'GET /'], 'any 4xx is asked again by GET');
  answer.headers = {};
  t.match(await probe(url), { statusCode: 429, failure: null, blocked: true, retryAfterMs: null });
  answer.headers = { 'retry-after': '999999' };
  t.match(await probe(url), { retryAfterMs: 3_600_000 });
  requests.length = 0;
  Object.assign(answer, { status: 503, headers: { 'cf-mitigated': 'challenge', 'retry-after': '5' } });
  t.match(await probe(url), { statusCode: 503, failure: null, blocked: true, retryAfterMs: null });
  t.same(asked(), ['HEAD /', 'GET /']);
});

t.test('it takes the word of GET where a limit or a bot wall is for HEAD alone', async (t) => {
  const probe = openProbe(t);
  for (const [status, headers] of [
    [429, { 'retry-after': '120' }],
    [403, { 'cf-mitigated': 'challenge' }],
  ] as const) {
    const { url, asked } = await serve(t, ({ method }, response) =>
      (method === 'HEAD' ? response.writeHead(status, headers) : response.writeHead(204)).end(),
    );
    t.match(await probe(url), {
      statusCode: 204,
      failure: null,
      blocked: false,
      retryAfterMs: null,
      memory: { needsGet: true },
    });
    t.same(asked(), ['HEAD /', 'GET /']);
  }
});

t.test('it follows five redirects and counts their time, and fails at the sixth', async (t) => {
  const probe = openProbe(t);
  const { url, asked, requests } = await serve(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left > 0) setTimeout(() => response.writeHead(302, { location: `/${left - 1}` }).end(), 20);
    else response.writeHead(200).end();
  });
  const five = await probe(`${url}5`);
  t.match(five, { statusCode: 200, failure: null });
  t.ok((five.responseTimeMs ?? 0) >= 90, `${five.responseTimeMs} ms`);
  t.same(asked(), ['HEAD /5', 'HEAD /4', 'HEAD /3', 'HEAD /2', 'HEAD /1', 'HEAD /0']);
  requests.length = 0;
  t.match(await probe(`${url}6`), {
    statusCode: 302,
    failure: { class: 'protocol', phase: 'first_byte', detail: 'more than 5 redirects' },
  });
  t.equal(requests.length, 6);
  requests.length = 0;
  t.match(await probe(`${url}6`, { check: { method: 'GET' } }), {
    statusCode: 302,
    failure: { class: 'protocol' },
  });
  t.equal(requests.length, 6);
});

t.test('it follows each kind of redirect and leaves a 3xx without a target as it is', async (t) => {
  const probe = openProbe(t);
  const { url, asked, requests } = await serve(t, (request, response) => {
    const status = Number(request.url?.slice(1));
    if (Number.isNaN(status)) response.writeHead(200).end();
    else response.writeHead(status, status === 399 ? {} : { location: '/end' }).end();
  });
  for (const status of [301, 302, 303, 307, 308]) {
    requests.length = 0;
    t.match(await probe(`${url}${status}`), { statusCode: 200, failure: null });
    t.same(asked(), [`HEAD /${status}`, 'HEAD /end']);
  }
  for (const status of [300, 304, 305, 399]) {
    t.match(await probe(`${url}${status}`), { statusCode: status, failure: null });
  }
});

t.test('it fails at a redirect to what is no address of the web', async (t) => {
  const probe = openProbe(t);
  const headers = { location: '' };
  const { url } = await serve(t, (_, response) => response.writeHead(302, headers).end());
  for (const [location, detail] of [
    ['ftp://127.0.0.1/', 'redirected to an address with the scheme ftp:'],
    ['javascript:alert(1)', 'redirected to an address with the scheme javascript:'],
    ['http://[', 'redirected to an address that cannot be read'],
  ] as const) {
    headers.location = location;
    t.match(await probe(url), {
      statusCode: 302,
      failure: { class: 'protocol', phase: 'first_byte', detail },
    });
  }
});

t.test('it allows accept to say which answers are good', async (t) => {
  const probe = openProbe(t);
  const { url } = await serve(t, (request, response) =>
    response.writeHead(Number(request.url?.slice(1))).end(),
  );
  const check = { accept: ['2xx', '3xx', 401] as const };
  t.match(await probe(`${url}401`, { check }), { statusCode: 401, failure: null });
  t.match(await probe(`${url}403`, { check }), { statusCode: 403, failure: { class: 'status' } });
  t.match(await probe(`${url}403`), { statusCode: 403, failure: null });
  t.match(await probe(`${url}404`, { check: { accept: [404] } }), { statusCode: 404, failure: null });
  t.match(await probe(`${url}204`, { check: { accept: [404] } }), { failure: { class: 'status' } });
});
