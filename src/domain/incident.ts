/** Incidents of the contract (2.3), from vendors' pages and from our own checks. */

/** In the order in which an incident usually moves. */
export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const;

/** State of an incident. */
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** From mild to grave; `maintenance` stands beside the scale (decisions, Incidents). */
export const SEVERITIES = ['minor', 'major', 'critical', 'maintenance'] as const;

/** Weight of an incident. */
export type Severity = (typeof SEVERITIES)[number];

/** One entry of an incident's timeline. */
export interface IncidentUpdate {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly status: IncidentStatus;
  /** Plain text. */
  readonly text: string;
}

/** An incident of one service. */
export interface Incident {
  /** Unique over all sources and stable across restarts; for own incidents `own-<serviceId>-<seq>`. */
  readonly id: string;
  readonly serviceId: number;
  readonly source: 'own' | 'vendor';
  readonly title: string;
  /** Plain text, never markup. */
  readonly description: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Null while it is unresolved. */
  readonly resolvedAt: number | null;
  readonly sourceUrl: string;
  /** Good checks in a row since it went to `monitoring`; 0 otherwise. Own incidents only. */
  readonly goodChecks: number;
  /** Oldest first. */
  readonly updates: readonly IncidentUpdate[];
}
