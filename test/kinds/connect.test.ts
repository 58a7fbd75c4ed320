/** Checks that end with their prober. */

import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import t, { type Test } from 'tap';
import { ANY_DESTINATION } from '../../src/domain/allowed-destinations.ts';
import { describeSettingProblem } from '../../src/domain/input-problem.ts';
import {
  type CheckDefinition,
  type CheckSettings,
  DEFAULT_CHECK,
  type ProbedKind,
} from '../../src/domain/service.ts';
import { operatorLimits } from '../../src/kinds/check-members.ts';
import { validatePublicSettings, validateSettings } from '../../src/kinds/settings.ts';
import { mergePatch } from '../../src/resources/kit/read-document.ts';
import { readServiceDocument } from '../../src/resources/services/service-document.ts';
import { openProbe } from '../probe/try-probe.ts';
import { type CertificateOptions, makeCertificate, TEST_CA_FILE } from '../support/certificates.ts';
import { listenOn, listenRaw, until } from '../support/loopback.ts';

const tcp = (port: number, banner?: string): Partial<CheckDefinition> => ({
  kind: 'tcp',
  settings: { port, ...(banner === undefined ? {} : { banner }) },
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

const KINDS: readonly ProbedKind[] = ['http', 'tls', 'grpc', 'websocket'];

function makeClient(options: Partial<CertificateOptions> = {}) {
  const { cert, key } = makeCertificate({ names: ['probe.example'], client: true, ...options });
  return { clientCertificate: cert, clientKey: key };
}

t.test('it accepts a certificate with its key, and says what is wrong with others', async (t) => {
  const good = makeClient();
  const other = makeClient();
  const ended = makeClient({ notBefore: new Date('2024-01-01'), notAfter: new Date('2024-03-01') });
  const locked = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }).privateKey;
  const rows: readonly (readonly [CheckSettings, setting: string, problem: string])[] = [
    [{ ...good, clientKey: other.clientKey }, 'clientKey', 'is not the key of clientCertificate'],
    [ended, 'clientCertificate', 'has expired on 2024-03-01'],
    [{ clientKey: good.clientKey }, 'clientCertificate', 'must be entered together with clientKey'],
    [
      { clientCertificate: good.clientCertificate },
      'clientKey',
      'must be entered together with clientCertificate',
    ],
    [
      { ...good, clientKey: locked },
      'clientKey',
      'must be a private key in PEM without a passphrase (-----BEGIN PRIVATE KEY-----)',
    ],
    [
      { ...good, clientCertificate: good.clientKey },
      'clientCertificate',
      'must be certificates in PEM (-----BEGIN CERTIFICATE-----)',
    ],
    [
      { ...good, clientCertificate: 'x'.repeat(20_000) },
      'clientCertificate',
      'must have at most 16384 characters',
    ],
  ];
  for (const kind of KINDS) {
    t.match(validateSettings(kind, good), { ok: true, settings: undefined, secrets: good }, kind);
    for (const [settings, setting, problem] of rows) {
      const reading = validateSettings(kind, settings);
      const wrong = reading.ok
        ? []
        : reading.wrong.map((one) => [one.setting, describeSettingProblem(one.problem)]);
      t.same(wrong, [[setting, problem]], `${kind}: ${problem}`);
    }
    t.match(
      validatePublicSettings(kind, good),
      { secrets: good },
      'the catalogue, which others may read, takes none',
    );
  }
  const plain = { ...good, plain: true };
  t.match(validateSettings('http', plain), { ok: false, wrong: [{ setting: 'plain' }] });
});

t.test('a stored one is kept or replaced as a whole, and never sent elsewhere', async (t) => {
  const client = makeClient();
  const sealed = { clientCertificate: 'a', clientKey: 'b' };
  const change = (settings: object, kind: (typeof KINDS)[number] = 'http') => {
    const before = { ...DEFAULT_CHECK, kind, sealed };
    const patch = { check: { settings } };
    const document = mergePatch({ domain: 'a.example', check: { kind } }, patch);
    return readServiceDocument(document, ANY_DESTINATION, operatorLimits(null), { before, patch });
  };
  const refused = (setting: string, code: string) => ({
    ...{ ok: false, refusals: [{ refusal: { setting, problem: { code } } }] },
  });
  t.match(change({ path: '/x' }), { ok: true, value: { check: { sealed } } });
  t.match(change(client), { ok: true, value: { secrets: client } });
  t.match(change({ clientCertificate: null, clientKey: null }), { ok: true });
  t.match(change({ clientKey: client.clientKey }), refused('clientCertificate', 'together'));
  t.match(change({ clientKey: null }), refused('clientKey', 'together'));
  for (const kind of KINDS)
    t.match(change({ port: 8443 }, kind), refused('clientCertificate', 'secret_again'), kind);
});

/** A server that demands a certificate of the test authority, and notes which it gets. */
async function demand(t: Test, location: string | null = null) {
  const seen: string[] = [];
  const { cert, key } = makeCertificate({ names: ['127.0.0.1'] });
  const options = { cert, key, requestCert: true, ca: readFileSync(TEST_CA_FILE) };
  const server = createServer(options, (_, response) =>
    response.writeHead(location === null ? 204 : 302, location === null ? {} : { location }).end(),
  );
  server.on('secureConnection', (socket) => seen.push(String(socket.getPeerCertificate().subject?.CN)));
  const { port, close } = await listenOn(server);
  t.teardown(close);
  return { port, seen };
}

t.test('a server that demands one gets it, and another origin does not', async (t) => {
  const probe = openProbe(t);
  const client = makeClient();
  const { port, seen } = await demand(t);
  const http = (settings: CheckSettings) => probe(null, { check: { kind: 'http', settings } });
  t.match(await http({ port }), { failure: { detail: 'the server requires a client certificate' } });
  t.match(await http({ port, ...client }), { statusCode: 204, failure: null });
  t.match(await probe(null, { check: { kind: 'tls', settings: { port, ...client } } }), { failure: null });
  const away = await demand(t, `https://127.0.0.1:${port}/`);
  t.match(await http({ port: away.port, ...client }), {
    failure: { detail: 'the server requires a client certificate' },
  });
  t.same(away.seen, ['probe.example']);
  t.equal(seen[0], 'probe.example');
});

t.test('gRPC and WebSockets sign in by it too', async (t) => {
  const probe = openProbe(t);
  const client = makeClient();
  const { port } = await demand(t);
  const socket = await probe(null, { check: { kind: 'websocket', settings: { port, ...client } } });
  t.match(
    socket,
    { statusCode: 204, failure: { class: 'status' } },
    'the server is no WebSocket, and answered',
  );
  const { cert, key } = makeCertificate({ names: ['127.0.0.1'] });
  const options = { cert, key, requestCert: true, rejectUnauthorized: true, ca: readFileSync(TEST_CA_FILE) };
  const server = createSecureServer(options);
  server.on('stream', (stream) => stream.respond({ ':status': 404 }, { endStream: true }));
  const loopback = await listenOn(server);
  t.teardown(loopback.close);
  const grpc = (more: CheckSettings) =>
    probe(null, { check: { kind: 'grpc', settings: { port: loopback.port, ...more } } });
  t.match(await grpc(client), { statusCode: 404, failure: { class: 'status' } });
  t.match(await grpc({}), { failure: { detail: 'the server requires a client certificate' } });
});
