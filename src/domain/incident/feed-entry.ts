/** Entries of vendors' feeds, in the contract's terms. Plain data that crosses threads. */
import type { IncidentStatus, Severity } from './incident.ts';

/** One update of an entry, as the vendor wrote it. */
export interface FeedUpdate {
  /** The time at which it was published, epoch milliseconds. */
  readonly at: number;
  readonly status: IncidentStatus;
  /** Plain text without markup, at most 10,000 characters; may be empty. */
  readonly text: string;
}

interface FeedEntryBase {
  /** The vendor's own identifier, stable over reads, unique in the feed, at most 300 characters. */
  readonly key: string;
  /** Plain text of 1 to 300 characters, on one line. */
  readonly title: string;
  /** The page of the entry, or the status page: http or https. */
  readonly sourceUrl: string;
  /**
   * Names and identifiers of the affected components, as the vendor writes them. Null: the feed does not tell, so that the
   * entry concerns every service of the page.
   */
  readonly components: readonly string[] | null;
  /**
   * Oldest first, at most 100; times are never before 2000. If the feed has only the newest state, this one; empty if it has
   * neither text nor time.
   */
  readonly updates: readonly FeedUpdate[];
}

/** An incident of the vendor's page. */
export interface FeedIncident extends FeedEntryBase {
  readonly kind: 'incident';
  /** Never `maintenance`. */
  readonly severity: Exclude<Severity, 'maintenance'>;
  readonly status: IncidentStatus;
  /** Epoch milliseconds; null: the feed does not tell, so that the time of the first read counts. */
  readonly startedAt: number | null;
  /** Only with status `resolved`, where null means that the feed does not tell. */
  readonly resolvedAt: number | null;
  /**
   * Keys under which the feed may have reported the same outage before, for example as a state without an incident. If such
   * an entry is no longer listed and its incident overlaps this one, both are one incident. Absent: none.
   */
  readonly continues?: readonly string[];
  /** A state of the page as a whole, which says nothing of the parts that a service names. */
  readonly isOfWholePage?: true;
}

/** A maintenance: planned, running or done. */
export interface FeedMaintenance extends FeedEntryBase {
  readonly kind: 'maintenance';
  /** Epoch milliseconds. */
  readonly startsAt: number;
  /** Planned or actual end; null: unknown. */
  readonly endsAt: number | null;
  /** `done`: completed or cancelled. */
  readonly state: 'planned' | 'running' | 'done';
  /**
   * It is of other parts of the page than those of the service, or of parts of a page that is the service's: its failures are
   * not expected. Set for each service.
   */
  readonly isElsewhere?: true;
}

export type FeedEntry = FeedIncident | FeedMaintenance;
