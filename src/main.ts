/**
 * The program: builds every part and joins them, in the order in which data flows. Run by `upbeat start` as a child of
 * the small parent in `cli/keep-alive.ts`; `node src/main.ts --config FILE` runs it alone.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createApi } from './api/api.ts';
import { createHttpServer, listen } from './api/http-server.ts';
import { createServiceDirectory } from './api/service-directory.ts';
import type { Readiness } from './api/system-routes.ts';
import { createKeyAuthenticator } from './auth/key-authenticator.ts';
import { loadCatalogue, watchCatalogue } from './catalogue/watch-catalogue.ts';
import { endByFault, joinProcess, type ProgramHandles } from './cli/run-program.ts';
import { systemClock } from './clock.ts';
import { findWarnings } from './config/cross-check.ts';
import { loadConfig } from './config/load-config.ts';
import { type Config, changedSettings } from './config/resolve-config.ts';
import { createFleet } from './engine/fleet/fleet.ts';
import { createLog, type Log } from './log.ts';
import { startTargets, targetOf } from './main/check-targets.ts';
import { joinOwners } from './main/join-owners.ts';
import { joinVendors } from './main/join-vendors.ts';
import { openStores } from './main/open-stores.ts';
import { createMetrics } from './metrics/metrics.ts';
import { observeProgram } from './metrics/observe-program.ts';
import { askControlTargets } from './outbound/control-targets.ts';
import { userAgentOf } from './outbound/user-agent.ts';
import type { ProberSettings } from './probe/prober.ts';
import { createRecord } from './record/record.ts';
import { createRenderer } from './render/renderer.ts';
import { startObservationFeed } from './store/samples/influx/observation-feed.ts';
import { VERSION } from './version.ts';

const CONTROL_TIMEOUT_MS = 3_000;

/** Starts everything; resolves when the program serves and probes. Rejects with what is wrong, in one sentence. */
export async function startProgram(config: Config, reread: () => Config, log: Log): Promise<ProgramHandles> {
  const clock = systemClock;
  const { checks, http } = config;
  const { siteUrl } = http;
  const fail = (what: string) => (error: Error) => endByFault(log, error, what);
  let phase: Readiness['phase'] = 'starting';

  // Stores.
  const directory = createServiceDirectory();
  const stores = await openStores({ config, directory, clock, log, fail });
  const { registry, samples, observations, redis, status } = stores;

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
  const vendors = joinVendors({
    config,
    registry,
    clock,
    log,
    onChange: (serviceId) => observed?.noteVendor(serviceId),
  });
  const { board, desk } = vendors;

  // What happens to results.
  const record = createRecord({
    registry,
    status,
    samples,
    observations,
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
  const { watchTransitions } = record;
  redis?.writeTransitions({ registry, watchTransitions });
  const observed =
    observations === null
      ? null
      : startObservationFeed({ registry, observations, samples, watchTransitions, clock, log });

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
  const owners = await joinOwners({ config, registry, samples, clock, log });
  const metrics = createMetrics();
  const readiness = (): Readiness => ({ phase, prober: record.prober(), parts: stores.parts() });
  const api = createApi({
    settings: {
      siteUrl,
      intervalMs,
      slowOverMs: checks.slowOverMs,
      version: VERSION,
      trustedProxies: http.trustedProxies,
      anonymousPerMinute: config.limits.anonymousPerMinute,
      authenticatedPerMinute: config.limits.authenticatedPerMinute,
      silenceMs: config.heartbeats.silenceMs,
      domainsPerAccount: config.limits.domainsPerAccount,
    },
    directory,
    status,
    samples,
    registry,
    heartbeats: record,
    owners: owners.door,
    ownedPages: registry,
    vendorOf: (service) => board.word(service.id, service.statusPage),
    renderBadge: renderer.badge,
    watchTransitions,
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
    feeds: { health: board.feeds, polls: vendors.polls },
    redis,
    stores: stores.parts,
    site: { url: siteUrl, version: VERSION },
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
  await fleet.start(startTargets(states));
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
      await vendors.stop();
      await fleet.stop();
      await record.stop();
      await desk.stop();
      await observed?.stop();
      server.closeAllConnections();
      await closed;
      await authenticator.close();
      await owners.stop();
      await renderer.close();
      await stores.close();
    },
  };
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
