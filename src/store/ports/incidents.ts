/** Port of the registry: reading incidents, our own and those of vendors. */
import type { Incident, IncidentStatus, Severity } from '../../domain/incident/incident.ts';

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
