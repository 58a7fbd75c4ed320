/**
 * Answers that are not as RFC 9112 has them. A service that browsers open is not down: what Chromium takes and the RFC
 * lets a recipient take is taken; what is refused is refused for its own reason. Each row over HTTP and HTTPS, by HEAD
 * and GET, of the root and of the health endpoint.
 */
import { readFileSync } from 'node:fs';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { CERTIFICATE_FOLDER } from '../support/certificates.ts';
import { type Loopback, listenOn, until } from '../support/loopback.ts';
import { openProbe, type Trial } from './try-probe.ts';

const BODY = '{"status":"ok"}';
const LENGTH = `content-length: ${BODY.length}`;
const CHUNKS = `f\r\n${BODY}\r\n0\r\n\r\n`;
const FINAL = `HTTP/1.1 200 OK\r\n${LENGTH}\r\n\r\n${BODY}`;

interface Row {
  readonly name: string;
  /** The whole answer to GET; one to HEAD has no body. */
  readonly answer: string;
  /** Why it is refused; default: it is taken. */
  readonly problem?: string;
  /** Where it is refused; the body is looked at for health only. */
  readonly phase?: 'first_byte' | 'body';
}

const ROWS: readonly Row[] = [
  { name: 'a 100 that was not asked for', answer: `HTTP/1.1 100 Continue\r\n\r\n${FINAL}` },
  { name: 'a 103', answer: `HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n${FINAL}` },
  {
    name: 'several interim answers',
    answer: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 199 Whatever\r\n\r\n${FINAL}`,
  },
  { name: 'a line break behind an interim answer', answer: `HTTP/1.1 100 Continue\r\n\r\n\r\n${FINAL}` },
  { name: 'lines that end in LF', answer: FINAL.replaceAll('\r\n', '\n') },
  {
    name: 'interim answers and chunks whose lines end in LF',
    answer: `HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\ntransfer-encoding: chunked\n\nf\n${BODY}\n0\n\n`,
  },
  { name: 'two equal lengths', answer: `HTTP/1.1 200 OK\r\n${LENGTH}\r\n${LENGTH}\r\n\r\n${BODY}` },
  {
    name: 'two equal lengths in a list',
    answer: `HTTP/1.1 200 OK\r\n${LENGTH}, ${BODY.length}\r\n\r\n${BODY}`,
  },
  {
    name: 'an empty length',
    answer: `HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\n${BODY}`,
  },
  {
    name: 'chunks beside a length',
    answer: `HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n${CHUNKS}`,
  },
  { name: 'chunks in HTTP/1.0', answer: `HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${CHUNKS}` },
  {
    name: 'chunks with extensions, zeros, capitals and trailers',
    answer: `HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n000F;a=b\r\n${BODY}\r\n0;c\r\nx: y\r\n\r\n`,
  },
  {
    name: 'a folded header',
    answer: `HTTP/1.1 200 OK\r\nx-long: one,\r\n  two,\r\n\tthree\r\n${LENGTH}\r\n\r\n${BODY}`,
  },
  {
    name: 'a folded line in front of all headers',
    answer: `HTTP/1.1 200 OK\r\n x: y\r\n${LENGTH}\r\n\r\n${BODY}`,
  },
  {
    name: 'control characters in a header',
    answer: `HTTP/1.1 200 OK\r\nx-odd: a\x01\x07\x1b\x7fb\r\n${LENGTH}\r\n\r\n${BODY}`,
  },
  { name: 'a bare CR in a header', answer: `HTTP/1.1 200 OK\r\nx-odd: a\rb\r\n${LENGTH}\r\n\r\n${BODY}` },
  {
    name: 'space before a colon',
    answer: `HTTP/1.1 200 OK\r\ncontent-length : ${BODY.length}\r\n\r\n${BODY}`,
  },
  { name: 'a line without a colon', answer: `HTTP/1.1 200 OK\r\nrubbish\r\n${LENGTH}\r\n\r\n${BODY}` },
  { name: 'a header without a name', answer: `HTTP/1.1 200 OK\r\n: nameless\r\n${LENGTH}\r\n\r\n${BODY}` },
  {
    name: 'a header named like a part of every object',
    answer: `HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nconstructor: c\r\n${LENGTH}\r\n\r\n${BODY}`,
  },
  { name: 'a status line after a line break', answer: `\r\n${FINAL}` },
  { name: 'a status line in lower case', answer: FINAL.replace('HTTP', 'http') },
  { name: 'a status line of HTTP/2', answer: FINAL.replace('HTTP/1.1 200 OK', 'HTTP/2 200') },
  {
    name: 'lengths that contradict each other',
    answer: `HTTP/1.1 200 OK\r\n${LENGTH}\r\ncontent-length: 6\r\n\r\n${BODY}`,
    problem: 'a header is malformed (two lengths that contradict each other)',
  },
  {
    name: 'a length that is no number',
    answer: `HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n${BODY}`,
    problem: 'a header is malformed (a length that is no number)',
  },
  {
    name: 'a NUL in a header',
    answer: `HTTP/1.1 200 OK\r\nx-odd: a\0b\r\n${LENGTH}\r\n\r\n${BODY}`,
    problem: 'a header is malformed (it holds a NUL character)',
  },
  {
    name: 'a status that is no number',
    answer: FINAL.replace('200', 'abc'),
    problem: 'the answer is not HTTP (it begins with no status line)',
  },
  {
    name: 'a chunk without a length',
    answer: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n${BODY}\r\n0\r\n\r\n`,
    problem: 'the body is malformed (a chunk without a length)',
    phase: 'body',
  },
  {
    name: 'a chunk that is longer than it says',
    answer: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n${BODY}\r\n0\r\n\r\n`,
    problem: 'the body is malformed (a chunk without a length)',
    phase: 'body',
  },
];

const WAYS: readonly (readonly [string, Trial])[] = [
  ['HEAD of the root', { check: { method: 'HEAD' } }],
  ['GET of the root', { check: { method: 'GET' } }],
  ['GET of the health endpoint', { check: { kind: 'health' } }],
];

const read = (file: string) => readFileSync(join(CERTIFICATE_FOLDER, file));
const SCHEMES = {
  http: (handle: (socket: Socket) => void) => createTcpServer(handle),
  https: (handle: (socket: Socket) => void) =>
    createTlsServer({ cert: read('localhost.pem'), key: read('localhost-key.pem') }, handle),
} as const;

/** Answers with the text, in one piece or a byte at a time; to HEAD without the body. */
const answering = (text: string, bytewise: boolean) => (socket: Socket) => {
  socket.on('error', () => {});
  socket.once('data', (request: Buffer) => {
    const blank = /\r?\n\r?\n(?!\r?\n|HTTP)/i.exec(text);
    const head = blank === null ? text : text.slice(0, blank.index + blank[0].length);
    const answer = Buffer.from(request.toString().startsWith('HEAD') ? head : text, 'latin1');
    if (!bytewise) return void socket.end(answer);
    socket.setNoDelay(true);
    let at = 0;
    const next = () => {
      if (at === answer.length) socket.end();
      else if (!socket.destroyed) socket.write(answer.subarray(at, ++at), () => setImmediate(next));
    };
    next();
  });
};

for (const [scheme, createServer] of Object.entries(SCHEMES)) {
  for (const { name, answer, problem, phase = 'first_byte' } of ROWS) {
    t.test(`it ${problem === undefined ? 'takes' : 'refuses'} ${name} over ${scheme}`, async (t) => {
      const probe = openProbe(t);
      // Each byte as a TLS record of its own would cost more than it shows.
      for (const bytewise of scheme === 'http' ? [false, true] : [false]) {
        const server: Loopback = await listenOn(createServer(answering(answer, bytewise)));
        for (const [way, trial] of WAYS) {
          const isHealth = trial.check?.kind === 'health';
          const attempt = await probe(`${scheme}://127.0.0.1:${server.port}/`, trial);
          if (problem === undefined || (phase === 'body' && !isHealth)) {
            t.match(attempt, { statusCode: 200, failure: null, via: isHealth ? 'health' : 'root' }, way);
          } else t.match(attempt, { failure: { class: 'protocol', phase, detail: problem } }, way);
        }
        await until(() => server.open() === 0);
        await server.close();
      }
    });
  }
}
