/**
 * The program: builds every part and joins them, in the order in which data flows. Run by `upbeat start` as a child of
 * the small parent in `cli/keep-alive.ts`; `node src/main.ts --config FILE` runs it alone.
 */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApi } from './api/api.ts';
import { createHttpServer, listen } from './api/http-server.ts';
import { createServiceDirectory } from './api/service-directory.ts';
import type { Readiness } from './api/system-routes.ts';
import { openDomainProofs } from './auth/domain-proof.ts';
import { createKeyAuthenticator } from './auth/key-authenticator.ts';
import { createIdentityProvider } from './auth/openid-provider.ts';
import { createSessions } from './auth/sessions.ts';
import { loadCatalogue, watchCatalogue } from './catalogue/watch-catalogue.ts';
import { endByFault, joinProcess, type ProgramHandles } from './cli/run-program.ts';
import { systemClock } from './clock.ts';
import { findWarnings } from './config/cross-check.ts';
import { loadConfig } from './config/load-config.ts';
import { type Config, changedSettings } from './config/resolve-config.ts';
import type { CheckTarget } from './domain/check-target.ts';
import type { ProbeMemory } from './domain/result.ts';
import type { Service } from './domain/service.ts';
import { createFleet } from './engine/fleet/fleet.ts';
import { startFeedThread } from './feeds/feed-thread.ts';
import { createVendorBoard } from './feeds/vendor-board.ts';
import { createVendorDesk } from './feeds/vendor-desk.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { observeProgram } from './metrics/observe-program.ts';
import { startWebhookSender } from './notify/webhook-sender.ts';
import { askControlTargets } from './outbound/control-targets.ts';
import { createOutbound } from './outbound/outbound.ts';
import { userAgentOf } from './outbound/user-agent.ts';
import type { ProberSettings } from './probe/prober.ts';
import { createRecord } from './record/record.ts';
import { createRenderer } from './render/renderer.ts';
import type { ServiceState } from './store/ports/registry.ts';
import { openRegistry } from './store/registry/sqlite-registry.ts';
import { acquireLease } from './store/registry/writer-lease.ts';
import { openInfluxSamples } from './store/samples/influx/influx-samples.ts';
import { openSamples } from './store/samples/sqlite-samples.ts';
import { createMemoryStatusStore } from './store/status/memory-status-store.ts';
import { VERSION } from './version.ts';

const CONTROL_TIMEOUT_MS = 3_000;
const LEASE_PATIENCE_MS = 6_000;
const LEASE_RETRY_MS = 200;
/** The first reading of all status pages is spread over this at most: pages have other hosts, and people wait for them. */
const FEED_SPREAD_MS = 15_000;

/** Starts everything; resolves when the program serves and probes. Rejects with what is wrong, in one sentence. */
export async function startProgram(config: Config, reread: () => Config, log: Log): Promise<ProgramHandles> {
  const clock = systemClock;
  const { checks, http, storage } = config;
  const { siteUrl } = http;
  const fail = (what: string) => (error: Error) => endByFault(log, error, what);
  let phase: Readiness['phase'] = 'starting';

  // Stores.
  mkdirSync(storage.dataDir, { recursive: true });
  const { domainsPerAccount } = config.limits;
  const onEnd = fail('a store has ended');
  const registry = await openRegistry({ dataDir: storage.dataDir, log, clock, domainsPerAccount, onEnd });
  const lease = await waitForLease(
    () =>
      acquireLease({
        book: registry.lease,
        dataDir: storage.dataDir,
        clock,
        onLost: fail('the lease of the data directory was lost'),
      }),
    log,
  );
  const { rawRetentionMs, rollupRetentionMs } = storage;
  const directory = createServiceDirectory();
  const { dataDir, influx } = storage;
  const influxSamples =
    influx.url === null
      ? null
      : await openInfluxSamples({
          settings: { ...influx, url: influx.url.replace(/\/+$/, ''), bucket: influx.bucket ?? 'upbeat' },
          dataDir,
          labelsOf: directory.byId,
          log,
          onEnd,
        });
  const samples =
    influxSamples ?? (await openSamples({ dataDir, rawRetentionMs, rollupRetentionMs, log, onEnd }));
  const { url: redisUrl } = storage.redis;
  // ioredis is loaded only where it is of use.
  const redis =
    redisUrl === null
      ? null
      : (await import('./store/status/redis-parts.ts')).openRedisParts({ url: redisUrl, clock, log });
  const status = redis?.status ?? createMemoryStatusStore({ log });

  // Services.
  const catalogueFile = config.catalogue.file;
  const catalogue = await loadCatalogue(catalogueFile);
  log.info(
    { ...(await registry.putCatalogue(catalogue.services)), file: catalogueFile },
    'the catalogue is loaded',
  );
  const lastChange = await registry.lastChange();
  const states = await registry.loadServices();
  directory.load(states.map(({ service }) => service));

  // What vendors say.
  const { feedIntervalMs } = config.incidents;
  const board = createVendorBoard({ intervalMs: feedIntervalMs, now: clock.now });
  const polls = { good: 0, failed: 0 };
  const desk = createVendorDesk({
    registry,
    board,
    clock,
    log,
    setFeeds: (feeds) => feedThread.setFeeds(feeds),
    forget: (feedId) => feedThread.forget(feedId),
    onPoll: (ok) => {
      polls[ok ? 'good' : 'failed'] += 1;
    },
  });
  const feedThread = startFeedThread({
    settings: {
      intervalMs: feedIntervalMs,
      firstSpreadMs: Math.min(checks.firstSpreadMs, FEED_SPREAD_MS),
      policy: { allowPrivate: checks.allowPrivate, ports: checks.ports },
    },
    outbound: { userAgent: userAgentOf(VERSION, siteUrl), nameservers: checks.nameservers },
    clock,
    log,
    onNews: desk.take,
  });

  // What happens to results.
  const record = createRecord({
    registry,
    status,
    samples,
    clock,
    log,
    settings: {
      slowOverMs: checks.slowOverMs,
      firstSpreadMs: checks.firstSpreadMs,
      controlTargets: checks.controlTargets.length,
    },
    askControlTargets: () =>
      askControlTargets(checks.controlTargets, CONTROL_TIMEOUT_MS, {
        nameservers: checks.nameservers,
        userAgent: userAgentOf(VERSION, siteUrl),
      }),
    onRecheck: (serviceIds, spreadMs) => fleet.recheck(serviceIds, spreadMs),
    sourceUrl: (service) => `${siteUrl}/status/${directory.pageName(service)}`,
    isInMaintenance: board.isInMaintenance,
    heartbeats: { registry, silenceMs: config.heartbeats.silenceMs },
  });
  await record.load(states);
  redis?.writeTransitions({ registry, watchTransitions: record.watchTransitions });

  // The engine.
  const prober: ProberSettings = {
    version: VERSION,
    siteUrl,
    allowPrivate: checks.allowPrivate,
    ports: checks.ports,
    nameservers: checks.nameservers,
    ownersMayProbePrivate: checks.ownersMayProbePrivate,
    concurrency: checks.concurrency,
  };
  const threads = checks.threads === 'auto' ? Math.max(1, availableParallelism() - 1) : checks.threads;
  const { intervalMs, timeoutMs, confirmAfterMs, firstSpreadMs, concurrency } = checks;
  const fleet = createFleet({
    settings: { intervalMs, timeoutMs, confirmAfterMs, firstSpreadMs, concurrency },
    threads,
    entry: new URL('../workers/probe.ts', import.meta.url),
    prober,
    clock,
    log,
    onResults: record.takeResults,
    onDoubt: record.noteDoubt,
    onFatal: fail('probe threads end again and again'),
  });

  // What people and programs see.
  const renderer = await createRenderer({ log });
  const authenticator = createKeyAuthenticator({ registry, clock, log });
  const outbound = createOutbound({
    userAgent: userAgentOf(VERSION, siteUrl),
    nameservers: checks.nameservers,
  });
  const ownersPolicy = {
    allowPrivate: checks.ownersMayProbePrivate ? checks.allowPrivate : [],
    ports: checks.ports,
  };
  const owners = {
    registry,
    samples,
    providers: config.auth.providers.map((provider) => createIdentityProvider(provider, { outbound })),
    sessions: createSessions({ registry, clock }),
    proofs: await openDomainProofs({
      registry,
      outbound,
      policy: ownersPolicy,
      nameservers: checks.nameservers,
    }),
  };
  const webhooks = startWebhookSender({
    registry,
    outbound,
    policy: ownersPolicy,
    clock,
    random: Math.random,
    log,
  });
  const metrics = createMetrics();
  const readiness = (): Readiness => ({
    phase,
    prober: record.prober(),
    parts: {
      ...(redis === null ? {} : { redis: { problem: redis.problem() } }),
      ...(influxSamples === null ? {} : { influx: { problem: influxSamples.problem() } }),
    },
  });
  const api = createApi({
    settings: {
      siteUrl,
      intervalMs,
      version: VERSION,
      trustedProxies: http.trustedProxies,
      anonymousPerMinute: config.limits.anonymousPerMinute,
      authenticatedPerMinute: config.limits.authenticatedPerMinute,
      silenceMs: config.heartbeats.silenceMs,
      domainsPerAccount,
    },
    directory,
    status,
    samples,
    registry,
    heartbeats: record,
    owners,
    vendorOf: (service) => board.word(service.id, service.statusPage),
    renderBadge: renderer.badge,
    watchTransitions: record.watchTransitions,
    readiness,
    authenticator,
    limitServer: redis?.limits ?? null,
    metrics,
    clock,
    log,
  });
  observeProgram(metrics, {
    fleet,
    record,
    samples,
    directory,
    status,
    openStreams: () => api.openStreams,
    feeds: { health: board.feeds, polls: () => polls },
    redis,
  });

  // Changes of the list, whoever makes them: the catalogue, a command, the API, a heartbeat.
  const unwatchChanges = registry.watchChanges(lastChange, (change) => {
    const { serviceId, service } = change;
    directory.apply(change);
    record.applyChange(change);
    desk.applyChange(serviceId, service);
    const { memory, lastCheckedAt } = record.knowledgeOf(serviceId);
    fleet.apply({ serviceId, target: service === null ? null : targetOf(service, memory, lastCheckedAt) });
  });
  const catalogueWatch = watchCatalogue(catalogue.text, {
    file: catalogueFile,
    clock,
    log,
    async onChange(services) {
      log.info(
        { ...(await registry.putCatalogue(services)), file: catalogueFile },
        'the catalogue was read again',
      );
    },
  });

  for (const { path, message } of findWarnings(config)) log.warn({ setting: path }, message);

  const server = createHttpServer(api.listener);
  const port = await listen(server, http.host, http.port);
  record.startListening();
  await desk.load(states.map(({ service }) => service));
  await fleet.start(states.flatMap((state) => startTarget(state)));
  phase = 'serving';
  log.info(
    { services: states.length, threads, address: `http://${http.host}:${port}`, siteUrl },
    'Upbeat is at work',
  );

  let current = config;
  return {
    async reload() {
      await catalogueWatch.reload();
      try {
        const next = reread();
        const changes = changedSettings(current, next);
        const { anonymousPerMinute, authenticatedPerMinute } = next.limits;
        api.setLimits(anonymousPerMinute, authenticatedPerMinute);
        current = { ...current, limits: { ...current.limits, anonymousPerMinute, authenticatedPerMinute } };
        const waiting = changes.filter(({ reloadable }) => !reloadable).map(({ path }) => path);
        if (waiting.length > 0)
          log.warn({ settings: waiting }, 'these settings have changed and need a restart');
        log.info({}, 'the configuration was read again');
      } catch (error) {
        log.error(
          { problem: (error as Error).message },
          'the configuration was not taken; it stays as it was',
        );
      }
    },
    async stop() {
      phase = 'stopping';
      catalogueWatch.close();
      unwatchChanges();
      const closed = new Promise((resolve) => server.close(resolve));
      api.close();
      server.closeIdleConnections();
      await feedThread.stop();
      await fleet.stop();
      await record.stop();
      await desk.stop();
      server.closeAllConnections();
      await closed;
      await authenticator.close();
      await webhooks.stop();
      outbound.close();
      await samples.close();
      await redis?.close();
      await renderer.close();
      await lease.release();
      await registry.close();
    },
  };
}

/**
 * A process that was killed may still be in the system's list, and one that was told to stop still at it: the lease is
 * asked for until it would be stale, before a start is refused.
 */
async function waitForLease<T>(acquire: () => Promise<T>, log: Log): Promise<T> {
  const until = systemClock.monotonic() + LEASE_PATIENCE_MS;
  for (let told = false; ; told = true) {
    try {
      return await acquire();
    } catch (error) {
      const isHeld = (error as { code?: string }).code === 'lease_held';
      if (!isHeld || systemClock.monotonic() > until) throw error;
      if (!told) log.info({ problem: (error as Error).message }, 'waiting for another process to end');
      await sleep(LEASE_RETRY_MS);
    }
  }
}

/** What the engine is told of a service; nothing of one that is paused or reports by itself. */
function targetOf(service: Service, memory: ProbeMemory, lastCheckedAt: number | null): CheckTarget | null {
  const {
    verified,
    check: { kind },
  } = service;
  // An owner's domain is not looked at before its owner has shown control of it (decisions, Ownership).
  if (service.paused || kind === 'heartbeat' || !verified) return null;
  const { id: serviceId, revision, domain, origin, check } = service;
  return { serviceId, revision, domain, origin, check, memory, lastCheckedAt };
}

function startTarget({ service, memory, current }: ServiceState): CheckTarget[] {
  const target = targetOf(service, memory, current.latest?.checkedAt ?? null);
  return target === null ? [] : [target];
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { config: { type: 'string' } } });
  const read = () => loadConfig({ file: values.config ?? 'config/upbeat.yaml', env: process.env });
  const config = read();
  const log = createLog(config.log);
  try {
    const program = startProgram(config, read, log);
    joinProcess(program, log);
    await program;
    process.send?.('ready');
  } catch (error) {
    log.error({ problem: (error as Error).message }, 'Upbeat could not start');
    process.exit(1);
  }
}
