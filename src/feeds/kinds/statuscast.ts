/**
 * StatusCast: RSS at `/rss`, an item for each post. The guid of a post is `/<incident>/<post>`: posts of one incident are its
 * updates.
 */
import { FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { pageBase } from '../feed-urls.ts';
import { readItemEntries } from '../item-entries.ts';
import { readXmlItems, type XmlItem } from '../xml-items.ts';

/** Reads pages of StatusCast. */
export const statuscast: FeedKind = {
  addresses: (source) => [
    {
      name: 'feed',
      url: source.feedUrl ?? `${pageBase(source.pageUrl)}/rss/`,
      listsOnlyOpen: false,
      read(body, now) {
        const feed = readXmlItems(body);
        if (feed.format !== 'rss') throw new FeedFormatError('the document is no RSS');
        const items = feed.items.map(ofIncident);
        return readItemEntries({ ...feed, items }, source, { severity: 'minor', listsOnlyOpen: false }, now);
      },
    },
  ],
};

function ofIncident(item: XmlItem): XmlItem {
  const incident = /(?:^|\/)(\d{1,20})\/\d{1,20}\/?$/.exec(item.id.slice(0, 200))?.[1];
  return incident === undefined ? item : { ...item, id: incident };
}
