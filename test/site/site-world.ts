/** The API over real HTTP on loopback, on the embedded registry that a test fills, with a clock that stands still. */

import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createEventIds } from '../../src/api/events.ts';
import { createAcknowledgeLinks } from '../../src/auth/acknowledge-link.ts';
import { createKeyAuthenticator, generateKeyText, readKey } from '../../src/auth/api-keys.ts';
import { createLocalSignIn } from '../../src/auth/password-sign-in.ts';
import { createSessions } from '../../src/auth/sessions.ts';
import { checkedAtOf, responseTimeOf } from '../../src/domain/heartbeat/heartbeat-rules.ts';
import type { Incident } from '../../src/domain/incident/incident.ts';
import type { ServiceVendorStatus } from '../../src/domain/incident/vendor-incident.ts';
import { NODE_ROLES, type NodeState } from '../../src/domain/node.ts';
import type { AnyBadge, ChartPicture, HeatmapPicture } from '../../src/domain/picture.ts';
import { NO_TIMING } from '../../src/domain/result.ts';
import type { Sample } from '../../src/domain/sample.ts';
import { DEFAULT_CHECK, dashDomain, type Service } from '../../src/domain/service.ts';
import type {
  CurrentStatus,
  LatestCheck,
  RegionStatus,
  Transition,
} from '../../src/domain/status/current.ts';
import { createHandCharge, type LimitServer } from '../../src/http/rate-limits.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { destinationsByTrust } from '../../src/outbound/address-guard.ts';
import type { HeartbeatReceipt, ReceivedHeartbeat } from '../../src/record/observation.ts';
import type { ChannelKinds } from '../../src/resources/channels/channels.ts';
import { TRIALS_PER_MINUTE, type TrialContext } from '../../src/resources/services/new-service.ts';
import { SENT_BY_HAND_PER_MINUTE } from '../../src/resources/webhooks/webhooks.ts';
import { createApp } from '../../src/site/app.ts';
import { openPageDomains } from '../../src/site/page-domains.ts';
import type { RouteSources } from '../../src/site/routes.ts';
import type { ApiKey } from '../../src/store/ports/accounts.ts';
import type { IncidentQuery } from '../../src/store/ports/incidents.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { SampleQuery, SampleStore } from '../../src/store/ports/samples.ts';
import type { NewPage, StoredPicture } from '../../src/store/ports/status-pages.ts';
import { createMemoryStatusStore } from '../../src/store/status/memory-status-store.ts';
import { createBadgeAddresses } from '../../src/view/badge-url.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import type { AboutSettings } from '../../src/web/about-page.ts';
import { goodAttempt, USUAL } from '../support/attempts.ts';
import { TEST_KINDS } from '../support/channel-kinds.ts';
import { USUAL_REACH } from '../support/destinations.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openSampleStore } from '../support/sample-store.ts';
import type { Answer } from './answer.ts';
import { openFilledRegistry } from './filled-registry.ts';

/** When the clock of a test stands. */
export const NOW = Date.UTC(2026, 10, 20, 10, 0, 0);

/** A service of the catalogue; a test names what matters to it. */
export function service(id: number, slug: string, more: Partial<Service> = {}): Service {
  return {
    id,
    slug,
    name: slug.toUpperCase(),
    domain: `${slug}.example`,
    category: 'developer',
    origin: 'catalogue',
    accountId: null,
    verified: true,
    paused: false,
    check: DEFAULT_CHECK,
    statusPage: null,
    revision: 1,
    ...more,
  };
}

/** A good check at `checkedAt`. */
export function check(checkedAt: number, more: Partial<LatestCheck> = {}): LatestCheck {
  return {
    status: 'up',
    responseTimeMs: 123,
    statusCode: 200,
    checkedAt,
    source: 'root',
    reported: null,
    failure: null,
    blocked: false,
    timing: NO_TIMING,
    certificateExpiresAt: null,
    ...more,
  };
}

/** The record of a service after a check. */
export function current(
  serviceId: number,
  latest: LatestCheck,
  more: Partial<CurrentStatus> = {},
): CurrentStatus {
  return {
    serviceId,
    seq: 1,
    observedAt: latest.checkedAt,
    status: latest.status,
    since: latest.checkedAt,
    latest,
    ...more,
  };
}

/** An own incident of a service. */
/** What a region last found of a service, `ago` milliseconds before {@link NOW}; it has a vote. */
export function inRegion(region: string, ago: number, more: Partial<LatestCheck> = {}): RegionStatus {
  const at = { since: NOW - 90_000, observedAt: NOW - ago };
  return { region, check: check(NOW - ago, more), ...at, votes: true };
}

export function incident(id: string, serviceId: number, more: Partial<Incident> = {}): Incident {
  return {
    id,
    serviceId,
    source: 'own',
    title: 'Shop is not reachable',
    description: 'Our checks of shop.example fail.',
    severity: 'major',
    status: 'investigating',
    startedAt: NOW,
    resolvedAt: null,
    sourceUrl: 'https://upbeat.test/status/shop-example',
    goodChecks: 0,
    updates: [],
    ...more,
  };
}

/** A transition at a position. */
export function transition(position: number, slug: string, more: Partial<Transition> = {}): Transition {
  return {
    position,
    serviceId: 1,
    slug,
    seq: position,
    from: 'up',
    to: 'down',
    at: NOW + position * 1_000,
    recordedAt: NOW + position * 1_000 + 6_500,
    reason: { code: 'text', text: 'it refused the connection' },
    ...more,
  };
}

/** A live node; a test names what matters to it. */
export function node(name: string, more: Partial<NodeState> = {}): NodeState {
  return {
    name,
    region: 'local',
    roles: NODE_ROLES,
    version: '1.2.3',
    host: 'alpha',
    pid: 7,
    since: NOW,
    lastSeen: NOW,
    services: 0,
    checksPerSecond: 0,
    online: true,
    offlineSince: null,
    reachesRegistry: true,
    clockOffsetMs: 0,
    ...more,
  };
}

/** What a test may set. */
export interface WorldOptions {
  /** Kinds of channels. Default: those for tests. */
  readonly kinds?: ChannelKinds;
  readonly services?: readonly Service[];
  readonly anonymousPerMinute?: number;
  readonly authenticatedPerMinute?: number;
  readonly changesPerAccount?: number;
  readonly log?: Log;
  /** What the clock of this node is ahead of that of the cluster, milliseconds. Default: 0. */
  readonly clockOffsetMs?: number;
  readonly siteUrl?: string;
  /** What the site begins with, and whether it is for its members alone. */
  readonly home?: string;
  readonly isForMembers?: boolean;
  readonly limitServer?: LimitServer;
  /** Where the clock stands; absent: {@link NOW}. */
  readonly startAt?: number;
  /** The sample store, which the test closes; absent: an embedded one, which is empty. */
  readonly samples?: SampleStore;
  /** Draws badges; absent: what was asked for is written down in place of a picture. */
  readonly renderBadge?: (text: AnyBadge) => Promise<Uint8Array>;
  /** Draws charts and heat maps; absent: what was asked for is written down in place of a picture. */
  readonly pictures?: RouteSources['pictures'];
  /** Makes the trials of checks; absent: each is good. */
  readonly tryCheck?: TrialContext['tryCheck'];
  /** Who runs the site; absent: nobody is named. */
  readonly operator?: AboutSettings['operator'];
  readonly notice?: string;
  /** How old the copy of the statuses is; absent: they are current. */
  readonly ageMs?: () => number;
}

/** The API's world. */
export type World = Awaited<ReturnType<typeof startApi>>;

/** Starts the API. The client's address is the last one of `x-forwarded-for`: loopback is a trusted proxy. */
export async function startApi({ services = [], ...options }: WorldOptions = {}) {
  const clock = createFakeClock(options.startAt ?? NOW);
  const log = options.log ?? silentLog;
  const directory = createServiceDirectory();
  directory.load(services);
  const { ageMs } = options;
  const status = { ...createMemoryStatusStore({ log }), ...(ageMs === undefined ? {} : { ageMs }) };
  const metrics = createMetrics();
  const filled = await openFilledRegistry(options.startAt ?? NOW);
  const stored = filled.registry;
  const destinations = destinationsByTrust(USUAL_REACH, stored);
  await filled.addServices(services);
  const vendorStatuses = new Map<number, ServiceVendorStatus>();
  const listeners = new Set<(transition: Transition) => void>();
  const asked = {
    incidents: [] as IncidentQuery[],
    samples: [] as SampleQuery[],
    badges: [] as object[],
    charts: [] as ChartPicture[],
    heatmaps: [] as HeatmapPicture[],
    keys: 0,
  };
  const faults = {
    registry: false,
    /** Why the sample store cannot be read. */
    samples: null as Error | null,
    /** From which time on samples wait to be sent to their store, epoch milliseconds. */
    missingSince: null as number | null,
    keys: false,
    /** Code of the error with which the registry refuses all that owners ask of it; null: none. */
    storage: null as string | null,
    heartbeats: null as Error | null,
    /** Why the feed of transitions cannot be read. */
    events: null as Error | null,
  };
  const heartbeats = {
    taken: [] as ReceivedHeartbeat[],
    refusals: 0,
    answer: ({ report, arrivedAt }: ReceivedHeartbeat): HeartbeatReceipt => ({
      service: service(1, dashDomain(report.domain), { name: report.domain, domain: report.domain }),
      status: report.word ?? 'unknown',
      responseTimeMs: responseTimeOf(report),
      checkedAt: checkedAtOf(report, arrivedAt),
      runMs: null,
    }),
  };
  const reads = { now: 0, most: 0, done: 0 };
  /** Domains whose control everyone has proved. */
  const proofs = new Set<string>();
  const gate = { keys: Promise.resolve(), transitions: Promise.resolve(), heatmaps: Promise.resolve() };
  const state = {
    phase: 'serving' as 'starting' | 'serving' | 'stopping',
    role: 'monitor' as 'monitor' | 'serving',
    node: { name: 'one', region: 'local', roles: NODE_ROLES },
    nodes: [node('one')] as readonly NodeState[],
    prober: { online: true, offlineSince: null as number | null, reason: null as string | null },
    parts: {} as Record<string, { problem: string | null }>,
    events: [] as readonly { readonly event: string; readonly count: number; readonly lastAt: number }[],
  };
  const away = () => new Error('secret inside: the registry is away');
  let ownSamples: SampleStore | null = null;
  const samples = () => {
    if (options.samples !== undefined) return options.samples;
    ownSamples ??= openSampleStore({ now: () => clock.now() });
    return ownSamples;
  };
  const authenticator = createKeyAuthenticator({
    registry: double({
      async findKey(sha256) {
        asked.keys++;
        await gate.keys;
        if (faults.keys) throw away();
        return await stored.findKey(sha256);
      },
      touchKeys: stored.touchKeys,
    }),
    clock,
    log,
  });
  const registry: Registry = {
    ...stored,
    async listIncidents(query) {
      if (faults.registry) throw away();
      asked.incidents.push(query);
      return await stored.listIncidents(query);
    },
    async lastTransition() {
      if (faults.events !== null) throw faults.events;
      return await stored.lastTransition();
    },
    async transitionsAfter(position, limit) {
      reads.most = Math.max(reads.most, ++reads.now);
      const found = await stored.transitionsAfter(position, limit);
      reads.done += 1;
      await gate.transitions;
      // Another read that is asked for at the same time begins before this one ends.
      await new Promise((resolve) => setImmediate(resolve));
      reads.now -= 1;
      return found;
    },
  };
  const siteUrl = options.siteUrl ?? 'https://upbeat.test';
  const eventIds = createEventIds(new Uint8Array(32));
  const pageDomains = await openPageDomains({ registry: stored, siteUrl, clock, log });
  const api = createApp({
    sharedNow: () => clock.now() - (options.clockOffsetMs ?? 0),
    settings: {
      siteUrl,
      home: options.home ?? 'services',
      isForMembers: options.isForMembers ?? false,
      securityContact: 'mailto:security@upbeat.test',
      trustedProxies: ['127.0.0.0/8', '::1'],
      anonymousPerMinute: options.anonymousPerMinute ?? 100_000,
      authenticatedPerMinute: options.authenticatedPerMinute ?? 200_000,
      changesPerAccount: options.changesPerAccount ?? 100_000,
      intervalMs: 300_000,
      slowOverMs: 3_000,
      version: '1.2.3',
      about: {
        timeoutMs: 10_000,
        confirmAfterMs: [2_000, 4_000],
        quorum: 'majority',
        userAgent: 'Upbeat/1.2.3 (+https://upbeat.test)',
        operator: options.operator ?? { name: null, url: null, contact: null },
        notice: options.notice ?? null,
      },
      silenceMs: 600_000,
      domainsPerAccount: 100,
    },
    directory,
    status,
    samples: double({
      async query(query: SampleQuery) {
        if (faults.samples !== null) throw faults.samples;
        asked.samples.push(query);
        return await samples().query(query);
      },
      async regionsOf(serviceId) {
        if (faults.samples !== null) throw faults.samples;
        return await samples().regionsOf(serviceId);
      },
      missingSince: () => faults.missingSince,
    }),
    registry,
    owners: {
      registry: withFault(registry, () => faults.storage),
      sessions: createSessions({ registry: stored, clock }),
      samples: double({
        newest: (serviceId, limit) => samples().newest(serviceId, limit),
        query: (query) => samples().query(query),
      }),
      providers: [],
      local: createLocalSignIn({
        registry: stored,
        secretKey: new Uint8Array(32),
        siteUrl: 'http://upbeat.test',
        now: clock.now,
        log: silentLog,
      }),
      destinations: async (accountId) => ({ ...(await destinations(accountId)), ports: null }),
      bounds: { usual: USUAL, minIntervalMs: 30_000, regions: () => ['eu', 'us'] },
      kinds: options.kinds ?? TEST_KINDS,
      sendsMail: true,
      acknowledgeLinks: createAcknowledgeLinks(new Uint8Array(32), 'https://upbeat.test'),
      badgeAddresses: createBadgeAddresses(new Uint8Array(32), siteUrl),
      charge: createHandCharge({ ...SENT_BY_HAND_PER_MINUTE, trials: TRIALS_PER_MINUTE }, clock),
      tryCheck: options.tryCheck ?? (async () => goodAttempt()),
      proofs: {
        instructions: (accountId, domain) => ({
          recordName: `_upbeat.${domain}`,
          word: `upbeat-verify=${accountId}`,
          fileUrl: `https://${domain}/.well-known/upbeat-verify`,
        }),
        async check(_accountId, domain) {
          if (proofs.has(domain)) return null;
          const { recordName, fileUrl } = { recordName: `_upbeat.${domain}`, fileUrl: `https://${domain}/` };
          return {
            code: 'proof_missing',
            hasRecords: false,
            recordName,
            fileUrl,
            file: { code: 'other_word' },
          };
        },
        addresses: async () => ['192.0.2.1'],
        derive: (text) => createHmac('sha256', 'a test').update(text).digest(),
      },
    },
    ownedPages: registry,
    pageDomains,
    heartbeats: {
      async takeHeartbeat(received: ReceivedHeartbeat) {
        const fault = faults.heartbeats;
        if (fault !== null) throw fault;
        heartbeats.taken.push(received);
        return heartbeats.answer(received);
      },
      noteRefusal: () => void heartbeats.refusals++,
    },
    vendorOf: ({ id }) => vendorStatuses.get(id) ?? null,
    authenticator,
    async renderBadge(text: AnyBadge) {
      asked.badges.push(text);
      if (options.renderBadge !== undefined) return options.renderBadge(text);
      return Buffer.from(`PNG ${JSON.stringify(text)}`);
    },
    pictures: {
      async chart(picture) {
        asked.charts.push(picture);
        return await (options.pictures?.chart(picture) ?? Buffer.from(`PNG ${JSON.stringify(picture)}`));
      },
      async heatmap(picture) {
        asked.heatmaps.push(picture);
        await gate.heatmaps;
        return await (options.pictures?.heatmap(picture) ?? Buffer.from(`PNG ${JSON.stringify(picture)}`));
      },
    },
    watchTransitions(listener: (transition: Transition) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    eventIds,
    readiness: () => state,
    limitServer: options.limitServer ?? null,
    metrics,
    clock,
    log,
  });
  const server = createHttpServer(api.listener);
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    socket.on('close', () => connections--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;

  return {
    api,
    port,
    origin,
    clock,
    connections: () => connections,
    directory,
    status,
    heartbeats,
    /** The embedded registry itself. */
    registry: stored,
    /** Stores samples. */
    addSamples: (added: readonly Sample[]) => samples().append(added),
    addServices: filled.addServices,
    putIncidents: filled.putIncidents,
    putMaintenances: filled.putMaintenances,
    report: filled.report,
    /** Makes a status page of account 1, written on the first of the month and changed on the second. */
    async putPage(
      slug: string,
      { logo, ...more }: Partial<NewPage> & { readonly logo?: StoredPicture } = {},
    ) {
      const page = {
        accountId: 1,
        title: 'Our services',
        text: '',
        groups: [],
        now: Date.UTC(2026, 10, 1),
        ...more,
      };
      filled.ensureAccount(page.accountId);
      const { revision } = await stored.addPage({ ...page, slug });
      const changedAt = Math.max(page.now, Date.UTC(2026, 10, 2));
      if (logo === undefined)
        await stored.changePage({ accountId: page.accountId, slug, revision }, {}, changedAt);
      else await stored.putPictures({ accountId: page.accountId, slug }, { logo }, changedAt);
    },
    proofs,
    /** The domains of status pages; a test refreshes them in place of waiting a second. */
    pageDomains,
    vendorStatuses,
    listeners,
    asked,
    faults,
    /** What looking a key up, reading transitions, and drawing heat maps wait for. */
    gate,
    /** Reads of transitions: under way, the most there were at a time, and those that the registry has answered. */
    reads,
    state,
    /** Makes a key; returns the header that carries it. */
    makeKey(more: Partial<Pick<ApiKey, 'accountId' | 'expiresAt' | 'revokedAt' | 'scopes'>> = {}) {
      const text = generateKeyText();
      const reading = readKey(text);
      if (reading === null) throw new Error('a key that cannot be read');
      filled.addKey({
        accountId: 1,
        name: 'laptop',
        prefix: text.slice(0, 8),
        sha256: reading.sha256,
        createdAt: NOW,
        expiresAt: null,
        revokedAt: null,
        ...more,
      });
      return { authorization: `Bearer ${text}` };
    },
    eventIds,
    /** The text of an event stream with the positions of its events in place of their ids. */
    withPositions: (text: string): string =>
      text.replaceAll(/^id: ([\w-]{22})$/gm, (_, id: string) => `id: ${eventIds.read(id)}`),
    /** Records transitions and tells the watchers. */
    tell(...told: readonly Transition[]) {
      filled.addTransitions(told);
      for (const one of told) for (const listener of listeners) listener(one);
    },
    async get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
      const response = await fetch(origin + path, { method, headers, redirect: 'manual' });
      const bytes = Buffer.from(await response.arrayBuffer());
      const text = bytes.toString();
      const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        text,
        json: isJson ? JSON.parse(text) : null,
      };
    },
    /** Posts a body; text as it is, anything else as JSON. */
    async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
      const response = await fetch(origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const text = bytes.toString();
      return { status: response.status, headers: response.headers, bytes, text, json: JSON.parse(text) };
    },
    async close() {
      pageDomains.stop();
      api.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await authenticator.close();
      await status.close();
      const opened = ownSamples;
      ownSamples = null;
      await opened?.close();
      await filled.close();
    },
  };
}

/** A registry whose methods reject with an error of that code, while there is one. */
function withFault(registry: Registry, code: () => string | null): Registry {
  const entries = Object.entries<(...args: never[]) => unknown>({ ...registry });
  const faulty = entries.map(([name, method]) => [
    name,
    (...args: never[]) =>
      code() === null ? method(...args) : Promise.reject(Object.assign(new Error('away'), { code: code() })),
  ]);
  return { ...registry, ...Object.fromEntries(faulty) };
}

/** The headers of a caller at an address. */
export function from(address: string): Record<string, string> {
  return { 'x-forwarded-for': address };
}
