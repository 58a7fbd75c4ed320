/** Azure's status: RSS that lists what is open and nothing else, without severities; an empty one says that all is well. */
import { collectEntries } from '../collect-entries.ts';
import { FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { readItemEntries } from '../item-entries.ts';
import { pageBase } from '../page-base.ts';
import { readXmlItems } from '../xml-items.ts';

/** Reads Azure's status. Without an address of its own the feed is `feed/` below the page. */
export const azure: FeedKind = {
  addresses: (source) => [
    {
      name: 'feed',
      url: source.feedUrl ?? `${pageBase(source.pageUrl)}/feed/`,
      read(document, now) {
        const feed = readXmlItems(document);
        if (feed.format !== 'rss') throw new FeedFormatError('the document is no RSS');
        const entries = readItemEntries(feed, source, { severity: 'major', listsOnlyOpen: true }, now);
        return { entries: collectEntries(entries, now), listsOnlyOpen: true };
      },
    },
  ],
};
