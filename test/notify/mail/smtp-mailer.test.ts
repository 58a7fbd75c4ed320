/** The mailer against a real mail server: TLS, sign-in, refusals, and servers that misbehave. */
import t, { type Test } from 'tap';
import { type Clock, systemClock } from '../../../src/clock.ts';
import {
  createMailer,
  examineMailServer,
  type Letter,
  type SmtpServer,
} from '../../../src/notify/mail/smtp-mailer.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/loopback.ts';
import { MAIL_CA, type MailServerOptions, startMailServer } from '../../support/mail-server.ts';

const AUTH = { user: 'upbeat', password: 'p4ss w:örd' };

const letterTo = (to: string, more: Partial<Letter> = {}): Letter => ({
  to,
  subject: 'GitHub is down',
  text: 'It is down.\n',
  html: '<p>It is down.</p>',
  messageId: 'abc.1@status.example.org',
  references: [],
  ...more,
});

const serverAt = (port: number, more: Partial<SmtpServer> = {}): SmtpServer => ({
  host: 'localhost',
  port,
  auth: null,
  tls: 'starttls',
  from: { name: 'Upbeat', address: 'upbeat@status.example.org' },
  name: 'status.example.org',
  ca: [MAIL_CA],
  ...more,
});

/** A server with a mailer, and what the mailer logs. */
async function open(
  t: Test,
  options: MailServerOptions = {},
  more: Partial<SmtpServer> = {},
  clock: Clock = systemClock,
) {
  const server = await startMailServer(options);
  const logged: string[] = [];
  const note = (_fields: object, message: string) => void logged.push(message);
  const log = { debug() {}, info: note, warn: note, error: note };
  const mailer = createMailer(serverAt(server.port, { tls: options.tls ?? 'starttls', ...more }), {
    ...{ clock, log },
  });
  t.teardown(async () => {
    mailer.close();
    await server.close();
  });
  return {
    server,
    mailer,
    logged,
    send: (letter: Letter) => mailer.send(letter, AbortSignal.timeout(30_000)),
  };
}

t.jobs = 8;

t.test('it sends a letter with its headers by STARTTLS and a sign-in', { buffered: true }, async (t) => {
  const { server, send } = await open(t, { auth: AUTH }, { auth: AUTH });
  const sent = await send(
    letterTo('ada@example.com', {
      subject: 'GitHub ist gestört – seit 10:02',
      references: ['one@status.example.org', 'two@status.example.org'],
      headers: { 'List-Id': '<alerts.status.example.org>' },
    }),
  );
  t.same(sent, { outcome: 'delivered' });
  const [letter] = server.letters;
  t.match(letter, {
    to: 'ada@example.com',
    from: 'upbeat@status.example.org',
    secure: true,
    user: 'upbeat',
    mail: {
      subject: 'GitHub ist gestört – seit 10:02',
      messageId: '<abc.1@status.example.org>',
      inReplyTo: '<two@status.example.org>',
      references: ['<one@status.example.org>', '<two@status.example.org>'],
      text: 'It is down.\n',
      html: '<p>It is down.</p>',
    },
  });
  t.same(letter?.mail.from?.value, [{ name: 'Upbeat', address: 'upbeat@status.example.org' }]);
  t.match(letter?.raw, /^Auto-Submitted: auto-generated\r$/m);
  t.match(letter?.raw, /^X-Auto-Response-Suppress: All\r$/m);
  t.match(letter?.raw, /^List-ID: <alerts\.status\.example\.org>\r$/m);
});

t.test(
  'it sends by TLS from the start, and without TLS where that is configured',
  { buffered: true },
  async (t) => {
    for (const tls of ['implicit', 'none'] as const) {
      const { server, send } = await open(t, { tls });
      t.same(await send(letterTo('ada@example.com')), { outcome: 'delivered' });
      t.equal(server.letters[0]?.secure, tls === 'implicit');
    }
  },
);

t.test('it reads the answers of the server', { buffered: true }, async (t) => {
  const replies: Readonly<Record<string, { code: number; text: string }>> = {
    'grey@example.com': { code: 451, text: '4.7.1 Greylisted, try again later' },
    'full@example.com': { code: 452, text: '4.2.2 Mailbox <full@example.com> is full' },
    'gone@example.com': { code: 550, text: '5.1.1 <gone@example.com>: User unknown' },
    'auth@example.com': { code: 530, text: '5.7.0 Authentication required' },
  };
  const { send, logged, mailer, server } = await open(t, {
    onRecipient: (address) => replies[address] ?? null,
    onLetter: (to) => (to === 'spam@example.com' ? { code: 554, text: '5.7.1 Rejected as spam' } : null),
  });
  const outcomes: Record<string, unknown> = {};
  for (const name of ['grey', 'full', 'gone', 'spam', 'auth'])
    outcomes[name] = await send(letterTo(`${name}@example.com`));
  const problem = (text: string) => ({ code: 'mail_refused', text });
  t.same(outcomes, {
    grey: { outcome: 'failed', problem: problem('451 4.7.1 Greylisted, try again later') },
    full: { outcome: 'failed', problem: problem('452 4.2.2 Mailbox … is full') },
    gone: { outcome: 'refused', problem: problem('550 5.1.1 …: User unknown') },
    spam: { outcome: 'refused', problem: problem('554 5.7.1 Rejected as spam') },
    auth: { outcome: 'failed', problem: problem('530 5.7.0 Authentication required') },
  });
  t.match(mailer.problem(), /530/);
  t.same(logged, ['the mail server cannot be used'], 'only what concerns the operator is logged');
  t.same(await send(letterTo('ada@example.com')), { outcome: 'delivered' });
  t.same(logged, ['the mail server cannot be used', 'the mail server takes letters again']);
  t.equal(mailer.problem(), null);
  t.equal(server.letters.length, 1);
});

t.test(
  'it tells trouble with the server once, and never loses a letter to it',
  { buffered: true },
  async (t) => {
    const { send, logged } = await open(t, { auth: AUTH }, { auth: { user: 'upbeat', password: 'wrong' } });
    for (let turn = 0; turn < 3; turn++)
      t.match(await send(letterTo('ada@example.com')), {
        outcome: 'failed',
        problem: { code: 'mail_refused', text: /^535/ },
      });
    t.same(logged, ['the mail server cannot be used']);

    const sender = await open(t, { onSender: () => ({ code: 553, text: '5.7.1 Sender not allowed' }) });
    t.match(await sender.send(letterTo('ada@example.com')), { outcome: 'failed' }, 'the sender is a setting');
    t.equal(sender.logged.length, 1);
  },
);

t.test(
  'it trusts neither a certificate for another name, nor an unknown authority, nor a server without STARTTLS',
  { buffered: true },
  async (t) => {
    const other = await open(t, { names: ['mail.example.net'] });
    t.match(await other.send(letterTo('ada@example.com')), {
      outcome: 'failed',
      problem: { code: 'mail_unreachable' },
    });
    const unknown = await open(t, {}, { ca: [] });
    t.match(await unknown.send(letterTo('ada@example.com')), { outcome: 'failed' });
    const plain = await open(t, { tls: 'none' }, { tls: 'starttls', auth: AUTH });
    t.match(await plain.send(letterTo('ada@example.com')), { outcome: 'failed' });
    t.equal(other.server.letters.length + unknown.server.letters.length + plain.server.letters.length, 0);
  },
);

t.test(
  'it survives servers that drop, hang, do not greet or are not there',
  { buffered: true },
  async (t) => {
    let fault: 'drop' | 'hang' | null = 'drop';
    // Only what the test says takes time.
    const clock = createFakeClock();
    const passTimeout = () => void clock.advance(60_000);
    const onLetter = () => {
      if (fault === 'hang') setImmediate(passTimeout);
      return fault;
    };
    const { send } = await open(t, { onLetter }, {}, clock);
    t.match(await send(letterTo('ada@example.com')), {
      outcome: 'failed',
      problem: { code: 'mail_unreachable' },
    });
    fault = 'hang';
    t.same(await send(letterTo('ada@example.com')), {
      outcome: 'failed',
      problem: { code: 'mail_unreachable', text: 'it took too long' },
    });
    fault = null;
    t.same(
      await send(letterTo('ada@example.com')),
      { outcome: 'delivered' },
      'and sends when it is well again',
    );
    const silent = await open(t, { silent: true }, {}, clock);
    const unanswered = silent.send(letterTo('ada@example.com'));
    await until(() => silent.server.connections() === 1);
    passTimeout();
    t.match(await unanswered, { outcome: 'failed', problem: { text: 'it took too long' } });
    const nobody = createMailer(serverAt(await freePort()), {
      clock: systemClock,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    t.match(await nobody.send(letterTo('ada@example.com'), AbortSignal.timeout(5_000)), {
      outcome: 'failed',
      problem: { code: 'mail_unreachable' },
    });
    nobody.close();
  },
);

t.test('it lets no text add headers, recipients or commands', { buffered: true }, async (t) => {
  const { server, send } = await open(t);
  const evil = 'x\r\nBcc: eve@example.com\r\n\r\nHello\u2028Z: y\0';
  await send(
    letterTo('ada@example.com', {
      subject: evil,
      headers: { 'List-Id': evil },
      text: '.\r\nRCPT TO:<eve@example.com>\r\n.\r\nQUIT\r\n',
    }),
  );
  const [letter] = server.letters;
  t.equal(server.letters.length, 1);
  t.equal(letter?.mail.bcc, undefined);
  t.equal(letter?.mail.subject, 'x Bcc: eve@example.com Hello Z: y');
  t.same(
    letter?.mail.headerLines.map(({ key }) => key).filter((key) => key === 'bcc' || key === 'z'),
    [],
  );
  t.match(letter?.mail.text, /^\.\nRCPT TO/);
});

t.test('it shares a few connections among many letters', { buffered: true }, async (t) => {
  const { server, send } = await open(t);
  const sent = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      send(letterTo(`a${index}@example.com`, { messageId: `${index}@status.example.org` })),
    ),
  );
  t.same(new Set(sent.map(({ outcome }) => outcome)), new Set(['delivered']));
  t.ok(server.connections() <= 4, `${server.connections()} connections`);
});

t.test('doctor says what is wrong with the server and what to set', { buffered: true }, async (t) => {
  const { server } = await open(t, { auth: AUTH });
  const { port } = server;
  t.same(await examineMailServer(serverAt(port, { auth: AUTH })), {
    ok: true,
    found: `localhost:${port} answers (STARTTLS, signed in as upbeat)`,
  });
  const plain = await open(t, { tls: 'none' });
  const tls = await open(t, { tls: 'implicit' });
  const rows: readonly [SmtpServer, RegExp][] = [
    [serverAt(port, { auth: { user: 'upbeat', password: 'no' } }), /correct alerts\.smtp\.user/],
    [serverAt(port, { ca: [] }), /certificate .* NODE_EXTRA_CA_CERTS/],
    [serverAt(port, { tls: 'implicit' }), /set alerts\.smtp\.tls to starttls/],
    [serverAt(plain.server.port), /offers no STARTTLS/],
    [serverAt(await freePort()), /correct alerts\.smtp\.host/],
  ];
  for (const [given, advice] of rows) t.match(await examineMailServer(given), { ok: false, advice });
  t.match(await examineMailServer(serverAt(tls.server.port, { tls: 'implicit' })), { ok: true });
});
