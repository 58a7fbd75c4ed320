/** Checks of MySQL and MariaDB against a real MariaDB, and doubles with the greeting of MySQL 8. */
import { spawn, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckSettings } from '../../src/domain/service.ts';
import { openProbe } from '../probe/try-probe.ts';
import { CERTIFICATE_FOLDER } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { installServers } from '../support/install-servers.ts';
import { listenRaw } from '../support/loopback.ts';
import { sealed } from './sealed.ts';

t.setTimeout(180_000);

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'mysql', suspect: null, blocked: false };
const content = (detail: string | RegExp) => ({ answered: true, failure: { class: 'content', detail } });

const isMissing = (await installServers(['mariadb-server'])).length > 0 || process.getuid?.() !== 0;
const NEEDS_MARIADB = isMissing
  ? { skip: 'MariaDB is not there: apt-get install mariadb-server, as root' }
  : {};

/** Starts MariaDB with TLS and the user ada. */
async function startMariadb(t: Test): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-mariadb-'));
  const data = join(folder, 'data');
  const port = await freePort();
  const common = ['--no-defaults', `--datadir=${data}`, '--user=root'];
  const made = spawnSync(
    'mariadb-install-db',
    [...common, '--skip-test-db', '--auth-root-authentication-method=normal'],
    {
      encoding: 'utf8',
    },
  );
  t.equal(made.status, 0, made.stderr);
  const init = join(folder, 'init.sql');
  const statements = [
    "CREATE USER ada@'%' IDENTIFIED BY 'hunter2';",
    'CREATE DATABASE orders;',
    "GRANT ALL ON orders.* TO ada@'%';",
  ];
  writeFileSync(init, `${statements.join('\n')}\n`);
  const server = spawn(
    'mariadbd',
    [
      ...common,
      ...[
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        `--socket=${join(folder, 'socket')}`,
        `--init-file=${init}`,
      ],
      ...[
        `--pid-file=${join(folder, 'pid')}`,
        '--skip-name-resolve',
        '--innodb-flush-method=fsync',
        '--max-connect-errors=3',
      ],
      `--ssl-cert=${join(CERTIFICATE_FOLDER, 'localhost.pem')}`,
      `--ssl-key=${join(CERTIFICATE_FOLDER, 'localhost-key.pem')}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  t.teardown(async () => {
    if (server.exitCode === null) {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });
  while (!log.includes('ready for connections')) {
    if (server.exitCode !== null) throw new Error(log);
    await Promise.race([once(server.stderr, 'data'), once(server, 'exit')]);
  }
  return port;
}

t.test('it connects to MariaDB, and makes a query', NEEDS_MARIADB, async (t) => {
  const port = await startMariadb(t);
  const settings = { port, security: 'starttls', database: 'orders' };
  const { probe, check } = sealed(t, 'mysql', settings, `mysql+starttls:${port}`);
  const secrets = { username: 'ada', password: 'hunter2' };
  t.match(await probe(null, check({ ...secrets, query: 'SELECT 1 + 1' })), {
    ...GOOD,
    certificateExpiresAt: Number,
  });
  t.match(await probe(null, check({ ...secrets, query: 'CREATE TABLE a (b INT)' })), GOOD);
  t.match(await probe(null, check({ ...secrets, query: 'SELECT * FROM a' })), GOOD);
  t.match(
    await probe(null, check({ ...secrets, query: 'SELECT * FROM nothing_here' })),
    content("the query fails (1146 Table 'orders.nothing_here' doesn't exist)"),
  );
  t.match(
    await probe(null, check({ username: 'ada', password: 'hunter3' })),
    content(
      "the server refuses the sign-in (1045 Access denied for user '…'@'127.0.0.1' (using password: YES))",
    ),
  );
  const expecting = sealed(t, 'mysql', { ...settings, returns: '2' }, `mysql+starttls:${port}`);
  t.match(await expecting.probe(null, expecting.check({ ...secrets, query: 'SELECT 1 + 1' })), GOOD);
  for (const query of ['SELECT 1', 'SELECT NULL UNION ALL SELECT 2'])
    t.match(
      await expecting.probe(null, expecting.check({ ...secrets, query })),
      content('the query does not return "2"'),
      query,
    );
  // More checks without credentials than `max_connect_errors` do not have the server block our host.
  for (let count = 0; count < 6; count++)
    t.match(await openProbe(t)(null, { check: { kind: 'mysql', settings: { port } } }), GOOD);
  const plain = sealed(t, 'mysql', { port, database: 'orders' }, `mysql+plain:${port}`);
  t.match(await plain.probe(null, plain.check({ ...secrets, query: 'SELECT 1' })), GOOD);
});

function packet(sequence: number, body: string): Buffer {
  const bytes = Buffer.from(body, 'latin1');
  const head = Buffer.alloc(4);
  head.writeUIntLE(bytes.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, bytes]);
}

const SALT = 'abcdefghijklmnopqrst';
/** The greeting of MySQL 8.0, without TLS. */
const GREETING = packet(
  0,
  `\x0a8.0.36\0\x08\0\0\0${SALT.slice(0, 8)}\0\xff\xf7\xff\x02\0\xff\xdf\x15${'\0'.repeat(10)}${SALT.slice(8)}\0caching_sha2_password\0`,
);
const failed = (sequence: number, number: number, text: string) =>
  packet(sequence, `\xff${String.fromCharCode(number & 255, number >> 8)}#HY000${text}`);

t.test('it knows what MySQL says', async (t) => {
  const secrets = { username: 'ada', password: 'hunter2' };
  const rows: readonly (readonly [readonly Buffer[], object, CheckSettings?])[] = [
    [
      [failed(0, 1040, 'Too many connections')],
      content('the server answers with an error: 1040 Too many connections'),
    ],
    [[failed(0, 1129, 'Host is blocked')], { failure: null, blocked: true }],
    [[failed(0, 1130, 'Host is not allowed')], GOOD],
    [[failed(0, 1130, 'Host is not allowed')], content(/^the server refuses the sign-in \(1130/), secrets],
    [[GREETING, failed(2, 1045, 'Access denied')], GOOD],
    [[GREETING, packet(2, '\x01\x03'), packet(3, '\0\0\0\x02\0\0\0')], GOOD, secrets],
    [
      [GREETING, packet(2, '\x01\x04')],
      {
        failure: {
          class: 'tls',
          detail: 'the server wants the password in clear text, which is only sent over TLS',
        },
      },
      secrets,
    ],
    [
      [GREETING, packet(2, '\xfeclient_ed25519\0abcdefgh')],
      content('the server offers no sign-in that checks can make (client_ed25519)'),
      secrets,
    ],
  ];
  for (const [answers, expected, given = {}] of rows) {
    const sent: Buffer[] = [];
    const { port, close } = await listenRaw((socket) => {
      const [first = '', ...others] = answers;
      socket.write(first);
      socket.on('data', (data) => {
        sent.push(data);
        if (others.length > 0) socket.write(Buffer.concat(others.splice(0)));
      });
    });
    t.teardown(close);
    const { probe, check } = sealed(t, 'mysql', { port }, `mysql+plain:${port}`);
    t.match(
      await probe(null, check(given)),
      expected,
      answers.map((answer) => answer.toString('latin1')).join(),
    );
    if (given === secrets && answers.length === 3) {
      const sha = (data: Buffer | string) => hash('sha256', data, 'buffer');
      const once = sha('hunter2');
      const mask = sha(Buffer.concat([sha(once), Buffer.from(SALT)]));
      t.ok(
        sent[0]?.includes(Buffer.from(once.map((byte, at) => byte ^ (mask[at] ?? 0)))),
        'the proof of the password',
      );
    }
  }
});
