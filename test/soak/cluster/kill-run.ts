/** The trial by kills: builds the cluster and its clients, disturbs the nodes, and collects what there is to count. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../../src/auth/api-keys.ts';
import { systemClock } from '../../../src/clock.ts';
import type { NodeRole } from '../../../src/domain/node.ts';
import { silentLog } from '../../../src/log.ts';
import { createWebhookSecret } from '../../../src/notify/webhook-sender.ts';
import { openRegistryInProcess } from '../../../src/store/registry/open-registry.ts';
import { type Cluster, type ClusterNode, createCluster, SECRET_KEY } from '../../support/cluster.ts';
import { CONTROL_PATH, startCountedSite } from '../../support/counted-site.ts';
import { createRandom } from '../../support/random.ts';
import type { Scope } from '../../support/run-servers.ts';
import { type Disturbance, disturbNodes } from './disturbances.ts';
import { startSenders } from './heartbeat-senders.ts';
import type { CheckTrace } from './judge-checks.ts';
import { startOutages } from './outages.ts';
import {
  type DeliveryRow,
  type HeartbeatRow,
  type IncidentRow,
  openRegistryReader,
  type RegistryReader,
  type TransitionRow,
} from './read-registry.ts';
import { type Readers, readStatuses, startReaders } from './readers.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

/** Options of the trial. */
export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  readonly services: number;
  readonly intervalMs: number;
  /** The kills end after this time, milliseconds. */
  readonly maxMs: number;
  readonly tell: (line: string) => void;
  readonly onDisturbance: (disturbance: Disturbance) => void;
  /** Called when a process of a node has ended. */
  readonly onEnd: (node: ClusterNode) => void;
}

/** What was collected. */
export interface KillTrace
  extends CheckTrace,
    Pick<Readers, 'heard' | 'disagreements' | 'failures' | 'reads'> {
  readonly kills: number;
  readonly transitions: readonly TransitionRow[];
  readonly incidents: readonly IncidentRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly received: WebhookReceiver['received'];
  /** Heartbeats in the registry by slug and number. */
  readonly heartbeats: ReadonlyMap<string, ReadonlyMap<number, HeartbeatRow>>;
  readonly sent: ReturnType<typeof startSenders>['sent'];
  readonly phases: ReturnType<typeof startSenders>['phases'];
  readonly slugOf: (domain: string) => string;
  /** Results of woken nodes that Redis has refused. */
  readonly refused: number;
  /** The longest time that this process, with the targets in it, did not run, milliseconds. */
  readonly ownDelayMs: number;
  /** What is wrong at the end. */
  readonly complaints: readonly string[];
}

const REGIONS = ['ap', 'eu', 'us'];
const DOMAINS = Array.from({ length: 6 }, (_, index) => `job-${index + 1}.example.org`);
const SILENCE_MS = 20_000;
const LONG_PAUSES = 2;
/** Time until a target answers, milliseconds: some checks are in flight when a node dies. */
const TARGET_MS = 100;
/** The last hundred heartbeats of a service are kept: these are those of 50 s. */
const HEARTBEATS_PERIOD_MS = 10_000;
/** A woken node has sent, or dropped, the results of the time before its pause. */
const REFUSED_AFTER_MS = 8_000;
const END_TIMEOUT_MS = 120_000;

/** Runs the trial. Throws where the trial itself cannot be made. */
export async function runKills(options: KillOptions): Promise<KillTrace> {
  const tasks: (() => unknown)[] = [];
  const scope: Scope = { teardown: (task) => void tasks.push(task) };
  try {
    return await run(scope, options);
  } finally {
    for (const task of tasks.reverse()) await task();
  }
}

async function run(scope: Scope, options: KillOptions): Promise<KillTrace> {
  const { kills, seed, services, intervalMs, maxMs, tell } = options;
  const site = await startCountedSite(scope, { delayMs: TARGET_MS });
  const slugs = Array.from({ length: services }, (_, index) => `s${index + 1}`);
  const cluster = await createCluster(scope, {
    entries: slugs.map((slug) => ({ slug, check: { url: `${site.url}/${slug}`, method: 'GET' } })),
    settings: {
      checks: {
        interval: `${intervalMs}ms`,
        timeout: '4s',
        confirmAfter: ['200ms', '400ms'],
        firstSpread: '2s',
        controlTargets: [site.url + CONTROL_PATH],
        ownersMayProbePrivate: true,
      },
      heartbeats: { silence: `${SILENCE_MS}ms` },
      limits: {
        ...{ anonymousPerMinute: 1_000_000, authenticatedPerMinute: 1_000_000, changesPerAccount: 1_000_000 },
        connectionsPerAddress: 1_000_000,
      },
    },
  });
  site.attribute(cluster);
  await startNodes(cluster, tell);
  const receiver = await startWebhookReceiver(scope);
  const key = await makeOwner(scope, cluster.postgresUrl ?? '', receiver.url);
  const registry = await openRegistryReader(scope, cluster.postgresUrl ?? '');
  const serving = cluster.nodes.filter(({ roles }) => roles.includes('serve'));
  await untilAll(serving, slugs, (status) => status === 'up');
  // By then the shares and the phases of the new nodes have settled.
  await sleep(2 * intervalMs);
  tell('all services are up; the trial begins');

  const delay = monitorEventLoopDelay();
  delay.enable();
  const disturbances: Disturbance[] = [];
  const complaints: string[] = [];
  let refused = 0;
  const readers = startReaders(serving);
  const senders = startSenders({
    ...{ domains: DOMAINS, key, silenceMs: SILENCE_MS, random: createRandom(seed + 1) },
    nodes: () => serving,
  });
  const heartbeats = new Map<string, Map<number, HeartbeatRow>>();
  const noting = setInterval(() => void noteHeartbeats(registry, heartbeats), HEARTBEATS_PERIOD_MS);
  // One interval passes before the first fault, so that every service has a check to count from.
  const fromMs = performance.now();
  await sleep(intervalMs);
  const stopOutages = startOutages({
    ...{ site, slugs, regions: REGIONS, random: createRandom(seed + 2) },
    lengthMs: intervalMs + 30_000,
  });
  await disturbNodes({
    ...{ cluster, kills, longPauses: LONG_PAUSES, random: createRandom(seed) },
    deadlineMs: performance.now() + maxMs,
    monitor: () => findMonitor(cluster),
    onDisturbance(disturbance) {
      disturbances.push(disturbance);
      options.onDisturbance(disturbance);
      const { kind, node } = disturbance;
      if (kind === 'kill' || kind === 'stop') options.onEnd(node);
      if (kind === 'wake')
        setTimeout(async () => {
          refused += await readRefused(node).catch(() => 0);
        }, REFUSED_AFTER_MS);
    },
  });
  tell('the last disturbance is over; services recover');
  senders.recover();
  const outages = await stopOutages();
  const untilMs = performance.now();
  await untilSettled(registry).catch((error: Error) => complaints.push(error.message));
  await senders.stop();
  clearInterval(noting);
  await noteHeartbeats(registry, heartbeats);
  await readers.stop();
  complaints.push(...(await compareNodes(serving)));
  const slugByDomain = await registry.slugs();
  for (const node of cluster.nodes) {
    const status = await node.stop();
    options.onEnd(node);
    if (status !== 0) complaints.push(`${node.name} ended with status ${status}`);
  }
  return {
    ...{
      requests: site.requests,
      disturbances,
      outages,
      regions: REGIONS,
      slugs,
      intervalMs,
      fromMs,
      untilMs,
    },
    ...{
      heard: readers.heard,
      disagreements: readers.disagreements,
      failures: readers.failures,
      reads: readers.reads,
    },
    kills: disturbances.filter(({ kind }) => kind === 'kill').length,
    transitions: await registry.transitions(),
    incidents: await registry.incidents(),
    deliveries: await registry.deliveries(),
    received: receiver.received,
    ...{ heartbeats, sent: senders.sent, phases: senders.phases, refused, complaints },
    ownDelayMs: delay.max / 1e6,
    slugOf: (domain) => slugByDomain.get(domain) ?? domain,
  };
}

/** Three nodes a region: one with all roles, one that only makes checks, and one that judges and serves, in one region only serves. */
async function startNodes(cluster: Cluster, tell: (line: string) => void): Promise<void> {
  const apart = canSeparate();
  if (!apart)
    tell('NOT root, or no namespaces: all nodes are on one host, where a new monitor ends one that hangs');
  const kinds: readonly (readonly [region: string, roles: readonly NodeRole[]])[][] = [
    REGIONS.map((region) => [region, ['judge', 'probe', 'serve']]),
    REGIONS.map((region) => [region, ['probe']]),
    REGIONS.map((region, index) => [region, index === 0 ? ['serve'] : ['judge', 'serve']]),
  ];
  for (const [index, nodes] of kinds.entries()) {
    const starts = nodes.map(([region, roles]) => {
      const name = `${region}-${index + 1}`;
      const place = { enter: separate(name), expose: async () => '' };
      return cluster.start({ name, region, roles, ...(apart ? { place } : {}) });
    });
    await Promise.all(starts);
    tell(`${cluster.nodes.length} nodes run`);
  }
}

/** What starts a program under a host name of its own: no process is ended as one that hangs on the same machine. */
function separate(host: string): string[] {
  return ['unshare', '--uts', 'sh', '-c', `hostname ${host} && exec "$@"`, 'sh'];
}

function canSeparate(): boolean {
  const [command = '', ...args] = [...separate('trial'), 'true'];
  return process.getuid?.() === 0 && spawnSync(command, args).status === 0;
}

/** Makes an account with a webhook; returns a key of it. */
async function makeOwner(scope: Scope, postgresUrl: string, url: string): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-owner-'));
  scope.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const common = { log: silentLog, clock: systemClock };
  const registry = await openRegistryInProcess({ ...common, dataDir, postgresUrl, secretKey: SECRET_KEY });
  const now = Date.now();
  const { key, record } = await createApiKey(registry, {
    account: 'acme',
    name: 'trial',
    expiresAt: null,
    now,
  });
  await registry.addWebhook({
    accountId: record.accountId,
    url,
    secret: createWebhookSecret(),
    createdAt: now,
  });
  await registry.close();
  return key;
}

/** The node that says that it is the monitor; null: none does. */
async function findMonitor(cluster: Cluster): Promise<ClusterNode | null> {
  const judges = cluster.nodes.filter(({ state, roles }) => state === 'running' && roles.includes('judge'));
  const answers = await Promise.all(
    judges.map(async (node) => {
      const response = await fetch(`${node.siteUrl}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(
        () => null,
      );
      const body = (await response?.json().catch(() => null)) as { readonly role?: string } | null;
      return body?.role === 'monitor' ? node : null;
    }),
  );
  return answers.find((node) => node !== null) ?? null;
}

async function readRefused(node: ClusterNode): Promise<number> {
  if (node.state !== 'running') return 0;
  const { body } = await node.program.get('/metrics');
  return Number(/^upbeat_results_refused_total (\d+)$/m.exec(String(body))?.[1] ?? 0);
}

async function noteHeartbeats(
  registry: RegistryReader,
  heartbeats: Map<string, Map<number, HeartbeatRow>>,
): Promise<void> {
  for (const row of await registry.heartbeats()) {
    const list = heartbeats.get(row.slug) ?? new Map<number, HeartbeatRow>();
    heartbeats.set(row.slug, list.set(row.number, row));
  }
}

/** Waits until all nodes say of all services what `accept` wants. */
async function untilAll(
  nodes: readonly ClusterNode[],
  slugs: readonly string[],
  accept: (status: string) => boolean,
): Promise<void> {
  const deadlineMs = performance.now() + END_TIMEOUT_MS;
  for (const { siteUrl, name } of nodes) {
    for (;;) {
      const statuses = await readStatuses(siteUrl).catch(() => new Map<string, string>());
      const others = slugs.filter((slug) => !accept(statuses.get(slug) ?? ''));
      if (others.length === 0) break;
      if (performance.now() > deadlineMs) throw new Error(`${name} does not say so of ${others.join(', ')}`);
      await sleep(500);
    }
  }
}

/** Waits until all incidents are resolved and all webhooks are delivered. */
async function untilSettled(registry: RegistryReader): Promise<void> {
  const deadlineMs = performance.now() + END_TIMEOUT_MS;
  for (;;) {
    const open = (await registry.incidents()).filter(({ status }) => status !== 'resolved');
    const waiting = (await registry.deliveries()).filter(({ deliveredAt }) => deliveredAt === null);
    if (open.length === 0 && waiting.length === 0) return;
    if (performance.now() > deadlineMs)
      throw new Error(`${open.length} incidents are open, and ${waiting.length} webhooks are not delivered`);
    await sleep(1_000);
  }
}

/** Compares what the nodes say at rest. */
async function compareNodes(nodes: readonly ClusterNode[]): Promise<string[]> {
  const texts = await Promise.all(
    nodes.map(async ({ siteUrl }) => {
      const statuses = [...(await readStatuses(siteUrl))].sort();
      const response = await fetch(`${siteUrl}/api/v1/incidents?limit=100`);
      // Each node has an address of its own here.
      const incidents = (await response.text()).replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '');
      return JSON.stringify([statuses, incidents]);
    }),
  );
  const [first] = texts;
  return nodes.flatMap(({ name }, index) =>
    texts[index] === first ? [] : [`${name} says something else than ${nodes[0]?.name} at the end`],
  );
}
