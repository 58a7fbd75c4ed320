/** Checks of certificates against real servers on loopback. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import t, { type Test } from 'tap';
import { judgeExpiry } from '../../src/kinds/tls.ts';
import { openProbe } from '../probe/try-probe.ts';
import { CERTIFICATE_FOLDER, makeCertificate } from '../support/certificates.ts';
import { listenOn, listenRaw, until } from '../support/loopback.ts';

const DAY_MS = 86_400_000;

const failure = (kind: string, phase: string, detail: string) => ({ class: kind, phase, detail });

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
