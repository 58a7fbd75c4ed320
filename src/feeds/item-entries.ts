/**
 * Items of RSS and Atom as entries. A log is not a state: several items can be updates of one incident, an item can hold
 * all updates of one, or the newest state alone, and a resolved incident keeps its title.
 */
import type { FeedEntry, FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/feed-entry.ts';
import { buildIncident, buildMaintenance } from './build-entry.ts';
import type { FeedSource } from './feed-kind.ts';
import { type ItemTimeline, readTimeline } from './item-timeline.ts';
import { isPartState, meaningOfSentence, severityOf, splitTitle, type WordMeaning } from './item-words.ts';
import { boundText, oneLine, plainText } from './plain-text.ts';
import { readTime } from './read-time.ts';
import { safeLink } from './safe-link.ts';
import type { XmlFeed, XmlItem } from './xml-items.ts';

/** An incident whose feed tells no state counts as open this long. */
const INFERRED_OPEN_MS = 86_400_000;
const INFERRED_TEXT = 'The feed tells no state; an entry without one counts as resolved after a day.';

/** Longer than the longest text of an update: an item can hold all updates of its incident. */
const MOST_ITEM_TEXT = 100_000;

/** Items that are read; the newest ones, by their own times. */
const MOST_READ = 4_000;

const MOST_ID = 4_000;
const OLDEST_MS = 400 * 86_400_000;

/** A path that leads to one entry, such as `/incidents/abc` or `/pages/incident/5b36/66f0`. */
const ENTRY_PATH = /\/(?:incidents?|maintenances?|events?|notices?|reports?|updates?|posts?|issues?)\/[^/]/i;

/** How a kind reads its items. */
export interface ItemRules {
  /** Severity where an item names none. */
  readonly severity: FeedIncident['severity'];
  /** The feed lists only what is open: an item without a state is open, however old it is. */
  readonly listsOnlyOpen: boolean;
}

/** An item that is understood. */
interface ReadItem {
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

/**
 * The entries of a feed, one for each incident and maintenance, unbounded in number and in no order. Items that say that
 * all is well are none. An item without a time is one only where it tells that something is open.
 */
export function readItemEntries(
  feed: XmlFeed,
  source: FeedSource,
  rules: ItemRules,
  now: number,
): FeedEntry[] {
  const groups = new Map<string, ReadItem[]>();
  for (const item of newestItems(feed.items, now)) {
    const read = readItem(item, feed, source);
    const group = groups.get(read.key);
    if (group === undefined) groups.set(read.key, [read]);
    else group.push(read);
  }
  return [...groups.values()].flatMap((group) => entryOf(group, rules, now) ?? []);
}

/** The reading of a text costs more than that of a time: what is too old or too much is left aside before. */
function newestItems(items: readonly XmlItem[], now: number): XmlItem[] {
  return items
    .map((item) => ({ item, at: readTime(item.updated) ?? readTime(item.published) ?? now }))
    .filter(({ at }) => at >= now - OLDEST_MS)
    .sort((a, b) => b.at - a.at)
    .slice(0, MOST_READ)
    .map(({ item }) => item);
}

function readItem(item: XmlItem, feed: XmlFeed, { pageUrl }: FeedSource): ReadItem {
  const home = safeLink(feed.link, pageUrl) ?? pageUrl;
  const link = safeLink(item.link, home) ?? (/^https?:/i.test(item.id) ? safeLink(item.id, home) : null);
  const publishedAt = readTime(item.published);
  const updatedAt = readTime(item.updated);
  const text = plainText(item.content, MOST_ITEM_TEXT);
  const timeline = readTimeline(text, updatedAt ?? publishedAt);
  const { title, meaning: titled } = splitTitle(oneLine(plainText(item.title), 1_000));
  const isPart = title !== '' && isPartState(text);
  const told = newestMeaning(timeline);
  const meaning = told ?? (titled?.kind === 'update' ? null : titled) ?? meaningOfSentence(timeline.text);
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
    components: isPart ? [title] : timeline.components,
  };
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
  const ownId = oneLine(id, MOST_ID);
  const ofIncident = /^([^#]*\bincidents?\/[^#]+)#/i.exec(ownId)?.[1];
  if (ofIncident !== undefined) return ofIncident;
  const isPage = ownId.replace(/\/$/, '') === home.replace(/\/$/, '');
  return (isPage ? '' : ownId) || oneLine(`${title} ${published}`, MOST_ID) || 'entry';
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

/** The state of the newest update that tells one; an undated timeline has one update. */
function newestMeaning({ updates }: ItemTimeline): WordMeaning | null {
  const told = updates.filter(({ meaning }) => meaning.kind !== 'update');
  return told.sort((a, b) => (b.at ?? 0) - (a.at ?? 0))[0]?.meaning ?? null;
}

function entryOf(group: readonly ReadItem[], rules: ItemRules, now: number): FeedEntry | null {
  const items = group.toSorted((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0));
  const newest = items[0];
  const isWell = items.every(({ meaning }) => meaning?.kind === 'operational');
  if (newest === undefined || isWell) return null;
  return items.some((item) => item.isMaintenance)
    ? maintenanceOf(items, newest, now)
    : incidentOf(items, newest, rules, now);
}

function incidentOf(
  items: readonly ReadItem[],
  newest: ReadItem,
  rules: ItemRules,
  now: number,
): FeedIncident | null {
  const told = statusOf(items.find(({ meaning }) => meaning !== null)?.meaning ?? null);
  const changedAt = timeOf(newest);
  if (changedAt === null && (told === null || told === 'resolved')) return null;
  const updates = items.flatMap((item) => updatesOf(item, now));
  const endedAt =
    told !== null || changedAt === null || rules.listsOnlyOpen || now - changedAt < INFERRED_OPEN_MS
      ? null
      : changedAt + INFERRED_OPEN_MS;
  if (endedAt !== null) updates.push({ at: endedAt, status: 'resolved', text: INFERRED_TEXT });
  return buildIncident({
    ...baseOf(items, newest),
    updates,
    severity: newest.severity ?? rules.severity,
    status: endedAt === null ? (told ?? 'investigating') : 'resolved',
    startedAt: earliestOf(items),
    resolvedAt: endedAt,
  });
}

function maintenanceOf(items: readonly ReadItem[], newest: ReadItem, now: number): FeedMaintenance | null {
  const window = items.find(({ timeline }) => timeline.window !== null)?.timeline.window ?? null;
  const state = stateOf(newest, window, now);
  const startsAt = window?.startsAt ?? stepAt(items, 'running') ?? publishedStart(items, newest, state, now);
  if (startsAt === null) return null;
  const doneAt =
    state === 'done' && newest.meaning !== null ? (stepAt(items, 'done') ?? timeOf(newest)) : null;
  return buildMaintenance({
    ...baseOf(items, newest),
    updates: items.flatMap((item) => updatesOf(item, now)),
    startsAt,
    endsAt: doneAt !== null && doneAt >= startsAt ? doneAt : (window?.endsAt ?? null),
    state,
  });
}

/** The first time at which a timeline tells a state of a maintenance. */
function stepAt(items: readonly ReadItem[], state: FeedMaintenance['state']): number | null {
  const times = items
    .flatMap(({ timeline }) => timeline.updates)
    .flatMap(({ at, meaning }) =>
      at !== null && meaning.kind === 'maintenance' && meaning.state === state ? at : [],
    );
  return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
}

/** The time of an item whose text names none. Past, it is no start of what is still planned: the announcement's own. */
function publishedStart(
  items: readonly ReadItem[],
  { publishedAt }: ReadItem,
  state: FeedMaintenance['state'],
  now: number,
): number | null {
  if (state !== 'planned') return earliestOf(items);
  return publishedAt !== null && publishedAt > now ? publishedAt : null;
}

/** What is told, else by its window, else as an incident without a state. */
function stateOf(newest: ReadItem, window: ItemTimeline['window'], now: number): FeedMaintenance['state'] {
  const { meaning } = newest;
  if (meaning?.kind === 'maintenance') return meaning.state;
  if (statusOf(meaning) !== null) return statusOf(meaning) === 'resolved' ? 'done' : 'running';
  if (window !== null && now < window.startsAt) return 'planned';
  const endsAt = window?.endsAt ?? (timeOf(newest) ?? now) + INFERRED_OPEN_MS;
  return now < endsAt ? 'running' : 'done';
}

function baseOf(items: readonly ReadItem[], { key, title, sourceUrl }: ReadItem) {
  return { key, title, sourceUrl, components: items.flatMap(({ components }) => components) };
}

/** The updates that an item tells, in any order; one without a word of its own stays in the state before it. */
function updatesOf(item: ReadItem, now: number): FeedUpdate[] {
  const { timeline, meaning, isMaintenance } = item;
  const first = isMaintenance ? 'identified' : 'investigating';
  const dated = timeline.updates.filter((update) => update.at !== null);
  if (dated.length === 0) {
    const text = boundText(timeline.updates[0]?.text ?? timeline.text);
    return [{ at: timeOf(item) ?? now, status: statusOf(meaning) ?? first, text }];
  }
  let status: FeedUpdate['status'] = first;
  // Newest first in the text; of two in the same minute the one below is the older one.
  return dated
    .toReversed()
    .sort((a, b) => (a.at ?? now) - (b.at ?? now))
    .map((update) => {
      status = statusOf(update.meaning) ?? status;
      return { at: update.at ?? now, status, text: boundText(update.text) };
    });
}

/** A word as the status of an update; a maintenance that is told or at work is `identified` (decisions, Incidents). */
function statusOf(meaning: WordMeaning | null): FeedUpdate['status'] | null {
  if (meaning?.kind === 'incident') return meaning.status;
  if (meaning?.kind === 'maintenance') return meaning.state === 'done' ? 'resolved' : 'identified';
  return meaning?.kind === 'operational' ? 'resolved' : null;
}

/** When an item changed last. */
function timeOf({ publishedAt, updatedAt, timeline }: Omit<ReadItem, 'meaning'>): number | null {
  const times = [publishedAt, updatedAt, ...timeline.updates.map(({ at }) => at)].filter((at) => at !== null);
  return times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b));
}

/** When the first of the items began; null: none says. */
function earliestOf(items: readonly ReadItem[]): number | null {
  const times = items
    .flatMap(({ publishedAt, updatedAt, timeline }) => [
      publishedAt ?? updatedAt,
      ...timeline.updates.map(({ at }) => at),
    ])
    .filter((at) => at !== null);
  return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
}
