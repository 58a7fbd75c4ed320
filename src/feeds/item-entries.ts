/**
 * Turns items of RSS and Atom into entries. Depending on the vendor, several items are the updates of one incident, or an
 * item contains all updates of its incident, or only the newest state.
 */
import { DAY_MS, MINUTE_MS } from '../domain/durations.ts';
import type { FeedEntry, FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance, MAX_ENTRY_AGE_MS } from './build-entry.ts';
import { type FeedSource, safeLink } from './feed-kind.ts';
import { type ItemTimeline, LIST_MARK, readTimeline } from './item-timeline.ts';
import {
  endRank,
  inMaintenance,
  isPartState,
  MAINTENANCE_TITLE,
  meaningOf,
  meaningOfSentence,
  severityOf,
  splitTitle,
  statusOf,
  type WordMeaning,
} from './item-vocabulary.ts';
import { boundText, oneLine, plainText, unescapeTwice } from './plain-text.ts';
import { createSlashedReader, readTime, timeOfUlid } from './read-time.ts';
import type { XmlFeed, XmlItem } from './xml-items.ts';

/** An incident without a state counts as open for this time. */
const INFERRED_OPEN_MS = DAY_MS;
const INFERRED_TEXT = 'The feed tells no state; an entry without one counts as resolved after a day.';

/** Texts state the times of updates in minutes, and an item is published soon after its newest update. */
const UPDATE_DELAY_MS = 2 * MINUTE_MS;

/** The newest items are read, by their own times. */
const MAX_ITEMS_READ = 4_000;

/**
 * The entries of a feed in no order, one for each incident and maintenance. Items that report that all is well are left
 * out; so are items without a time, unless they report an open incident.
 */
export function readItemEntries(
  feed: XmlFeed,
  source: FeedSource,
  rules: ItemRules,
  now: number,
): FeedEntry[] {
  const read = newestItems(withReadableTimes(feed.items), now).map((item) =>
    readItem(item, feed, source, rules),
  );
  return [...Map.groupBy(read, ({ key }) => key).values()].flatMap(
    (group) => entryOf(group, rules, now) ?? [],
  );
}

/** The items with their times in a form that {@link readTime} reads, where the times of the whole feed tell the order of month and day. */
function withReadableTimes(items: readonly XmlItem[]): readonly XmlItem[] {
  const times = items.flatMap(({ published, updated }) => [published.trim(), updated.trim()]);
  if (!times.some((time) => time.includes('/'))) return items;
  const read = createSlashedReader(times);
  const readable = (text: string) => {
    const at = read(text.trim());
    return at === null ? text : new Date(at).toISOString();
  };
  return items.map((item) => ({
    ...item,
    published: readable(item.published),
    updated: readable(item.updated),
  }));
}

/** Skips items before their texts are parsed, which costs more than parsing a time. */
function newestItems(items: readonly XmlItem[], now: number): XmlItem[] {
  return items
    .map((item) => ({ item, at: readTime(item.updated) ?? readTime(item.published) ?? now }))
    .filter(({ at }) => at >= now - MAX_ENTRY_AGE_MS)
    .sort((a, b) => b.at - a.at)
    .slice(0, MAX_ITEMS_READ)
    .map(({ item }) => item);
}

function entryOf(group: readonly ReadItem[], rules: ItemRules, now: number): FeedEntry | null {
  const items = group.toSorted((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0) || endRank(b) - endRank(a));
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
  const stated =
    statusOf(items.find(({ meaning }) => meaning !== null)?.meaning ?? null) ??
    (newest.endedAt === null ? null : 'resolved');
  const changedAt = timeOf(newest);
  if (changedAt === null && (stated === null || stated === 'resolved')) return null;
  const span = items.find(({ timeline }) => timeline.span !== null)?.timeline.span ?? null;
  const updates = items.flatMap((item) => updatesOf(item, now));
  const endedAt =
    stated !== null || changedAt === null || rules.listsOnlyOpen || now - changedAt < INFERRED_OPEN_MS
      ? null
      : changedAt + INFERRED_OPEN_MS;
  if (endedAt !== null) updates.push({ at: endedAt, status: 'resolved', text: INFERRED_TEXT });
  return buildIncident({
    ...baseOf(items, newest),
    updates,
    severity: newest.severity ?? rules.severity,
    status: endedAt === null ? (stated ?? 'investigating') : 'resolved',
    startedAt: span?.startsAt ?? earliestOf(items),
    resolvedAt: endedAt ?? span?.endsAt ?? newest.endedAt,
  });
}

function maintenanceOf(items: readonly ReadItem[], newest: ReadItem, now: number): FeedMaintenance | null {
  const window = items.find(({ timeline }) => timeline.window !== null)?.timeline.window ?? null;
  const plannedAt = plannedStart(newest, now);
  const state = stateOf(newest, window, plannedAt, now);
  const startsAt =
    window?.startsAt ?? stepAt(items, 'running') ?? plannedAt ?? publishedStart(items, newest, state, now);
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

/** The time of the first update with a state of a maintenance. */
function stepAt(items: readonly ReadItem[], state: FeedMaintenance['state']): number | null {
  const updates = items.flatMap(({ timeline }) => timeline.updates);
  return earliest(
    updates.map(({ at, meaning }) => (meaning.kind === 'maintenance' && meaning.state === state ? at : null)),
  );
}

/**
 * The start of a maintenance that Instatus announces: it publishes the item at the planned start, so that the time is in
 * the future or after an update. A time just after the newest update is that of the update.
 */
function plannedStart({ publishedAt, updatedAt, timeline, meaning }: ReadItem, now: number): number | null {
  if (publishedAt === null || publishedAt > now) return publishedAt;
  const steps = timeline.updates.map(({ at }) => at);
  const stated = [updatedAt, ...steps].filter((at) => at !== null);
  const sinceNewest = publishedAt - Math.max(...steps.map((at) => at ?? 0));
  const isOfUpdate = sinceNewest >= 0 && (sinceNewest < UPDATE_DELAY_MS || statusOf(meaning) === 'resolved');
  return !isOfUpdate && stated.some((at) => at < publishedAt) ? publishedAt : null;
}

/** The start by the first update after the announcement, else by the time of publication. A past time of a planned maintenance is that of its announcement. */
function publishedStart(
  items: readonly ReadItem[],
  { publishedAt }: ReadItem,
  state: FeedMaintenance['state'],
  now: number,
): number | null {
  if (state === 'planned') return publishedAt !== null && publishedAt > now ? publishedAt : null;
  const steps = items.flatMap(({ timeline }) => timeline.updates).filter(({ at }) => at !== null);
  const later = steps.filter(({ meaning }) => meaning.kind !== 'maintenance' || meaning.state !== 'planned');
  return later.length < steps.length ? earliest(later.map(({ at }) => at)) : earliestOf(items);
}

/** The state of the newest item, else by the window, else as for an incident without a state. */
function stateOf(
  newest: ReadItem,
  window: ItemTimeline['window'],
  plannedAt: number | null,
  now: number,
): FeedMaintenance['state'] {
  const { meaning } = newest;
  if (meaning?.kind === 'maintenance') return meaning.state;
  if (statusOf(meaning) === 'resolved') return 'done';
  if (plannedAt !== null && now < plannedAt) return 'planned';
  if (statusOf(meaning) !== null) return 'running';
  if (window !== null && now < window.startsAt) return 'planned';
  const endsAt = window?.endsAt ?? (timeOf(newest) ?? now) + INFERRED_OPEN_MS;
  return now < endsAt ? 'running' : 'done';
}

function baseOf(items: readonly ReadItem[], { key, title, sourceUrl }: ReadItem) {
  return { key, title, sourceUrl, components: items.flatMap(({ components }) => components) };
}

/** The updates of an item, oldest first. An update without a status keeps the one before it. */
function updatesOf(item: ReadItem, now: number): FeedUpdate[] {
  const { timeline, meaning, isMaintenance, endedAt } = item;
  const first = isMaintenance ? 'identified' : 'investigating';
  const dated = timeline.updates.filter((update) => update.at !== null);
  if (dated.length === 0) {
    const text = boundText(timeline.updates[0]?.text ?? timeline.text);
    const at = timeOf(item) ?? now;
    return endedAt === null
      ? [{ at, status: statusOf(meaning) ?? first, text }]
      : [
          { at, status: first, text },
          { at: endedAt, status: 'resolved', text: '' },
        ];
  }
  let status: FeedUpdate['status'] = first;
  return dated.map((update, index) => {
    // The newest update of a resolved item is its end.
    const isEnd = index === dated.length - 1 && statusOf(meaning) === 'resolved';
    status = isEnd ? 'resolved' : (statusOf(update.meaning) ?? status);
    return { at: update.at ?? now, status, text: boundText(update.text) };
  });
}

/** The newest time of an item; null: it has none. */
function timeOf({ publishedAt, updatedAt, timeline }: ReadItem): number | null {
  const times = [publishedAt, updatedAt, ...timeline.updates.map(({ at }) => at)];
  return times.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a));
}

/** The earliest start of the items; null: none has a time. */
function earliestOf(items: readonly ReadItem[]): number | null {
  const starts = items.map(({ publishedAt, updatedAt }) => publishedAt ?? updatedAt);
  const steps = items.flatMap(({ timeline }) => timeline.updates.map(({ at }) => at));
  return earliest([...starts, ...steps]);
}

function earliest(times: readonly (number | null)[]): number | null {
  return times.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
}

/** More than the maximum of an update: an item may contain all updates of its incident. */
const MAX_ITEM_TEXT = 100_000;

const MAX_ID = 4_000;

/** The path of a single entry, such as `/incidents/abc` or `/pages/incident/5b36/66f0`. */
const ENTRY_PATH = /\/(?:incidents?|maintenances?|events?|notices?|reports?|updates?|posts?|issues?)\/[^/]/i;

interface ItemRules {
  /** Severity of items without one. */
  readonly severity: FeedIncident['severity'];
  /** The feed lists only what is open: an item without a state is open at any age. */
  readonly listsOnlyOpen: boolean;
  /** Categories are the components of an item. */
  readonly categoriesAreParts?: boolean;
}

type ReadItem = ReturnType<typeof readItem>;

/** Interprets an item. Its source URL is its link, else its id if that is a URL, else the page. */
function readItem(item: XmlItem, feed: XmlFeed, { pageUrl }: FeedSource, rules: ItemRules) {
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

function ofMaintenance(timeline: ItemTimeline): ItemTimeline {
  const updates = timeline.updates.map((update) => ({ ...update, meaning: inMaintenance(update.meaning) }));
  return { ...timeline, updates };
}
