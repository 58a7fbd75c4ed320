/**
 * RSS of any maker: Statuspage, Instatus, incident.io, Better Stack, Status.io, StatusCast, StatusIQ, AWS and others. Where a
 * page offers Atom too, `atom` is the better choice: its entries tell when they were changed.
 */

import { collectEntries } from '../build-entry.ts';
import type { FeedDocument, FeedKind, FeedReading, FeedSource } from '../feed-kind.ts';
import { pageBase } from '../feed-urls.ts';
import { readItemEntries } from '../item-entries.ts';
import { readXmlItems } from '../xml-items.ts';
import { isAwsFeed, readAwsEvents } from './aws.ts';

/** Reads RSS. Without an address of its own the feed is `/history.rss`, as with most makers. */
export const rss: FeedKind = {
  addresses: (source) => [
    {
      name: 'feed',
      url: source.feedUrl ?? `${pageBase(source.pageUrl)}/history.rss`,
      read: (document, now) => readSyndication(document, source, now),
    },
  ],
};

/** A feed in RSS or Atom, whichever its address serves; it lists what is over as well. */
export function readSyndication(document: FeedDocument, source: FeedSource, now: number): FeedReading {
  const feed = readXmlItems(document);
  const entries = isAwsFeed(feed)
    ? readAwsEvents(feed, source, now)
    : readItemEntries(feed, source, { severity: 'minor', listsOnlyOpen: false }, now);
  return { entries: collectEntries(entries, now), listsOnlyOpen: false };
}

/** Reads Atom. Without an address of its own the feed is `/history.atom`, as with most makers. */
export const atom: FeedKind = {
  addresses: (source) => [
    {
      name: 'feed',
      url: source.feedUrl ?? `${pageBase(source.pageUrl)}/history.atom`,
      read: (document, now) => readSyndication(document, source, now),
    },
  ],
};
