import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { createOutbound, type OutboundRequest } from '../../src/outbound/outbound.ts';
import { listenOn, until } from '../support/loopback.ts';

const LOOPBACK = { allowPrivate: ['127.0.0.0/8'], ports: [80, 443] };

async function start(t: Test, answer: RequestListener) {
  const server = createServer(answer);
  const loopback = await listenOn(server);
  const outbound = createOutbound({ userAgent: 'Upbeat/1.2.3 (+http://x)', nameservers: [] });
  t.teardown(() => {
    outbound.close();
    return loopback.close();
  });
  const url = `http://127.0.0.1:${loopback.port}/`;
  const request = (more: Partial<OutboundRequest> = {}) =>
    outbound.request({ url, timeoutMs: 20_000, maxBodyBytes: 1000, policy: LOOPBACK, ...more });
  return { request, url, loopback };
}

t.test('it fetches, names itself, and decodes what it gets', async (t) => {
  const seen: unknown[] = [];
  const { request, url } = await start(t, ({ method, headers }, response) => {
    seen.push([method, headers['user-agent'], headers['accept-encoding'], headers.accept]);
    response.writeHead(200, { 'content-encoding': 'gzip', etag: '"a"' }).end(gzipSync('hello'));
  });
  t.match(await request({ headers: { Accept: 'text/xml' } }), {
    status: 200,
    headers: { etag: '"a"' },
    body: Buffer.from('hello'),
    fault: null,
    url,
  });
  t.same(seen, [['GET', 'Upbeat/1.2.3 (+http://x)', 'gzip, deflate, br', 'text/xml']]);
});

t.test('it sends a body, and shows a redirect instead of following it', async (t) => {
  const heard: string[] = [];
  const { request } = await start(t, (message, response) => {
    message.setEncoding('utf8').on('data', (text: string) => heard.push(text));
    message.on('end', () => response.writeHead(307, { location: '/elsewhere' }).end());
  });
  const sent = await request({ method: 'POST', body: '{"a":1}', redirects: 5 });
  t.match(sent, { status: 307, fault: null, headers: { location: '/elsewhere' } });
  t.same(heard, ['{"a":1}']);
});

t.test('it follows redirects of a GET as far as it may, and hands secrets to no other origin', async (t) => {
  const other = createServer((message, response) => response.end(String(message.headers.authorization)));
  const { port, close } = await listenOn(other);
  t.teardown(close);
  const { request, url } = await start(t, ({ url: path, headers }, response) => {
    if (path === '/') response.writeHead(302, { location: '/same' }).end();
    else if (path === '/same') {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/?${headers.authorization}` }).end();
    }
  });
  const headers = { Authorization: 'secret' };
  t.match(await request({ headers, redirects: 2 }), {
    status: 200,
    url: `http://127.0.0.1:${port}/?secret`,
    body: Buffer.from('undefined'),
  });
  t.match(await request({ headers, redirects: 1 }), {
    status: 302,
    fault: { failure: { class: 'protocol' } },
  });
  t.match(await request({ headers }), { status: 302, fault: null, url });
});

t.test('it keeps no more of a body than it may, packed or not', async (t) => {
  let bytes = 1000;
  let packed = false;
  const { request, loopback } = await start(t, (_, response) => {
    const body = Buffer.alloc(bytes, 'x');
    if (packed) response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));
    else response.end(body);
  });
  const tooLong = {
    status: 200,
    body: null,
    fault: { failure: { class: 'body', cause: { code: 'body_too_long', maxBytes: 1000 } } },
  };
  t.equal((await request()).body?.length, 1000);
  bytes = 1001;
  t.match(await request(), tooLong);
  packed = true;
  t.match(await request(), tooLong);
  bytes = 1000;
  t.equal((await request()).body?.length, 1000);
  await until(() => loopback.open() === 0);
});

t.test('it judges addresses by the policy of the request', async (t) => {
  const { request, loopback } = await start(t, (_, response) => response.end());
  t.match(await request({ policy: { allowPrivate: [], ports: [80, 443] } }), {
    status: 0,
    body: null,
    fault: { failure: { class: 'forbidden_address', phase: 'connect' } },
  });
  t.equal(loopback.accepted(), 0);
});

t.test('it ends in time and when it is told to', async (t) => {
  const { request, loopback } = await start(t, () => {});
  t.match(await request({ timeoutMs: 300 }), {
    status: 0,
    fault: { failure: { class: 'timeout', phase: 'first_byte' } },
  });
  const stop = new AbortController();
  const pending = request({ signal: stop.signal });
  await until(() => loopback.open() > 0);
  stop.abort(new Error('stopped'));
  await t.rejects(pending, { message: 'stopped' });
  await t.rejects(request({ signal: stop.signal }), { message: 'stopped' });
  await until(() => loopback.open() === 0);
});

t.test('it rejects what is no request', async (t) => {
  const { request } = await start(t, (_, response) => response.end());
  await t.rejects(request({ url: 'ftp://x/' }), { message: 'ftp://x/ is an address with the scheme ftp:' });
  await t.rejects(request({ headers: { 'x-a': 'b\r\nx: c' } }), { code: 'UND_ERR_INVALID_ARG' });
});
