import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckDefinition } from '../../src/domain/service.ts';
import {
  CERTIFICATE_FOLDER,
  crossSign,
  makeCertificate,
  makeSigner,
  TEST_CA_FILE,
  type TestAuthority,
} from '../support/certificates.ts';
import { listenOn, listenRaw, until } from '../support/loopback.ts';
import { openProbe, type Trial } from './try-probe.ts';

const read = (name: string) => ({
  cert: readFileSync(join(CERTIFICATE_FOLDER, `${name}.pem`), 'utf8'),
  key: readFileSync(join(CERTIFICATE_FOLDER, `${name}-key.pem`), 'utf8'),
});

/** Serves 204 over HTTPS with a certificate. */
async function serve(t: Test, options: ServerOptions) {
  const names: unknown[] = [];
  const protocols: (string | false | null)[] = [];
  const server = createHttpsServer(options, (_, response) => response.writeHead(204).end());
  server.on('secureConnection', (socket) => {
    names.push(socket.servername);
    protocols.push(socket.alpnProtocol);
    socket.on('error', () => {});
  });
  const loopback = await listenOn(server);
  t.teardown(loopback.close);
  return { ...loopback, server, names, protocols, url: `https://127.0.0.1:${loopback.port}/` };
}

const tlsFailure = (detail: string | RegExp) => ({
  statusCode: 0,
  responseTimeMs: null,
  failure: { class: 'tls', phase: 'tls', detail },
  suspect: null,
});

t.test('it checks over TLS and reads the end of the certificate on the way', async (t) => {
  const probe = openProbe(t);
  const { url, open } = await serve(t, read('localhost'));
  const attempt = await probe(url);
  t.match(attempt, { statusCode: 204, failure: null, certificateExpiresAt: Date.UTC(2056, 0, 1) });
  const { connectMs, tlsMs, firstByteMs, totalMs } = attempt.timing;
  t.ok(connectMs !== null && tlsMs !== null && firstByteMs !== null);
  t.ok((totalMs ?? 0) >= (connectMs ?? 0) + (tlsMs ?? 0) + (firstByteMs ?? 0));
  await until(() => open() === 0);
});

t.test('it makes a full handshake for every check', async (t) => {
  const probe = openProbe(t);
  const { url, server } = await serve(t, read('localhost'));
  const reused: boolean[] = [];
  server.on('secureConnection', (socket) => reused.push(socket.isSessionReused()));
  for (let n = 0; n < 3; n++) t.match(await probe(url), { statusCode: 204 });
  t.same(reused, [false, false, false]);
});

t.test('it prefers the cheapest cipher suite, and takes what the server has', async (t) => {
  const probe = openProbe(t);
  const suites: string[] = [];
  for (const ciphers of [undefined, 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']) {
    const { url, server } = await serve(t, { ...read('localhost'), ciphers, honorCipherOrder: false });
    server.on('secureConnection', (socket) => suites.push(socket.getCipher().name));
    t.match(await probe(url), { statusCode: 204 });
  }
  t.same(suites, ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']);
});

t.test('it sends the name of the host, never an address, and speaks HTTP/1.1', async (t) => {
  const hostsFile = `${t.testdir({ hosts: '127.0.0.1 one.demo.test\n' })}/hosts`;
  const probe = openProbe(t, { hostsFile });
  const { url, port, names, protocols } = await serve(t, {
    ...read('localhost'),
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  t.match(await probe(`https://one.demo.test:${port}/`), { statusCode: 204, failure: null });
  t.match(await probe(url), { statusCode: 204, failure: null });
  t.match(await probe(`https://one.demo.test.:${port}/`), { statusCode: 204, failure: null });
  t.match(
    names.map((name) => name || null),
    ['one.demo.test', null, 'one.demo.test'],
  );
  t.same(protocols, ['http/1.1', 'http/1.1', 'http/1.1']);
});

t.test('it knows the end of a certificate that ends soon', async (t) => {
  const probe = openProbe(t);
  const notAfter = new Date(Math.floor(Date.now() / 1000) * 1000 + 5 * 86_400_000);
  const { url } = await serve(t, makeCertificate({ names: ['127.0.0.1'], notAfter }));
  t.match(await probe(url), { statusCode: 204, failure: null, certificateExpiresAt: notAfter.getTime() });
});

t.test('it fails where the certificate is not to be trusted, and still knows its end', async (t) => {
  const probe = openProbe(t);
  const later = new Date(Date.now() + 86_400_000);
  const upper = makeSigner('Upper CA', later);
  const lower = makeSigner('Lower CA', later, upper);
  const { cert, key } = makeCertificate({ names: ['127.0.0.1'], signer: lower });
  const isMissing = (name: string) =>
    `the chain of certificates is incomplete: the server does not send ${name}, which is no trusted authority`;
  const rows: readonly (readonly [ServerOptions, string, Partial<CheckDefinition>])[] = [
    [read('expired'), 'the certificate has expired', {}],
    [read('wrong-name'), 'the certificate is for another name', {}],
    [read('self-signed'), 'the certificate is self-signed', {}],
    [makeCertificate({ names: ['127.0.0.1'], notBefore: later }), 'the certificate is not valid yet', {}],
    [read('localhost'), isMissing('Upbeat test authority'), { caFile: null }],
    [{ cert, key }, isMissing('Lower CA'), {}],
    [{ cert: cert + lower.cert, key }, isMissing('Upper CA'), {}],
  ];
  for (const [certificate, detail, check] of rows) {
    const { url, open } = await serve(t, certificate);
    const attempt = await probe(url, { check });
    t.match(attempt, tlsFailure(detail));
    t.type(attempt.certificateExpiresAt, 'number', detail);
    t.ok(attempt.timing.tlsMs !== null);
    await until(() => open() === 0);
  }
  const { url } = await serve(t, read('expired'));
  t.equal((await probe(url)).certificateExpiresAt, Date.UTC(2025, 1, 1));
});

t.test('an intermediate that ends sooner counts, one behind a trusted root does not', async (t) => {
  const probe = openProbe(t);
  const inDays = (days: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + days * 86_400_000);
  const root = makeSigner('Root', inDays(3000));
  const old = makeSigner('Old root', inDays(-2));
  const short = makeSigner('Short', inDays(9), root);
  const long = makeSigner('Long', inDays(900), root);
  const expired = makeSigner('Expired', inDays(-1), root);
  // The same root, signed by one that has expired since.
  const crossed = crossSign(root, old, inDays(-2));
  const caFile = `${t.testdir({ 'ca.pem': root.cert })}/ca.pem`;
  const chainOf = (signer: TestAuthority, more = '') => {
    const { cert, key } = makeCertificate({ names: ['127.0.0.1'], notAfter: inDays(90), signer });
    return { cert: `${cert}${signer.cert}${more}`, key };
  };
  const rows: readonly (readonly [ServerOptions, days: number, failure: object | null])[] = [
    [chainOf(short), 9, null],
    [chainOf(long), 90, null],
    [chainOf(long, root.cert), 90, null],
    [chainOf(long, crossed), 90, null],
    [chainOf(short, crossed), 9, null],
    [chainOf(expired), -1, { detail: 'the intermediate certificate Expired has expired' }],
  ];
  for (const [index, [options, days, failure]] of rows.entries()) {
    const { url, port } = await serve(t, options);
    const found = { certificateExpiresAt: inDays(days).getTime(), failure };
    const attempt = await probe(url, { check: { caFile } });
    t.ok(Math.abs((attempt.certificateExpiresAt ?? 0) - found.certificateExpiresAt) < 60_000, `row ${index}`);
    t.match(attempt, { failure }, `row ${index}`);
    if (index > 0) continue;
    const settings = { port, minDays: 14 };
    t.match(await probe(null, { check: { kind: 'tls', caFile, settings } }), {
      failure: {
        detail: /^the intermediate certificate Short is valid for another [89] days, fewer than 14$/,
      },
    });
  }
});

t.test('it notices a changed certificate at the next check', async (t) => {
  const probe = openProbe(t);
  const { url, server } = await serve(t, read('localhost'));
  const good = { statusCode: 204, failure: null };
  t.match(await probe(url), { ...good, certificateExpiresAt: Date.UTC(2056, 0, 1) });
  t.match(await probe(url), { ...good, certificateExpiresAt: Date.UTC(2056, 0, 1) });
  const notAfter = new Date(Math.floor(Date.now() / 1000) * 1000 + 5 * 86_400_000);
  server.setSecureContext(makeCertificate({ names: ['127.0.0.1'], notAfter }));
  t.match(await probe(url), { ...good, certificateExpiresAt: notAfter.getTime() });
  server.setSecureContext(read('wrong-name'));
  for (let n = 0; n < 2; n++) t.match(await probe(url), tlsFailure('the certificate is for another name'));
  server.setSecureContext(read('localhost'));
  t.match(await probe(url), good);
});

t.test('it trusts the authority of one service for that service alone', async (t) => {
  const probe = openProbe(t);
  const { url } = await serve(t, read('localhost'));
  t.match(await probe(url, { check: { caFile: TEST_CA_FILE } }), { failure: null });
  t.match(await probe(url, { check: { caFile: null } }), { failure: { class: 'tls' } });
  t.match(await probe(url, { check: { caFile: TEST_CA_FILE } }), { failure: null });
});

t.test('it holds a file of authorities that cannot be read for our own fault', async (t) => {
  const probe = openProbe(t);
  const { url } = await serve(t, read('localhost'));
  t.match(await probe(url, { check: { caFile: '/nowhere/ca.pem' } }), {
    statusCode: 0,
    failure: { class: 'tls', detail: 'the file of trusted authorities cannot be read' },
    suspect: 'own_fault',
  });
});

const HANDSHAKES: readonly (readonly [name: string, (socket: Socket) => void, object, Trial])[] = [
  [
    'it reports a connection that is reset during the handshake',
    (socket) => void socket.once('data', () => socket.resetAndDestroy()),
    tlsFailure('the connection was closed during the TLS handshake'),
    {},
  ],
  [
    'it reports a connection that is closed during the handshake',
    (socket) => void socket.once('data', () => socket.end()),
    tlsFailure('the connection was closed during the TLS handshake'),
    {},
  ],
  [
    'it reports a server that does not speak TLS',
    (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    tlsFailure('the server does not speak TLS on this port'),
    {},
  ],
  [
    'it waits no longer than its deadline for a handshake',
    (socket) => void socket.resume(),
    { statusCode: 0, failure: { class: 'timeout', phase: 'tls', detail: 'no TLS handshake within 400 ms' } },
    { timeoutMs: 400 },
  ],
];

for (const [name, server, expect, trial] of HANDSHAKES) {
  t.test(name, async (t) => {
    const probe = openProbe(t);
    const { port, open, close } = await listenRaw(server);
    t.teardown(close);
    const attempt = await probe(`https://127.0.0.1:${port}/`, trial);
    t.match(attempt, expect);
    t.ok(attempt.timing.tlsMs !== null && attempt.timing.firstByteMs === null);
    await until(() => open() === 0);
  });
}

t.test('it reports a server that can only do old TLS', async (t) => {
  const probe = openProbe(t);
  const { url } = await serve(t, {
    ...read('localhost'),
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL:@SECLEVEL=0',
  });
  t.match(await probe(url), tlsFailure('the server speaks only versions of TLS before 1.2'));
});

t.test('it names a server that speaks HTTP/2 alone, and one that wants a client certificate', async (t) => {
  const probe = openProbe(t);
  const newer = createSecureServer(read('localhost'), (_, response) => void response.end());
  newer.on('unknownProtocol', (socket) => socket.destroy());
  const { port, close } = await listenOn(newer);
  t.teardown(close);
  const check = { method: 'GET' } as const;
  const url = `https://127.0.0.1:${port}/`;
  t.match(await probe(url, { check }), tlsFailure('the server speaks HTTP/2 only, and no HTTP/1.1'));
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const demands = {
      requestCert: true,
      ca: readFileSync(TEST_CA_FILE),
      minVersion: version,
      maxVersion: version,
    };
    const { url } = await serve(t, { ...read('localhost'), ...demands });
    t.match(await probe(url, { check }), tlsFailure('the server requires a client certificate'), version);
    for (const kind of ['websocket', 'grpc'] as const) {
      const settings = { port: Number(new URL(url).port) };
      const { failure } = await probe(null, { check: { kind, settings } });
      t.match(failure, { class: 'tls', cause: { code: /^(?:client_certificate|http2)_missing$/ } }, kind);
    }
  }
});

t.test('it follows a redirect from https to http', async (t) => {
  const probe = openProbe(t);
  const plain = await listenRaw((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  });
  t.teardown(plain.close);
  const server = createHttpsServer(read('localhost'), (_, response) =>
    response.writeHead(301, { location: `http://127.0.0.1:${plain.port}/` }).end(),
  );
  const { port, close } = await listenOn(server);
  t.teardown(close);
  const attempt = await probe(`https://127.0.0.1:${port}/`);
  t.match(attempt, { statusCode: 200, failure: null, certificateExpiresAt: Date.UTC(2056, 0, 1) });
  t.ok(attempt.timing.tlsMs !== null);
});

t.test(
  'a check of the kind http may accept any certificate, or those of its own authority alone',
  async (t) => {
    const probe = openProbe(t);
    const check = (port: number, certificate: string) =>
      ({ check: { kind: 'http', caFile: null, accept: ['2xx'], settings: { port, certificate } } }) as const;
    const authority = readFileSync(TEST_CA_FILE, 'utf8');
    for (const name of ['expired', 'wrong-name', 'self-signed'] as const) {
      const { port } = await serve(t, read(name));
      t.match(await probe(null, check(port, 'verify')), { failure: { class: 'tls' } }, name);
      t.match(await probe(null, check(port, authority)), { failure: { class: 'tls' } }, name);
      t.match(
        await probe(null, check(port, 'ignore')),
        { statusCode: 204, failure: null, certificateExpiresAt: null },
        name,
      );
    }
    const { port } = await serve(t, read('localhost'));
    t.match(await probe(null, check(port, 'verify')), { failure: { class: 'tls' } });
    t.match(await probe(null, check(port, authority)), {
      statusCode: 204,
      failure: null,
      certificateExpiresAt: Number,
    });
    const other = readFileSync(join(CERTIFICATE_FOLDER, 'self-signed.pem'), 'utf8');
    t.match(await probe(null, check(port, other)), { failure: { class: 'tls' } }, 'nobody else is trusted');
  },
);
