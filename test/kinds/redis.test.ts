/** Checks of Redis against a real server, and doubles of one that is not well. */
import { join } from 'node:path';
import t from 'tap';
import { openProbe } from '../probe/try-probe.ts';
import { CERTIFICATE_FOLDER, TEST_CA_FILE } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { listenRaw } from '../support/loopback.ts';
import { NEEDS_REDIS, startRedis } from '../support/redis-server.ts';
import { sealed } from './sealed.ts';

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'redis', suspect: null, blocked: false };
const content = (detail: string) => ({ answered: true, failure: { class: 'content', detail } });
const redis = (port: number) => ({ check: { kind: 'redis', settings: { port } } as const });

t.test('it pings a server, in plain text and by TLS', NEEDS_REDIS, async (t) => {
  const tlsPort = await freePort();
  const { port, client } = await startRedis(t, [
    ...['--tls-port', String(tlsPort), '--tls-cert-file', join(CERTIFICATE_FOLDER, 'localhost.pem')],
    ...['--tls-key-file', join(CERTIFICATE_FOLDER, 'localhost-key.pem'), '--tls-ca-cert-file', TEST_CA_FILE],
    ...['--tls-auth-clients', 'no'],
  ]);
  const probe = openProbe(t);
  t.match(await probe(null, redis(port)), { ...GOOD, certificateExpiresAt: null });
  t.match(await probe(null, { check: { kind: 'redis', settings: { port: tlsPort, security: 'tls' } } }), {
    ...GOOD,
    certificateExpiresAt: Number,
  });
  await client.call('ACL', 'SETUSER', 'ada', 'on', '>hunter2', '+ping');
  const { probe: reads, check } = sealed(t, 'redis', { port }, `redis+plain:${port}`);
  t.match(await reads(null, check({ username: 'ada', password: 'hunter2' })), GOOD);
  t.match(
    await reads(null, check({ username: 'ada', password: 'hunter3' })),
    content('the server refuses the sign-in (WRONGPASS invalid username-password pair or user is disabled.)'),
  );
  t.match(
    await reads(null, check({ password: 'hunter2' })),
    { failure: { class: 'content' } },
    'no password is set',
  );
  await client.call('CONFIG', 'SET', 'requirepass', 'hunter2');
  t.match(await reads(null, check({ password: 'hunter2' })), GOOD);
  t.match(await reads(null, check({})), GOOD, 'it asks for a sign-in, so it works');
});

t.test('it knows the errors that concern every client', async (t) => {
  const probe = openProbe(t);
  const rows = [
    ['-DENIED Redis is running in protected mode\r\n', GOOD],
    ['-NOAUTH Authentication required.\r\n', GOOD],
    [
      '-LOADING Redis is loading the dataset in memory\r\n',
      content('the server answers with an error: LOADING Redis is loading the dataset in memory'),
    ],
    [
      '-ERR max number of clients reached\r\n',
      content('the server answers with an error: ERR max number of clients reached'),
    ],
    ['+HELLO\r\n', { failure: { class: 'protocol' } }],
  ] as const;
  for (const [answer, expected] of rows) {
    const { port, close } = await listenRaw((socket) => void socket.on('data', () => socket.write(answer)));
    t.teardown(close);
    t.match(await probe(null, redis(port)), expected, answer);
  }
});
