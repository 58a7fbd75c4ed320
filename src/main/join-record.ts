/** Joins the record with its stores, the checks and the regions, and loads the services into it. */
import { isClustered } from '../config/resolve-config.ts';
import type { Service } from '../domain/service.ts';
import { ancestorsOf } from '../domain/service-parents.ts';
import type { Fleet } from '../engine/fleet/fleet.ts';
import { ResultRecord } from '../record/record.ts';
import type { RecordOptions } from '../record/record-options.ts';
import type { SampleRegions } from '../record/regions.ts';
import { type ServiceState, servicePages } from '../store/ports/services.ts';
import type { LoadableStatusStore } from '../store/ports/status.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import type { MonitorStores, RoleParts } from './open-stores.ts';
import { createControlQuery } from './start-fleet.ts';
import type { Judging } from './start-judging.ts';

export interface Checking {
  /** The checks of this process; null: the nodes of the cluster make them, or none is made yet. */
  readonly fleet: () => Fleet | null;
  /** The monitor's part in a cluster; null: it has not begun, or there is no cluster. */
  readonly judging: () => Judging | null;
}

export function checkNow({ fleet, judging }: Checking, serviceIds: readonly number[]): void {
  fleet()?.recheck(serviceIds, 0);
  for (const region of judging()?.voting() ?? []) judging()?.requestRechecks(region, serviceIds);
}

export function joinRecord(
  of: Checking & {
    readonly parts: RoleParts;
    readonly stores: MonitorStores;
    readonly sampleRegions: SampleRegions;
    readonly isInMaintenance: RecordOptions['isInMaintenance'];
  },
): ResultRecord {
  const { parts, stores, sampleRegions, isInMaintenance, fleet, judging } = of;
  const { config, shared, directory, clock, log } = parts;
  const { checks, http } = config;
  const { siteUrl } = http;
  const { registry } = shared;
  const { samples, observations, status } = stores;
  return new ResultRecord({
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
    onRecheck: (serviceIds, spreadMs) => fleet()?.recheck(serviceIds, spreadMs),
    dependencies: {
      ancestorsOf: (service) => ancestorsOf(service, directory.bySlug).map(({ id }) => id),
      recheck: (serviceIds) => checkNow(of, serviceIds),
    },
    sourceUrl: (service) => `${siteUrl}/status/${directory.pageName(service)}`,
    isInMaintenance,
    ...(isClustered(config)
      ? {
          regions: {
            quorum: checks.quorum,
            voting: (intervalMs: number) => judging()?.voting(intervalMs) ?? [],
            requestRechecks: (region, serviceIds) => judging()?.requestRechecks(region, serviceIds),
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
}

/**
 * Loads the services into record and directory: before the first check, or while results are judged already. `status`: the
 * statuses in Redis; null: Redis is not used. `states`: those of the services; null: the caller has followed the services.
 */
export async function loadServices(
  record: ResultRecord,
  parts: RoleParts,
  status: LoadableStatusStore | null,
  states: readonly ServiceState[] | null,
): Promise<void> {
  const { directory, shared } = parts;
  if (status !== null && states === null) return await loadBehind(record, parts, status);
  await loadAll(
    record,
    directory,
    status === null || states === null ? servicePages(shared.registry) : [states],
  );
}

/** Loads the services into record and directory before the first check. */
async function loadAll(
  record: ResultRecord,
  directory: ServiceDirectory,
  pages: Iterable<readonly ServiceState[]> | AsyncIterable<readonly ServiceState[]>,
): Promise<void> {
  const services: Service[] = [];
  await record.loadPages(notingServices(pages, services));
  await directory.loadInParts(services);
}

/** Loads the services while results are judged already: the caller holds the lease and has followed the services. */
async function loadBehind(
  record: ResultRecord,
  { shared: { registry }, directory, log }: RoleParts,
  status: LoadableStatusStore,
): Promise<void> {
  await record.loadBehind({
    servicesBetween: registry.servicesBetween,
    lastServiceId: registry.lastServiceId,
    statesOf: registry.statesOf,
    learn: (records) => status.learn(records),
    complete() {
      status.complete();
      log.info({ services: directory.all().length }, 'the states of all services are loaded');
    },
  });
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
