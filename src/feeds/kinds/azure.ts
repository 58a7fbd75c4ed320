/**
 * Azure: RSS that lists only what is open, without severities; an empty feed means that all is well. Categories name
 * services and regions. The guid is a slug of the title and comes back for another event years later, and links lead to
 * an internal host of Microsoft.
 */
import { FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { pageBase } from '../feed-urls.ts';
import { readItemEntries } from '../item-entries.ts';
import { readTime } from '../read-time.ts';
import { readXmlItems, type XmlItem } from '../xml-items.ts';

const RULES = { severity: 'major', listsOnlyOpen: true, categoriesAreParts: true } as const;

/** Reads Azure's status. Without a feed URL, the feed is `feed/` below the page. */
export const azure: FeedKind = {
  addresses: (source) => [
    {
      name: 'feed',
      url: source.feedUrl ?? `${pageBase(source.pageUrl)}/feed/`,
      listsOnlyOpen: true,
      read(body, now) {
        const feed = readXmlItems(body);
        if (feed.format !== 'rss') throw new FeedFormatError('the document is no RSS');
        return readItemEntries({ ...feed, link: '', items: feed.items.map(withOwnId) }, source, RULES, now);
      },
    },
  ],
};

/** Identifies an item by its guid and the time of its event, and removes its link. */
function withOwnId(item: XmlItem): XmlItem {
  const at = readTime(item.published);
  const time = at === null ? item.published : new Date(at).toISOString();
  return { ...item, id: `${item.id} ${time}`.trim(), link: '' };
}
