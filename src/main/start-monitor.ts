/** The role of the monitor: catalogue, vendors' pages, record and engine, joined in the direction of the data. */
import { watchRevokedKeys } from '../auth/revoked-keys.ts';
import {
  createCatalogueWriter,
  isStored,
  loadCatalogue,
  markCatalogue,
  watchCatalogue,
} from '../catalogue/watch-catalogue.ts';
import type { VotingRegions } from '../cluster/voting-regions.ts';
import { isClustered } from '../config/resolve-config.ts';
import { checkTargetOf } from '../domain/check-target.ts';
import type { Service } from '../domain/service.ts';
import { startInboxReader } from '../record/inbox-reader.ts';
import { ResultRecord } from '../record/record.ts';
import { startRetention } from '../record/retention.ts';
import { createRetentionTime } from '../record/retention-time.ts';
import { loadSampleRegions } from '../record/sample-regions.ts';
import type { WriterLease } from '../store/lease/writer-lease.ts';
import { type ServiceState, servicePages } from '../store/ports/services.ts';
import { InfluxSamples } from '../store/samples/influx/influx-samples.ts';
import { startObservationFeed } from '../store/samples/influx/observation-feed.ts';
import type { MemoryStatusStore } from '../store/status/memory-status-store.ts';
import { VERSION } from '../version.ts';
import type { Role } from './active-role.ts';
import { votersOf } from './follow-services.ts';
import { NO_FLEET } from './idle-role.ts';
import type { ThisNode } from './join-nodes.ts';
import { joinVendors } from './join-vendors.ts';
import { formatMonitorState } from './monitor-state.ts';
import { openMonitorStores, type SharedStores, type StoreParts } from './open-stores.ts';
import { countThreads, createConfiguredFleet, createControlQuery } from './start-fleet.ts';
import type { Judging } from './start-judging.ts';

/** The arguments of a role. */
export interface RoleParts extends StoreParts {
  readonly shared: SharedStores;
  readonly node: ThisNode;
}

/** The monitor, ready to begin. */
export interface MonitorRole extends Role {
  /** Starts checks and heartbeat deadlines; the site is reachable by now. */
  begin(): Promise<{ readonly services: number; readonly threads: number }>;
  /** The monitor's part in a cluster; null: it has not begun, or there is no cluster. */
  judging(): Judging | null;
}

/** What a judge of a cluster has kept ready while it stood by. */
export interface StoodBy {
  /** Position of the newest change that the directory has. */
  readonly lastChange: number;
  /** The regions that have a vote. */
  readonly regions: VotingRegions;
  /** The statuses that it followed, to be served until their services are loaded; null: it did not serve. */
  readonly statuses: MemoryStatusStore | null;
}

/** Time before a judge that takes over begins to delete, milliseconds: results wait to be judged. */
const RETENTION_PAUSE_MS = 30_000;

/**
 * Builds all parts. When it resolves, the heartbeats that other processes put into the inbox have been evaluated.
 * `openInflux`: InfluxDB if this process has opened it for writing already, else null. `stoodBy` null: everything is loaded
 * first. Otherwise the monitor judges at once, with the states that the registry has from now on, since the caller holds the
 * lease.
 */
export async function startMonitor(
  parts: RoleParts,
  lease: WriterLease,
  openInflux: InfluxSamples | null = null,
  stoodBy: StoodBy | null = null,
): Promise<MonitorRole> {
  const { config, shared, directory, clock, log } = parts;
  const { checks, http } = config;
  const { siteUrl } = http;
  const { region } = config.node;
  const { registry } = shared;

  const file = config.catalogue.file;
  const catalogue = await markCatalogue(file);
  // What does not need each other is read beside each other: a database may be far away.
  const reading = {
    isStored: isStored(registry, catalogue, VERSION),
    sampleRegions: loadSampleRegions({
      ...{ registry, clock, log },
      own: region,
      isClustered: isClustered(config),
    }),
    vendorStates: stoodBy === null ? null : registry.loadVendorStates(),
  };
  for (const one of Object.values(reading)) one?.catch(() => {});

  const stores = await openMonitorStores(parts, shared, lease.isFresh, openInflux, stoodBy?.statuses ?? null);
  const { samples, observations, redis, status } = stores;

  // Services.
  const putCatalogue = createCatalogueWriter({ registry, clock, log, file, version: VERSION });
  if (await reading.isStored) log.info({ file }, 'the catalogue is as it was');
  else await putCatalogue((await loadCatalogue(file)).list, 'the catalogue is loaded');
  const lastChange = stoodBy?.lastChange ?? (await registry.lastChange());
  // Redis gets the statuses of all services together, and a cluster reads the regions that vote from them.
  let states: readonly ServiceState[] =
    stoodBy === null && redis !== null ? await registry.loadServices() : [];

  // Vendors' status pages.
  let vendorChanges = clock.now();
  const vendors = joinVendors({
    config,
    registry,
    clock,
    log,
    onChange(serviceId) {
      vendorChanges = Math.max(vendorChanges + 1, clock.now());
      observed?.noteVendor(serviceId);
    },
    isOnline: () => record.prober().online,
  });
  const { vendorStatuses, intake } = vendors;

  // The record.
  const sampleRegions = await reading.sampleRegions;
  const record = new ResultRecord({
    registry,
    status,
    ...(stores.recorded === undefined ? {} : { statuses: stores.recorded }),
    samples,
    storage: registry.health,
    observations,
    clock,
    log,
    settings: {
      usual: checks,
      firstSpreadMs: checks.firstSpreadMs,
      controlTargets: checks.controlTargets.length,
    },
    queryControlTargets: createControlQuery(config),
    onRecheck: (serviceIds, spreadMs) => fleet?.recheck(serviceIds, spreadMs),
    sourceUrl: (service) => `${siteUrl}/status/${directory.pageName(service)}`,
    isInMaintenance: vendorStatuses.isInMaintenance,
    ...(isClustered(config)
      ? {
          regions: {
            quorum: checks.quorum,
            voting: (intervalMs: number) => judging?.voting(intervalMs) ?? [],
            requestRechecks: (region, serviceIds) => judging?.requestRechecks(region, serviceIds),
          },
        }
      : {}),
    sampleRegions,
    heartbeats: {
      registry: registry.forRequests,
      isCatalogueDomain: (domain) => directory.byCatalogueDomain(domain) !== null,
      silenceMs: config.heartbeats.silenceMs,
    },
  });
  if (stoodBy === null || redis === null) {
    const services: Service[] = [];
    const pages = redis === null ? servicePages(registry) : [states];
    await record.loadPages(notingServices(pages, services));
    await directory.loadInParts(services);
  } else
    await record.loadBehind({
      servicesBetween: registry.servicesBetween,
      lastServiceId: registry.lastServiceId,
      statesOf: registry.statesOf,
      learn: (records) => redis.status.learn(records),
      complete() {
        redis.status.complete();
        log.info({ services: directory.all().length }, 'the states of all services are loaded');
      },
    });
  if (!isClustered(config)) states = [];
  const { watchTransitions } = record;
  const observed =
    observations === null
      ? null
      : startObservationFeed({ registry, observations, samples, watchTransitions, clock, log });
  const prober = () => record.prober();
  const revoked = watchRevokedKeys({
    registry,
    isNeeded: () => parts.node.nodes().some(({ reachesRegistry }) => !reachesRegistry),
    clock,
  });
  redis?.write({
    registry,
    watchTransitions,
    deadlines: () => record.deadlines(),
    revokedKeys: revoked.all,
    fields: () =>
      formatMonitorState({
        prober: prober(),
        stores: stores.states(),
        feeds: vendorStatuses.feeds(),
        vendorChanges,
      }),
  });

  const retentionNow = createRetentionTime({ registry, clock });
  // The former monitor has read it before its first check.
  if (stoodBy === null) await retentionNow();
  const { incidentRetentionMs: retentionMs } = config.storage;
  const retention =
    retentionMs === null
      ? null
      : startRetention({
          ...{ registry, retentionMs, retentionNow, clock, log },
          firstMs: stoodBy === null ? 0 : RETENTION_PAUSE_MS,
        });

  // The engine. In a cluster the nodes with the role `probe` make the checks (start-probing.ts).
  const fleet = isClustered(config)
    ? null
    : createConfiguredFleet(parts, {
        onResults(results) {
          // A process that was suspended may have been replaced. The results of its threads are then discarded.
          if (lease.isFresh()) record.takeResults(results);
        },
        onDoubt: record.noteDoubt,
        onDelay: record.noteDelay,
      });
  const targetOf = (service: Service) => {
    const { memory, lastCheckedAt } = record.probeStateOf(service.id);
    return checkTargetOf(service, region, memory, lastCheckedAt);
  };
  let judging: Judging | null = null;
  /** Resolves when the status pages of all services are known. */
  let listing: Promise<void> = Promise.resolve();

  // Service changes from the catalogue, a command, the API or a heartbeat.
  const unwatchChanges = registry.watchChanges(lastChange, (change) => {
    const { serviceId, service } = change;
    directory.apply(change);
    record.applyChange(change);
    intake.applyChange(serviceId, service);
    fleet?.apply({ serviceId, target: service === null ? null : targetOf(service) });
  });
  const catalogueWatch = watchCatalogue(catalogue, {
    file,
    clock,
    log,
    onChange: (list) => putCatalogue(list, 'the catalogue was read again'),
    isListed: (slug) => directory.bySlug(slug)?.origin === 'catalogue',
  });

  // Without Redis no other process serves, so nothing arrives through the inbox.
  const { clockOffsetMs } = parts.node;
  const inbox =
    shared.redis === null ? null : startInboxReader({ inbox: registry, record, clockOffsetMs, clock, log });
  await inbox?.drained();

  return {
    name: 'monitor',
    status,
    samples: {
      query: (query) => samples.query(query),
      ...(samples instanceof InfluxSamples ? {} : { cells: samples.cells }),
      newest: (serviceId, limit) => samples.newest(serviceId, limit),
      regionsOf: (serviceId) => samples.regionsOf(serviceId),
      stats() {
        const { pending, ...stats } = samples.stats();
        return { ...stats, pending: pending + record.losses().waitingSamples };
      },
      lost: () => samples.lost() + record.losses().samples,
    },
    heartbeats: record,
    vendorOf: (service) => vendorStatuses.statusOf(service.id, service.statusPage),
    watchTransitions,
    prober,
    recheck(serviceIds) {
      fleet?.recheck(serviceIds, 0);
      for (const region of judging?.voting() ?? []) judging?.requestRechecks(region, serviceIds);
    },
    dropped: () => record.losses().observations,
    stores: stores.states,
    fleet: fleet ?? NO_FLEET,
    feeds: vendorStatuses.feeds,
    polls: vendors.polls,
    async begin() {
      record.startListening();
      const drained = inbox?.drained();
      const first = states;
      // The statuses that were loaded are not kept beside the present ones.
      states = [];
      // A service in maintenance is judged otherwise. Nothing waits for the list of a million services, which takes seconds.
      intake.fill(
        await (reading.vendorStates ?? registry.loadVendorStates()),
        (serviceId) => directory.byId(serviceId) !== null,
      );
      if (fleet !== null) {
        // One after the other: a list of the targets of a million services would take 100 MB.
        await fleet.start(
          directory
            .all()
            .values()
            .map(targetOf)
            .filter((target) => target !== null),
        );
      }
      if (isClustered(config)) {
        // BullMQ is loaded only in a cluster.
        const { startJudging, watchRegions } = await import('./start-judging.ts');
        const regions = stoodBy?.regions ?? watchRegions(parts, await votersOf(first));
        judging = startJudging(parts, record, lease, regions);
      }
      await drained;
      listing = intake
        .load(directory.all())
        .catch(parts.fail('the vendors of the services could not be loaded'));
      return { services: directory.all().length, threads: fleet === null ? 0 : countThreads(config) };
    },
    judging: () => judging,
    reload: () => catalogueWatch.reload(),
    async stop() {
      catalogueWatch.close();
      unwatchChanges();
      revoked.stop();
      await retention?.stop();
      await listing;
      await vendors.stop();
      await Promise.all([fleet?.stop(), judging?.stop()]);
      // The inbox is read until now, so that heartbeats that other processes receive need not wait for the attempts in
      // flight.
      inbox?.stop();
      await record.stop();
      sampleRegions.stop();
      await intake.stop();
      await observed?.stop();
      await stores.close();
      const { appended } = samples.stats();
      log.info({ samples: appended }, 'all samples are stored, or kept on disk');
    },
  };
}

/** Passes pages on, and adds their services to a list. */
async function* notingServices(
  pages: Iterable<readonly ServiceState[]> | AsyncIterable<readonly ServiceState[]>,
  services: Service[],
): AsyncGenerator<readonly ServiceState[], void, undefined> {
  for await (const page of pages) {
    for (const { service } of page) services.push(service);
    yield page;
  }
}
