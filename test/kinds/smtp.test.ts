/** Checks of mail servers against Postfix, the server of Nodemailer, and doubles that refuse. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckSettings } from '../../src/domain/service.ts';
import { validateSettings } from '../../src/kinds/settings.ts';
import { openProbe } from '../probe/try-probe.ts';
import { CERTIFICATE_FOLDER, makeCertificate } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { installServers } from '../support/install-servers.ts';
import { listenRaw } from '../support/loopback.ts';
import { type MailServerOptions, startMailServer } from '../support/mail-server.ts';
import { sealed } from './sealed.ts';

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'smtp', suspect: null, blocked: false };
const NAMES = { names: ['127.0.0.1'] };

const smtp = (settings: CheckSettings) => ({ check: { kind: 'smtp', settings } as const });

async function serve(t: Test, options: MailServerOptions): Promise<number> {
  const server = await startMailServer({ ...NAMES, ...options });
  t.teardown(server.close);
  return server.port;
}

const isMissing = (await installServers(['postfix'])).length > 0 || process.getuid?.() !== 0;
const NEEDS_POSTFIX = isMissing ? { skip: 'Postfix is not there: apt-get install postfix, as root' } : {};

/** Starts Postfix with one port, which offers TLS. */
async function startPostfix(t: Test): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-postfix-'));
  // Its processes run as another user.
  chmodSync(folder, 0o755);
  const port = await freePort();
  for (const name of ['conf', 'queue', 'data']) mkdirSync(join(folder, name));
  const { stdout } = spawnSync('id', ['-u', 'postfix'], { encoding: 'utf8' });
  chownSync(join(folder, 'data'), Number(stdout), 0);
  const lines = {
    ...{
      compatibility_level: '3.6',
      queue_directory: join(folder, 'queue'),
      data_directory: join(folder, 'data'),
    },
    ...{ mail_owner: 'postfix', myhostname: 'mail.example', inet_interfaces: '127.0.0.1' },
    ...{ maillog_file: join(folder, 'log'), maillog_file_prefixes: folder, smtpd_tls_security_level: 'may' },
    smtpd_tls_cert_file: join(CERTIFICATE_FOLDER, 'localhost.pem'),
    smtpd_tls_key_file: join(CERTIFICATE_FOLDER, 'localhost-key.pem'),
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, 'conf/main.cf'), text.join(''));
  const services = [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'postlog unix-dgram n - n - 1 postlogd',
    'anvil unix - - n - 1 anvil',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'proxymap unix - - n - - proxymap',
  ];
  writeFileSync(join(folder, 'conf/master.cf'), `${services.join('\n')}\n`);
  const run = (word: string) =>
    spawnSync('postfix', ['-c', join(folder, 'conf'), word], { encoding: 'utf8' });
  t.teardown(() => {
    run('stop');
    rmSync(folder, { recursive: true, force: true });
  });
  const { status, stderr } = run('start');
  t.equal(status, 0, stderr);
  return port;
}

t.test('it speaks with Postfix, in plain text and after STARTTLS', NEEDS_POSTFIX, async (t) => {
  const port = await startPostfix(t);
  const probe = openProbe(t);
  t.match(await probe(null, smtp({ port })), { ...GOOD, certificateExpiresAt: null });
  const secured = await probe(null, smtp({ port, security: 'starttls' }));
  t.match(secured, { ...GOOD, certificateExpiresAt: Number });
  t.ok(
    (secured.timing.tlsMs ?? 0) > 0 && (secured.responseTimeMs ?? 0) >= Math.floor(secured.timing.tlsMs ?? 0),
  );
  t.match(await probe(null, smtp({ port, security: 'tls' })), {
    failure: { class: 'tls', detail: 'the server does not speak TLS on this port' },
  });
});

t.test('it judges the certificate after STARTTLS as at a port of TLS', async (t) => {
  const probe = openProbe(t);
  for (const [security, tls] of [
    ['starttls', 'starttls'],
    ['tls', 'implicit'],
  ] as const) {
    const port = await serve(t, { tls });
    t.match(await probe(null, smtp({ port, security, minDays: 300 })), {
      ...GOOD,
      certificateExpiresAt: Number,
    });
    t.match(await probe(null, smtp({ port, security, minDays: 365 })), {
      answered: true,
      failure: { class: 'content', detail: 'the certificate is valid for another 364 days, fewer than 365' },
    });
    const other = await serve(t, { tls, names: ['mail.example'] });
    t.match(await probe(null, smtp({ port: other, security })), {
      answered: true,
      failure: { class: 'tls', detail: 'the certificate is for another name' },
      certificateExpiresAt: Number,
    });
  }
  const port = await serve(t, { tls: 'none' });
  t.match(await probe(null, smtp({ port, security: 'starttls' })), {
    failure: { class: 'tls', detail: 'the server does not offer TLS' },
  });
});

t.test('it signs in, and does not show the credentials', async (t) => {
  const port = await serve(t, { auth: { user: 'ada', password: 'hunter2' } });
  const settings = { port, security: 'starttls' };
  const { probe, check } = sealed(t, 'smtp', settings, `smtp+starttls:${port}`);
  t.match(await probe(null, check({ username: 'ada', password: 'hunter2' })), GOOD);
  const refused = await probe(null, check({ username: 'ada', password: 'hunter3' }));
  t.match(refused, {
    answered: true,
    failure: {
      class: 'content',
      detail: 'the server refuses the sign-in (535 5.7.8 Authentication credentials invalid)',
    },
  });
  const open = await serve(t, {});
  const { probe: probeOpen, check: checkOpen } = sealed(
    t,
    'smtp',
    { port: open, security: 'starttls' },
    `smtp+starttls:${open}`,
  );
  t.match(await probeOpen(null, checkOpen({ username: 'ada', password: 'hunter2' })), {
    failure: { detail: 'the server offers no sign-in that checks can make (no AUTH)' },
  });
});

t.test('a server that turns the client away is not down, one that refuses everybody is', async (t) => {
  const probe = openProbe(t);
  const rows = [
    ['554 5.7.1 Service unavailable; client host blocked using a list\r\n', { failure: null, blocked: true }],
    ['421 4.7.0 Too many connections from your address\r\n', { failure: null, blocked: true }],
    [
      '554-mx.example\r\n554 Your access has been rejected due to the poor reputation of the sender\r\n',
      { failure: null, blocked: true },
    ],
    ['421 Too many concurrent SMTP connections from this IP address\r\n', { failure: null, blocked: true }],
    ['421 Too many concurrent SMTP connections\r\n', { failure: { class: 'content' } }],
    ['554 No SMTP service here\r\n', { failure: { class: 'content' } }],
    [
      '421 4.3.2 Service shutting down\r\n',
      {
        failure: {
          class: 'content',
          detail: 'the server answers with an error: 421 4.3.2 Service shutting down',
        },
      },
    ],
    ['220-one\r\n220 two\r\n', { failure: null, blocked: false }],
  ] as const;
  for (const [greeting, expected] of rows) {
    const { port, close } = await listenRaw((socket) => {
      socket.write(greeting);
      socket.on('data', () => socket.write('250 ok\r\n'));
    });
    t.teardown(close);
    t.match(await probe(null, smtp({ port })), { answered: true, ...expected }, greeting);
  }
});

t.test('TLS that does not work is a failure, whatever the server calls it', async (t) => {
  const { port, close } = await listenRaw((socket) => {
    socket.write('220 mail.example\r\n');
    socket.on('data', (text) =>
      socket.write(
        String(text).startsWith('EHLO')
          ? '250-mail.example\r\n250 STARTTLS\r\n'
          : '454 4.7.0 TLS not available due to local problem\r\n',
      ),
    );
  });
  t.teardown(close);
  t.match(await openProbe(t)(null, smtp({ port, security: 'starttls' })), {
    blocked: false,
    failure: {
      class: 'content',
      detail: 'the server answers with an error: 454 4.7.0 TLS not available due to local problem',
    },
  });
});

t.test('its settings go together', async (t) => {
  const wrong = (settings: object) => {
    const reading = validateSettings('smtp', settings);
    return reading.ok ? [] : reading.wrong.map(({ setting, problem }) => `${setting} ${problem.code}`);
  };
  const { cert, key } = makeCertificate({ ...NAMES, client: true });
  t.same(wrong({}), []);
  t.same(wrong({ port: 465, minDays: 14, clientCertificate: cert, clientKey: key }), []);
  t.same(wrong({ minDays: 14 }), ['minDays together']);
  t.same(wrong({ port: 465, security: 'plain', clientCertificate: cert, clientKey: key }), [
    'clientCertificate together',
    'clientKey together',
  ]);
  t.same(wrong({ username: 'ada' }), ['username together']);
  t.same(wrong({ security: 'ssl' }), ['security choice']);
});
