/** Joins the site: rendering, sign-in by key, the API and the pages, their metrics, and the HTTP server. */
import type { AlertFigures } from '../alerts/alert-figures.ts';
import { createKeyAuthenticator } from '../auth/api-keys.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { limitConnections, readConnectionLimit } from '../http/client-address.ts';
import { createHttpServer, listenWithRetry } from '../http/server.ts';
import type { CountedLog } from '../log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { type ObservedParts, observeProgram } from '../metrics/observe-program.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import type { ProberState } from '../record/connection-watch.ts';
import { createRenderer } from '../render/renderer.ts';
import { createApp } from '../site/app.ts';
import { openPageDomains } from '../site/page-domains.ts';
import type { AppOptions } from '../site/served-routes.ts';
import { PUBLIC_READS } from '../store/ports/registry.ts';
import type { RegistryHealth } from '../store/ports/storage-health.ts';
import { VERSION } from '../version.ts';
import { keepReads } from '../view/kept-reads.ts';
import type { PartStates, Readiness } from '../view/monitor.ts';
import type { ActiveRole } from './active-role.ts';
import type { Owners } from './join-owners.ts';
import type { RoleParts } from './open-stores.ts';
import type { Probing } from './start-probing.ts';
import type { RoleChanges } from './start-role.ts';
import type { CheckWatches } from './watch-checks.ts';

/** Builds the parts. It answers requests once it listens. */
export async function joinSite(
  parts: RoleParts & {
    readonly log: CountedLog;
    readonly role: ActiveRole;
    readonly changes: RoleChanges;
    /** The checks of this process. */
    readonly fleet: ObservedParts['fleet'];
    readonly prober: () => ProberState;
    readonly watching: CheckWatches;
    /** Null: this process has no part for owners. */
    readonly owners: Owners | null;
    /** The time of the clock that all nodes share, epoch milliseconds. */
    readonly sharedNow: () => number;
    readonly phase: () => Readiness['phase'];
  },
) {
  const { config, directory, shared, node, role, changes, watching, owners, clock, log } = parts;
  const { fleet, prober, sharedNow, phase } = parts;
  const { http } = config;
  const { siteUrl } = http;
  const { registry, redis } = shared;
  const { forRequests } = registry;
  const { samples, status, watchTransitions } = role;
  const serves = node.roles.includes('serve');

  const renderer = createRenderer({ log });
  const authenticator = createKeyAuthenticator({
    ...{ registry: forRequests, clock, log },
    ...(redis === null ? {} : { isRevoked: redis.isKeyRevoked }),
  });
  // A file is always available.
  const kept = config.storage.postgres.url === null ? null : keepReads(forRequests, PUBLIC_READS, clock);
  const pageDomains = serves ? await openPageDomains({ registry, siteUrl, clock, log }) : null;
  const metrics = createMetrics();
  const states = () => ({
    ...(redis === null ? {} : { redis: { problem: redis.problem() } }),
    ...role.stores(),
    ...ownStorage(registry.health),
  });
  const readiness = (): Readiness => ({
    phase: phase(),
    role: role.current.name,
    node,
    nodes: node.nodes(),
    prober: prober(),
    parts: {
      ...states(),
      ...ownResults(changes.probing()),
      ...ownAlerts(owners?.alertFigures() ?? null),
      ...ownTroubles({
        checks: watching.problem(),
        mail: owners?.mailProblem() ?? null,
        overload: api.overload(),
      }),
    },
    events: log.recentEvents(),
  });
  const api = createApp({
    settings: appSettings(config),
    directory,
    status,
    samples,
    registry: kept?.store ?? forRequests,
    kept: kept?.kept ?? null,
    heartbeats: role.heartbeats,
    sharedNow,
    owners: owners?.site ?? null,
    eventIds: owners?.eventIds,
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
    stoppedChecks: watching.stopped,
    record: { prober, dropped: role.dropped },
    node,
    fence: () => changes.fence(),
    alerts: owners === null ? null : owners.alertFigures,
    ...(owners === null ? {} : { deliveries: owners.deliveries }),
    cluster: isClustered(config) ? changes : null,
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

  const server = createHttpServer(api.listener, siteUrl);
  limitConnections(server, {
    maxConnections: readConnectionLimit(),
    trustedProxies: http.trustedProxies,
    onRefused: metrics.noteRefusedConnection,
    log,
  });

  return {
    setLimits: api.setLimits,
    /** Resolves with the port. */
    listen: (): Promise<number> => listenWithRetry(server, http, role.current.name !== 'monitor', log),
    /** Takes no more connections. The returned function ends those that are left, and closes the parts. */
    stopListening() {
      const closed = new Promise((resolve) => server.close(resolve));
      api.close();
      server.closeIdleConnections();
      return async (): Promise<void> => {
        server.closeAllConnections();
        await closed;
        pageDomains?.stop();
        await authenticator.close();
        await renderer.close();
      };
    },
  };
}

function appSettings(config: Config): AppOptions['settings'] {
  const { checks, http } = config;
  const { siteUrl } = http;
  return {
    siteUrl,
    home: config.site.home,
    isForMembers: config.site.access === 'members',
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
  };
}

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
