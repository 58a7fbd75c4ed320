/** `grpc` checks against gRPC's own server on loopback, and against hostile ones. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type handleUnaryCall, Server, ServerCredentials, status as statuses } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import type { CheckSettings } from '../../src/domain/service.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { CERTIFICATE_FOLDER } from '../support/certificates.ts';
import { listenOn, listenRaw, until } from '../support/loopback.ts';

const checkOf = (port: number, settings: CheckSettings = {}) =>
  ({ kind: 'grpc', settings: { plain: true, port, ...settings } }) as const;

const failure = (kind: string, phase: string, detail: string) => ({ class: kind, phase, detail });

const pem = (name: string) => readFileSync(join(CERTIFICATE_FOLDER, `${name}.pem`));

/** A health service over bytes, as generated code would make it from health.proto. */
const HEALTH = {
  Check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  },
} as const;

/** `HealthCheckResponse` of each status by the name of the service; the empty name is the server. */
const SERVING: Readonly<Record<string, readonly number[]>> = {
  '': [0x08, 1],
  'shop.Orders': [0x08, 2],
  starting: [],
  later: [0x08, 3],
  odd: [0x08, 9],
  broken: [0x12, 1, 1],
};

const check: handleUnaryCall<Buffer, Buffer> = ({ request, metadata }, respond) => {
  const name = request.subarray(2).toString();
  const bytes = SERVING[name];
  if (name === 'agent') respond({ code: statuses.UNAVAILABLE, details: String(metadata.get('user-agent')) });
  else if (bytes === undefined) respond({ code: statuses.NOT_FOUND, details: 'unknown service' });
  else respond(null, Buffer.from(bytes));
};

/** Starts gRPC's own server; returns its port. */
async function serveGrpc(t: Test, credentials: ServerCredentials, hasHealth = true): Promise<number> {
  const server = new Server();
  if (hasHealth) server.addService(HEALTH, { Check: check });
  t.teardown(() => server.forceShutdown());
  return await new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
}

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'grpc', suspect: null, blocked: false };

t.test('it judges what the health service says', { timeout: 60_000 }, async (t) => {
  const probe = openProbe(t);
  const port = await serveGrpc(t, ServerCredentials.createInsecure());
  const reports = (word: string) =>
    failure(
      'body',
      'body',
      `the service reports ${word === 'NOT_SERVING' ? '' : 'an unknown status '}"${word}"`,
    );
  const rows: readonly (readonly [string | undefined, object | null])[] = [
    [undefined, null],
    ['shop.Orders', reports('NOT_SERVING')],
    ['starting', reports('UNKNOWN')],
    ['later', reports('SERVICE_UNKNOWN')],
    ['odd', reports('9')],
    ['broken', failure('protocol', 'body', 'the message of the health service cannot be read')],
    [
      'x'.repeat(200),
      { class: 'content', phase: 'body', detail: /^the health service does not know the service "x+/ },
    ],
    [
      'agent',
      {
        class: 'content',
        phase: 'body',
        detail: /^answered with gRPC status UNAVAILABLE: .*Upbeat\/1\.2\.3 \(\+https:\/\/status\.example\)/,
      },
    ],
  ];
  for (const [service, expected] of rows) {
    const attempt = await probe(null, { check: checkOf(port, service === undefined ? {} : { service }) });
    t.match(attempt, { ...GOOD, failure: expected }, service ?? 'the server');
    t.ok(attempt.responseTimeMs !== null && attempt.timing.firstByteMs !== null);
  }
});

t.test('it says what to do where there is no health service', async (t) => {
  const probe = openProbe(t);
  const port = await serveGrpc(t, ServerCredentials.createInsecure(), false);
  t.match(await probe(null, { check: checkOf(port) }), {
    answered: true,
    failure: failure(
      'content',
      'body',
      'the server has no health service: add grpc.health.v1.Health to it, or check its port by tcp',
    ),
  });
});

t.test('it speaks TLS, and tells when the certificate expires', async (t) => {
  const probe = openProbe(t);
  const pair = { cert_chain: pem('localhost'), private_key: pem('localhost-key') };
  const port = await serveGrpc(t, ServerCredentials.createSsl(null, [pair]));
  const settings = { plain: false };
  t.match(await probe(null, { check: checkOf(port, settings) }), {
    ...GOOD,
    certificateExpiresAt: Number,
    timing: { tlsMs: Number },
  });
  t.match(await probe(null, { check: { ...checkOf(port, settings), caFile: null } }), {
    answered: true,
    failure: { class: 'tls', phase: 'tls' },
  });
});

/** A server of HTTP/2 that responds as told. */
function responding(respond: (stream: ServerHttp2Stream) => void) {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    respond(stream);
  });
  server.on('session', (session) => session.on('error', () => {}));
  return () => listenOn(server);
}

const TYPE = { 'content-type': 'application/grpc+proto' };

/** Responds with bytes and trailers. */
function replying(bytes: readonly number[], trailers: Readonly<Record<string, string>> | null) {
  return responding((stream) => {
    stream.respond(TYPE, { waitForTrailers: trailers !== null });
    if (trailers !== null) stream.on('wantTrailers', () => stream.sendTrailers({ ...trailers }));
    stream.end(Buffer.from(bytes));
  });
}

/** A frame of HTTP/2. */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const SETTINGS = frame(4, 0, 0);

/** Sends settings, then the same piece without end; the acknowledgements are read. */
function flooding(first: Buffer, piece: Buffer) {
  return () =>
    listenRaw((socket) => {
      socket.on('data', () => {});
      socket.write(Buffer.concat([SETTINGS, first]));
      const more = () => {
        if (!socket.destroyed) socket.write(piece, () => setImmediate(more));
      };
      more();
    });
}

/** Sends settings and frames when the request has arrived. */
function framing(...frames: readonly Buffer[]) {
  return () =>
    listenRaw((socket) => void socket.once('data', () => socket.write(Buffer.concat([SETTINGS, ...frames]))));
}

const raw = (handle: (socket: Socket) => void) => () => listenRaw(handle);

const repeat = (piece: Buffer) => Buffer.concat(Array.from({ length: 500 }, () => piece));

const protocol = { failure: { class: 'protocol' } };

/** Which of the two limits is reached first depends on the time that reading takes. */
const flooded = {
  failure: { phase: 'first_byte', detail: /^the answer is (?:not valid HTTP\/2|longer than 256 KiB)/ },
};

const silent = (phase: string, what: string) => ({
  failure: failure('timeout', phase, `${what} within 300 ms`),
});

const SHORT: Trial = { timeoutMs: 300 };

const HOSTILE: readonly (readonly [string, () => ReturnType<typeof listenOn>, object, Trial?])[] = [
  [
    'a stream that is refused',
    responding((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)),
    {
      answered: true,
      failure: failure('protocol', 'first_byte', 'the server ended the call (REFUSED_STREAM)'),
    },
  ],
  [
    'a stream that is reset after its headers',
    framing(frame(1, 4, 1, Buffer.from([0x88])), frame(3, 0, 1, Buffer.from([0, 0, 0, 2]))),
    { answered: true, failure: failure('protocol', 'body', 'the server ended the call (INTERNAL_ERROR)') },
  ],
  [
    'a connection that is ended with a reason',
    framing(frame(7, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, 11]))),
    {
      answered: true,
      failure: failure('protocol', 'first_byte', 'the server ended the call (ENHANCE_YOUR_CALM)'),
    },
  ],
  [
    'an orderly end of the connection after the response',
    responding((stream) => {
      stream.respond({ ...TYPE, 'grpc-status': '14', 'grpc-message': 'going%20away' }, { endStream: true });
      stream.session?.close();
    }),
    { failure: failure('content', 'body', 'answered with gRPC status UNAVAILABLE: going away') },
  ],
  [
    'a message over the bound',
    responding((stream) => {
      stream.respond(TYPE);
      stream.end(Buffer.alloc(1_000_000));
    }),
    { answered: true, failure: failure('content', 'body', 'the answer is longer than 4 KiB') },
  ],
  [
    'no trailers',
    replying([0, 0, 0, 0, 2, 8, 1], null),
    { answered: true, failure: failure('protocol', 'body', 'the answer has no gRPC status') },
  ],
  ['trailers without a status', replying([0, 0, 0, 0, 2, 8, 1], { 'x-other': '1' }), protocol],
  [
    'a status that gRPC does not have',
    replying([], { 'grpc-status': '99' }),
    { failure: { class: 'content' } },
  ],
  ['a message with a wrong length', replying([0, 0, 0, 0, 9, 8, 1], { 'grpc-status': '0' }), protocol],
  ['a compressed message', replying([1, 0, 0, 0, 2, 8, 1], { 'grpc-status': '0' }), protocol],
  ['no message', replying([], { 'grpc-status': '0' }), protocol],
  [
    'a page',
    responding((stream) => {
      stream.respond({ 'content-type': 'text/html' });
      stream.end('<!doctype html>');
    }),
    { failure: failure('protocol', 'first_byte', 'the answer is not gRPC (content-type "text/html")') },
  ],
  [
    'a long message, of which one line is kept',
    replying([], { 'grpc-status': '13', 'grpc-message': 'x'.repeat(1_000) }),
    { failure: { cause: { message: `${'x'.repeat(199)}…` } } },
  ],
  [
    'an error of a proxy',
    responding((stream) => stream.respond({ ':status': 502 }, { endStream: true })),
    { answered: true, statusCode: 502, failure: failure('status', 'first_byte', 'answered with status 502') },
  ],
  [
    'a rate limit',
    responding((stream) => stream.respond({ ':status': 429, 'retry-after': '60' }, { endStream: true })),
    { statusCode: 429, blocked: true, failure: null, retryAfterMs: 60_000 },
  ],
  [
    'a server of HTTP/1.1',
    raw((socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
    {
      answered: false,
      failure: { class: 'protocol', phase: 'first_byte', detail: /^the answer is not valid HTTP\/2/ },
    },
  ],
  [
    'a close without a response',
    raw((socket) => void socket.once('data', () => socket.end())),
    {
      answered: false,
      failure: failure('unreachable', 'first_byte', 'the connection was closed without an answer'),
    },
  ],
  [
    'a reset without a response',
    raw((socket) => void socket.once('data', () => socket.resetAndDestroy())),
    { answered: false, failure: { class: 'unreachable', phase: 'first_byte' } },
  ],
  ['settings without end', flooding(SETTINGS, repeat(SETTINGS)), flooded],
  ['pings without end', flooding(SETTINGS, repeat(frame(6, 0, 0, Buffer.alloc(8)))), flooded],
  ['unknown frames without end', flooding(SETTINGS, repeat(frame(0xee, 0, 0, Buffer.alloc(100)))), flooded],
  [
    'headers without end',
    flooding(frame(1, 0, 1, Buffer.from([0x88])), repeat(frame(9, 0, 1, Buffer.from([0x40, 1, 97, 1, 98])))),
    protocol,
  ],
  [
    'interim responses without end',
    flooding(SETTINGS, repeat(frame(1, 4, 1, Buffer.from([0x08, 3, 0x31, 0x30, 0x33])))),
    // Our bound, or that of the HTTP/2 client, whichever is reached first.
    { failure: { phase: 'first_byte', detail: /^the answer is longer than 256 KiB$|ENHANCE_YOUR_CALM/ } },
  ],
  [
    'silence',
    raw((socket) => void socket.resume()),
    { answered: false, ...silent('first_byte', 'no answer') },
    SHORT,
  ],
  [
    'settings and then silence',
    raw((socket) => void socket.resume().write(SETTINGS)),
    { answered: false, ...silent('first_byte', 'no answer') },
    SHORT,
  ],
  [
    'headers and then silence',
    responding((stream) => stream.respond(TYPE)),
    { answered: true, ...silent('body', 'the body did not end') },
    SHORT,
  ],
];

t.test('it names what a server does wrong, and leaves no connection open', { jobs: 4 }, async (t) => {
  for (const [name, listen, expected, trial] of HOSTILE)
    t.test(name, { buffered: true }, async (t) => {
      const probe = openProbe(t);
      const { port, open, close } = await listen();
      t.teardown(close);
      const attempt = await probe(null, { check: checkOf(port), ...trial });
      t.match(attempt, expected);
      t.equal(attempt.failure === null, attempt.blocked, 'none of them is good');
      await until(() => open() === 0);
    });
});

t.test('the guard judges the address and the port, and a stopped prober ends the call', async (t) => {
  const probe = openProbe(t);
  const { port, open, close } = await listenRaw((socket) => void socket.resume());
  t.teardown(close);
  t.match(await probe(null, { origin: 'owner', check: checkOf(port) }), {
    answered: false,
    failure: { class: 'forbidden_address', phase: 'connect' },
  });
  const stopping = new AbortController();
  const attempt = probe(null, { check: checkOf(port), signal: stopping.signal });
  await until(() => open() === 1);
  stopping.abort(new Error('stopped'));
  await t.rejects(attempt, { message: 'stopped' });
  await until(() => open() === 0);
});

const CALLS = 2_000;

/** Small, so that many collections of garbage come between the end of a session and that of its streams. */
const HEAP = '--max-semi-space-size=1';

/** Settings, headers with status 200, and trailers with 200 fields, of which Node.js takes 128. */
const ANSWER = Buffer.concat([
  frame(4, 0, 0),
  frame(1, 4, 1, Buffer.from([0x88])),
  frame(
    1,
    5,
    1,
    Buffer.concat(Array.from({ length: 200 }, (_, n) => Buffer.from([0, 2, 120, 48 + (n % 10), 1, 118]))),
  ),
]);

t.test('a server that sends more fields than Node.js takes does not end the program', async (t) => {
  const server = await listenRaw((socket) => void socket.once('data', () => socket.write(ANSWER)));
  t.teardown(() => server.close());
  const caller = join(import.meta.dirname, 'grpc-caller.ts');
  const child = spawn(process.execPath, [HEAP, caller, String(server.port), String(CALLS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, ended] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  t.same(ended, [0, null], 'it was not aborted');
  t.same(JSON.parse(output || 'null'), { ends: { http2_reset: CALLS }, held: true });
});
