/**
 * `npm run soak -- subscribers`: a service with 10,000 subscribers of one status page goes down and comes back. The whole program and
 * a mail server count the letters, the program's memory, and how long an owner's alerts take meanwhile. Ends with status 1 where an
 * address got more or fewer letters than there were changes, the memory grew, or the alerts had to wait.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { SMTPServer } from 'smtp-server';
import { MAX_LETTERS_PER_SECOND } from '../../src/notify/letter-sender.ts';
import { createWebhookSecret } from '../../src/notify/webhook-sender.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { channelOf, ruleOf } from '../store/alert-fixtures.ts';
import { owned } from '../store/registry-fixtures.ts';
import { listenOn } from '../support/loopback.ts';
import { install } from '../support/program.ts';

const { values } = parseArgs({
  options: {
    subscribers: { type: 'string', default: '10000' },
    /** 1: the service goes down; 2: it comes back as well. */
    changes: { type: 'string', default: '2' },
  },
});
const subscribers = Number(values.subscribers);
const changes = Number(values.changes);
const MIB = 2 ** 20;
/** Growth of the program's memory that counts as bounded, bytes, after the first {@link WARM_LETTERS}. */
const MAX_GROWTH = 128 * MIB;
const WARM_LETTERS = 1_000;
/** The grouping of alerts is 30 s. */
const MAX_ALERT_S = 45;
const POLL_MS = 1_000;
const TAKEN_AT_ONCE = 500;

const letters = new Map<string, number>();
let lastLetterAt = 0;
const mail = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  logger: false,
  onData(stream, session, done) {
    const to = session.envelope.rcptTo[0]?.address ?? '';
    stream.resume().on('end', () => {
      letters.set(to, (letters.get(to) ?? 0) + 1);
      lastLetterAt = performance.now();
      done();
    });
  },
});
const mailListener = mail.listen(0, '127.0.0.1');
await once(mailListener, 'listening');
const mailPort = (mailListener.address() as AddressInfo).port;
const down = new Set<string>();
const site = await listenOn(
  createServer((request, response) => void response.writeHead(down.has(request.url ?? '') ? 503 : 200).end()),
);
let hooks = 0;
const hook = await listenOn(
  createServer((request, response) => {
    hooks += 1;
    request.resume().on('end', () => response.writeHead(204).end());
  }),
);
const installation = await install(
  [{ slug: 'shop', check: { kind: 'root', url: `http://127.0.0.1:${site.port}/shop` } }],
  {
    checks: { ownersMayProbePrivate: true },
    alerts: { smtp: { host: '127.0.0.1', port: mailPort, tls: 'none', from: 'Upbeat <upbeat@example.org>' } },
  },
);
try {
  await installation.withRegistry(subscribe);
  const program = await installation.start();
  const is = (slug: string, status: string) =>
    program.until<{ readonly status: string }>(`/api/v1/status/${slug}`, (shown) => shown.status === status);
  await is('shop', 'up');
  await is('blog-example', 'up');
  let before = 0;
  let peak = 0;
  const alerts: number[] = [];
  for (let change = 1; change <= changes; change++) {
    const isDown = change % 2 === 1;
    turn('/shop', isDown);
    const startedAt = performance.now();
    await is('shop', isDown ? 'down' : 'up');
    const expected = { hooks: hooks + 1, letters: (letters.get('ops@owner.example') ?? 0) + 1 };
    let ownerAt: number | null = null;
    let isTold = false;
    while (countTold() < subscribers * change && performance.now() - startedAt < 3_600_000) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const bytes = memoryOf(program.process.pid ?? 0);
      if (countTold() < WARM_LETTERS) before = Math.max(before, bytes);
      peak = Math.max(peak, bytes);
      // In the middle of the letters, a service of an owner changes as well.
      if (ownerAt === null && countTold() > subscribers * (change - 1)) {
        turn('/blog', isDown);
        ownerAt = performance.now();
      }
      const isOwnerTold =
        hooks >= expected.hooks && (letters.get('ops@owner.example') ?? 0) >= expected.letters;
      if (!isTold && ownerAt !== null && isOwnerTold) {
        isTold = true;
        alerts.push((performance.now() - ownerAt) / 1_000);
      }
    }
    const tookS = (lastLetterAt - startedAt) / 1_000;
    console.log(
      `change ${change}: ${subscribers} letters in ${tookS.toFixed(0)} s, at most ${MAX_LETTERS_PER_SECOND} a second; the owner's alert took ${alerts.at(-1)?.toFixed(1) ?? 'too long'} s`,
    );
  }
  // One letter too many would follow soon.
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const wrong = [...letters].filter(([to, count]) => to.startsWith('visitor') && count !== changes).length;
  const grown = peak - before;
  console.log(
    `${subscribers - wrong} of ${subscribers} addresses got ${changes} letters; memory at most ${mib(before)} MiB in the first ${WARM_LETTERS}, ${mib(peak)} MiB in all`,
  );
  const isLate = alerts.length < changes || alerts.some((seconds) => seconds > MAX_ALERT_S);
  if (wrong > 0 || countTold() !== subscribers * changes || grown > MAX_GROWTH || isLate)
    process.exitCode = 1;
  await program.stop();
} finally {
  installation.remove();
  await Promise.all([
    site.close(),
    hook.close(),
    new Promise<void>((resolve) => mail.close(() => resolve())),
  ]);
}

/** The page with its subscribers, and the owner with channels of both ways. */
async function subscribe(registry: Registry): Promise<void> {
  const now = Date.now();
  const { id: accountId } = await registry.ensureAccount('owner', now);
  const service = owned('blog.example', accountId, { verified: true });
  const check = { ...service.check, url: `http://127.0.0.1:${site.port}/blog` };
  await registry.addService({ ...service, check });
  const url = `http://127.0.0.1:${hook.port}/`;
  const settings = [
    ['webhook', { url, secret: createWebhookSecret() }],
    ['email', { to: 'ops@owner.example' }],
  ] as const;
  const channels: number[] = [];
  for (const [kind, of] of settings) {
    const channel = { ...channelOf(accountId, kind), kind, settings: of, confirmedAt: now };
    channels.push((await registry.addChannel(channel)).id);
  }
  await registry.addRule(ruleOf(accountId, channels));
  await registry.putCatalogue([
    {
      ...{ slug: 'shop', name: 'shop', domain: 'shop.example', category: 'developer', origin: 'catalogue' },
      ...{ accountId: null, verified: true, paused: false, statusPage: null },
      check: { ...service.check, url: `http://127.0.0.1:${site.port}/shop` },
    },
  ]);
  const shop = (await registry.loadServices()).find((state) => state.service.slug === 'shop');
  const groups = [{ name: '', services: [shop?.service.id ?? 0] }];
  const page = await registry.addPage({ accountId, slug: 'shops', title: 'Shops', text: '', groups, now });
  for (let from = 0; from < subscribers; from += TAKEN_AT_ONCE) {
    const count = Math.min(TAKEN_AT_ONCE, subscribers - from);
    const addresses = Array.from({ length: count }, (_, n) => `visitor@d${from + n}.example`);
    for (const address of addresses)
      await registry.requestSubscription({ topic: `page:${page.id}`, address, language: 'en', now });
    const asked = await registry.dueLetters(now, TAKEN_AT_ONCE);
    for (const { secret } of asked) await registry.confirmSubscription(secret, now);
    await registry.noteLetters(asked.map(({ id }) => ({ id, outcome: 'delivered', dueAt: null })));
  }
  const [confirmed] = await registry.countSubscriptions([`page:${page.id}`]);
  if (confirmed !== subscribers) throw new Error(`${confirmed} subscriptions are confirmed`);
}

function turn(path: string, isDown: boolean): void {
  if (isDown) down.add(path);
  else down.delete(path);
}

/** Letters to subscribers. */
function countTold(): number {
  return [...letters].reduce((sum, [to, count]) => (to.startsWith('visitor') ? sum + count : sum), 0);
}

/** Resident memory of a process group, bytes. */
function memoryOf(group: number): number {
  let bytes = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      if (Number(fields[2]) !== group) continue;
      const [, kib = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8')) ?? [];
      bytes += Number(kib) * 1_024;
    } catch {
      // The process has ended meanwhile.
    }
  }
  return bytes;
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB);
}
