/** Servers that misbehave in every phase of a request: an attempt ends in time, says what happened, and leaks nothing. */
import type { Socket } from 'node:net';
import t from 'tap';
import { listenRaw, until } from '../support/loopback.ts';
import { openProbe, type Trial } from './try-probe.ts';

const GET: Trial = { check: { method: 'GET' } };
const HEALTH: Trial = { check: { kind: 'health' } };
/** For targets that never end by themselves. */
const SHORT = { timeoutMs: 400 };
const OK = 'HTTP/1.1 200 OK\r\n';

/** Does `act` once the request has come. */
const onRequest = (act: (socket: Socket) => void) => (socket: Socket) => {
  socket.once('data', () => act(socket));
};
const says = (text: string | Buffer) => onRequest((socket) => socket.end(text));

interface Row {
  readonly name: string;
  readonly server: (socket: Socket) => void;
  readonly trial?: Trial;
  readonly expect: object;
}

const good = (statusCode = 200) => ({ statusCode, failure: null, suspect: null });
const silent = (kind: string, phase: string, detail: string) => ({
  statusCode: 0,
  responseTimeMs: null,
  timing: { firstByteMs: null, totalMs: null },
  failure: { class: kind, phase, detail },
  suspect: null,
});
const malformed = (detail: string) => ({
  statusCode: 0,
  responseTimeMs: null,
  failure: { class: 'protocol', phase: 'first_byte', detail },
});
const NOT_HTTP = 'the answer is not HTTP (it begins with no status line)';
const TOO_LONG_HEADERS = 'the headers are longer than 256 KiB';

const ROWS: readonly Row[] = [
  {
    name: 'it waits no longer than its deadline for headers',
    server: onRequest(() => {}),
    trial: SHORT,
    expect: silent('timeout', 'first_byte', 'no answer within 400 ms'),
  },
  {
    name: 'it waits no longer for headers that come a byte at a time',
    server: onRequest((socket) => {
      const timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
      socket.write(`${OK}x-slow: `);
    }),
    trial: SHORT,
    expect: silent('timeout', 'first_byte', 'no answer within 400 ms'),
  },
  {
    name: 'it waits no longer than its deadline for a health body',
    server: onRequest((socket) => socket.write(`${OK}content-length: 100\r\n\r\n{"status":`)),
    trial: { ...HEALTH, ...SHORT },
    expect: {
      statusCode: 200,
      failure: { class: 'timeout', phase: 'body', detail: 'the body did not end within 400 ms' },
    },
  },
  {
    name: 'it needs no body of a root check',
    server: onRequest((socket) => socket.write(`${OK}content-length: 100\r\n\r\nslow`)),
    trial: GET,
    expect: good(),
  },
  {
    name: 'it reports a connection that is reset before an answer',
    server: onRequest((socket) => socket.resetAndDestroy()),
    expect: silent('unreachable', 'first_byte', 'the connection was reset without an answer'),
  },
  {
    name: 'it reports a connection that is reset as soon as it is made',
    server: (socket) => socket.resetAndDestroy(),
    expect: {
      statusCode: 0,
      failure: { class: 'unreachable', detail: /reset|closed|ECONNRESET/ },
      suspect: null,
    },
  },
  {
    name: 'it reports a connection that is closed before an answer',
    server: onRequest((socket) => socket.end()),
    expect: silent('unreachable', 'first_byte', 'the connection was closed without an answer'),
  },
  {
    name: 'it reports a connection whose other half is closed at once',
    server: (socket) => void socket.resume().end(),
    expect: silent('unreachable', 'first_byte', 'the connection was closed without an answer'),
  },
  {
    name: 'it reports a reset in the middle of the headers',
    server: onRequest((socket) =>
      socket.write(`${OK}x-half: `, () => setTimeout(() => socket.resetAndDestroy(), 50)),
    ),
    expect: malformed('the connection ended in the middle of the headers'),
  },
  {
    name: 'it reports an end in the middle of the headers',
    server: says(`${OK}x-half: `),
    expect: malformed('the connection ended in the middle of the headers'),
  },
  {
    name: 'it reports a reset in the middle of a health body',
    server: onRequest((socket) =>
      socket.write(`${OK}content-length: 100\r\n\r\n{"st`, () =>
        setTimeout(() => socket.resetAndDestroy(), 50),
      ),
    ),
    trial: HEALTH,
    expect: {
      statusCode: 200,
      failure: { class: 'protocol', phase: 'body', detail: 'the connection ended in the middle of the body' },
    },
  },
  {
    name: 'it reports a health body that is shorter than announced',
    server: says(`${OK}content-length: 100\r\n\r\n{"status":"ok"}`),
    trial: HEALTH,
    expect: {
      statusCode: 200,
      failure: { class: 'protocol', phase: 'body', detail: 'the connection ended in the middle of the body' },
    },
  },
  {
    name: 'it takes the end of the connection for the end of a body without a length',
    server: says(`${OK}\r\n{"status":"ok"}`),
    trial: HEALTH,
    expect: { ...good(), via: 'health' },
  },
  {
    name: 'it reads a health body in chunks',
    server: says(`${OK}transfer-encoding: chunked\r\n\r\n8\r\n{"status\r\n7\r\n":"ok"}\r\n0\r\n\r\n`),
    trial: HEALTH,
    expect: { ...good(), via: 'health' },
  },
  {
    name: 'it takes an answer in HTTP/1.0',
    server: says('HTTP/1.0 200 OK\r\n\r\n'),
    expect: good(),
  },
  {
    name: 'it reports bytes that are no HTTP',
    server: says('SSH-2.0-OpenSSH_9.6\r\n'),
    expect: malformed(NOT_HTTP),
  },
  {
    name: 'it reports a server that speaks first',
    server: (socket) => void socket.resume().write('220 mail.example ESMTP\r\n'),
    expect: malformed(NOT_HTTP),
  },
  {
    name: 'it takes an answer that comes before the question',
    server: (socket) => void socket.resume().write(`${OK}\r\n`),
    expect: good(),
  },
  {
    name: 'it reports bytes of all values',
    server: says(Buffer.from(Array.from({ length: 4096 }, (_, n) => n & 0xff))),
    expect: malformed(NOT_HTTP),
  },
  {
    name: 'it reports a server that speaks HTTP/2',
    server: says(Buffer.from('000000040000000000', 'hex')),
    expect: malformed('the server speaks HTTP/2 only, and no HTTP/1.1'),
  },
  {
    name: 'it reads headers of almost 256 KiB, as browsers do',
    server: says(`${OK}x-long: ${'a'.repeat(260_000)}\r\n\r\n`),
    expect: good(),
  },
  {
    name: 'it reads no more than 256 KiB of one endless header',
    server: onRequest((socket) => pour(socket, `${OK}x-long: `, Buffer.alloc(65_536, 'a'))),
    expect: malformed(TOO_LONG_HEADERS),
  },
  {
    name: 'it reads no more than 256 KiB of endlessly many headers',
    server: onRequest((socket) => pour(socket, OK, Buffer.from('x-more: and more\r\n'.repeat(4000)))),
    expect: malformed(TOO_LONG_HEADERS),
  },
  {
    name: 'it passes over informational answers',
    server: says(
      `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n`,
    ),
    expect: good(204),
  },
  {
    name: 'it reports an interim answer that no other follows',
    server: says('HTTP/1.1 100 Continue\r\n\r\n'),
    expect: malformed('the connection ended after an interim answer'),
  },
  {
    name: 'it reads no more than 256 KiB of endlessly many interim answers',
    server: onRequest((socket) =>
      pour(socket, '', Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(4000))),
    ),
    expect: malformed(TOO_LONG_HEADERS),
  },
  {
    name: 'it is not kept alive by informational answers',
    server: onRequest((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    }),
    trial: SHORT,
    expect: { statusCode: 0, failure: { class: 'timeout', phase: 'first_byte' } },
  },
  {
    name: 'it reports a change of protocol that it did not ask for',
    server: says('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    expect: { statusCode: 0, failure: { class: 'protocol' } },
  },
  {
    name: 'it does not trip over a body in the answer to HEAD',
    server: says(`${OK}content-length: 5\r\n\r\nhello`),
    expect: good(),
  },
  {
    name: 'it accepts a status without a reason phrase, and an unknown one',
    server: says('HTTP/1.1 299\r\n\r\n'),
    expect: good(299),
  },
  {
    name: 'it reports a connection that is closed after bytes that are no line',
    server: says('\x15\x03\x01'),
    expect: malformed('the server speaks TLS on this port, and no plain HTTP'),
  },
];

function pour(socket: Socket, first: string, chunk: Buffer): void {
  let left = 100_000_000;
  const more = () => {
    while (!socket.destroyed && left > 0) {
      left -= chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', more);
  socket.write(first);
  more();
}

for (const { name, server, trial = {}, expect } of ROWS) {
  t.test(name, async (t) => {
    const loopback = await listenRaw(server);
    t.teardown(loopback.close);
    const probe = openProbe(t);
    const url = `http://127.0.0.1:${loopback.port}/`;
    const startedAt = performance.now();
    t.match(await probe(url, trial), expect);
    if (trial.timeoutMs !== undefined) t.ok(performance.now() - startedAt < trial.timeoutMs + 3000);
    await until(() => loopback.open() === 0);
    // The slot has not suffered: the next attempt on it ends in the same way.
    t.match(await probe(url, { ...trial, slot: 3 }), expect);
    t.match(await probe(url, { ...trial, slot: 3 }), expect);
    await until(() => loopback.open() === 0);
  });
}

t.test('it reports a connection that is refused', async (t) => {
  const probe = openProbe(t);
  const { port, close } = await listenRaw(() => {});
  await close();
  const attempt = await probe(`http://127.0.0.1:${port}/`);
  t.match(attempt, silent('refused', 'connect', 'the connection was refused'));
  t.same({ dnsMs: attempt.timing.dnsMs, tlsMs: attempt.timing.tlsMs }, { dnsMs: null, tlsMs: null });
});

t.test('it makes many attempts on one slot, good and bad by turns, and leaks no connection', async (t) => {
  let turn = 0;
  const answers = [says(`${OK}\r\n`), says('rubbish'), onRequest((socket) => socket.resetAndDestroy())];
  const loopback = await listenRaw((socket) => answers[turn++ % answers.length]?.(socket));
  t.teardown(loopback.close);
  const probe = openProbe(t);
  const classes: (string | undefined)[] = [];
  for (let n = 0; n < 60; n++) {
    const attempt = await probe(`http://127.0.0.1:${loopback.port}/`, { ...GET, slot: 0 });
    classes.push(attempt.failure?.class);
  }
  t.same(classes, new Array(20).fill([undefined, 'protocol', 'unreachable']).flat());
  t.equal(loopback.accepted(), 60);
  await until(() => loopback.open() === 0);
});
