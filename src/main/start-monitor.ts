/** The role of the monitor: catalogue, vendors' pages, record and engine, joined in the direction of the data. */
import { watchRevokedKeys } from '../auth/api-keys.ts';
import {
  createCatalogueWriter,
  isStored,
  loadCatalogue,
  markCatalogue,
  type SeenCatalogue,
  storeWhileReading,
  watchCatalogue,
} from '../catalogue/watch-catalogue.ts';
import type { VotingRegions } from '../cluster/voting-regions.ts';
import { isClustered } from '../config/resolve-config.ts';
import { type CheckTarget, checkTargetOf } from '../domain/check-target.ts';
import type { Service } from '../domain/service.ts';
import type { Fleet } from '../engine/fleet/fleet.ts';
import { startInboxReader } from '../record/heartbeat-inbox.ts';
import type { ResultRecord } from '../record/record.ts';
import { loadSampleRegions } from '../record/regions.ts';
import { createRetentionTime, startRetention } from '../record/retention-time.ts';
import type { WriterLease } from '../store/lease/writer-lease.ts';
import type { ServiceState } from '../store/ports/services.ts';
import type { VendorState } from '../store/ports/vendors.ts';
import { InfluxSamples } from '../store/samples/influx/influx-samples.ts';
import { startObservationFeed } from '../store/samples/influx/observation-feed.ts';
import type { MemoryStatusStore } from '../store/status/memory-status-store.ts';
import { VERSION } from '../version.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { formatMonitorState, NO_FLEET, type Role } from './active-role.ts';
import { votersOf } from './follow-services.ts';
import { type Checking, checkNow, FirstServices, joinRecord, loadServices } from './join-record.ts';
import { joinVendors, type Vendors } from './join-vendors.ts';
import { type MonitorStores, openMonitorStores, type RoleParts } from './open-stores.ts';
import { countThreads, createConfiguredFleet } from './start-fleet.ts';
import type { Judging } from './start-judging.ts';

/** The monitor, ready to begin. */
export interface MonitorRole extends Role {
  /** Starts checks and heartbeat deadlines; the site is reachable by now. */
  begin(): Promise<{ readonly services: number; readonly threads: number }>;
  /** The monitor's part in a cluster; null: it has not begun, or there is no cluster. */
  judging(): Judging | null;
}

/** The state that a judge of a cluster has kept ready while it stood by. */
export interface StoodBy {
  /** Position of the newest change that the directory has. */
  readonly lastChange: number;
  readonly regions: VotingRegions;
  /** The statuses that it followed, to be served until their services are loaded; null: it did not serve. */
  readonly statuses: MemoryStatusStore | null;
}

/** Time before a judge that takes over begins to delete, milliseconds: results wait to be judged. */
const RETENTION_PAUSE_MS = 30_000;

/**
 * Builds all parts. When it resolves, the heartbeats that other processes put into the inbox have been evaluated. `openInflux`:
 * InfluxDB if this process has opened it for writing already, else null. `stoodBy` null: everything is loaded first. Otherwise the
 * monitor judges at once, with the states that the registry has from now on, since the caller holds the lease.
 */
export async function startMonitor(
  parts: RoleParts,
  lease: WriterLease,
  openInflux: InfluxSamples | null = null,
  stoodBy: StoodBy | null = null,
): Promise<MonitorRole> {
  const { config, shared, directory, clock, log } = parts;
  const { registry } = shared;

  const { file } = config.catalogue;
  const catalogue = await markCatalogue(file);
  const reading = readAtOnce(parts, catalogue, stoodBy === null);
  const before = { influx: openInflux, copy: stoodBy?.statuses ?? null };
  const stores = await openMonitorStores(parts, shared, lease.isFresh, before);
  const { samples, observations, redis, status } = stores;

  // Services.
  const first = new FirstServices();
  const putCatalogue = await loadList(parts, await reading.isStored, first);
  const lastChange = stoodBy?.lastChange ?? (await registry.lastChange());
  // Redis gets the statuses of all services together, and a cluster reads the regions that vote from them.
  let states: readonly ServiceState[] =
    stoodBy === null && redis !== null ? await registry.loadServices() : [];

  // Vendors' status pages.
  const vendors = joinVendors({
    ...{ config, registry, clock, log, services: directory.all },
    onChange: (serviceId) => observed?.noteVendor(serviceId),
    isOnline: () => record.prober().online,
  });
  const { vendorStatuses, intake } = vendors;

  // The record.
  const checking: Checking = { fleet: () => fleet, judging: () => judging };
  const sampleRegions = await reading.sampleRegions;
  const record = joinRecord({
    ...{ parts, stores, sampleRegions },
    isInMaintenance: vendorStatuses.isInMaintenance,
    ...checking,
  });
  const pages = redis === null ? first.pages(lastChange) : stoodBy === null ? [states] : null;
  await loadServices(record, parts, redis?.status ?? null, pages);
  if (!isClustered(config)) states = [];
  const { watchTransitions } = record;
  const observed =
    observations === null
      ? null
      : startObservationFeed({ registry, observations, samples, watchTransitions, clock, log });
  const isNeeded = () => parts.node.nodes().some(({ reachesRegistry }) => !reachesRegistry);
  const revoked = watchRevokedKeys({ registry, isNeeded, clock });
  const fields = () => fieldsOf(record, stores, vendors);
  const deadlines = () => record.deadlines();
  redis?.write({ registry, watchTransitions, deadlines, revokedKeys: revoked.all, fields });

  const retention = await startMonitorRetention(parts, stoodBy === null);

  // The engine. In a cluster the nodes with the role `probe` make the checks (start-probing.ts).
  const fleet = isClustered(config) ? null : createMonitorFleet(parts, lease, record);
  const targetOf = (service: Service) => targetFrom(record, service, config.node.region);
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
    ...{ file, clock, log },
    onChange: (list) => putCatalogue(list, 'the catalogue was read again'),
    isListed: (slug) => directory.bySlug(slug)?.origin === 'catalogue',
  });

  // Without Redis no other process serves, so nothing arrives through the inbox.
  const inbox = shared.redis === null ? null : startMonitorInbox(parts, record);
  await inbox?.drained();

  return {
    name: 'monitor',
    status,
    samples: shownSamples(samples, record),
    heartbeats: record,
    vendorOf: (service) => vendorStatuses.statusOf(service.id, service.statusPage),
    watchTransitions,
    prober: record.prober,
    recheck: (serviceIds) => checkNow(checking, serviceIds),
    lastOutageOf: record.lastOutageOf,
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
      fillVendors(vendors, directory, await (reading.vendorStates ?? registry.loadVendorStates()));
      // One after the other: a list of the targets of a million services would take 100 MB.
      await fleet?.start(targetsOf(directory.all(), targetOf));
      if (isClustered(config)) judging = await judgeRegions(parts, record, lease, stoodBy?.regions ?? first);
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
      // The inbox is read until now, so that heartbeats that other processes receive need not wait for the attempts in flight.
      inbox?.stop();
      await record.stop();
      sampleRegions.stop();
      await intake.stop();
      await observed?.stop();
      await stores.close();
      log.info({ samples: samples.stats().appended }, 'all samples are stored, or kept on disk');
    },
  };
}

/**
 * Stores the list of the file, if it is not stored as it is; `first` gets the services of the first list. Resolves with what stores
 * later lists.
 */
async function loadList(
  { config, shared: { registry }, clock, log }: RoleParts,
  isKnown: boolean,
  first: FirstServices,
) {
  const { file } = config.catalogue;
  const writing = { registry, clock, log, file, version: VERSION };
  const putCatalogue = createCatalogueWriter(writing);
  const message = 'the catalogue is loaded';
  if (isKnown) log.info({ file }, 'the catalogue is as it was');
  else if ((await registry.lastServiceId()) > 0 || !(await storeWhileReading(writing, message, first.add)))
    await putCatalogue((await loadCatalogue(file)).list, message);
  return putCatalogue;
}

/** The samples of the monitor, with those that the record could not hand to their store yet. */
function shownSamples(samples: MonitorStores['samples'], record: ResultRecord): Role['samples'] {
  return {
    query: (query) => samples.query(query),
    ...(samples instanceof InfluxSamples ? {} : { cells: samples.cells }),
    newest: (serviceId, limit) => samples.newest(serviceId, limit),
    regionsOf: (serviceId) => samples.regionsOf(serviceId),
    stats() {
      const { pending, ...stats } = samples.stats();
      return { ...stats, pending: pending + record.losses().waitingSamples };
    },
    lost: () => samples.lost() + record.losses().samples,
  };
}

/** Starts the monitor's part in a cluster. `known`: the regions that vote, or the states of services that name them. */
async function judgeRegions(
  parts: RoleParts,
  record: ResultRecord,
  lease: WriterLease,
  known: VotingRegions | readonly ServiceState[],
): Promise<Judging> {
  // BullMQ is loaded only in a cluster.
  const { startJudging, watchRegions } = await import('./start-judging.ts');
  const regions = 'close' in known ? known : watchRegions(parts, await votersOf(known));
  return startJudging(parts, record, lease, regions);
}

/** Starts the deletion of old incidents; null: they are kept. `isFirst`: no former monitor has read the time before. */
async function startMonitorRetention(
  { config, shared: { registry }, clock, log }: RoleParts,
  isFirst: boolean,
) {
  const retentionNow = createRetentionTime({ registry, clock });
  if (isFirst) await retentionNow();
  const { incidentRetentionMs: retentionMs } = config.storage;
  if (retentionMs === null) return null;
  const firstMs = isFirst ? 0 : RETENTION_PAUSE_MS;
  return startRetention({ ...{ registry, retentionMs, retentionNow, clock, log }, firstMs });
}

function createMonitorFleet(parts: RoleParts, lease: WriterLease, record: ResultRecord): Fleet {
  return createConfiguredFleet(parts, {
    onResults(results) {
      // A process that was suspended may have been replaced. The results of its threads are then discarded.
      if (lease.isFresh()) record.takeResults(results);
    },
    onDoubt: record.noteDoubt,
    onDelay: record.noteDelay,
  });
}

function* targetsOf(services: readonly Service[], targetOf: (service: Service) => CheckTarget | null) {
  for (const service of services) {
    const target = targetOf(service);
    if (target !== null) yield target;
  }
}

/** Starts the reads that do not need each other: a database may be far away. */
function readAtOnce(
  { config, shared: { registry }, clock, log }: RoleParts,
  catalogue: SeenCatalogue,
  isFirst: boolean,
) {
  const own = config.node.region;
  const reading = {
    isStored: isStored(registry, catalogue, VERSION),
    sampleRegions: loadSampleRegions({ ...{ registry, clock, log, own }, isClustered: isClustered(config) }),
    vendorStates: isFirst ? null : registry.loadVendorStates(),
  };
  for (const one of Object.values(reading)) one?.catch(() => {});
  return reading;
}

/** A service in maintenance is judged otherwise. Nothing waits for the list of a million services, which takes seconds. */
function fillVendors({ intake }: Vendors, directory: ServiceDirectory, states: readonly VendorState[]): void {
  intake.fill(states, (serviceId) => directory.byId(serviceId) !== null);
}

/** The target of a service that this process checks, with the state of the record; null: it does not. */
function targetFrom(record: ResultRecord, service: Service, region: string): CheckTarget | null {
  const { memory, lastCheckedAt } = record.probeStateOf(service.id);
  return checkTargetOf(service, region, memory, lastCheckedAt);
}

function startMonitorInbox({ shared, node: { clockOffsetMs }, clock, log }: RoleParts, record: ResultRecord) {
  return startInboxReader({ inbox: shared.registry, record, clockOffsetMs, clock, log });
}

/** The state that other processes read from Redis. */
function fieldsOf(record: ResultRecord, stores: MonitorStores, vendors: Vendors) {
  return formatMonitorState({
    prober: record.prober(),
    stores: stores.states(),
    feeds: vendors.vendorStatuses.feeds(),
    vendorChanges: vendors.changedAt(),
  });
}
