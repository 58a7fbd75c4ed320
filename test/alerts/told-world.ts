/**
 * The receivers of one account's alerts on loopback, as their services are: Slack and PagerDuty behind TLS under their own names, a
 * mail server, and a server of signed webhooks; beside them a service that fails when a test says so. For tests of the whole program.
 */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { RECEIVERS, type Taken, takeRequests } from '../notify/channels/receivers.ts';
import { makeCertificate, TEST_CA_FILE } from '../support/certificates.ts';
import { listenOn } from '../support/loopback.ts';
import { startMailServer, type TakenLetter } from '../support/mail-server.ts';
import { startNameServer } from '../support/name-server.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';
import { createWallClock } from '../support/wall-clock.ts';

/** What each channel was told, in order, in the terms of its service. */
export interface Told {
  /** Whether a message answers in the thread of the first one. */
  readonly slack: readonly { readonly text: string; readonly isReply: boolean }[];
  readonly pagerduty: readonly { readonly action: string; readonly key: string }[];
  readonly email: readonly { readonly subject: string; readonly isReply: boolean }[];
  readonly webhook: readonly WebhookMessage[];
}

/** What the server of webhooks took. */
export interface WebhookMessage {
  readonly id: string;
  readonly type: string;
  readonly thread: string;
  readonly acknowledgeUrl: string | null;
}

/** The world. */
export type ToldWorld = Awaited<ReturnType<typeof startToldWorld>>;

const HTTPS_PORT = 443;
const WAIT_MS = 60_000;
const POLL_MS = 50;
const TO = 'ops@example.org';

/** Only root may listen on the ports of services. */
export const NEEDS_PORT_443 = process.getuid?.() === 0 ? {} : { skip: 'needs root, to listen on port 443' };

/** The program in the world, on a wall clock that a test sets forward. It ends after the test. */
export async function startToldProgram(t: Parameters<typeof createWallClock>[0], world: ToldWorld) {
  let now = Date.now();
  const startedAt = performance.now();
  const clock = createWallClock(t, now, 'UTC');
  const environment = { ...clock.environment, ...world.environment };
  const installation = await install(world.catalogue, world.settings, environment);
  t.teardown(() => installation.remove());
  let program = await installation.start();
  t.teardown(() => program.killHard());
  return {
    installation,
    program: () => program,
    /** Sets the clock forward. */
    pass(ms: number): void {
      now += ms;
      clock.set(now + (performance.now() - startedAt));
    },
    /** Starts it again after it has ended. */
    async restart(): Promise<void> {
      program = await installation.start();
    },
  };
}

/** Starts it with services `shop`, `shop-2` and so on; it ends after the test. */
export async function startToldWorld(t: { teardown(end: () => unknown): void }, services = 1) {
  const slugs = Array.from({ length: services }, (_, n) => (n === 0 ? 'shop' : `shop-${n + 1}`));
  const down = new Set<string>();
  const site = await listenOn(
    createServer((request, response) => {
      response.writeHead(down.has(request.url?.slice(1) ?? '') ? 503 : 200).end();
    }),
  );
  // Addresses of its own, so that tests may run side by side.
  const place = () => `127.${[1, 2, 3].map(() => 1 + Math.floor(Math.random() * 253)).join('.')}`;
  const slack = await startHosted('slack, bot', 'slack.com', place());
  const pagerduty = await startHosted('pagerduty', 'events.pagerduty.com', place());
  const addresses = new Map([slack, pagerduty].map(({ name, address }) => [name, address]));
  const names = await startNameServer(({ name, type }) => {
    const address = addresses.get(name);
    if (address === undefined) return { code: 3 };
    return type === 'A' ? { addresses: [address] } : { code: 0 };
  });
  const mail = await startMailServer({ names: ['127.0.0.1'] });
  const hooks: WebhookMessage[] = [];
  const hook = await listenOn(
    createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { data } = JSON.parse(Buffer.concat(chunks).toString());
      const { type, thread, acknowledge_url: acknowledgeUrl } = data;
      hooks.push({ id: String(request.headers['webhook-id']), type, thread, acknowledgeUrl });
      response.writeHead(204).end();
    }),
  );
  const servers = [site, slack, pagerduty, names, mail, hook];
  t.teardown(() => Promise.all(servers.map((server) => server.close())));

  const told = (): Told => ({
    slack: slack.taken.map(({ json, thread }) => ({ text: textOf(json), isReply: thread !== null })),
    pagerduty: pagerduty.taken.map(({ json }) => {
      const { event_action, dedup_key } = json as { event_action: string; dedup_key: string };
      return { action: event_action, key: dedup_key };
    }),
    email: alertLetters(mail.letters),
    webhook: hooks,
  });
  return {
    told,
    mail,
    catalogue: slugs.map((slug) => ({
      slug,
      check: { kind: 'root', url: `http://127.0.0.1:${site.port}/${slug}` },
    })),
    settings: {
      checks: { ownersMayProbePrivate: true, nameservers: [names.address] },
      alerts: {
        smtp: { host: '127.0.0.1', port: mail.port, tls: 'starttls', from: 'Upbeat <upbeat@example.org>' },
      },
    },
    environment: { NODE_EXTRA_CA_CERTS: TEST_CA_FILE },
    /** Lets a service fail, or be well. */
    turn(isDown: boolean, slug = 'shop'): void {
      if (isDown) down.add(slug);
      else down.delete(slug);
    },
    /**
     * Adds the four channels and a rule for services by the API, and confirms the address by the link in the letter that asks.
     * Returns the key of the account.
     */
    async addChannels(
      installation: Installation,
      program: RunningProgram,
      services: readonly string[] = slugs,
    ): Promise<string> {
      const created = await installation.runHere(
        'keys',
        'create',
        '--account',
        'acme',
        '--name',
        'k',
        '--scope',
        'write',
      );
      const key = created.stdout.trim();
      const post = async (path: string, body: object) => {
        const response = await fetch(`${program.siteUrl}/api/v1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      };
      const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
      const channels = [
        { name: 'Chat', kind: 'slack', settings: slack.settings },
        { name: 'On call', kind: 'pagerduty', settings: pagerduty.settings },
        { name: 'Mail', kind: 'email', settings: { to: TO } },
        { name: 'Hook', kind: 'webhook', settings: { url: `http://127.0.0.1:${hook.port}/`, secret } },
      ];
      for (const channel of channels) await post('/channels', channel);
      await post('/rules', {
        ...{ name: 'Shop', services, events: ['down', 'up'], repeat: '5m' },
        channels: channels.map(({ name }) => name),
      });
      await mail.taken(1);
      const [, path = ''] = /(\/alerts\/confirm\/[\w-]+)/.exec(mail.letters[0]?.mail.text ?? '') ?? [];
      const confirmed = await fetch(`${program.siteUrl}${path}`, { method: 'POST' });
      if (!confirmed.ok) throw new Error(`the address is not confirmed: ${confirmed.status}`);
      return key;
    },
    /** Resolves when each channel has been told `count` messages, each counted once. */
    async untilTold(count: number, withinMs = WAIT_MS): Promise<void> {
      const deadline = performance.now() + withinMs;
      const isTold = () => {
        const { slack: s, pagerduty: p, email, webhook } = told();
        return [s, p, email, webhook].every((messages) => messages.length >= count);
      };
      while (!isTold()) {
        if (performance.now() > deadline)
          throw new Error(`${count} messages were expected: ${JSON.stringify(told())}`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
  };
}

/** A hosted service under its own name. */
async function startHosted(kind: string, name: string, address: string) {
  const receiver = RECEIVERS.find((one) => (one.name ?? one.kind) === kind);
  if (receiver === undefined) throw new Error(`there is no receiver ${kind}`);
  const taken: Taken[] = [];
  const handle = takeRequests(receiver, taken);
  const server: Server = createTlsServer(makeCertificate({ names: [name] }), handle);
  const { close } = await listenOn(server, address, HTTPS_PORT);
  return { name, address, taken, settings: receiver.settings(''), close };
}

function alertLetters(letters: readonly TakenLetter[]): Told['email'] {
  // The first letter asks to confirm the address.
  const [, ...alerts] = letters;
  const ids = new Set(alerts.map(({ mail }) => mail.messageId));
  return alerts.map(({ mail }) => ({
    subject: mail.subject ?? '',
    isReply: [mail.references ?? []].flat().some((id) => id !== mail.messageId && ids.has(id)),
  }));
}

function textOf(json: unknown): string {
  return typeof json === 'object' && json !== null && 'text' in json ? String(json.text) : '';
}
