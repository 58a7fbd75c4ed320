/** Port of the registry: incidents, our own and those of vendors, and the posts of owners, incidents and maintenance. */
import type { Incident, IncidentStatus, Severity } from '../../domain/incident/incident.ts';
import type { OwnerIncident } from '../../domain/incident/owner-incident.ts';
import type { OwnerMaintenance } from '../../domain/incident/owner-maintenance.ts';

/** The position of an incident in the list of its service. */
type IncidentPlace = Pick<Incident, 'id' | 'serviceId' | 'startedAt'>;

/** The incidents before and after another one in the list of its service; null: there is none. */
interface IncidentNeighbours {
  readonly older: Incident | null;
  readonly newer: Incident | null;
}

/** The place of an incident in every list of incidents. */
export type IncidentKey = Pick<Incident, 'id' | 'startedAt'>;

export interface IncidentFilter {
  readonly serviceId?: number;
  readonly status?: IncidentStatus;
  /** Leaves out services that are not verified (decisions, Ownership). */
  readonly verifiedOnly?: boolean;
  /** With `verifiedOnly`: all services of these accounts are in the list, too. */
  readonly orOf?: readonly number[];
  /** Only maintenance that vendors and owners announced, from its start on. */
  readonly maintenanceOnly?: boolean;
  readonly source?: Incident['source'];
  readonly severity?: Severity;
}

/** Selects incidents of a list; newest `startedAt` first, then `id`. */
export interface IncidentQuery extends IncidentFilter {
  /** The list begins after this place, whether or not there is an incident at it; absent: with the first one. */
  readonly after?: IncidentKey;
  readonly limit: number;
  readonly offset: number;
}

/** The filter of lists: what everyone may see, and what belongs to these accounts. */
export function everyonesAnd(accounts: Iterable<number>) {
  const orOf = [...accounts];
  return { verifiedOnly: true, ...(orOf.length === 0 ? {} : { orOf }) };
}

/** Selects incidents of several services; newest `startedAt` first, then `id`. */
interface ServicesIncidentQuery {
  readonly serviceIds: readonly number[];
  /** True: only unresolved ones; false: only resolved ones; absent: both. */
  readonly running?: boolean;
  /** True: only maintenance that vendors and owners announced, from its start on; false: all others; absent: both. */
  readonly isAnnounced?: boolean;
  /** As in {@link IncidentQuery}. */
  readonly after?: IncidentKey;
  readonly limit: number;
  readonly offset: number;
}

export interface IncidentStore {
  /** Those of owners with the beginnings of their newest texts. */
  listIncidents(query: IncidentQuery): Promise<Incident[]>;
  /** The number of incidents on all pages of `listIncidents` for the query. */
  countIncidents(filter: IncidentFilter): Promise<number>;
  /** Null: there is no such incident, or its service was removed. */
  findIncident(id: string): Promise<Incident | null>;
  /**
   * Incidents of a service from all sources that started at `from` or later, and before `until` (absent: up to now): the
   * newest 1,000, oldest first.
   */
  incidentsSince(serviceId: number, from: number, until?: number): Promise<Incident[]>;
  /**
   * Incidents of several services from all sources that started at `from` or later: the newest 4,000, newest first. For what
   * is computed once for all readers; it is not kept for outages of the registry.
   */
  incidentsOfServicesSince(serviceIds: readonly number[], from: number): Promise<Incident[]>;
  /** The incidents just before and just after this one in the list of the service. */
  incidentsBeside(incident: IncidentPlace): Promise<IncidentNeighbours>;
  incidentsOfServices(query: ServicesIncidentQuery): Promise<Incident[]>;
}

/** An incident before it is stored. */
export interface NewOwnerIncident
  extends Omit<OwnerIncident, 'id' | 'revision' | 'createdAt' | 'updatedAt' | 'postMortem'> {
  /** The address of this site, without a slash at its end. */
  readonly siteUrl: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A maintenance before it is stored. */
export interface NewOwnerMaintenance
  extends Omit<OwnerMaintenance, 'id' | 'revision' | 'createdAt' | 'updatedAt' | 'changes' | 'cancelledAt'> {
  readonly siteUrl: string;
  readonly now: number;
}

/** Which of an account's posts concern a status page. */
export interface PagePostsQuery {
  readonly accountId: number;
  readonly pageId: number;
  /** IDs of the services on the page. */
  readonly serviceIds: readonly number[];
}

/** A window in which maintenance was announced, epoch milliseconds; from its announcement on. */
export interface AnnouncedWindow {
  readonly from: number;
  readonly to: number;
}

/** Maximum number of windows in a query. */
export const MAX_ANNOUNCED_WINDOWS = 400;

/** Incidents. An account can change only its own; that of others counts as missing. */
export interface OwnerIncidentStore {
  /** Stores an incident, also in the lists of its services. Rejects with `account_limit`. */
  addOwnerIncident(incident: NewOwnerIncident): Promise<OwnerIncident>;
  /** Newest start first, with the beginnings of the newest texts. */
  ownerIncidentsOf(accountId: number): Promise<OwnerIncident[]>;
  /** With all texts; null: the account has none. */
  findOwnerIncident(accountId: number, id: number): Promise<OwnerIncident | null>;
  /**
   * Replaces an incident, also in the lists of its services. Its updates are those that {@link findOwnerIncident} has read, and new ones
   * behind them. Rejects with `not_found`, and with `stale` if it is no longer at its revision.
   */
  putOwnerIncident(incident: OwnerIncident, now: number): Promise<void>;
  /** Removes an incident that should not have been written. Rejects as {@link putOwnerIncident}; without `revision` it may have any. */
  removeOwnerIncident(accountId: number, id: number, revision?: number): Promise<void>;
  /**
   * Incidents of a page, with the beginnings of the newest texts: the unresolved ones and the newest resolved ones, newest start
   * first, at most 20.
   */
  incidentsPostedOn(query: PagePostsQuery): Promise<OwnerIncident[]>;
}

/** Maintenance. An account can change only its own; that of others counts as missing. */
export interface OwnerMaintenanceStore {
  /** Stores a maintenance, and its next occurrence for each of its services. Rejects with `account_limit`. */
  addOwnerMaintenance(maintenance: NewOwnerMaintenance): Promise<OwnerMaintenance>;
  /** By the start of the first occurrence, without withdrawn ones. */
  ownerMaintenancesOf(accountId: number): Promise<OwnerMaintenance[]>;
  /** Null: the account has none, or has withdrawn it. */
  findOwnerMaintenance(accountId: number, id: number): Promise<OwnerMaintenance | null>;
  /** Replaces a maintenance; the monitor begins or ends it within a second. Rejects as {@link putOwnerIncident}. */
  putOwnerMaintenance(maintenance: OwnerMaintenance, now: number): Promise<void>;
  /** Maintenances of a page or of services on it, those withdrawn within 30 days before `now` included. */
  maintenancesPostedOn(query: PagePostsQuery, now: number): Promise<OwnerMaintenance[]>;
  /** Maintenances of a service, as for {@link maintenancesPostedOn}. */
  maintenancesPostedOf(serviceId: number, now: number): Promise<OwnerMaintenance[]>;
  /**
   * The windows of owners' maintenance of a service that overlap `[from, to)`, in order, at most
   * {@link MAX_ANNOUNCED_WINDOWS}, the newest ones.
   */
  announcedWindows(serviceId: number, from: number, to: number): Promise<AnnouncedWindow[]>;
}

export interface PostStore extends OwnerIncidentStore, OwnerMaintenanceStore {}
