/** Checks of PostgreSQL against a real server, and doubles of what that says when it is not well. */
import t from 'tap';
import type { CheckSettings } from '../../src/domain/service.ts';
import { openProbe } from '../probe/try-probe.ts';
import { makeCertificate } from '../support/certificates.ts';
import { listenRaw } from '../support/loopback.ts';
import { executeSql, NEEDS_POSTGRES, startPostgres } from '../support/postgres-server.ts';
import { sealed } from './sealed.ts';

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'postgres', suspect: null, blocked: false };
const content = (detail: string | RegExp) => ({ answered: true, failure: { class: 'content', detail } });

t.test('it connects to a server with TLS and SCRAM, and makes a query', NEEDS_POSTGRES, async (t) => {
  const server = await startPostgres(t, {
    password: true,
    certificate: makeCertificate({ names: ['127.0.0.1'] }),
    settings: { password_encryption: 'scram-sha-256' },
  });
  const { port } = server;
  const { hostname, password } = new URL(server.url('postgres'));
  t.equal(hostname, '127.0.0.1');
  const secrets = { username: 'upbeat', password: decodeURIComponent(password) };
  const settings = { port, security: 'starttls', database: 'postgres' };
  const { probe, check } = sealed(t, 'postgres', settings, `postgres+starttls:${port}`);
  t.match(await probe(null, check({})), { ...GOOD, certificateExpiresAt: Number }, 'without credentials');
  t.match(await probe(null, check(secrets)), GOOD);
  t.match(await probe(null, check({ ...secrets, query: 'SELECT count(*) FROM pg_class' })), GOOD);
  t.match(
    await probe(null, check({ ...secrets, query: 'SELECT * FROM nothing_here' })),
    content('the query fails (42P01 relation "nothing_here" does not exist)'),
  );
  t.match(
    await probe(
      null,
      check({ ...secrets, query: "SELECT repeat('x', 1000) FROM generate_series(1, 100000)" }),
    ),
    { failure: { class: 'protocol', detail: 'the answer is longer than 256 KiB' } },
  );
  const wrong = await probe(null, check({ ...secrets, password: 'hunter2' }));
  t.match(
    wrong,
    content('the server refuses the sign-in (28P01 password authentication failed for user "…")'),
  );
  t.match(
    await probe(null, check({ ...secrets, query: 'COPY pg_class FROM STDIN' })),
    content(/^the query fails/),
  );
  const expecting = sealed(t, 'postgres', { ...settings, returns: '2' }, `postgres+starttls:${port}`);
  t.match(await expecting.probe(null, expecting.check({ ...secrets, query: 'SELECT 2' })), GOOD);
  for (const query of ['SELECT 1', 'SELECT NULL UNION ALL SELECT 2'])
    t.match(
      await expecting.probe(null, expecting.check({ ...secrets, query })),
      content('the query does not return "2"'),
      query,
    );
  // This server takes nobody without TLS.
  const plain = sealed(t, 'postgres', { port }, `postgres+plain:${port}`);
  t.match(await plain.probe(null, plain.check({})), GOOD, 'which is an answer');
  t.match(await plain.probe(null, plain.check(secrets)), content(/^the server refuses the sign-in \(28000 /));
});

t.test('it signs in by MD5', NEEDS_POSTGRES, async (t) => {
  const server = await startPostgres(t, { password: true, settings: { password_encryption: 'md5' } });
  await executeSql(server.url('postgres'), "CREATE ROLE ada LOGIN PASSWORD 'hunter2'");
  const rules = await executeSql(server.url('postgres'), 'SHOW hba_file');
  t.equal(rules.length, 1);
  await executeSql(
    server.url('postgres'),
    `COPY (SELECT 'host all ada all md5') TO PROGRAM 'cat > ${Object(rules[0]).hba_file}'`,
  );
  await executeSql(server.url('postgres'), 'SELECT pg_reload_conf()').catch(() => {});
  const settings = { port: server.port, database: 'postgres' };
  const { probe, check } = sealed(t, 'postgres', settings, `postgres+plain:${server.port}`);
  t.match(await probe(null, check({ username: 'ada', password: 'hunter2', query: 'SELECT 1' })), GOOD);
});

/** A message of the server. */
function said(type: string, body: string): Buffer {
  const bytes = Buffer.from(body, 'latin1');
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}

const error = (state: string, text: string) => said('E', `SFATAL\0VFATAL\0C${state}\0M${text}\0\0`);

t.test('it knows the errors that concern every client', async (t) => {
  const rows: readonly (readonly [Buffer, object, CheckSettings?])[] = [
    [error('28000', 'no pg_hba.conf entry'), GOOD],
    [error('3D000', 'database "upbeat" does not exist'), GOOD],
    [
      error('57P03', 'the database system is starting up'),
      content('the server answers with an error: 57P03 the database system is starting up'),
    ],
    [
      error('53300', 'sorry, too many clients already'),
      content('the server answers with an error: 53300 sorry, too many clients already'),
    ],
    [said('R', '\0\0\0\x03'), GOOD],
    [
      said('R', '\0\0\0\x03'),
      {
        failure: {
          class: 'tls',
          detail: 'the server wants the password in clear text, which is only sent over TLS',
        },
      },
      { username: 'ada' },
    ],
    [
      said('R', '\0\0\0\x07'),
      content('the server offers no sign-in that checks can make (method 7)'),
      { username: 'ada' },
    ],
    [said('R', '\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0'), content(/method 10/), { username: 'ada' }],
  ];
  for (const [answer, expected, secrets = {}] of rows) {
    const { port, close } = await listenRaw((socket) => void socket.on('data', () => socket.write(answer)));
    t.teardown(close);
    const { probe, check } = sealed(t, 'postgres', { port }, `postgres+plain:${port}`);
    t.match(await probe(null, check(secrets)), expected, answer.toString('latin1'));
  }
  const { port, close } = await listenRaw((socket) => void socket.on('data', () => socket.write('N')));
  t.teardown(close);
  t.match(
    await openProbe(t)(null, { check: { kind: 'postgres', settings: { port, security: 'starttls' } } }),
    {
      failure: { class: 'tls', detail: 'the server does not offer TLS' },
    },
  );
});
