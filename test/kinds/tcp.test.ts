/** Checks of ports against real servers on loopback, hostile ones included. */
import type { Socket } from 'node:net';
import t from 'tap';
import type { CheckDefinition } from '../../src/domain/service.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { listenRaw, until } from '../support/loopback.ts';

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
