/** Port of the registry: incidents and maintenances from vendors' status pages. */
import type { FeedEntry } from '../../domain/incident/feed-entry.ts';
import type { Severity } from '../../domain/incident/incident.ts';
import type { Maintenance } from '../../domain/incident/maintenance.ts';

/** The entries that one document of a vendor's feed lists for one service. */
export interface VendorReading {
  readonly serviceId: number;
  /** Slug of the service; part of the IDs of its incidents. */
  readonly slug: string;
  /** Identity of the feed. */
  readonly feed: string;
  /** Kind of the feed; part of the IDs of its incidents. */
  readonly kind: string;
  /** Name of the document within the feed. */
  readonly document: string;
  /** True: an incident has ended when the document no longer lists it. */
  readonly listsOnlyOpen: boolean;
  /** Epoch milliseconds. */
  readonly readAt: number;
  /** The entries that concern the service; no two have the same key. */
  readonly entries: readonly FeedEntry[];
}

/** The current state of a service as its vendor reports it. */
export interface VendorState {
  readonly serviceId: number;
  /** Unresolved incidents of vendors, including running maintenances, newest start first. */
  readonly open: readonly {
    readonly id: string;
    readonly severity: Severity;
    /** Epoch milliseconds. */
    readonly startedAt: number;
  }[];
  /** End of the newest resolved incident, epoch milliseconds; null: there is none. */
  readonly lastResolvedAt: number | null;
  /** Planned and running maintenances, ordered by start. */
  readonly maintenances: readonly Maintenance[];
}

/** A time in which the status page of a vendor could not be read. Times are epoch milliseconds. */
export interface UnreadTime {
  /** Identity of the feed. */
  readonly feed: string;
  /** The last time that it was read. */
  readonly from: number;
  /** The next time; null: it cannot be read yet. */
  readonly to: number | null;
}

/** Selects planned and running maintenances. */
export interface MaintenanceFilter {
  readonly serviceId?: number;
  /** Absent: both. */
  readonly phase?: 'planned' | 'running';
  /** Leaves out services that are not verified (decisions, Ownership). */
  readonly verifiedOnly?: boolean;
  /** Unless `serviceId` is given, all services of these accounts are in the list, too. */
  readonly orOf?: readonly number[];
}

/** Selects maintenances of a list; ordered by start, then id. */
interface MaintenanceQuery extends MaintenanceFilter {
  /** The list begins after this place, whether or not there is a maintenance at it; absent: with the first one. */
  readonly after?: Pick<Maintenance, 'id' | 'startsAt'>;
  readonly limit: number;
  readonly offset: number;
}

/** The outcome of {@link VendorStore.advanceMaintenances}. */
interface MaintenanceAdvance {
  /** The states of the services that changed. */
  readonly states: readonly VendorState[];
  /**
   * The time at which the next maintenance is due, epoch milliseconds, in the past if more were due than one call moves; null:
   * none is known.
   */
  readonly nextAt: number | null;
}

/**
 * Maximum number of maintenances that one call moves: that of a vendor may begin for a hundred thousand services at once, and all else
 * waits for the call.
 */
export const MAX_ADVANCED_MAINTENANCES = 500;

export interface VendorStore {
  /**
   * Stores readings of vendors' feeds in one transaction. Each entry is stored once, however often it is read. An entry
   * has ended if an earlier reading of the same document listed it and this reading does not. Resolves with the states
   * of the services that changed.
   */
  putVendorReadings(readings: readonly VendorReading[]): Promise<VendorState[]>;
  /**
   * Ends the open entries of a service that come from feeds other than `feed` (null: from any feed). Resolves with its
   * new state; null: nothing changed.
   */
  endOtherFeeds(serviceId: number, feed: string | null, at: number): Promise<VendorState | null>;
  /** Moves maintenances that are due at `now` to their next phase, with their incidents: the {@link MAX_ADVANCED_MAINTENANCES} first. */
  advanceMaintenances(now: number): Promise<MaintenanceAdvance>;
  /** The states of all services for which a vendor has reported anything, for the start. */
  loadVendorStates(): Promise<VendorState[]>;
  /** Stores the begin of such a time, or, with `to`, its end, and forgets those of the same page that are out of retention. */
  putUnreadTime(time: UnreadTime): Promise<void>;
  /** Those that had not ended at `since`, epoch milliseconds, in any order. `feed`: of this page alone. */
  unreadTimesSince(since: number, feed?: string): Promise<UnreadTime[]>;
  listMaintenances(query: MaintenanceQuery): Promise<Maintenance[]>;
  /** The number of maintenances on all pages of `listMaintenances` for the query. */
  countMaintenances(filter: MaintenanceFilter): Promise<number>;
  /** Planned and running maintenances of several services, ordered by start, then id, at most `limit`. */
  maintenancesOfServices(serviceIds: readonly number[], limit: number): Promise<Maintenance[]>;
}
