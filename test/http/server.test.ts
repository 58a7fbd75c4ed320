/** The bounds on what a client may make the server wait for and hold. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
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

const HIDDEN = 'GET /hidden HTTP/1.1\nHost: a\nConnection: close\n\n';

const EMPTY_CHUNKS = '0\n\n';

/** A POST with these headers and this body, and a request after it. `\n` is sent as CR LF, `␊` as LF alone, `␍` as CR alone. */
function post(headers: string, body = '', version = '1.1'): string {
  return `POST /first HTTP/${version}\nHost: a\n${headers}\n\n${body}${HIDDEN}`;
}

const chunked = (body: string) => post('Transfer-Encoding: chunked', body);

const REFUSED: Readonly<Record<string, string>> = {
  'a length beside chunks': post('Content-Length: 5\nTransfer-Encoding: chunked', EMPTY_CHUNKS),
  'chunks beside a length': post('Transfer-Encoding: chunked\nContent-Length: 4', EMPTY_CHUNKS),
  'a space before the colon of a coding': post('Transfer-Encoding : chunked', EMPTY_CHUNKS),
  'a coding that is unknown': post('Transfer-Encoding: xchunked', EMPTY_CHUNKS),
  'a coding after chunks': post('Transfer-Encoding: chunked, identity', EMPTY_CHUNKS),
  'a coding before chunks': post('Transfer-Encoding: identity, chunked', EMPTY_CHUNKS),
  'a coding that we do not decode': post('Transfer-Encoding: gzip, chunked', EMPTY_CHUNKS),
  'two codings': post('Transfer-Encoding: chunked\nTransfer-Encoding: identity', EMPTY_CHUNKS),
  'chunks of chunks': post('Transfer-Encoding: chunked, chunked', EMPTY_CHUNKS),
  'a coding in quotes': post('Transfer-Encoding: "chunked"', EMPTY_CHUNKS),
  'chunks in HTTP/1.0': post('Transfer-Encoding: chunked\nConnection: keep-alive', EMPTY_CHUNKS, '1.0'),
  'two lengths': post('Content-Length: 0\nContent-Length: 40'),
  'the same length twice': post('Content-Length: 2\nContent-Length: 2', 'ab'),
  'a list of lengths': post('Content-Length: 0, 0'),
  'a length with a sign': post('Content-Length: +0'),
  'a negative length': post('Content-Length: -1'),
  'a hexadecimal length': post('Content-Length: 0x0'),
  'no digit in a length': post('Content-Length: '),
  'two numbers in a length': post('Content-Length: 0 0'),
  'a length beyond 64 bits': post('Content-Length: 99999999999999999999'),
  'a space before the colon of a length': post('Content-Length : 40'),
  'lines that end with LF alone': post('Content-Length: 0').replaceAll('\n', '␊'),
  'one line that ends with LF alone': post('X: y␊Content-Length: 0'),
  'a length that ends with LF alone': `POST /first HTTP/1.1\nHost: a\nContent-Length: 0␊\n${HIDDEN}`,
  'CR within a value': post('X: y␍Content-Length: 0'),
  'CR CR LF': `POST /first HTTP/1.1\nHost: a\nContent-Length: 0\n␍␍␊${HIDDEN}`,
  'a folded value': post('X: y\n folded\nContent-Length: 0'),
  'a folded coding': post('Transfer-Encoding:\n chunked', EMPTY_CHUNKS),
  'a folded length': post('Content-Length:\n 0'),
  'a folded first header': `POST /first HTTP/1.1\n Host: a\nContent-Length: 0\n\n${HIDDEN}`,
  'NUL in a value': post('X: a\0b\nContent-Length: 0'),
  'a space in a name': post('X Y: a\nContent-Length: 0'),
  'no name': post(': a\nContent-Length: 0'),
  'no colon': post('Nonsense\nContent-Length: 0'),
  'LF in an extension of a chunk': chunked('2;a␊xx\nab\n0\n\n'),
  'chunks that end with LF alone': chunked('2\nab\n0\n\n').replace('2\nab\n', '2␊ab␊'),
  'one chunk that ends with LF alone': chunked('2\nab␊0\n\n'),
  'a chunk in C notation': chunked('0x2\nab\n0\n\n'),
  'a negative chunk': chunked('-2\nab\n0\n\n'),
  'a chunk beyond 64 bits': chunked('ffffffffffffffffff\nab\n0\n\n'),
  'a space after the length of a chunk': chunked('2 \nab\n0\n\n'),
  'a chunk that is longer than it says': chunked('2\nabcd\n0\n\n'),
  'a length in a trailer': chunked('0\nContent-Length: 40\n\n'),
  'a version that is unknown': `GET /first HTTP/1.2\nHost: a\n\n${HIDDEN}`,
  'HTTP/2 in the form of HTTP/1': `GET /first HTTP/2.0\nHost: a\n\n${HIDDEN}`,
  'no Host': `GET /first HTTP/1.1\n\n${HIDDEN}`,
  'two Hosts': `GET /first HTTP/1.1\nHost: a\nHost: b\n\n${HIDDEN}`,
  'the preface of HTTP/2': `PRI * HTTP/2.0\n\nSM\n\n${HIDDEN}`,
  'no version': `GET /first\n\n${HIDDEN}`,
  'a space in the target': 'GET /first HTTP/1.1\nX: y HTTP/1.1\n\n'.replace('/first', '/fi rst') + HIDDEN,
  'tabs in the first line': `GET\t/first\tHTTP/1.1\nHost: a\n\n${HIDDEN}`,
};

const ANSWERED: Readonly<Record<string, readonly [request: string, seen: readonly string[]]>> = {
  'two requests in one packet': [`GET /first HTTP/1.1\nHost: a\n\n${HIDDEN}`, ['/first ', '/hidden ']],
  'a body of a GET': [
    `GET /first HTTP/1.1\nHost: a\nContent-Length: 3\n\nabc${HIDDEN}`,
    ['/first abc', '/hidden '],
  ],
  'a body in chunks': [chunked('2\nab\n1;a=b\nc\n0\n\n'), ['/first abc', '/hidden ']],
  'a coding after a tab, in capitals': [
    post('Transfer-Encoding:\tCHUNKED', EMPTY_CHUNKS),
    ['/first ', '/hidden '],
  ],
  'a length named in Connection': [
    post('Content-Length: 2\nConnection: Content-Length', 'ab'),
    ['/first ab', '/hidden '],
  ],
  // What follows is of the other protocol.
  'an upgrade': [
    `GET /first HTTP/1.1\nHost: a\nConnection: Upgrade, close\nUpgrade: h2c\n\n${HIDDEN}`,
    ['/first '],
  ],
};

/** A server; the bytes that it answers a request with, and the requests with their whole bodies that its listener has seen. */
async function startServer(t: Test) {
  let seen: string[] = [];
  const server = createHttpServer(async (request, response) => {
    try {
      const body = await text(request);
      seen.push(`${request.url} ${body}`);
      response.end('taken\n');
    } catch {
      // The body was no body; the connection has its answer.
    }
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await listen(server, '127.0.0.1', 0);
  return async (request: string) => {
    seen = [];
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(request.replaceAll('\n', '\r\n').replaceAll('␊', '\n').replaceAll('␍', '\r'));
    const answers = await text(socket);
    return {
      answers,
      statuses: [...answers.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status)),
      seen,
    };
  };
}

t.test('a request whose end is in doubt is refused with all that follows on its connection', async (t) => {
  const ask = await startServer(t);
  for (const [what, request] of Object.entries(REFUSED)) {
    const { answers, statuses, seen } = await ask(request);
    t.same({ statuses, seen }, { statuses: [400], seen: [] }, what);
    t.match(answers, /Connection: close.*"code":"bad_request"/s, what);
  }
});

t.test('a request whose end is certain is answered, and what follows it as well', async (t) => {
  const ask = await startServer(t);
  for (const [what, [request, wanted]] of Object.entries(ANSWERED)) {
    const { statuses, seen } = await ask(request);
    t.same({ statuses, seen: [...seen].sort() }, { statuses: wanted.map(() => 200), seen: wanted }, what);
  }
});

t.test('requests in one packet are answered in their order', async (t) => {
  const ask = await startServer(t);
  const paths = Array.from({ length: 500 }, (_, index) => `/${index}`);
  const { statuses, seen } = await ask(
    paths
      .map((path, index) => `GET ${path} HTTP/1.1\nHost: a\n${index === 499 ? 'Connection: close\n' : ''}\n`)
      .join(''),
  );
  t.equal(statuses.filter((status) => status === 200).length, 500);
  t.same(seen.map((one) => one.trim()).sort(), [...paths].sort());
});
