/** Subscriptions by e-mail on a real program and a real mail server: from the form to the last letter. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { listenOn } from '../support/loopback.ts';
import { startMailServer, type TakenLetter } from '../support/mail-server.ts';
import { install } from '../support/program.ts';

t.setTimeout(120_000);

const ADDRESS = 'ada.visitor@example.com';

const linkOf = (letter: TakenLetter | undefined, path: string): string =>
  new RegExp(`http://[^\\s"]*(${path}/[\\w-]+)`).exec(letter?.mail.text ?? '')?.[1] ?? '';

t.test('a visitor subscribes, gets letters, and unsubscribes by one click', async (t) => {
  let isDown = false;
  const service = await listenOn(
    createServer((_, response) => {
      response.statusCode = isDown ? 503 : 200;
      response.end();
    }),
  );
  const mail = await startMailServer({ tls: 'none' });
  const url = `http://127.0.0.1:${service.port}/`;
  const installation = await install([{ slug: 'shop', check: { kind: 'root', url } }], {
    checks: { interval: '1s', confirmAfter: [], controlTargets: [] },
    alerts: {
      smtp: { host: '127.0.0.1', port: mail.port, tls: 'none', from: 'Upbeat <upbeat@example.org>' },
    },
  });
  const program = await installation.start();
  t.teardown(async () => {
    await program.killHard();
    await installation.remove();
    await Promise.all([service.close(), mail.close()]);
  });
  const page = async (
    path: string,
    fields?: Record<string, string>,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(`${program.siteUrl}${path}`, {
      headers: { accept: 'text/html', ...headers },
      ...(fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) }),
    });
    return {
      status: response.status,
      text: (await response.text()).replace(/ data-now="\d+"/, ''),
      headers: response.headers,
    };
  };
  await program.until('/api/v1/status/shop', ({ status }: { status: string }) => status === 'up', 60_000);

  t.match((await page('/status/shop')).text, 'href="/subscribe?service=shop-example"');
  t.match((await page('/subscribe?service=shop')).text, /<form[^>]*method="post"[^>]*>[\s\S]*type="email"/);
  t.equal((await page('/subscribe?service=none')).status, 404);
  t.equal((await page('/subscribe?service=shop', { address: 'nobody' })).status, 400);
  const asked = await page('/subscribe?service=shop', { address: ADDRESS });
  t.equal(asked.status, 200);
  t.equal(asked.headers.get('cache-control'), 'no-store');
  const [request] = await mail.taken(1);
  t.equal(request?.to, ADDRESS);
  t.match(request?.mail.subject, /^Confirm your subscription at /);
  const confirm = linkOf(request, '/subscribe/confirm');
  t.match(confirm, /^\/subscribe\/confirm\/[\w-]{32}$/);

  // A scanner that follows the link confirms nothing.
  t.match((await page(confirm)).text, /<form method="post"><button>/);
  const before = await installation.withRegistry((registry) => registry.countSubscriptions(['service:1']));
  t.same(before, [0]);
  const confirmed = await page(confirm, {});
  t.match(confirmed.text, 'Subscription confirmed');
  t.equal(confirmed.headers.get('referrer-policy'), 'no-referrer');
  const again = await page('/subscribe?service=shop', { address: ADDRESS });
  t.equal(again.text, asked.text, 'the answer does not tell a subscriber from another');
  t.match((await mail.taken(2))[1]?.mail.subject, /^You already receive news/);

  isDown = true;
  const down = (await mail.taken(3))[2];
  t.match(down?.mail.subject, /^🔴 .* is down: it is returning errors \(HTTP 503\)$/);
  isDown = false;
  const up = (await mail.taken(4))[3];
  t.match(up?.mail.subject, /^🟢 .* after /);
  t.equal(up?.mail.inReplyTo, down?.mail.messageId, 'the recovery answers the outage');
  const end = /<http:\/\/[^/]+(\/subscribe\/end\/[\w-]+)>/.exec(up?.raw ?? '')?.[1] ?? '';
  t.match(up?.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  t.match(down?.mail.text, end);

  const stored = readdirSync(join(installation.folder, 'data'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('registry'))
    .map((name) => readFileSync(join(installation.folder, 'data', name), 'latin1'));
  t.ok(stored.length > 0);
  t.notOk(
    stored.some((bytes) => /ada\.visitor/i.test(bytes)),
    'the address is not on disk in clear text',
  );

  t.match((await page(end)).text, /<form method="post"><button>Unsubscribe/);
  t.same(await installation.withRegistry((registry) => registry.countSubscriptions(['service:1'])), [1]);
  // As a mail program does it: without a session, from another site.
  const oneClick = await page(
    end,
    { 'List-Unsubscribe': 'One-Click' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://mail.example' },
  );
  t.equal(oneClick.status, 200);
  t.equal((await page(end, { 'List-Unsubscribe': 'One-Click' })).status, 200, 'again');
  t.equal((await page(end)).status, 404);
  t.same(await installation.withRegistry((registry) => registry.countSubscriptions(['service:1'])), [0]);

  // The receiver of a channel is asked in the same way.
  await installation.withRegistry(async (registry) => {
    const { id: accountId } = await registry.ensureAccount('ada', 1);
    const settings = { to: 'ops@example.com' };
    const channel = {
      accountId,
      name: 'ops',
      kind: 'email',
      settings,
      language: 'de',
      createdAt: 1,
    } as const;
    await registry.addChannel({ ...channel, confirmedAt: null });
  });
  const letters = await mail.taken(5);
  t.equal(letters.length, 5, 'each change had one letter');
  t.match(letters[4], { to: 'ops@example.com', mail: { subject: 'Alarme von 127.0.0.1 erhalten?' } });
  const agree = linkOf(letters[4], '/alerts/confirm');
  t.match((await page(agree)).text, /<form method="post"><button>/);
  const channels = () => installation.withRegistry((registry) => registry.channelsOf(1));
  t.match(await channels(), [{ confirmedAt: null }]);
  t.match((await page(agree, {})).text, 'the channel &quot;ops&quot; of the account &quot;ada&quot;');
  t.match(await channels(), [{ confirmedAt: Number }]);

  // The receiver stops a channel by any of its letters, with one click as above.
  await installation.withRegistry(async (registry) => {
    const test = { type: 'test', thread: 'test-1', urgency: 'low', at: 1, items: [], total: 0 } as const;
    const links = { url: 'http://127.0.0.1/dashboard/channels', acknowledgeUrl: null };
    const message = { ...test, ...links, cause: null, rule: null, note: null };
    await registry.addMessage(1, 1, message, Date.now());
  });
  const alert = (await mail.taken(6))[5];
  t.match(alert?.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  const stop = /<http:\/\/[^/]+(\/alerts\/stop\/1\.[\w-]+)>/.exec(alert?.raw ?? '')?.[1] ?? '';
  t.match(alert?.mail.text, stop);
  t.match((await page(stop)).text, /<form method="post"><button>Stop these alerts/);
  t.match(await channels(), [{ confirmedAt: Number }], 'a scanner that follows the link stops nothing');
  const click = { 'List-Unsubscribe': 'One-Click' };
  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://mail.example' };
  const stopped = await page(stop, click, foreign);
  t.match(stopped.text, /<form method="post" action="\?do=resume"><button>Get them again/);
  t.equal((await page(stop, click)).status, 200, 'again');
  t.match(await channels(), [{ confirmedAt: null, stoppedAt: Number }]);
  t.equal((await page(`${stop.slice(0, -4)}AAAA`, click)).status, 404);
  t.match((await page(`${stop}?do=resume`, {})).text, 'You will get the alerts of the channel');
  t.match(await channels(), [{ confirmedAt: Number, stoppedAt: undefined }]);

  const earlier = (await mail.taken(0)).length;
  await installation.withRegistry(async (registry) => {
    const { id: accountId } = await registry.ensureAccount('acme', Date.now());
    const look = { title: 'Acme status', text: '', groups: [], colour: '#0a7d4f', now: Date.now() };
    const { id } = await registry.addPage({ accountId, slug: 'acme', ...look });
    const topic = { topic: `page:${id}`, address: ADDRESS, language: 'en', now: Date.now() } as const;
    await registry.requestSubscription(topic);
  });
  const branded = /<header class="own-head"><p><a href="\/p\/acme">Acme status<\/a>/;
  const confirmIt = linkOf((await mail.taken(earlier + 1))[earlier], '/subscribe/confirm');
  const unconfirmed = (await page(confirmIt)).text;
  t.match(unconfirmed, branded, 'it has the look of the page that it is about');
  t.match(unconfirmed, /href="\/p\/acme\/brand/);
  t.match((await page(confirmIt, {})).text, branded);

  for (let round = 0; round < 5; round++) await page('/subscribe?service=shop', { address: 'nobody' });
  t.equal((await page('/subscribe?service=shop', { address: 'nobody' })).status, 429);
});
