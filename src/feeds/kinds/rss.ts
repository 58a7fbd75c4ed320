/**
 * RSS and Atom of any vendor: Statuspage, Instatus, incident.io, Better Stack, Status.io, StatusCast, StatusIQ, AWS, Google
 * and others; and feeds of Azure and StatusCast, which need more. Where a page offers both, `atom` is the better choice: its entries say when they were changed.
 */
import type { FeedEntry } from '../../domain/incident/feed-entry.ts';
import { FeedFormatError, type FeedKind, type FeedSource, pageBase } from '../feed-kind.ts';
import { readItemEntries } from '../item-entries.ts';
import { readTime } from '../read-time.ts';
import { readXmlItems, type XmlItem } from '../xml-items.ts';
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

// Azure: RSS that lists only what is open, without severities; an empty feed means that all is well. Categories name services and
// regions. The guid is a slug of the title and comes back for another event years later, and links lead to an internal host of
// Microsoft.

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

// StatusCast: RSS at `/rss`, an item for each post. The guid of a post is `/<incident>/<post>`: posts of one incident are its updates.

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
