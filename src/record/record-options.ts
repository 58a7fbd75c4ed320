/** Options of the record. */
import type { Clock } from '../clock.ts';
import type { CheckTiming } from '../domain/check-target.ts';
import type { Service } from '../domain/service.ts';
import type { StatusPlace } from '../domain/status/shared-statuses.ts';
import type { Log } from '../log.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { Observations, SampleWrites } from '../store/ports/samples.ts';
import type { OwnershipStore } from '../store/ports/services.ts';
import type { StatusWrites } from '../store/ports/status.ts';
import type { StorageHealth } from '../store/ports/storage-health.ts';
import type { UpdateStore } from '../store/ports/updates.ts';
import type { ReachOptions } from './reaches.ts';
import type { RegionOptions, SampleRegions } from './regions.ts';

interface HeartbeatSettings {
  readonly registry: OwnershipStore;
  /** Returns true if the domain is in the catalogue or below a domain of it, so that only its verified owner may report for it. */
  readonly isCatalogueDomain: (domain: string) => boolean;
  /** The time for which a service may be silent whose owner configured no period, milliseconds. */
  readonly silenceMs: number;
}

/** Options of the record. Durations are in milliseconds. */
export interface RecordOptions {
  readonly registry: UpdateStore & IncidentStore;
  readonly status: StatusWrites;
  /** The table of statuses that the record writes, if `status` publishes from it; absent: a new one. */
  readonly statuses?: StatusPlace;
  readonly samples: SampleWrites;
  /** The state of the registry's storage; absent: it always accepts writes. */
  readonly storage?: StorageHealth;
  /** The external time series of incidents, heartbeats and detailed samples; absent or null: none. */
  readonly observations?: Pick<Observations, 'incident' | 'heartbeat'> | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: {
    /** The settings `checks.*`: the times of services that set none. */
    readonly usual: CheckTiming;
    /** Services affected by an outage of the prober are checked again within this time. */
    readonly firstSpreadMs: number;
    /** The number of configured control targets; 0: the majority of the fleet decides (decisions). */
    readonly controlTargets: number;
  };
  readonly heartbeats: HeartbeatSettings;
  /** True: at least one control target responded. No response within 3 s, or a rejection, counts as no. */
  readonly queryControlTargets: () => Promise<boolean>;
  /** Called with the services to check again, spread over `spreadMs`. */
  readonly onRecheck: (serviceIds: readonly number[], spreadMs: number) => void;
  /** The dependencies of services; absent: none. */
  readonly dependencies?: Pick<ReachOptions, 'ancestorsOf' | 'recheck'>;
  /** URL of the service's page on this site, for its own incidents. */
  readonly sourceUrl: (service: Service) => string;
  /** Returns true if a maintenance of the vendor is in progress at `at`, epoch milliseconds. */
  readonly isInMaintenance: (serviceId: number, at: number) => boolean;
  /** The rules that join the verdicts of the regions into one status; absent: there is only one region. */
  readonly regions?: RegionOptions;
  /** Which samples name their region; absent: none. */
  readonly sampleRegions?: Pick<SampleRegions, 'nameOf'>;
}
