/**
 * Azure's status: RSS that lists what is open and nothing else, without severities; an empty one says that all is well.
 * Categories name services and regions. The guid is the title in other letters and comes back for another event years
 * later, and links lead to a host of Microsoft's own.
 */
import { collectEntries } from '../build-entry.ts';
import { FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { pageBase } from '../feed-urls.ts';
import { readItemEntries } from '../item-entries.ts';
import { readTime } from '../read-time.ts';
import { readXmlItems, type XmlItem } from '../xml-items.ts';

const RULES = { severity: 'major', listsOnlyOpen: true, categoriesAreParts: true } as const;

/** Reads Azure's status. Without an address of its own the feed is `feed/` below the page. */
export const azure: FeedKind = {
  addresses: (source) => [
    {
      name: 'feed',
      url: source.feedUrl ?? `${pageBase(source.pageUrl)}/feed/`,
      read(document, now) {
        const feed = readXmlItems(document);
        if (feed.format !== 'rss') throw new FeedFormatError('the document is no RSS');
        const items = feed.items.map(withOwnId);
        const entries = readItemEntries({ ...feed, link: '', items }, source, RULES, now);
        return { entries: collectEntries(entries, now), listsOnlyOpen: true };
      },
    },
  ],
};

/** An item known by its guid and the time of its event, which leads to the page. */
function withOwnId(item: XmlItem): XmlItem {
  const at = readTime(item.published);
  const time = at === null ? item.published : new Date(at).toISOString();
  return { ...item, id: `${item.id} ${time}`.trim(), link: '' };
}
