/** Every way by which owners, or vendors, choose an address that the program connects to, each as a function of that address. */
import { getOrInsert } from '../../src/async/bounded-map.ts';
import { openDomainProofs } from '../../src/auth/domain-proof.ts';
import { systemClock } from '../../src/clock.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import {
  type CheckDefinition,
  DEFAULT_CHECK,
  PROBED_KINDS,
  type ProbedKind,
} from '../../src/domain/service.ts';
import { pollFeed } from '../../src/feeds/poller.ts';
import { silentLog } from '../../src/log.ts';
import { CHANNEL_KINDS_TABLE } from '../../src/notify/channels/kinds-table.ts';
import { startWebhookSender } from '../../src/notify/webhook-sender.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { createProber } from '../../src/probe/prober.ts';
import type { DeliveryOutcome } from '../../src/store/ports/webhooks.ts';
import { RECEIVERS } from '../notify/channels/receivers.ts';
import { SAMPLES } from '../notify/channels/sample-messages.ts';
import { double } from '../support/double.ts';

/** What may be dialled, and who answers for names. */
export interface WaysSettings {
  readonly allowPrivate: readonly string[];
  readonly ports: readonly number[];
  readonly nameservers: readonly string[];
}

/** A way out. */
export interface WayOut {
  readonly name: string;
  /** Whether the port is the caller's to choose; if not, it is the usual one. */
  readonly takesPort: boolean;
  /** Whether it follows redirects. */
  readonly redirects: boolean;
  /** Connects to `host` (in brackets if IPv6) and resolves with the outcome as JSON. */
  readonly go: (host: string, port: number, path?: string) => Promise<string>;
}

/** Opens all of them. */
export function openWaysOut({ allowPrivate, ports, nameservers }: WaysSettings) {
  const policy = { allowPrivate, ports };
  const outbound = createOutbound({ userAgent: 'Upbeat/test', nameservers, hostsFile: '/nowhere' });
  const prober = createProber({
    ...{ version: '1.2.3', siteUrl: 'https://status.example', allowPrivate, ports, nameservers },
    ...{ ownersMayProbePrivate: true, hostsFile: '/nowhere', concurrency: 1 },
  });
  const signal = new AbortController().signal;

  async function check(domain: string, change: Partial<CheckDefinition>): Promise<string> {
    const attempt = await prober.runAttempt(
      {
        ...{ serviceId: 1, revision: 1, domain, origin: 'owner', accountId: 1, memory: NO_MEMORY },
        lastCheckedAt: null,
        check: { ...DEFAULT_CHECK, ...change },
      },
      // A name server that does not answer is asked until the end.
      { timeoutMs: change.kind === 'dns' ? 300 : 5_000, number: 0, slot: 0, signal },
    );
    return JSON.stringify(attempt);
  }
  const unbracketed = (host: string) => host.replace(/^\[|\]$/g, '');
  const checks: Readonly<Record<ProbedKind, WayOut['go']>> = {
    root: (host, port, path = '/') => check('x.example', { url: `http://${host}:${port}${path}` }),
    health: (host, port, path = '/') =>
      check('x.example', { kind: 'health', url: `http://${host}:${port}${path}` }),
    http: (host, port, path = '/') => check(host, { kind: 'http', settings: { plain: true, port, path } }),
    websocket: (host, port) => check(host, { kind: 'websocket', settings: { plain: true, port } }),
    grpc: (host, port) => check(host, { kind: 'grpc', settings: { plain: true, port } }),
    tcp: (host, port) => check(host, { kind: 'tcp', settings: { port } }),
    tls: (host, port) => check(host, { kind: 'tls', settings: { port } }),
    smtp: (host, port) => check(host, { kind: 'smtp', settings: { port } }),
    ssh: (host, port) => check(host, { kind: 'ssh', settings: { port } }),
    postgres: (host, port) => check(host, { kind: 'postgres', settings: { port } }),
    mysql: (host, port) => check(host, { kind: 'mysql', settings: { port } }),
    redis: (host, port) => check(host, { kind: 'redis', settings: { port } }),
    mqtt: (host, port) => check(host, { kind: 'mqtt', settings: { port } }),
    mongodb: (host, port) => check(host, { kind: 'mongodb', settings: { port } }),
    docker: (host, port) =>
      check(host, { kind: 'docker', settings: { container: 'web', port }, trustedBy: 1 }),
    domain: (host, port) => check(host, { kind: 'domain', settings: { server: `http://${host}:${port}/` } }),
    icmp: (host) => check(host, { kind: 'icmp', settings: {} }),
    dns: (host, port) => check('x.example', { kind: 'dns', settings: { server: unbracketed(host), port } }),
  };

  async function feed(host: string, port: number, path = '/'): Promise<string> {
    const address = {
      name: 'feed',
      url: `http://${host}:${port}${path}`,
      listsOnlyOpen: false,
      read: () => [],
    };
    const inTurn = <T>(_: string, task: () => Promise<T>) => task();
    return JSON.stringify(await pollFeed([address], {}, { outbound, policy, inTurn, now: Date.now, signal }));
  }

  async function webhook(host: string, port: number): Promise<string> {
    const due = {
      ...{ id: 1, message: 'msg_1', webhookId: 1, type: 'service.status_changed', body: '{}' },
      ...{ createdAt: 0, dueAt: 0, attempts: 0, deliveredAt: null, problem: null },
      ...{ url: `http://${host}:${port}/`, secret: `whsec_${'A'.repeat(32)}` },
    };
    const noted = Promise.withResolvers<DeliveryOutcome>();
    const sender = startWebhookSender({
      siteUrl: 'https://upbeat.test',
      registry: double({
        dueDeliveries: async () => [due],
        hasDeliveries: async () => true,
        noteDelivery: async (outcome) => noted.resolve(outcome),
        forgetDeliveries: async () => 0,
      }),
      retentionNow: async () => systemClock.now(),
      counter: double({ note() {}, drop() {} }),
      ...{ outbound, policy, clock: systemClock, random: () => 0, log: silentLog, isOurs: () => true },
    });
    const outcome = await noted.promise;
    await sender.stop();
    return JSON.stringify(outcome);
  }

  const channels = RECEIVERS.map((receiver): WayOut => {
    const { kind, name = kind } = receiver;
    return {
      name: `channel ${name}`,
      takesPort: true,
      redirects: false,
      async go(host, port) {
        const settings = receiver.settings(`http://${host}:${port}`);
        const tools = {
          outbound,
          policy,
          mailer: null,
          clock: systemClock,
          siteUrl: 'https://status.example',
        };
        const channel = { id: 1, accountId: 1, name, kind, settings, language: 'en' } as const;
        const whole = { ...channel, confirmedAt: 0, createdAt: 0, revision: 1 };
        const sending = { channel: whole, message: SAMPLES.alert, reference: null, id: 'msg_1', signal };
        return JSON.stringify(await CHANNEL_KINDS_TABLE[kind].send(tools, sending));
      },
    };
  });
  // Of hosted services, the address is not the owner's to choose.
  const ownServers = channels.filter((_, index) =>
    JSON.stringify(RECEIVERS[index]?.settings('http://ORIGIN')).includes('"http://ORIGIN'),
  );

  const facts = new Map<string, string>();
  async function proof(host: string): Promise<string> {
    const proofs = await openDomainProofs({
      registry: {
        getFact: async (name) => facts.get(name) ?? null,
        ensureFact: async (name, value) => getOrInsert(facts, name, () => value),
      },
      ...{ outbound, policy, nameservers },
    });
    return JSON.stringify(await proofs.check(1, host));
  }

  const ways: readonly WayOut[] = [
    ...PROBED_KINDS.map((kind) => ({
      name: `check ${kind}`,
      takesPort: kind !== 'icmp',
      redirects: ['root', 'health', 'http'].includes(kind),
      go: checks[kind],
    })),
    { name: 'feed of a vendor', takesPort: true, redirects: true, go: feed },
    { name: 'webhook', takesPort: true, redirects: false, go: webhook },
    ...ownServers,
    { name: 'proof of a domain', takesPort: false, redirects: true, go: proof },
  ];
  return {
    ways,
    close() {
      outbound.close();
      prober.close();
    },
  };
}
