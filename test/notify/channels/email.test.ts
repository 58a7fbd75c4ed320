/** The kind `email` against a real mail server, and its letters as a mail program reads them. */

import type { ParsedMail } from 'mailparser';
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/clock.ts';
import type { Channel } from '../../../src/domain/alert/channel.ts';
import type { AlertMessage, MessageItem } from '../../../src/domain/alert/message.ts';
import { silentLog } from '../../../src/log.ts';
import type { Sending } from '../../../src/notify/channels/define-channel.ts';
import { emailChannel } from '../../../src/notify/channels/email.ts';
import { createMailer } from '../../../src/notify/mail/smtp-mailer.ts';
import { type MailServerOptions, startMailServer } from '../../support/mail-server.ts';
import { HOSTILE_MESSAGE, LONGEST_MESSAGES, SAMPLES } from './sample-messages.ts';

const AT = Date.UTC(2026, 10, 22, 10, 2);
const SITE = 'https://status.example.org';

const CHANNEL: Channel = {
  id: 1,
  accountId: 1,
  name: 'Ops',
  kind: 'email',
  settings: { to: 'ops@Example.com' },
  language: 'en',
  confirmedAt: AT,
  createdAt: AT,
  revision: 1,
};

const itemOf = (name: string, more: Partial<MessageItem> = {}): MessageItem => ({
  service: { id: 1, slug: 'github', name, domain: 'github.com', url: `${SITE}/status/github` },
  event: 'down',
  status: 'down',
  since: AT,
  lastedMs: null,
  reason: {
    code: 'check_failed',
    failure: { class: 'status', phase: 'first_byte', cause: { code: 'status', statusCode: 503 } },
  },
  phase: 'first_byte',
  lastGoodAt: AT - 300_000,
  scope: null,
  regions: [],
  vendor: null,
  flapping: null,
  incident: null,
  maintenance: null,
  certificate: null,
  ...more,
});

const messageOf = (more: Partial<AlertMessage> = {}): AlertMessage => ({
  type: 'alert',
  thread: 't-1',
  urgency: 'high',
  at: AT,
  items: [itemOf('GitHub')],
  total: 1,
  cause: null,
  rule: 'All',
  url: `${SITE}/status/github`,
  acknowledgeUrl: `${SITE}/alerts/acknowledge/1.t-1.mac`,
  note: null,
  ...more,
});

async function open(t: Test, options: MailServerOptions = {}) {
  const server = await startMailServer({ tls: 'none', ...options });
  const mailer = createMailer(
    {
      host: '127.0.0.1',
      port: server.port,
      auth: null,
      tls: 'none',
      from: { name: 'Upbeat', address: 'upbeat@status.example.org' },
      name: 'status.example.org',
    },
    { clock: systemClock, log: silentLog },
  );
  t.teardown(async () => {
    mailer.close();
    await server.close();
  });
  const outbound = {
    request: () => {
      throw new Error('no request is made');
    },
  };
  const policy = { allowPrivate: [], ports: [] };
  const tools = { outbound, policy, mailer, clock: systemClock, siteUrl: SITE };
  const send = (id: string, message: AlertMessage, more: Partial<Sending> = {}) =>
    emailChannel.send(tools, {
      channel: CHANNEL,
      message,
      reference: null,
      id,
      signal: AbortSignal.timeout(30_000),
      ...more,
    });
  return { server, send, tools };
}

const headerOf = (mail: ParsedMail | undefined, name: string) =>
  mail?.headerLines.find(({ key }) => key === name)?.line;

t.test('it writes what happened as text and as HTML, and continues its thread', async (t) => {
  const { server, send } = await open(t);
  const first = await send('msg-1', messageOf(), { stopSecret: '7.abc' });
  t.same(first, { outcome: 'delivered', reference: 'msg-1@status.example.org' });
  const reference = 'reference' in first ? (first.reference ?? '') : '';
  const recovery = messageOf({
    type: 'recovery',
    urgency: 'low',
    acknowledgeUrl: null,
    items: [itemOf('GitHub', { status: 'up', lastedMs: 720_000 })],
  });
  const second = await send('msg-2', recovery, { reference });
  t.same(second, {
    outcome: 'delivered',
    reference: 'msg-1@status.example.org msg-2@status.example.org',
  });
  t.same(await send('msg-1', messageOf(), { reference }), { outcome: 'delivered', reference }, 'again');
  const [down, up, again] = server.letters.map(({ mail }) => mail);
  t.equal(down?.subject, '🔴 GitHub is down: it is returning errors (HTTP 503)');
  t.equal(
    down?.text,
    `GitHub is down: it is returning errors (HTTP 503)

Since: 22 Nov 2026, 10:02 UTC
Failed while: waiting for the response
Last good check: 22 Nov 2026, 09:57 UTC
Rule: All

Open:
https://status.example.org/status/github

Acknowledge:
https://status.example.org/alerts/acknowledge/1.t-1.mac

-- 
You get this as the channel "Ops" of an account at status.example.org.
Channels and rules: https://status.example.org/dashboard/channels
Unsubscribe: https://status.example.org/alerts/stop/7.abc
`,
  );
  t.match(down?.html, /<h1[^>]*>GitHub is down: it is returning errors \(HTTP 503\)<\/h1>/);
  t.match(
    down?.html,
    /<a class="other" href="https:\/\/status\.example\.org\/alerts\/acknowledge\/1\.t-1\.mac"/,
  );
  t.notMatch(down?.html, /<(?:img|table|script|link|form)\b|url\(|@import/, 'nothing is loaded');
  t.equal(server.letters[0]?.to, 'ops@example.com');
  t.equal(headerOf(down, 'list-id'), 'List-ID: <alerts.status.example.org>');
  t.match(
    server.letters[0]?.raw,
    /^List-Unsubscribe:\s+<https:\/\/status\.example\.org\/alerts\/stop\/7\.abc>\r$/m,
  );
  t.match(server.letters[0]?.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  t.notMatch(server.letters[1]?.raw, /^List-Unsubscribe/m, 'a channel of the operator has no link');
  t.equal(up?.inReplyTo, '<msg-1@status.example.org>');
  t.equal(up?.subject, '🟢 GitHub is up again after 12 min');
  t.equal(again?.messageId, down?.messageId, 'the same letter has the same identifier');
  t.equal(again?.inReplyTo, undefined);
});

t.test('it delivers every kind of message in both languages, hostile and long ones too', async (t) => {
  const { server, send } = await open(t);
  const messages = [...Object.values(SAMPLES), HOSTILE_MESSAGE, ...LONGEST_MESSAGES];
  for (const [index, message] of messages.entries())
    for (const language of ['en', 'de'] as const)
      t.match(await send(`${index}-${language}`, message, { channel: { ...CHANNEL, language } }), {
        outcome: 'delivered',
      });
  for (const { mail, raw } of server.letters) {
    t.ok(raw.split('\r\n').every((line) => line.length <= 998));
    t.ok((mail.subject ?? '').length <= 200);
    t.notMatch(mail.html, /<(?:img|table|script|form)\b|undefined|NaN/);
    t.notMatch(mail.text, /undefined|NaN/);
  }
});

t.test('it keeps the first and the newest letters of a long thread', async (t) => {
  const { server, send } = await open(t);
  let reference: string | null = null;
  for (let index = 0; index < 14; index++) {
    const sent = await send(`msg-${index}`, messageOf({ type: 'reminder' }), { reference });
    if (sent.outcome === 'delivered') reference = sent.reference ?? null;
  }
  t.same(
    server.letters.at(-1)?.mail.references,
    [0, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((index) => `<msg-${index}@status.example.org>`),
  );
});

t.test('it makes neither markup nor headers of foreign texts', async (t) => {
  const { server, send } = await open(t);
  const name = '<img src=x onerror=alert(1)>"\r\nBcc: eve@example.com\u202e';
  const incident = {
    id: 'x',
    source: 'owner',
    title: '</style><script>alert(1)</script>',
    text: '<b>bold</b>\n\n"\'&amp;',
    severity: 'major',
    status: 'identified',
    startedAt: AT,
    url: `${SITE}/incidents/"><script>`,
  } as const;
  const items = [itemOf(name, { event: 'incident', reason: null, phase: null, incident })];
  await send('msg-1', messageOf({ items, url: incident.url }), { channel: { ...CHANNEL, name } });
  const [letter] = server.letters;
  t.equal(server.letters.length, 1);
  t.equal(headerOf(letter?.mail, 'bcc'), undefined);
  const html = String(letter?.mail.html);
  t.notMatch(html, /<(?:img|script|b)\b/);
  t.equal(html.match(/<\/style>/g)?.length, 1);
  t.match(html, '&lt;b&gt;bold&lt;/b&gt;');
});

t.test('it sends nothing before the receiver has agreed, and tells what the server says', async (t) => {
  const { server, send, tools } = await open(t, {
    onRecipient: (address) =>
      address === 'gone@example.com' ? { code: 550, text: '5.1.1 User unknown' } : null,
  });
  t.same(await send('msg-1', messageOf(), { channel: { ...CHANNEL, confirmedAt: null } }), {
    outcome: 'refused',
    problem: { code: 'not_confirmed' },
  });
  t.same(
    await send('msg-1', messageOf(), { channel: { ...CHANNEL, settings: { to: 'gone@example.com' } } }),
    {
      outcome: 'refused',
      problem: { code: 'mail_refused', text: '550 5.1.1 User unknown' },
    },
  );
  const sending = {
    channel: CHANNEL,
    message: messageOf(),
    reference: null,
    id: 'x',
    signal: AbortSignal.timeout(1_000),
  };
  t.same(await emailChannel.send({ ...tools, mailer: null }, sending), {
    outcome: 'failed',
    problem: { code: 'no_mail_server' },
  });
  t.same(server.letters, []);
  t.same(emailChannel.refuse?.({ to: 'ops' }), [
    { setting: 'to', problem: { code: 'format', example: 'an address such as ops@example.com' } },
  ]);
  t.same(emailChannel.refuse?.({ to: 'ops@example.com' }), []);
  t.equal(emailChannel.describe({ to: 'ops@EXAMPLE.com' }), 'ops@example.com');
});
