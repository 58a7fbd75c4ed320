/** Interprets an item of RSS or Atom: its entry, state, times and components. */

import type { FeedIncident } from '../domain/incident/feed-entry.ts';
import type { FeedSource } from './feed-kind.ts';
import { safeLink } from './feed-urls.ts';
import { type ItemTimeline, LIST_MARK, readTimeline } from './item-timeline.ts';
import {
  inMaintenance,
  isPartState,
  meaningOf,
  meaningOfSentence,
  severityOf,
  splitTitle,
  statusOf,
  type WordMeaning,
} from './item-vocabulary.ts';
import { oneLine, plainText, unescapeTwice } from './plain-text.ts';
import { readTime, timeOfUlid } from './read-time.ts';
import { MAINTENANCE_TITLE } from './state-words.ts';
import type { XmlFeed, XmlItem } from './xml-items.ts';

/** More than the maximum of an update: an item may contain all updates of its incident. */
const MAX_ITEM_TEXT = 100_000;

const MAX_ID = 4_000;

/** The path of a single entry, such as `/incidents/abc` or `/pages/incident/5b36/66f0`. */
const ENTRY_PATH = /\/(?:incidents?|maintenances?|events?|notices?|reports?|updates?|posts?|issues?)\/[^/]/i;

/** Rules of a kind for its items. */
export interface ItemRules {
  /** Severity of items without one. */
  readonly severity: FeedIncident['severity'];
  /** The feed lists only what is open: an item without a state is open at any age. */
  readonly listsOnlyOpen: boolean;
  /** Categories are the components of an item. */
  readonly categoriesAreParts?: boolean;
}

/** An interpreted item. */
export type ReadItem = ReturnType<typeof readItem>;

/** Interprets an item. Its source URL is its link, else its id if that is a URL, else the page. */
export function readItem(item: XmlItem, feed: XmlFeed, { pageUrl }: FeedSource, rules: ItemRules) {
  const home = safeLink(feed.link, pageUrl) ?? pageUrl;
  const link = safeLink(item.link, home) ?? (/^https?:/i.test(item.id) ? safeLink(item.id, home) : null);
  const { publishedAt, updatedAt } = timesOf(item, link);
  const text = plainText(markItems(item.content), MAX_ITEM_TEXT);
  const timeline = readTimeline(text, updatedAt ?? publishedAt);
  const { title, meaning: titled } = splitTitle(oneLine(unescaped(plainText(item.title)), 1_000));
  // StatusIQ repeats the title: `API is Major Outage`.
  const said = title !== '' && text.startsWith(`${title} is `) ? text.slice(title.length + 4) : text;
  const isPart = title !== '' && isPartState(said);
  // Feeds that change the title at the end may leave the text as it was.
  const isEndedByTitle = statusOf(titled) === 'resolved' && timeline.updates.every(({ at }) => at === null);
  const meaning =
    (isEndedByTitle ? titled : newestMeaning(timeline)) ??
    (titled?.kind === 'update' ? null : titled) ??
    meaningOf(item.status) ??
    item.categories.map(meaningOf).find((one) => one?.kind === 'incident' && one.status === 'resolved') ??
    meaningOfSentence(timeline.text);
  const maintains = isMaintenance(item, { title, link, timeline, meaning });
  return {
    // The state of a component may get a new time at every request, and all components may link to the page.
    key: isPart ? title : keyOf(item, link, home, title),
    title: title || oneLine(timeline.text, 100),
    sourceUrl: link ?? pageUrl,
    /** Epoch milliseconds; null: missing or not readable. */
    publishedAt,
    updatedAt,
    timeline: maintains ? ofMaintenance(timeline) : timeline,
    /** The newest state; null: the item has none. */
    meaning: maintains ? inMaintenance(meaning) : meaning,
    isMaintenance: maintains,
    /** Time of its end, which cState writes as the category; null: the item does not say. */
    endedAt: item.categories.map(readTime).find((at) => at !== null && at >= (publishedAt ?? at)) ?? null,
    /** Null: the item has none. */
    severity: severityOf(title, said),
    components: isPart ? [title] : partsOf(item, { title, text, timeline }, rules),
  };
}

/** A title without the entities that are left of one that is escaped twice. */
function unescaped(title: string): string {
  return /&(?:amp|lt|gt|quot|apos|nbsp|#\d{2,4}|#x[\da-f]{2,4});/i.test(title) ? plainText(title) : title;
}

/** HTML whose items of lists begin with {@link LIST_MARK}, and whose times are apart: Oracle writes `Oct<var>04</var><var>09:12</var>`. */
function markItems(html: string): string {
  return unescapeTwice(html)
    .replace(/<li(?:\s[^<>]{0,500})?>/gi, `$&${LIST_MARK} `)
    .replace(/<var\b/gi, ' $&');
}

/**
 * The times of an item. If its link ends in a ULID, as incident.io's do, and the time of the ULID is before the others,
 * that is the time of publication: such feeds contain only the time of the last change.
 */
function timesOf(item: XmlItem, link: string | null) {
  const publishedAt = readTime(item.published);
  const updatedAt = readTime(item.updated);
  const changedAt = updatedAt ?? publishedAt;
  const madeAt = timeOfUlid(/([^/]+)\/?$/.exec(link ?? item.id)?.[1] ?? '');
  if (madeAt === null || changedAt === null || madeAt > Math.min(changedAt, publishedAt ?? changedAt))
    return { publishedAt, updatedAt };
  return { publishedAt: madeAt, updatedAt: changedAt };
}

/** The components in the text, else in the categories, the description or in brackets before the title. */
function partsOf(
  item: XmlItem,
  {
    title,
    text,
    timeline,
  }: { readonly title: string; readonly text: string; readonly timeline: ItemTimeline },
  rules: ItemRules,
): readonly string[] {
  if (timeline.components.length > 0) return timeline.components;
  if (rules.categoriesAreParts === true) return item.categories;
  // Instatus lists the components only in the description.
  if (item.description !== item.content)
    return readTimeline(plainText(markItems(item.description), MAX_ITEM_TEXT), null).components;
  // xAI: `[API (us-east-1.api.x.ai)] Requests fail`, above a text that begins with labels.
  const bracketed = /^severity: /im.test(text) ? /^\[([^[\]]{1,100})\] /.exec(title)?.[1] : undefined;
  return bracketed === undefined ? [] : [bracketed];
}

/**
 * The link if it is that of a single entry, since each update may have its own id; else the id, unless it is the URL of
 * the page; else title and time.
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
  {
    title,
    link,
    timeline,
    meaning,
  }: Pick<ReadItem, 'title' | 'timeline' | 'meaning'> & { readonly link: string | null },
): boolean {
  return (
    timeline.isMaintenance ||
    meaning?.kind === 'maintenance' ||
    timeline.updates.some((update) => update.meaning.kind === 'maintenance') ||
    categories.some((category) => /\bmaintenance\b/i.test(category)) ||
    MAINTENANCE_TITLE.test(title) ||
    /\/maintenances?\//i.test(link === null ? '' : new URL(link).pathname)
  );
}

/** The state above the updates if that is an end, else the state of the newest update that has one. */
function newestMeaning({ updates, state }: ItemTimeline): WordMeaning | null {
  if (state !== null && statusOf(state) === 'resolved') return state;
  return updates.findLast(({ meaning }) => meaning.kind !== 'update')?.meaning ?? state;
}

/** The words of a maintenance. */
function ofMaintenance(timeline: ItemTimeline): ItemTimeline {
  const updates = timeline.updates.map((update) => ({ ...update, meaning: inMaintenance(update.meaning) }));
  return { ...timeline, updates };
}
