/** The bounds on what a client may make the server wait for and hold. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { createHttpServer, listen } from '../../src/http/server.ts';

t.test('it bounds the time that a request may take to arrive', (t) => {
  const server = createHttpServer((_request, response) => response.end());
  t.ok(server.headersTimeout > 0 && server.headersTimeout <= 15_000, 'headers');
  t.ok(server.requestTimeout > 0 && server.requestTimeout <= 60_000, 'whole request');
  t.ok(server.keepAliveTimeout > 60_000, 'longer than a load balancer keeps a connection');
  t.end();
});

t.test('it ends a client that does not read its answer, and lets a stream run', async (t) => {
  const server = createHttpServer((request, response) => {
    // More than the buffers of both ends of a connection hold.
    if (request.url === '/large') return void response.end(Buffer.alloc(50_000_000));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const beat = setInterval(() => response.write(': still here\n\n'), 20);
    response.once('close', () => clearInterval(beat));
  });
  t.ok(server.timeout >= 30_000 && server.timeout <= 120_000, 'longer than between two words of a stream');
  server.timeout = 1_000;
  const port = await listen(server, '127.0.0.1', 0);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const ask = async (path: string) => {
    const accepted = once(server, 'connection');
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {});
    client.pause();
    client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    t.teardown(() => client.destroy());
    const [socket] = (await accepted) as [Socket];
    return { client, socket };
  };
  const stream = await ask('/stream');
  stream.client.resume();
  const silent = await ask('/large');
  await once(silent.socket, 'close');
  t.notOk(stream.socket.destroyed);
});

t.test('it says which port it got, and what to do where it gets none', async (t) => {
  const server = createHttpServer((_request, response) => response.end('here'));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await listen(server, '127.0.0.1', 0);
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  t.equal(await response.text(), 'here');
  const second = createHttpServer(() => {});
  await t.rejects(listen(second, '127.0.0.1', port), {
    message: /port \d+ is in use; choose another by http\.port/,
  });
});

t.test('it answers what is no request in the form of every other error', async (t) => {
  const server = createHttpServer((_request, response) => response.end(), 'https://up.example');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await listen(server, '127.0.0.1', 0);
  const table: readonly (readonly [string, number, string])[] = [
    ['GARBAGE\r\n\r\n', 400, 'bad_request'],
    ['BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'bad_request'],
    [`GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'headers_too_large'],
    [`GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ];
  for (const [request, status, code] of table) {
    const socket = connect(port, '127.0.0.1');
    socket.write(request);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    t.match(
      head,
      new RegExp(`^HTTP/1\\.1 ${status} .*application/problem\\+json.*Connection: close`, 's'),
      code,
    );
    t.match(JSON.parse(body), { type: `https://up.example/docs#${code}`, status, code }, code);
  }
});

t.test('it answers with a problem where Node has no body of its own', async (t) => {
  const server = createHttpServer((_request, response) => response.end('taken'), 'https://upbeat.test');
  t.teardown(() => server.close());
  const port = await listen(server, '127.0.0.1', 0);
  const ask = async (request: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.write(request.replaceAll('\n', '\r\n'));
    return await text(socket);
  };
  const refused: [string, string, number, string][] = [
    ['no Host', 'GET / HTTP/1.1\nConnection: close\n\n', 400, 'bad_request'],
    ['two Hosts', 'GET / HTTP/1.1\nHost: a\nhost: b\nConnection: close\n\n', 400, 'bad_request'],
    [
      'another Expect',
      'GET / HTTP/1.1\nHost: a\nExpect: tea\nConnection: close\n\n',
      417,
      'expectation_failed',
    ],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\nHost: a:443\n\n', 405, 'method_not_allowed'],
    ['no method', 'GARBAGE\n\n', 400, 'bad_request'],
  ];
  for (const [what, request, status, code] of refused) {
    const [head = '', body = ''] = (await ask(request)).split('\r\n\r\n');
    t.match(head, new RegExp(`^HTTP/1.1 ${status} .*Content-Type: application/problem\\+json`, 's'), what);
    t.match(JSON.parse(body), { status, code, type: `https://upbeat.test/docs#${code}` }, what);
    t.match(head, `Content-Length: ${body.length}`, what);
  }
  for (const request of [
    'GET / HTTP/1.0\n\n',
    'GET / HTTP/1.1\nHost: a\nConnection: close\n\n',
    'POST / HTTP/1.1\nHost: a\nExpect: 100-continue\nContent-Length: 0\nConnection: close\n\n',
  ])
    t.match(await ask(request), /taken$/, request);
});

t.test('it answers a request that does not arrive in time with 408', async (t) => {
  const server = createHttpServer((_request, response) => response.end(), 'https://up.example');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await listen(server, '127.0.0.1', 0);
  const socket = connect(port, '127.0.0.1');
  server.once('connection', (arrived) =>
    server.emit(
      'clientError',
      Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      arrived,
    ),
  );
  t.match(await text(socket), /^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/);
});

t.test('it may be asked to listen until the port is free', async (t) => {
  const holder = createHttpServer((_request, response) => response.end());
  const server = createHttpServer((_request, response) => response.end());
  t.teardown(() => {
    holder.close();
    server.close();
  });
  const port = await listen(holder, '127.0.0.1', 0);
  const before = server.listenerCount('listening');
  for (let tries = 0; tries < 3; tries++)
    await t.rejects(listen(server, '127.0.0.1', port), { code: 'EADDRINUSE' });
  t.equal(server.listenerCount('listening'), before);
  holder.close();
  await once(holder, 'close');
  t.equal(await listen(server, '127.0.0.1', port), port);
});
