/** Where a request ends: of two that look like one, or of one that looks like two, the server never answers a hidden one. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { createHttpServer, listen } from '../../src/http/server.ts';

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
