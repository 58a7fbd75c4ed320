/** One item of RSS or Atom, understood: which entry it belongs to, what it says of its state, when and of what. */

import type { FeedIncident, FeedUpdate } from '../domain/feed-entry.ts';
import type { FeedSource } from './feed-kind.ts';
import { safeLink } from './feed-urls.ts';
import { type ItemTimeline, readTimeline } from './item-timeline.ts';
import {
  isPartState,
  meaningOf,
  meaningOfSentence,
  severityOf,
  splitTitle,
  type WordMeaning,
} from './item-vocabulary.ts';
import { oneLine, plainText, unescapeTwice } from './plain-text.ts';
import { readTime, timeOfUlid } from './read-time.ts';
import type { XmlFeed, XmlItem } from './xml-items.ts';

/** Longer than the longest text of an update: an item can hold all updates of its incident. */
const MAX_ITEM_TEXT = 100_000;

const MAX_ID = 4_000;

/** A path that leads to one entry, such as `/incidents/abc` or `/pages/incident/5b36/66f0`. */
const ENTRY_PATH = /\/(?:incidents?|maintenances?|events?|notices?|reports?|updates?|posts?|issues?)\/[^/]/i;

/** How a kind reads its items. */
export interface ItemRules {
  /** Severity where an item names none. */
  readonly severity: FeedIncident['severity'];
  /** The feed lists only what is open: an item without a state is open, however old it is. */
  readonly listsOnlyOpen: boolean;
  /** Categories name the parts that an item concerns. */
  readonly categoriesAreParts?: boolean;
}

/** An item that is understood. */
export interface ReadItem {
  readonly key: string;
  readonly title: string;
  readonly sourceUrl: string;
  /** Epoch milliseconds; null: the item does not say, or not in a way that is read. */
  readonly publishedAt: number | null;
  readonly updatedAt: number | null;
  readonly timeline: ItemTimeline;
  /** The newest state; null: it is not told. */
  readonly meaning: WordMeaning | null;
  readonly isMaintenance: boolean;
  /** Null: the item names none. */
  readonly severity: FeedIncident['severity'] | null;
  readonly components: readonly string[];
}

/** Reads an item; links of a feed and ids that lead nowhere are replaced by the page's. */
export function readItem(item: XmlItem, feed: XmlFeed, { pageUrl }: FeedSource, rules: ItemRules): ReadItem {
  const home = safeLink(feed.link, pageUrl) ?? pageUrl;
  const link = safeLink(item.link, home) ?? (/^https?:/i.test(item.id) ? safeLink(item.id, home) : null);
  const { publishedAt, updatedAt } = timesOf(item, link);
  const text = plainText(unescapeTwice(item.content), MAX_ITEM_TEXT);
  const timeline = readTimeline(text, updatedAt ?? publishedAt);
  const { title, meaning: titled } = splitTitle(oneLine(plainText(item.title), 1_000));
  const isPart = title !== '' && isPartState(text);
  const meaning =
    newestMeaning(timeline) ??
    (titled?.kind === 'update' ? null : titled) ??
    meaningOf(item.status) ??
    meaningOfSentence(timeline.text);
  return {
    // The state of a part may be stamped anew at every read, and all parts may lead to the page.
    key: isPart ? title : keyOf(item, link, home, title),
    title: title || oneLine(timeline.text, 100),
    sourceUrl: link ?? pageUrl,
    publishedAt,
    updatedAt,
    timeline,
    meaning,
    isMaintenance: isMaintenance(item, title, link, timeline, meaning),
    severity: severityOf(title, text),
    components: isPart ? [title] : partsOf(item, title, text, timeline, rules),
  };
}

/**
 * An entry whose address ends in a ULID, as incident.io's do, was made when that says, where this is before its other
 * times: such feeds tell only when an entry was changed.
 */
function timesOf(
  item: XmlItem,
  link: string | null,
): { readonly publishedAt: number | null; readonly updatedAt: number | null } {
  const publishedAt = readTime(item.published);
  const updatedAt = readTime(item.updated);
  const changedAt = updatedAt ?? publishedAt;
  const madeAt = timeOfUlid(/([^/]+)\/?$/.exec(link ?? item.id)?.[1] ?? '');
  if (madeAt === null || changedAt === null || madeAt > Math.min(changedAt, publishedAt ?? changedAt))
    return { publishedAt, updatedAt };
  return { publishedAt: madeAt, updatedAt: changedAt };
}

/** Those that the text lists; else those of the other text, of the categories or in brackets before the title. */
function partsOf(
  item: XmlItem,
  title: string,
  text: string,
  timeline: ItemTimeline,
  rules: ItemRules,
): readonly string[] {
  if (timeline.components.length > 0) return timeline.components;
  if (rules.categoriesAreParts === true) return item.categories;
  // Instatus names the parts only in the shorter text.
  if (item.description !== item.content)
    return readTimeline(plainText(item.description, MAX_ITEM_TEXT), null).components;
  // xAI: `[API (us-east-1.api.x.ai)] Requests fail`, above a text that begins with labels.
  const bracketed = /^severity: /im.test(text) ? /^\[([^[\]]{1,100})\] /.exec(title)?.[1] : undefined;
  return bracketed === undefined ? [] : [bracketed];
}

/**
 * By link where that leads to the entry, for each update may have an id of its own; else by id, unless it is the address
 * of the page; else by title and time.
 */
function keyOf({ id, published }: XmlItem, link: string | null, home: string, title: string): string {
  const entry = [link, safeLink(id, home)].find(
    (url) => url != null && ENTRY_PATH.test(new URL(url).pathname),
  );
  if (entry != null) return entry.replace(/#.*$/, '');
  const ownId = oneLine(id, MAX_ID);
  const ofIncident = /^([^#]*\bincidents?\/[^#]+)#/i.exec(ownId)?.[1];
  if (ofIncident !== undefined) return ofIncident;
  const isPage = ownId.replace(/\/$/, '') === home.replace(/\/$/, '');
  return (isPage ? '' : ownId) || oneLine(`${title} ${published}`, MAX_ID) || 'entry';
}

function isMaintenance(
  { categories }: XmlItem,
  title: string,
  link: string | null,
  timeline: ItemTimeline,
  meaning: WordMeaning | null,
): boolean {
  return (
    timeline.isMaintenance ||
    meaning?.kind === 'maintenance' ||
    timeline.updates.some((update) => update.meaning.kind === 'maintenance') ||
    categories.some((category) => /\bmaintenance\b/i.test(category)) ||
    /^\[?(?:(?:scheduled|planned|emergency|upcoming) )?maintenance\b/i.test(title) ||
    /\/maintenances?\//i.test(link === null ? '' : new URL(link).pathname)
  );
}

/**
 * The state of the newest update that tells one, which an end above the updates goes before; an undated timeline has one
 * update.
 */
function newestMeaning({ updates, state }: ItemTimeline): WordMeaning | null {
  if (state !== null && statusOf(state) === 'resolved') return state;
  const told = updates.filter(({ meaning }) => meaning.kind !== 'update');
  return told.sort((a, b) => (b.at ?? 0) - (a.at ?? 0))[0]?.meaning ?? state;
}

/** A word as the status of an update; a maintenance that is told or at work is `identified` (decisions, Incidents). */
export function statusOf(meaning: WordMeaning | null): FeedUpdate['status'] | null {
  if (meaning?.kind === 'incident') return meaning.status;
  if (meaning?.kind === 'maintenance') return meaning.state === 'done' ? 'resolved' : 'identified';
  return meaning?.kind === 'operational' ? 'resolved' : null;
}
