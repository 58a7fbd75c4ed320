import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { listenOn } from '../support/loopback.ts';

const HOUR_MS = 3_600_000;
const HEALTH: Trial = { check: { kind: 'health' } };
const SEEN = { needsGet: false, headSeen: false, healthSeen: true, askHealthAt: null };

/** Serves `/api/health` by `health` and answers 200 to everything else. */
async function serve(t: Test, health: RequestListener) {
  const asked: string[] = [];
  const codings: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.url !== '/api/health') response.writeHead(200).end();
    else {
      codings.push(request.headers['accept-encoding'] as string | undefined);
      health(request, response);
    }
  });
  const loopback = await listenOn(server);
  t.teardown(loopback.close);
  return { asked, codings, url: `http://127.0.0.1:${loopback.port}/api/health` };
}

t.test('it asks the health endpoint and remembers that there is one', async (t) => {
  const probe = openProbe(t);
  const { url, asked, codings } = await serve(t, (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"OK"}'),
  );
  t.match(await probe(url, HEALTH), {
    statusCode: 200,
    failure: null,
    reported: null,
    reportedWord: 'OK',
    via: 'health',
    memory: SEEN,
  });
  t.same(asked, ['GET /api/health']);
  t.same(codings, ['identity']);
});

t.test('it reports what the body says', async (t) => {
  const probe = openProbe(t);
  let body = '';
  const { url } = await serve(t, (_, response) => response.end(body));
  body = '{"status":"degraded"}';
  t.match(await probe(url, HEALTH), {
    failure: null,
    reported: 'slow',
    reportedWord: 'degraded',
    memory: SEEN,
  });
  body = '{"status":"Outage"}';
  t.match(await probe(url, HEALTH), {
    statusCode: 200,
    failure: { class: 'body', phase: 'body', detail: 'the service reports "Outage"' },
    reported: 'down',
    memory: SEEN,
  });
  body = '{"status":"on fire"}';
  t.match(await probe(url, HEALTH), {
    failure: { class: 'body', detail: 'the service reports an unknown status "on fire"' },
    reported: 'down',
  });
});

t.test('it falls back to the root in the same check, says so, and asks again after an hour', async (t) => {
  const probe = openProbe(t);
  const answer = { status: 404, body: '' };
  const { url, asked } = await serve(t, (_, response) => response.writeHead(answer.status).end(answer.body));
  for (const [status, body] of [
    [404, ''],
    [405, ''],
    [410, ''],
    [501, ''],
    [200, '<!doctype html><title>App</title>'],
    [200, `<!doctype html>${'x'.repeat(100_000)}`],
    [204, ''],
  ] as const) {
    Object.assign(answer, { status, body });
    asked.length = 0;
    const before = Date.now();
    const attempt = await probe(url, HEALTH);
    t.match(attempt, { statusCode: 200, failure: null, via: 'root', memory: { healthSeen: false } });
    const { askHealthAt } = attempt.memory;
    t.ok(askHealthAt !== null && askHealthAt >= before + HOUR_MS && askHealthAt <= Date.now() + HOUR_MS);
    t.same(asked, ['GET /api/health', 'HEAD /']);
  }
  asked.length = 0;
  const waiting = { ...NO_MEMORY, askHealthAt: Date.now() + 60_000 };
  t.match(await probe(url, { ...HEALTH, memory: waiting }), {
    via: 'root',
    memory: { ...waiting, headSeen: true },
  });
  t.same(asked, ['HEAD /']);
  asked.length = 0;
  await probe(url, { ...HEALTH, memory: { ...NO_MEMORY, askHealthAt: Date.now() - 1 } });
  t.same(asked, ['GET /api/health', 'HEAD /']);
  asked.length = 0;
  await probe(url, { ...HEALTH, number: 1 });
  t.same(asked, ['GET /api/health', 'GET /']);
});

t.test('it does not count the time of the missing endpoint', async (t) => {
  const probe = openProbe(t);
  const { url } = await serve(t, (_, response) => setTimeout(() => response.writeHead(404).end(), 1000));
  const attempt = await probe(url, HEALTH);
  t.ok((attempt.responseTimeMs ?? 1000) < 900, `${attempt.responseTimeMs} ms`);
});

t.test('it fails where a health body was seen before and is there no more', async (t) => {
  const probe = openProbe(t);
  const answer = { status: 404, body: '' };
  const { url, asked } = await serve(t, (_, response) => response.writeHead(answer.status).end(answer.body));
  const seen = { ...HEALTH, memory: SEEN };
  for (const status of [404, 405, 410, 501]) {
    answer.status = status;
    t.match(await probe(url, seen), {
      statusCode: status,
      failure: { class: 'status', detail: `answered with status ${status}` },
      via: 'health',
      memory: SEEN,
    });
  }
  Object.assign(answer, { status: 200, body: '<html>' });
  t.match(await probe(url, seen), { statusCode: 200, failure: { class: 'body' }, via: 'health' });
  t.notOk(asked.includes('HEAD /'));
});

t.test('it fails at every other error, with or without a body seen before', async (t) => {
  const probe = openProbe(t);
  let status = 0;
  const { url } = await serve(t, (_, response) => response.writeHead(status).end('{"status":"ok"}'));
  for (status of [400, 401, 403, 418, 500, 502, 503]) {
    t.match(await probe(url, HEALTH), { statusCode: status, failure: { class: 'status' }, via: 'health' });
  }
});

t.test('it holds a rate limit and a bot wall for reachable', async (t) => {
  const probe = openProbe(t);
  let headers: Record<string, string> = { 'retry-after': '60' };
  let status = 429;
  const { url, asked } = await serve(t, (_, response) => response.writeHead(status, headers).end());
  t.match(await probe(url, HEALTH), { failure: null, blocked: true, retryAfterMs: 60_000, via: 'health' });
  status = 403;
  headers = { 'cf-mitigated': 'challenge' };
  t.match(await probe(url, { ...HEALTH, memory: SEEN }), {
    failure: null,
    blocked: true,
    retryAfterMs: null,
  });
  t.same(asked, ['GET /api/health', 'GET /api/health']);
});

t.test('it reads no more than 64 KiB of a body, packed or not', async (t) => {
  const probe = openProbe(t);
  const padded = (bytes: number) => {
    const empty = JSON.stringify({ status: 'ok', pad: '' });
    return JSON.stringify({ status: 'ok', pad: 'x'.repeat(bytes - empty.length) });
  };
  let body: string | Buffer = '';
  let headers: Record<string, string> = {};
  const { url } = await serve(t, (_, response) => response.writeHead(200, headers).end(body));
  const tooLong = { class: 'body', phase: 'body', detail: 'the health body is longer than 64 KiB' };
  body = padded(65_536);
  t.match(await probe(url, HEALTH), { failure: null, via: 'health' });
  body = padded(65_537);
  t.match(await probe(url, HEALTH), { statusCode: 200, failure: tooLong });
  headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
  body = gzipSync(padded(65_536));
  t.match(await probe(url, HEALTH), { failure: null, via: 'health', memory: SEEN });
  body = gzipSync(padded(65_537));
  t.match(await probe(url, HEALTH), { failure: tooLong });
  // 50 MB in 50 KB.
  body = gzipSync(Buffer.alloc(50_000_000), { level: 9 });
  t.ok(body.length < 65_536);
  t.match(await probe(url, HEALTH), { failure: tooLong });
});

t.test(
  'it follows redirects of the health endpoint, and does not take a login page for health',
  async (t) => {
    const probe = openProbe(t);
    let location = '/ready';
    const server = createServer((request, response) => {
      if (request.url === '/api/health') response.writeHead(302, { location }).end();
      else if (request.url === '/ready') response.end('{"status":"up"}');
      else response.end('<html>');
    });
    const { port, close } = await listenOn(server);
    t.teardown(close);
    const url = `http://127.0.0.1:${port}/api/health`;
    t.match(await probe(url, HEALTH), { failure: null, via: 'health', memory: SEEN });
    location = '/login';
    t.match(await probe(url, HEALTH), { failure: null, via: 'root' });
  },
);

t.test('it judges the root by the rules of a root check when it falls back', async (t) => {
  const probe = openProbe(t);
  const server = createServer((request, response) =>
    response.writeHead(request.url === '/' ? 503 : 404).end(),
  );
  const { port, close } = await listenOn(server);
  t.teardown(close);
  t.match(await probe(`http://127.0.0.1:${port}/some/where/health`, HEALTH), {
    statusCode: 503,
    failure: { class: 'status' },
    via: 'root',
  });
});
