/**
 * What a reader of a vendor's feed gets and gives. Every kind of status page is one file in `kinds/` behind
 * {@link FeedKind}; nothing outside that file knows the vendor's words.
 */
import type { IncidentStatus, Severity } from '../domain/incident.ts';

/** One update of an entry, as the vendor wrote it. */
export interface FeedUpdate {
  /** When it was published, epoch milliseconds. */
  readonly at: number;
  readonly status: IncidentStatus;
  /** Plain text without markup, at most 10,000 characters; may be empty. */
  readonly text: string;
}

/** What every entry has. */
interface FeedEntryBase {
  /** The vendor's own identifier, stable over reads, unique in the feed, at most 300 characters. */
  readonly key: string;
  /** Plain text of 1 to 300 characters, on one line. */
  readonly title: string;
  /** The page of the entry, or the status page: http or https. */
  readonly sourceUrl: string;
  /**
   * Names and identifiers of the parts that it concerns, as the vendor writes them. Null: the feed does not say, so
   * that the entry concerns every service of the page.
   */
  readonly components: readonly string[] | null;
  /**
   * Oldest first, at most 100; times never before 2000. Where the feed gives only the newest state, that one; empty
   * where it gives no text and no time of its own.
   */
  readonly updates: readonly FeedUpdate[];
}

/** An incident of the vendor's page. */
export interface FeedIncident extends FeedEntryBase {
  readonly kind: 'incident';
  /** Never `maintenance`. */
  readonly severity: Exclude<Severity, 'maintenance'>;
  readonly status: IncidentStatus;
  /** Epoch milliseconds; null: the feed does not say, and the first read counts. */
  readonly startedAt: number | null;
  /** Set only with status `resolved`; null there: the feed does not say when. */
  readonly resolvedAt: number | null;
}

/** A maintenance, planned, at work or done. */
export interface FeedMaintenance extends FeedEntryBase {
  readonly kind: 'maintenance';
  /** Epoch milliseconds. */
  readonly startsAt: number;
  /** Planned or real end; null: unknown. */
  readonly endsAt: number | null;
  /** `done`: completed or called off. */
  readonly state: 'planned' | 'running' | 'done';
}

/** An entry of a feed. */
export type FeedEntry = FeedIncident | FeedMaintenance;

/** What one document of a feed says. */
export interface FeedReading {
  /** Newest start first; no two with the same key. */
  readonly entries: readonly FeedEntry[];
  /** The document lists only what is open: an incident that is no longer in it has ended. */
  readonly listsOnlyOpen: boolean;
}

/** Where a feed is, from the catalogue. */
export interface FeedSource {
  /** The page for people. */
  readonly pageUrl: string;
  /** Address of the feed where it does not follow from `pageUrl`; null: it follows. */
  readonly feedUrl: string | null;
}

/** An answer with status 200. */
export interface FeedDocument {
  /** Without content coding. At most 2 MiB. Hostile. */
  readonly body: Uint8Array;
  /** Media type as sent, lower-case; empty: none was sent. */
  readonly contentType: string;
}

/** One address of a feed and how to read what is there. */
export interface FeedAddress {
  /** Stable name of the document among those of the kind, such as `incidents`. */
  readonly name: string;
  readonly url: string;
  /**
   * Reads the document. `now` (epoch milliseconds) serves kinds whose entries carry no state of their own.
   * Throws {@link FeedFormatError} where the document is not of this kind: nothing is concluded from it then.
   */
  readonly read: (document: FeedDocument, now: number) => FeedReading;
}

/** A kind of status page. */
export interface FeedKind {
  /**
   * The documents to ask for, in this order, at least one. Where an entry is in several of them, the later one counts.
   * Each is asked and read on its own, so that one that has not changed costs nothing.
   */
  readonly addresses: (source: FeedSource) => readonly FeedAddress[];
}

/** A document that is not what its kind promises; the message says what was found, without quoting the document at length. */
export class FeedFormatError extends Error {
  override readonly name = 'FeedFormatError';
  readonly code = 'feed_format';
}
