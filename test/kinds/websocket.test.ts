/** `websocket` checks against real servers on loopback, hostile ones included. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CheckSettings } from '../../src/domain/service.ts';
import { validateSettings } from '../../src/kinds/settings.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { CERTIFICATE_FOLDER } from '../support/certificates.ts';
import { listenOn, listenRaw, until } from '../support/loopback.ts';

const checkOf = (port: number, settings: CheckSettings = {}) =>
  ({ kind: 'websocket', settings: { plain: true, port, ...settings } }) as const;

const failure = (kind: string, phase: string, detail: string) => ({ class: kind, phase, detail });

const pem = (name: string) => readFileSync(join(CERTIFICATE_FOLDER, `${name}.pem`));

/** Serves WebSockets at `/live`, by the subprotocol `status` if the client offers it. */
async function serve(t: Test, greet: (socket: WebSocket) => void, server = createServer()) {
  const sockets = new WebSocketServer({ server, path: '/live' });
  sockets.on('connection', greet);
  const loopback = await listenOn(server);
  t.teardown(loopback.close);
  return loopback;
}

t.test('it judges the handshake and the first message', async (t) => {
  const probe = openProbe(t);
  const closes: number[] = [];
  const { port, open } = await serve(t, (socket) => {
    socket.on('close', (code) => closes.push(code));
    socket.on('message', (text) => socket.send(`{"you said":"${text}"}`));
    if (socket.protocol === 'status') socket.send(Buffer.from('ready'));
    if (socket.protocol === 'late') socket.close(1013, 'try again later');
  });
  const good = { answered: true, statusCode: 101, failure: null, via: 'websocket', suspect: null };
  const wrong = (detail: string) => ({ answered: true, failure: failure('content', 'body', detail) });
  const rows: readonly (readonly [string, CheckSettings, object])[] = [
    ['the handshake alone', {}, good],
    ['text that it sends without waiting', { send: 'x' }, good],
    ['a path with a fragment, which is not sent', { path: '/live#top' }, good],
    ['a message that contains a text', { subprotocol: 'status', contains: 'read' }, good],
    ['an answer to what it sends', { send: 'grüße', contains: '"grüße"' }, good],
    ['an answer that matches', { send: 'ping', matches: '^\\{.*ping' }, good],
    [
      'both expectations',
      { send: 'ping', contains: 'ping', matches: 'pong' },
      wrong('the first message does not match pong'),
    ],
    [
      'a message without the text',
      { subprotocol: 'status', contains: 'up' },
      wrong('the first message does not contain "up"'),
    ],
    [
      'a close instead of a message',
      { subprotocol: 'late', contains: 'up' },
      wrong('the server closed the WebSocket before a message (code 1013)'),
    ],
    [
      'another path',
      { path: '/dead' },
      {
        statusCode: 400,
        answered: true,
        failure: failure('status', 'first_byte', 'answered with status 400'),
      },
    ],
  ];
  for (const [name, settings, expected] of rows) {
    const attempt = await probe(null, { check: checkOf(port, { path: '/live', ...settings }) });
    t.match(attempt, expected, name);
    t.ok(attempt.timing.connectMs !== null && attempt.timing.firstByteMs !== null, name);
    t.equal(attempt.responseTimeMs === null, name.startsWith('a close'), name);
    await until(() => open() === 0);
  }
  t.same(closes, [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1013], 'it closes what it opened');
});

t.test('it speaks TLS, and tells when the certificate expires', async (t) => {
  const probe = openProbe(t);
  const { port, open } = await serve(
    t,
    () => {},
    createSecureServer({ cert: pem('localhost'), key: pem('localhost-key') }),
  );
  const settings = { path: '/live', plain: false };
  t.match(await probe(null, { check: checkOf(port, settings) }), {
    statusCode: 101,
    failure: null,
    certificateExpiresAt: Number,
    timing: { tlsMs: Number },
  });
  t.match(await probe(null, { check: { ...checkOf(port, settings), caFile: null } }), {
    answered: true,
    failure: { class: 'tls', phase: 'tls' },
  });
  await until(() => open() === 0);
});

/** Answers the handshake by the rules, then does as told. */
function accepting(then: (socket: Socket) => void, more = ''): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', (request) => {
      const [, key = ''] = /sec-websocket-key: (\S+)/i.exec(String(request)) ?? [];
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${more}\r\n`,
      );
      socket.on('data', () => {});
      then(socket);
    });
  };
}

/** Answers the request with bytes. */
function answering(text: string, end = false): (socket: Socket) => void {
  return (socket) =>
    void socket.once('data', () => {
      socket.write(text);
      if (end) socket.end();
    });
}

/** Sends a piece whenever the last one has left, until the other side closes the connection. */
function flood(piece: Uint8Array | string): (socket: Socket) => void {
  return (socket) => {
    const more = () => {
      if (!socket.destroyed) socket.write(piece, () => setImmediate(more));
    };
    more();
  };
}

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\n';
const UPGRADE = `${SWITCHING}Upgrade: websocket\r\nConnection: Upgrade\r\n`;
const handshake = (problem: string) =>
  failure('protocol', 'first_byte', `the WebSocket handshake is invalid (${problem})`);
const frame = (problem: string) =>
  failure('protocol', 'body', `a frame of the WebSocket is invalid (${problem})`);
const closed = failure('content', 'body', 'the connection ended before a message');
const WAITS: CheckSettings = { contains: 'ready' };

const HOSTILE: readonly (readonly [string, (socket: Socket) => void, CheckSettings, object, Trial?])[] = [
  [
    'a wrong accept key',
    answering(`${UPGRADE}Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n`),
    {},
    { answered: true, statusCode: 101, failure: handshake('Invalid Sec-WebSocket-Accept header') },
  ],
  [
    '101 without Upgrade',
    answering(`${SWITCHING}\r\n`),
    {},
    { failure: handshake('Missing Upgrade header') },
  ],
  [
    '101 to another protocol',
    answering(`${SWITCHING}Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n`),
    {},
    { failure: handshake('Invalid Upgrade header') },
  ],
  [
    'a subprotocol that was not offered',
    accepting(() => {}, 'Sec-WebSocket-Protocol: other\r\n'),
    { subprotocol: 'mine' },
    { failure: handshake('Server sent an invalid subprotocol') },
  ],
  [
    'an extension that was not offered',
    accepting(() => {}, 'Sec-WebSocket-Extensions: permessage-deflate\r\n'),
    {},
    { failure: { class: 'protocol', phase: 'first_byte' } },
  ],
  [
    'interim responses without end',
    (socket) => void socket.once('data', () => flood('HTTP/1.1 103 Early Hints\r\n\r\n')(socket)),
    {},
    { answered: false, failure: handshake('Too many interim responses') },
  ],
  [
    'a head without end',
    (socket) =>
      void socket.once('data', () => {
        socket.write(UPGRADE);
        flood(`X-More: ${'x'.repeat(1_000)}\r\n`)(socket);
      }),
    {},
    { answered: false, failure: failure('protocol', 'first_byte', 'the headers are longer than 256 KiB') },
  ],
  [
    'what is not HTTP',
    answering('220 mail.example ESMTP\r\n'),
    {},
    { answered: false, failure: { class: 'protocol', phase: 'first_byte' } },
  ],
  [
    'a close without a response',
    (socket) => void socket.once('data', () => socket.end()),
    {},
    {
      answered: false,
      failure: failure('unreachable', 'first_byte', 'the connection was closed without an answer'),
    },
  ],
  [
    'a reset without a response',
    (socket) => void socket.once('data', () => socket.resetAndDestroy()),
    {},
    {
      answered: false,
      failure: failure('unreachable', 'first_byte', 'the connection was reset without an answer'),
    },
  ],
  [
    'a page',
    answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx'),
    {},
    { statusCode: 200, failure: { class: 'status' } },
  ],
  [
    'a bot wall',
    answering('HTTP/1.1 403 Forbidden\r\ncf-mitigated: challenge\r\n\r\n'),
    {},
    { statusCode: 403, blocked: true, failure: null },
  ],
  [
    'a rate limit',
    answering('HTTP/1.1 429 Too Many Requests\r\nretry-after: 60\r\n\r\n'),
    {},
    { statusCode: 429, blocked: true, failure: null, retryAfterMs: 60_000 },
  ],
  [
    'half a frame',
    accepting((socket) => socket.write(Buffer.from([0x81, 5, 0x72]))),
    WAITS,
    { answered: true, failure: { class: 'timeout', phase: 'body' } },
    { timeoutMs: 300 },
  ],
  [
    'a masked frame',
    accepting((socket) => socket.write(Buffer.from([0x81, 0x85, 1, 2, 3, 4, 0, 0, 0, 0, 0]))),
    WAITS,
    { failure: frame('Invalid WebSocket frame: MASK must be clear') },
  ],
  [
    'a frame over the bound',
    accepting((socket) => socket.write(Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 1]))),
    WAITS,
    { answered: true, failure: failure('content', 'body', 'the message is longer than 64 KiB') },
  ],
  [
    'fragments without end',
    accepting((socket) => {
      socket.write(Buffer.from([0x01, 1, 0x61]));
      flood(Buffer.concat([Buffer.from([0x00, 126, 0x10, 0]), Buffer.alloc(4_096, 'a')]))(socket);
    }),
    WAITS,
    { failure: failure('content', 'body', 'the message is longer than 64 KiB') },
  ],
  [
    'empty fragments without end',
    accepting((socket) => {
      socket.write(Buffer.from([0x01, 0]));
      flood(Buffer.alloc(2_000))(socket);
    }),
    WAITS,
    { failure: frame('Too many message fragments') },
  ],
  [
    'pings without end',
    accepting(flood(Buffer.from(Array.from({ length: 1_000 }, () => [0x89, 2, 0x61, 0x62]).flat()))),
    WAITS,
    { failure: frame('Too many pings before a message') },
  ],
  [
    'text that is no UTF-8',
    accepting((socket) => socket.write(Buffer.from([0x81, 1, 0xff]))),
    WAITS,
    { failure: { class: 'protocol', phase: 'body' } },
  ],
  [
    'a reset after 101',
    accepting((socket) => void setTimeout(() => socket.resetAndDestroy(), 20)),
    WAITS,
    { answered: true, failure: closed },
  ],
  ['an end after 101', accepting((socket) => socket.end()), WAITS, { answered: true, failure: closed }],
  [
    'silence after 101',
    accepting(() => {}),
    WAITS,
    { answered: true, failure: failure('timeout', 'body', 'no message within 300 ms') },
    { timeoutMs: 300 },
  ],
  [
    'silence',
    (socket) => void socket.resume(),
    {},
    { answered: false, failure: failure('timeout', 'first_byte', 'no answer within 300 ms') },
    { timeoutMs: 300 },
  ],
];

t.test('it names what a server does wrong, and leaves no connection open', { jobs: 4 }, async (t) => {
  for (const [name, serveOne, settings, expected, trial] of HOSTILE)
    t.test(name, { buffered: true }, async (t) => {
      const probe = openProbe(t);
      const { port, open, close } = await listenRaw(serveOne);
      t.teardown(close);
      t.match(await probe(null, { check: checkOf(port, settings), ...trial }), expected);
      await until(() => open() === 0);
    });
});

t.test('it answers a few pings', async (t) => {
  const probe = openProbe(t);
  const { port } = await serve(t, (socket) => {
    socket.on('pong', () => socket.send('ready'));
    socket.ping('?');
  });
  t.match(await probe(null, { check: checkOf(port, { path: '/live', ...WAITS }) }), { failure: null });
});

t.test('it takes a head as long as browsers do', async (t) => {
  const probe = openProbe(t);
  const long = accepting(
    (socket) => socket.on('end', () => socket.end()),
    `X-More: ${'x'.repeat(200_000)}\r\n`,
  );
  const { port, close } = await listenRaw(long);
  t.teardown(close);
  t.match(await probe(null, { check: checkOf(port) }), { failure: null });
});

t.test('the guard judges the address and the port', async (t) => {
  const probe = openProbe(t);
  const { port, close } = await listenRaw(() => t.fail('it connected'));
  t.teardown(close);
  const forbidden = { answered: false, failure: { class: 'forbidden_address', phase: 'connect' } };
  t.match(await probe(null, { origin: 'owner', check: checkOf(port) }), forbidden);
});

t.test('a stopped prober ends the conversation', async (t) => {
  const probe = openProbe(t);
  const { port, open, close } = await listenRaw(accepting(() => {}));
  t.teardown(close);
  const stopping = new AbortController();
  const attempt = probe(null, { check: checkOf(port, WAITS), signal: stopping.signal });
  await until(() => open() === 1);
  stopping.abort(new Error('stopped'));
  await t.rejects(attempt, { message: 'stopped' });
  await until(() => open() === 0);
});

t.test('it refuses settings that cannot be sent', async (t) => {
  const rows: readonly (readonly [CheckSettings, string, string])[] = [
    [{ path: 'live' }, 'path', 'format'],
    [{ subprotocol: 'a, b' }, 'subprotocol', 'format'],
    [{ send: '' }, 'send', 'limit'],
    [{ matches: '(?=x)' }, 'matches', 'format'],
    [{ matches: '(ab){50}'.repeat(20) }, 'matches', 'format'],
  ];
  for (const [settings, setting, code] of rows)
    t.match(validateSettings('websocket', settings), { ok: false, wrong: [{ setting, problem: { code } }] });
});
