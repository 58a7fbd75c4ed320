/** Port of the registry: what vendors' status pages list, as incidents and maintenances. */
import type { FeedEntry } from '../../domain/feed-entry.ts';
import type { Severity } from '../../domain/incident.ts';
import type { Maintenance } from '../../domain/maintenance.ts';

/** The entries that one document of a vendor's feed lists for one service. */
export interface VendorReading {
  readonly serviceId: number;
  /** Slug of the service; part of the ids of its incidents. */
  readonly slug: string;
  /** Identity of the feed. */
  readonly feed: string;
  /** Kind of the feed; part of the ids of its incidents. */
  readonly kind: string;
  /** Name of the document among those of the feed. */
  readonly document: string;
  /** True: an incident that the document no longer lists has ended. */
  readonly listsOnlyOpen: boolean;
  /** Epoch milliseconds. */
  readonly readAt: number;
  /** The entries that concern the service; no two have the same key. */
  readonly entries: readonly FeedEntry[];
}

/** A service as its vendor reports it now. */
export interface VendorState {
  readonly serviceId: number;
  /** Unresolved incidents of vendors, newest start first, running maintenances included. */
  readonly open: readonly {
    readonly id: string;
    readonly severity: Severity;
    /** Epoch milliseconds. */
    readonly startedAt: number;
  }[];
  /** When the newest resolved one ended, epoch milliseconds; null: there is none. */
  readonly lastResolvedAt: number | null;
  /** Planned and running ones, ordered by their start. */
  readonly maintenances: readonly Maintenance[];
}

/** Selects planned and running maintenances; ordered by start, then id. */
export interface MaintenanceQuery {
  readonly serviceId?: number;
  readonly limit: number;
  readonly offset: number;
}

/** The outcome of {@link VendorStore.advanceMaintenances}. */
export interface MaintenanceAdvance {
  /** The states of the services that changed. */
  readonly states: readonly VendorState[];
  /** When the next maintenance is due, epoch milliseconds; null: none is known. */
  readonly nextAt: number | null;
}

/** Vendors' incidents and maintenances. */
export interface VendorStore {
  /**
   * Stores readings of vendors' feeds in one transaction, each entry exactly once however often it is read. An entry
   * that an earlier reading of the same document listed and this one does not has ended. Resolves with the states of
   * the services that changed.
   */
  putVendorReadings(readings: readonly VendorReading[]): Promise<VendorState[]>;
  /**
   * Ends the open entries of a service that come from feeds other than `feed` (null: from any feed). Resolves with its
   * new state; null: nothing changed.
   */
  endOtherFeeds(serviceId: number, feed: string | null, at: number): Promise<VendorState | null>;
  /** Moves every maintenance that is due at `now` to its next phase, with its incident. */
  advanceMaintenances(now: number): Promise<MaintenanceAdvance>;
  /** The states of all services for which a vendor ever reported anything, for the start. */
  loadVendorStates(): Promise<VendorState[]>;
  listMaintenances(query: MaintenanceQuery): Promise<Maintenance[]>;
  /** The number of maintenances that `listMaintenances` has for the query over all its pages. */
  countMaintenances(query: Omit<MaintenanceQuery, 'limit' | 'offset'>): Promise<number>;
  /** Planned and running maintenances of several services, ordered by start, then id, at most `limit`. */
  maintenancesOfServices(serviceIds: readonly number[], limit: number): Promise<Maintenance[]>;
}
