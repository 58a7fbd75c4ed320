/** Atom of any maker: Statuspage, incident.io, Google and others. */
import type { FeedKind } from '../feed-kind.ts';
import { pageBase } from '../page-base.ts';
import { readSyndication } from './rss.ts';

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
