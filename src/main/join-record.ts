/** Joins the record with its stores, the checks and the regions, and loads the services into it. */
import { isClustered } from '../config/resolve-config.ts';
import { NO_MEMORY } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import { ancestorsOf } from '../domain/service-parents.ts';
import { unknownStatus } from '../domain/status/current.ts';
import type { Fleet } from '../engine/fleet/fleet.ts';
import { ResultRecord } from '../record/record.ts';
import type { RecordOptions } from '../record/record-options.ts';
import type { SampleRegions } from '../record/regions.ts';
import { type NewService, type ServiceState, servicePages } from '../store/ports/services.ts';
import type { LoadableStatusStore } from '../store/ports/status.ts';
import { shareCheck } from '../store/registry/services/shared-checks.ts';
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

type StatePages = Iterable<readonly ServiceState[]> | AsyncIterable<readonly ServiceState[]>;

/**
 * Loads the services into record and directory: before the first check, or while results are judged already. `status`: the
 * statuses in Redis; null: Redis is not used. `pages`: the states of the services; null: the caller has followed the services.
 */
export async function loadServices(
  record: ResultRecord,
  parts: RoleParts,
  status: LoadableStatusStore | null,
  pages: StatePages | null,
): Promise<void> {
  const { directory, shared } = parts;
  if (status !== null && pages === null) return await loadBehind(record, parts, status);
  const services: Service[] = [];
  await record.loadPages(notingServices(pages ?? servicePages(shared.registry), services));
  await directory.loadInParts(services);
}

/** The services of a first catalogue, kept as they are stored, so that a million of them are not read again. */
export class FirstServices {
  readonly #pages: (readonly Service[])[] = [];
  #count = 0;

  /** Adds the entries of a page. `ids`: of their services, in the same order. */
  readonly add = (page: string, ids: readonly number[]): void => {
    const entries: NewService[] = JSON.parse(page);
    this.#count += entries.length;
    this.#pages.push(entries.map((entry, index) => firstService(entry, ids[index] ?? 0)));
  };

  /**
   * Their states; null: the registry must be asked, since there are none, or since it has had other changes until this position of its
   * feed. A process that takes over may not have heard of services that the one before added: it is then at position 0, too.
   */
  pages(lastChange: number): StatePages | null {
    return this.#count > 0 && lastChange === this.#count ? this.#states() : null;
  }

  *#states(): Generator<readonly ServiceState[], void, undefined> {
    for (const page of this.#pages)
      yield page.map((service) => ({
        service,
        current: unknownStatus(service.id),
        memory: NO_MEMORY,
        openIncident: null,
      }));
  }
}

/** A service that was just added, with its members in the order of those that are read, so that all have one hidden class. */
function firstService(entry: NewService, id: number): Service {
  return {
    id,
    slug: entry.slug,
    name: entry.name,
    domain: entry.domain,
    category: entry.category,
    origin: entry.origin,
    accountId: entry.accountId,
    verified: entry.verified,
    paused: entry.paused,
    check: shareCheck(entry.check),
    statusPage: entry.statusPage,
    revision: 1,
  };
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
  pages: StatePages,
  services: Service[],
): AsyncGenerator<readonly ServiceState[], void, undefined> {
  for await (const page of pages) {
    for (const { service } of page) services.push(service);
    yield page;
  }
}
