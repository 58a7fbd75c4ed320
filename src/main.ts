/**
 * The program: builds every part and joins them, in the order in which data flows. Run by `upbeat start` as a child of
 * the parent process in `cli/keep-alive.mjs`. `node src/main.ts --config FILE` runs it without that parent.
 */
import { parseArgs } from 'node:util';
import type { AlertFigures } from './alerts/alert-figures.ts';
import { createKeyAuthenticator } from './auth/key-authenticator.ts';
import { endByError } from './cli/command.ts';
import { boundHeapGrowth, collectStart } from './cli/heap-growth.ts';
import { endByFailedStart, endByFault, joinProcess, type ProgramHandles } from './cli/run-program.ts';
import { systemClock } from './clock.ts';
import { loadConfig } from './config/load-config.ts';
import { type Config, changedSettings, findWarnings, isClustered } from './config/resolve-config.ts';
import { checkTargetOf } from './domain/check-target.ts';
import { NO_MEMORY } from './domain/result.ts';
import type { Service } from './domain/service.ts';
import { messageOf } from './error.ts';
import { limitConnections, readConnectionLimit } from './http/connection-limit.ts';
import { createHttpServer, listenWithRetry } from './http/server.ts';
import { type CountedLog, createLog } from './log.ts';
import { createActiveRole } from './main/active-role.ts';
import { offerFirstAccount } from './main/first-account-link.ts';
import { joinNodes, NO_WORK } from './main/join-nodes.ts';
import { joinOwners } from './main/join-owners.ts';
import { watchAccountBounds, watchLateChecks } from './main/late-checks.ts';
import { openSharedStores } from './main/open-stores.ts';
import { operatorChannels } from './main/operator-channels.ts';
import type { Probing } from './main/start-probing.ts';
import { type RoleChanges, startRole } from './main/start-role.ts';
import { findStoppedRegions, type StoppedChecks, watchStoppedChecks } from './main/stopped-checks.ts';
import { createMetrics } from './metrics/metrics.ts';
import { observeProgram } from './metrics/observe-program.ts';
import { CHANNEL_KINDS_TABLE } from './notify/channels/kinds-table.ts';
import { userAgentOf } from './outbound/send-request.ts';
import { createRenderer } from './render/renderer.ts';
import { createApp } from './site/app.ts';
import { openPageDomains } from './site/page-domains.ts';
import type { RegistryHealth } from './store/ports/storage-health.ts';
import { VERSION } from './version.ts';
import { keepReads } from './view/kept-reads.ts';
import type { PartStates, Readiness } from './view/monitor.ts';
import { createServiceDirectory } from './view/service-directory.ts';

/** Starts everything and resolves when the program serves. Rejects with an error whose message is one sentence. */
export async function startProgram(
  config: Config,
  reread: () => Config,
  log: CountedLog,
): Promise<ProgramHandles> {
  const clock = systemClock;
  const { checks, http } = config;
  const { siteUrl } = http;
  const fail = (what: string) => (error: Error) => endByFault(log, error, what);
  let phase: Readiness['phase'] = 'starting';

  // This process registers as a node first, so that a second process with the same name is refused before it opens any
  // store.
  let changes: RoleChanges | null = null;
  let stoppedChecks: StoppedChecks | null = null;
  const work = () => ({ ...NO_WORK, ...changes?.work(), checksProblem: stoppedChecks?.ownProblem() ?? null });
  const node = await joinNodes({ config, work, clock, log, fail });
  const serves = node.roles.includes('serve');
  const sharedNow = () => clock.now() - node.clockOffsetMs();

  // Stores, and the role of this process.
  const directory = createServiceDirectory();
  const storeParts = { config, directory, clock, log, fail };
  const shared = await openSharedStores(storeParts);
  const { registry, redis } = shared;
  const { forRequests } = registry;
  const parts = { ...storeParts, shared, node };
  const role = createActiveRole({ mayServe: redis !== null, log });
  const { samples, status, watchTransitions } = role;
  const started = await startRole(parts, role);
  changes = started;
  // A probing node reports its own connection and its own checks.
  const prober = () => started.probing()?.prober() ?? role.prober();
  const fleet = { report: () => (started.probing()?.fleet ?? role.fleet).report() };
  const lateChecks = watchLateChecks(fleet.report, clock, log);
  const isMonitor = () => role.current.name === 'monitor';
  const stopped = watchStoppedChecks({
    report: fleet.report,
    knownProblem: started.shardProblem,
    regions: () =>
      isClustered(config) && isMonitor()
        ? findStoppedRegions(node.nodes(), (region) => isCheckedFrom(directory.all(), region))
        : new Map(),
    ...{ clock, log },
  });
  stoppedChecks = stopped;
  const accountBounds = watchAccountBounds(fleet.report, clock, log);

  // HTTP server, API and pages.
  const renderer = createRenderer({ log });
  const authenticator = createKeyAuthenticator({
    ...{ registry: forRequests, clock, log },
    ...(redis === null ? {} : { isRevoked: redis.isKeyRevoked }),
  });
  // A node that only makes checks does not need the parts for owners, and reads no secrets.
  const owners =
    serves || node.roles.includes('judge')
      ? await joinOwners({
          ...{ config, registry: forRequests, samples, nodes: node.nodes, clock, sharedNow, log },
          alerts: {
            services: directory,
            status,
            prober: role.prober,
            watchTransitions,
            recheck: role.recheck,
          },
        })
      : null;
  // A file is always available.
  const kept = config.storage.postgres.url === null ? null : keepReads(forRequests, READS, clock);
  const pageDomains = serves ? await openPageDomains({ registry, siteUrl, clock, log }) : null;
  const metrics = createMetrics();
  const states = () => ({
    ...(redis === null ? {} : { redis: { problem: redis.problem() } }),
    ...role.stores(),
    ...ownStorage(registry.health),
  });
  const readiness = (): Readiness => ({
    phase,
    role: role.current.name,
    node,
    nodes: node.nodes(),
    prober: prober(),
    parts: {
      ...states(),
      ...ownResults(started.probing()),
      ...ownAlerts(owners?.alertFigures() ?? null),
      ...ownTroubles({
        checks: stopped.problem() ?? lateChecks.problem(),
        mail: owners?.mailProblem() ?? null,
        overload: api.overload(),
      }),
    },
    events: log.recentEvents(),
  });
  const api = createApp({
    settings: {
      siteUrl,
      securityContact: http.securityContact,
      intervalMs: checks.intervalMs,
      slowOverMs: checks.slowOverMs,
      version: VERSION,
      about: {
        timeoutMs: checks.timeoutMs,
        confirmAfterMs: checks.confirmAfterMs,
        quorum: checks.quorum,
        userAgent: userAgentOf(VERSION, siteUrl),
        operator: {
          name: config.about.operator,
          url: config.about.website,
          contact: config.about.contact,
        },
        notice: config.about.notice,
      },
      trustedProxies: http.trustedProxies,
      anonymousPerMinute: config.limits.anonymousPerMinute,
      authenticatedPerMinute: config.limits.authenticatedPerMinute,
      changesPerAccount: config.limits.changesPerAccount,
      silenceMs: config.heartbeats.silenceMs,
      domainsPerAccount: config.limits.domainsPerAccount,
    },
    directory,
    status,
    samples,
    registry: kept?.store ?? forRequests,
    kept: kept?.kept ?? null,
    heartbeats: role.heartbeats,
    sharedNow,
    owners: owners?.site ?? null,
    ownedPages: kept?.store ?? forRequests,
    pageDomains,
    serves,
    vendorOf: role.vendorOf,
    renderBadge: renderer.badge,
    pictures: renderer,
    watchTransitions,
    readiness,
    authenticator,
    limitServer: redis?.limits ?? null,
    metrics,
    clock,
    log,
  });
  observeProgram(metrics, {
    role: () => role.current.name,
    nodes: node.nodes,
    clockOffsetMs: node.clockOffsetMs,
    fleet,
    stoppedChecks: stopped,
    record: { prober, dropped: role.dropped },
    node,
    fence: started.fence,
    alerts: owners === null ? null : owners.alertFigures,
    ...(owners === null ? {} : { deliveries: owners.deliveries }),
    cluster: isClustered(config) ? started : null,
    samples,
    directory,
    status,
    openStreams: () => api.openStreams,
    feeds: { health: role.feeds, polls: role.polls },
    redis,
    stores: states,
    site: { url: siteUrl, version: VERSION },
    logEvents: log.events,
  });

  for (const { path, message } of findWarnings(config))
    log.warn({ event: 'setting_unusual', setting: path }, message);

  const server = createHttpServer(api.listener, siteUrl);
  limitConnections(server, {
    maxConnections: readConnectionLimit(),
    trustedProxies: http.trustedProxies,
    onRefused: metrics.noteRefusedConnection,
    log,
  });
  const port = await listenWithRetry(server, http, role.current.name !== 'monitor', log);
  collectStart();
  boundHeapGrowth();
  await started.begin(owners?.startDeliveries ?? NO_DELIVERIES);
  const isWithoutProviders = role.current.name === 'monitor' && config.auth.providers.length === 0;
  const firstLink =
    owners !== null && isWithoutProviders ? await offerFirstAccount({ registry, siteUrl, clock, log }) : null;
  phase = 'serving';
  node.begin();
  log.info(
    {
      role: role.current.name,
      services: directory.all().length,
      address: `http://${http.host}:${port}`,
      siteUrl,
    },
    `Upbeat is running at ${siteUrl}`,
  );
  // For people, beside the log.
  if (process.stdout.isTTY) process.stdout.write(`Open ${firstLink ?? siteUrl}\n`);

  let current = config;
  return {
    async reload() {
      await role.current.reload();
      try {
        const next = reread();
        const changed = changedSettings(current, next);
        owners?.reload(next);
        const { anonymousPerMinute, authenticatedPerMinute, changesPerAccount } = next.limits;
        const limits = { anonymousPerMinute, authenticatedPerMinute, changesPerAccount };
        api.setLimits(limits);
        current = {
          ...current,
          limits: { ...current.limits, ...limits },
          alerts: { ...current.alerts, operator: next.alerts.operator },
        };
        const waiting = changed.filter(({ reloadable }) => !reloadable).map(({ path }) => path);
        if (waiting.length > 0) log.warn({ settings: waiting }, 'changed settings need a restart');
        log.info({}, 'the configuration was reloaded');
      } catch (error) {
        log.error(
          { problem: messageOf(error) },
          'the new configuration is invalid; the previous one stays in use',
        );
      }
    },
    async stop() {
      phase = 'stopping';
      lateChecks.stop();
      stopped.stop();
      accountBounds.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      api.close();
      server.closeIdleConnections();
      await started.stop();
      await node.leave();
      server.closeAllConnections();
      await closed;
      pageDomains?.stop();
      await authenticator.close();
      owners?.stop();
      await renderer.close();
      await shared.close();
    },
  };
}

/** A process without the role `judge` makes no deliveries. */
const NO_DELIVERIES = () => async () => {};

/** Whether any of the services is checked from the region. */
function isCheckedFrom(services: readonly Service[], region: string): boolean {
  return services.some((service) => checkTargetOf(service, region, NO_MEMORY, null) !== null);
}

/** The parts of the registry that endpoints and public pages read. */
const READS = [
  'listIncidents',
  'countIncidents',
  'findIncident',
  'incidentsSince',
  'incidentsBeside',
  'incidentsOfServices',
  'listMaintenances',
  'countMaintenances',
  'maintenancesOfServices',
  'maintenancesPostedOn',
  'maintenancesPostedOf',
  'incidentsPostedOn',
  'findOwnerIncident',
  'announcedWindows',
  'dependenciesOf',
  'failingDependencies',
  'countFailingDependencies',
  'recentHeartbeats',
  'heartbeatLogs',
  'findPage',
] as const;

/** Adds the state of this process' own connection to the registry, which the states from the monitor do not cover. */
function ownStorage({ problem, damage }: RegistryHealth): PartStates {
  const message = problem()?.message ?? damage();
  return message === null ? {} : { storage: { problem: message } };
}

/** Adds the results of this node that have not been sent to the judge, if it makes checks for a cluster. */
function ownResults(probing: Probing | null): PartStates {
  if (probing === null) return {};
  const { problem, waiting, dropped } = probing.results();
  return { results: { problem, waiting, lost: dropped } };
}

/** Parts that are shown while they have a problem. */
function ownTroubles(problems: Readonly<Partial<Record<keyof PartStates, string | null>>>): PartStates {
  return Object.fromEntries(
    Object.entries(problems).flatMap(([name, problem]) => (problem === null ? [] : [[name, { problem }]])),
  );
}

/** Adds why this process decides or sends no alerts although it should. */
function ownAlerts(figures: AlertFigures | null): PartStates {
  if (figures === null || figures.problem === null) return {};
  const { problem, counts } = figures;
  return { alerts: { problem, waiting: counts.waiting } };
}

/** Ends the process with status 2 and all problems of the configuration, if it has any. */
function readOrEnd<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return endByError(error);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { config: { type: 'string' } } });
  const read = () => loadConfig({ file: values.config ?? 'config/upbeat.yaml', env: process.env });
  const config = readOrEnd(read);
  readOrEnd(() => operatorChannels(config, CHANNEL_KINDS_TABLE));
  const log = createLog(config.log);
  try {
    const program = startProgram(config, read, log);
    joinProcess(program, log);
    await program;
    process.send?.('ready');
  } catch (error) {
    endByFailedStart(log, error);
  }
}
