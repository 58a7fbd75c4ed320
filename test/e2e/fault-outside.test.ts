/** What befalls servers that are not the operator's: what clients of each kind see is what the table says (`fault-table.ts`). */
import { createServer } from 'node:http';
import t from 'tap';
import { createWebhookSecret } from '../../src/notify/webhook-sender.ts';
import { listenOn, until } from '../support/loopback.ts';
import { startMailServer } from '../support/mail-server.ts';
import { type NameResult, startNameServer } from '../support/name-server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { type Fault, OUTSIDE_FAULTS } from './fault-table.ts';
import { befall, type Mishap, type Switch, startWorld, tryFault } from './fault-world.ts';

t.setTimeout(900_000);
t.jobs = 3;

/** The catalogue is looked at every few seconds. */
const ASKED_WITHIN_MS = 90_000;

t.test('those outside', { buffered: true }, async (t) => {
  let trouble: { readonly code: number; readonly text: string } | null = null;
  const mail = await startMailServer({ tls: 'none', onSender: () => trouble });
  let status = 200;
  const receiver = await listenOn(createServer((_request, response) => response.writeHead(status).end()));
  t.teardown(async () => await Promise.all([mail.close(), receiver.close()]));
  const roadTo = (port: number) => startTcpProxy(t, `http://127.0.0.1:${port}`);
  const mailRoad = await roadTo(mail.port);
  const webhookRoad = await roadTo(receiver.port);
  const smtp = { host: '127.0.0.1', port: Number(new URL(mailRoad.url).port), tls: 'none' };
  const world = await startWorld(t, {
    checks: { ownersMayProbePrivate: true },
    alerts: { smtp: { ...smtp, from: 'Upbeat <upbeat@example.org>' } },
  });
  const { installation, outside, roads } = world;
  const now = Date.now();
  const { accountId, webhookId } = await installation.withRegistry(async (registry) => {
    const { id: accountId } = await registry.ensureAccount('ada', now);
    const url = `${webhookRoad.url}/hook`;
    const { id } = await registry.addWebhook({
      accountId,
      url,
      secret: createWebhookSecret(),
      createdAt: now,
    });
    return { accountId, webhookId: id };
  });
  let sent = 0;
  /** Something to send to each receiver. */
  const send = () =>
    installation.withRegistry(async (registry) => {
      const address = `ada${++sent}@example.org`;
      await registry.requestSubscription({ topic: 'service:1', address, language: 'en', now: Date.now() });
      const delivery = { message: `msg_${sent}`, type: 'test', body: '{}', now: Date.now() };
      await registry.addDelivery(accountId, webhookId, delivery);
    });
  const others = [mailRoad, webhookRoad, roads.vendor, roads.provider];
  /** A fault of all of them, in which each is asked something. */
  const ofAll = ({ begin, end }: Switch): Switch => {
    let wasAsked: Promise<void> = Promise.resolve();
    return {
      async begin() {
        const before = others.map(({ uses }) => uses);
        await begin();
        world.moveVendorPage();
        await send();
        const asked = () => others.every(({ uses }, index) => uses > (before[index] ?? 0));
        // Each sign-in sends a request to the provider.
        wasAsked = until(asked, ASKED_WITHIN_MS);
        wasAsked.catch(() => {});
      },
      async end() {
        await wasAsked.finally(end);
        await send();
      },
    };
  };
  const answer = (http: number, code: number, text: string): Switch => {
    const set = (next: number, reply: typeof trouble) => {
      status = next;
      outside.status = next;
      trouble = reply;
    };
    return { begin: () => set(http, { code, text }), end: () => set(200, null) };
  };
  const replies: Readonly<Record<string, Switch>> = {
    refuse: answer(503, 421, '4.3.2 System not accepting messages'),
    full: answer(507, 452, '4.3.1 Insufficient system storage'),
  };
  for (const [word, fault] of Object.entries<Fault>(OUTSIDE_FAULTS.others))
    await tryFault(t, world, fault, ofAll(replies[word] ?? befall(word as Mishap, ...others)));
});

t.test('control targets', { buffered: true }, async (t) => {
  const world = await startWorld(t, {});
  const { outside, roads } = world;
  outside.isUnreachable = true;
  const refuse: Switch = {
    begin: () => Object.assign(roads.control, { answers: () => REFUSAL }),
    end: () => Object.assign(roads.control, { answers: () => null }),
  };
  for (const [word, fault] of Object.entries<Fault>(OUTSIDE_FAULTS.control))
    await tryFault(t, world, fault, word === 'refuse' ? refuse : befall(word as Mishap, roads.control));
});

const REFUSAL = 'HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

t.test('name servers', { buffered: true }, async (t) => {
  const known: NameResult = { addresses: ['127.0.0.1'], ttl: 0 };
  let reply: () => NameResult | Promise<NameResult> = () => known;
  const answer = () => reply();
  let names = await startNameServer(answer);
  t.teardown(() => names.close());
  const world = await startWorld(
    t,
    { checks: { nameservers: [names.address] } },
    { hostOf: (name) => `${name}.example` },
  );
  const saying = (next: typeof reply): Switch => ({
    begin() {
      reply = next;
    },
    end() {
      reply = () => known;
    },
  });
  const late = () => new Promise<NameResult>((resolve) => setTimeout(resolve, 1_000, known));
  const port = Number(names.address.split(':')[1]);
  const away: Switch = {
    begin: () => names.close(),
    async end() {
      names = await startNameServer(answer, port);
    },
  };
  const switches: Readonly<Record<keyof typeof OUTSIDE_FAULTS.names, Switch>> = {
    away,
    silence: saying(() => 'silence'),
    late: saying(late),
    refuse: saying(() => ({ code: 5 })),
    fail: saying(() => ({ code: 2 })),
    garbage: saying(() => 'garbage'),
  };
  for (const [word, fault] of Object.entries(OUTSIDE_FAULTS.names))
    await tryFault(t, world, fault, switches[word as keyof typeof switches]);
});
