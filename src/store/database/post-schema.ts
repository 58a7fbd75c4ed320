/** Tables of the posts of owners: incidents and maintenance. Times are epoch milliseconds. */
import type { Generated } from 'kysely';
import type { IncidentStatus } from '../../domain/incident/incident.ts';
import type { OwnerSeverity } from '../../domain/incident/owner-incident.ts';

/** A part of the registry's tables. */
export interface PostSchema {
  /** Incidents. Each has a row in `incidents` for each of its services. */
  owner_incidents: {
    id: Generated<number>;
    account_id: number;
    title: string;
    severity: OwnerSeverity;
    status: IncidentStatus;
    started_at: number;
    resolved_at: number | null;
    /** JSON of IDs. */
    services: string;
    /** JSON of IDs. */
    pages: string;
    /** Empty JSON list, except of incidents that an earlier version wrote; the updates are in `owner_updates`. */
    updates: string;
    /** JSON of the post-mortem. */
    post_mortem: string | null;
    /** Bytes of its texts, copies in the lists of its services included. */
    text_bytes: Generated<number>;
    /** The address of the site when it was written. */
    site_url: string;
    revision: number;
    created_at: number;
    updated_at: number;
  };
  /** The updates of an incident. */
  owner_updates: {
    incident_id: number;
    /** From 1, in the order of the timeline. */
    place: number;
    at: number;
    status: IncidentStatus;
    markdown: string;
    plain: string;
  };
  /** Maintenances. The occurrences that were, run or come next have rows in `maintenances`, one for each service. */
  owner_maintenances: {
    id: Generated<number>;
    account_id: number;
    title: string;
    markdown: string;
    plain: string;
    starts_at: number;
    duration_ms: number;
    time_zone: string;
    recurrence: string | null;
    /** JSON of IDs. */
    services: string;
    /** JSON of IDs. */
    pages: string;
    /** JSON of OccurrenceChange[]. */
    changes: string;
    /** Bytes of its texts, copies in the lists of its services included. */
    text_bytes: Generated<number>;
    site_url: string;
    cancelled_at: number | null;
    revision: number;
    created_at: number;
    updated_at: number;
  };
}
