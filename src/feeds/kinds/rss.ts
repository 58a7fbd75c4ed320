/**
 * RSS and Atom of any vendor: Statuspage, Instatus, incident.io, Better Stack, Status.io, StatusCast, StatusIQ, AWS, Google
 * and others. Where a page offers both, `atom` is the better choice: its entries say when they were changed.
 */

import type { FeedEntry } from '../../domain/incident/feed-entry.ts';
import type { FeedKind, FeedSource } from '../feed-kind.ts';
import { pageBase } from '../feed-urls.ts';
import { readItemEntries } from '../item-entries.ts';
import { readXmlItems } from '../xml-items.ts';
import { isAwsFeed, readAwsEvents } from './aws.ts';

/** Reads RSS. Without a feed URL, the feed is `/history.rss` below the page, as with most vendors. */
export const rss: FeedKind = syndication('history.rss');

/** Reads Atom. Without a feed URL, the feed is `/history.atom` below the page, as with most vendors. */
export const atom: FeedKind = syndication('history.atom');

function syndication(path: string): FeedKind {
  return {
    addresses: (source) => [
      {
        name: 'feed',
        url: source.feedUrl ?? `${pageBase(source.pageUrl)}/${path}`,
        listsOnlyOpen: false,
        read: (body, now) => readSyndication(body, source, now),
      },
    ],
  };
}

/** Reads RSS or Atom, whichever the address serves. */
function readSyndication(body: Uint8Array, source: FeedSource, now: number): FeedEntry[] {
  const feed = readXmlItems(body);
  return isAwsFeed(feed)
    ? readAwsEvents(feed, source, now)
    : readItemEntries(feed, source, { severity: 'minor', listsOnlyOpen: false }, now);
}
