/**
 * What a reader of a vendor's feed gets and gives. Every kind of status page is one file in `kinds/` behind
 * {@link FeedKind}; nothing outside that file knows the vendor's words.
 */
import type { FeedEntry } from '../domain/feed-entry.ts';
import type { Service, StatusPage, StatusPageKind } from '../domain/service.ts';

export type { FeedEntry, FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/feed-entry.ts';

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

/** Kinds that have a feed. */
export type FeedKindName = Exclude<StatusPageKind, 'custom'>;

/** A feed to be read. Plain data that crosses threads. */
export interface Feed {
  /** Identity over restarts: kind and address. */
  readonly id: string;
  readonly kind: FeedKindName;
  readonly source: FeedSource;
}

/** The feed of a status page; null: it has none that we read. */
export function feedOf(page: StatusPage | null): Feed | null {
  if (page === null || page.kind === 'custom') return null;
  const { kind, url: pageUrl, feedUrl } = page;
  return { id: `${kind} ${feedUrl ?? pageUrl}`, kind, source: { pageUrl, feedUrl } };
}

/** The feeds of these services, each once, in the order in which they are first named. */
export function feedsOf(services: Iterable<Service>): Feed[] {
  const feeds = new Map<string, Feed>();
  for (const { statusPage } of services) {
    const feed = feedOf(statusPage);
    if (feed !== null && !feeds.has(feed.id)) feeds.set(feed.id, feed);
  }
  return [...feeds.values()];
}
