/** Checks of ports and certificates against real servers on loopback, hostile ones included. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import t, { type Test } from 'tap';
import type { CheckDefinition } from '../../src/domain/service.ts';
import { judgeExpiry } from '../../src/kinds/tls.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { CERTIFICATE_FOLDER, makeCertificate } from '../support/certificates.ts';
import { listenOn, listenRaw, until } from '../support/loopback.ts';

const DAY_MS = 86_400_000;

const tcp = (port: number, banner?: string): Partial<CheckDefinition> => ({
  kind: 'tcp',
  settings: { port, ...(banner === undefined ? {} : { banner }) },
});

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'tcp', suspect: null };

const failure = (kind: string, phase: string, detail: string) => ({ class: kind, phase, detail });

/** Sends a piece every few milliseconds until the other side closes the connection. */
function drip(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece), 5);
  socket.on('close', () => clearInterval(timer));
}

const MISSING = failure('content', 'body', 'the greeting does not contain "220 "');
const TOO_LONG = failure('content', 'body', 'the first 4096 bytes of the greeting do not contain "220 "');

const GREETINGS: readonly (readonly [string, (socket: Socket) => void, object, Trial?])[] = [
  ['a greeting', (socket) => socket.write('220 mail.example ESMTP\r\n'), GOOD],
  ['a greeting in two pieces', (socket) => socket.write('22', () => socket.write('0 \r\n')), GOOD],
  ['a greeting within what comes first', (socket) => socket.write('\u0000\u0001noise\r\n220 ok'), GOOD],
  ['another greeting', (socket) => socket.end('554 no service\r\n'), { answered: true, failure: MISSING }],
  ['no greeting', (socket) => socket.end(), { answered: true, failure: MISSING, responseTimeMs: null }],
  ['a reset', (socket) => void setTimeout(() => socket.resetAndDestroy(), 20), { failure: MISSING }],
  ['a greeting without end', (socket) => drip(socket, 'x'.repeat(1_000)), { failure: TOO_LONG }],
  [
    'a slow drip',
    (socket) => drip(socket, '2'),
    { answered: true, failure: failure('timeout', 'body', 'the body did not end within 300 ms') },
    { timeoutMs: 300 },
  ],
  [
    'silence',
    (socket) => void socket.resume(),
    { answered: false, failure: failure('timeout', 'first_byte', 'no answer within 300 ms') },
    { timeoutMs: 300 },
  ],
];

t.test('a tcp check waits for the greeting that it expects', { jobs: 4 }, async (t) => {
  for (const [name, greet, expected, trial] of GREETINGS)
    t.test(name, { buffered: true }, async (t) => {
      const probe = openProbe(t);
      const { port, open, close } = await listenRaw(greet);
      t.teardown(close);
      t.match(await probe(null, { check: tcp(port, '220 '), ...trial }), expected);
      await until(() => open() === 0);
    });
});

t.test('a tcp check without a greeting needs a connection only, and closes it', async (t) => {
  const probe = openProbe(t);
  const { port, open, close } = await listenRaw(() => {});
  t.teardown(close);
  const attempt = await probe(null, { check: tcp(port) });
  t.match(attempt, { ...GOOD, certificateExpiresAt: null, blocked: false });
  const { connectMs, tlsMs, firstByteMs, totalMs } = attempt.timing;
  t.ok(connectMs !== null && totalMs !== null && totalMs >= connectMs);
  t.same([tlsMs, firstByteMs], [null, null]);
  t.equal(attempt.responseTimeMs, Math.round(totalMs ?? -1));
  await until(() => open() === 0);
});

t.test('a refused connection is no response', async (t) => {
  const probe = openProbe(t);
  const { port, close } = await listenRaw(() => {});
  await close();
  t.match(await probe(null, { check: tcp(port) }), {
    answered: false,
    responseTimeMs: null,
    failure: failure('refused', 'connect', 'the connection was refused'),
  });
});

t.test('the guard judges the address and the port when it connects', async (t) => {
  const probe = openProbe(t);
  const { port, close } = await listenRaw(() => t.fail('it connected'));
  t.teardown(close);
  const forbidden = { answered: false, failure: { class: 'forbidden_address', phase: 'connect' } };
  t.match(await probe(null, { origin: 'owner', check: tcp(port) }), forbidden, 'of an owner');
  const hostsFile = `${t.testdir({ hosts: '127.0.0.1 inside.demo.test\n' })}/hosts`;
  const outside = openProbe(t, { hostsFile, allowPrivate: [] });
  const domain = 'inside.demo.test';
  for (const check of [tcp(port, 'x'), { kind: 'tls', settings: { port } } as const])
    t.match(await outside(null, { domain, check }), {
      ...forbidden,
      failure: { class: 'forbidden_address', detail: 'the name leads to an address that is not public' },
    });
});

/** Serves TLS, and says nothing. */
async function serveTls(t: Test, options: TlsOptions) {
  const server = createTlsServer(options, (socket) => socket.on('error', () => {}));
  server.on('tlsClientError', () => {});
  const loopback = await listenOn(server);
  t.teardown(loopback.close);
  return loopback;
}

const stored = (name: string) => ({
  cert: readFileSync(join(CERTIFICATE_FOLDER, `${name}.pem`), 'utf8'),
  key: readFileSync(join(CERTIFICATE_FOLDER, `${name}-key.pem`), 'utf8'),
});

t.test('a tls check judges the certificate', async (t) => {
  const probe = openProbe(t);
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS + 3_600_000);
  const names = ['127.0.0.1'];
  const tls = (detail: string) => ({ answered: true, failure: failure('tls', 'tls', detail) });
  const soon = 'the certificate is valid for another 6 days, fewer than 14';
  const rows: readonly (readonly [string, TlsOptions, number | undefined, object])[] = [
    ['a good one', stored('localhost'), 30, { answered: true, failure: null }],
    [
      'any one that has not expired',
      makeCertificate({ names, notAfter: inDays(0) }),
      undefined,
      { failure: null },
    ],
    [
      'one that expires soon',
      makeCertificate({ names, notAfter: inDays(6) }),
      14,
      { failure: failure('content', 'tls', soon) },
    ],
    ['an expired one', stored('expired'), 0, tls('the certificate has expired')],
    [
      'a future one',
      makeCertificate({ names, notBefore: inDays(1) }),
      0,
      tls('the certificate is not valid yet'),
    ],
    ['one for another name', stored('wrong-name'), 0, tls('the certificate is for another name')],
    ['a self-signed one', stored('self-signed'), 0, tls('the certificate is self-signed')],
    [
      'none for HTTP',
      { ...stored('localhost'), ALPNProtocols: ['smtp'] },
      0,
      { answered: true, failure: null },
    ],
  ];
  for (const [name, options, minDays, expected] of rows) {
    const { port, open } = await serveTls(t, options);
    const settings = { port, ...(minDays === undefined ? {} : { minDays }) };
    const attempt = await probe(null, { check: { kind: 'tls', settings } });
    t.match(attempt, { via: 'tls', statusCode: 0, ...expected }, name);
    t.type(attempt.certificateExpiresAt, 'number', name);
    t.ok(attempt.timing.tlsMs !== null && attempt.timing.connectMs !== null, name);
    await until(() => open() === 0);
  }
});

t.test('a tls check tells of a server that does not speak TLS', async (t) => {
  const probe = openProbe(t);
  const rows: readonly (readonly [string, (socket: Socket) => void, object])[] = [
    [
      'plain text',
      (socket) => void socket.once('data', () => socket.end('220 hello\r\n')),
      { class: 'tls', phase: 'tls' },
    ],
    ['a reset', (socket) => void socket.once('data', () => socket.resetAndDestroy()), { class: 'tls' }],
    ['silence', (socket) => void socket.resume(), { class: 'timeout', phase: 'tls' }],
  ];
  for (const [name, server, expected] of rows) {
    const { port, open, close } = await listenRaw(server);
    t.teardown(close);
    const check = { kind: 'tls', settings: { port } } as const;
    t.match(
      await probe(null, { check, timeoutMs: 400 }),
      { failure: expected, certificateExpiresAt: null },
      name,
    );
    await until(() => open() === 0);
  }
});

t.test('whole days of a certificate count', async (t) => {
  const now = Date.UTC(2026, 10, 20);
  t.equal(judgeExpiry(null, 14, now), null);
  t.equal(judgeExpiry(now + 14 * DAY_MS, 14, now), null);
  t.match(judgeExpiry(now + 14 * DAY_MS - 1, 14, now), { cause: { days: 13, minDays: 14 } });
});

t.test('a stopped prober ends a conversation', async (t) => {
  const probe = openProbe(t);
  const { port, open, close } = await listenRaw((socket) => void socket.resume());
  t.teardown(close);
  const stopping = new AbortController();
  const attempt = probe(null, { check: tcp(port, '220 '), signal: stopping.signal });
  await until(() => open() === 1);
  stopping.abort(new Error('stopped'));
  await t.rejects(attempt, { message: 'stopped' });
  await until(() => open() === 0);
});
