/**
 * Items of RSS and Atom as entries. A log is not a state: several items can be updates of one incident, an item can hold
 * all updates of one, or the newest state alone, and a resolved incident keeps its title.
 */

import { DAY_MS } from '../domain/durations.ts';
import type { FeedEntry, FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/feed-entry.ts';
import { buildIncident, buildMaintenance } from './build-entry.ts';
import type { FeedSource } from './feed-kind.ts';
import type { ItemTimeline } from './item-timeline.ts';
import { boundText } from './plain-text.ts';
import { type ItemRules, type ReadItem, readItem, statusOf } from './read-item.ts';
import { readTime } from './read-time.ts';
import type { XmlFeed, XmlItem } from './xml-items.ts';

/** An incident whose feed tells no state counts as open this long. */
const INFERRED_OPEN_MS = DAY_MS;
const INFERRED_TEXT = 'The feed tells no state; an entry without one counts as resolved after a day.';

/** Items that are read; the newest ones, by their own times. */
const MAX_ITEMS_READ = 4_000;

const MAX_AGE_MS = 400 * DAY_MS;

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
    const read = readItem(item, feed, source, rules);
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
    .filter(({ at }) => at >= now - MAX_AGE_MS)
    .sort((a, b) => b.at - a.at)
    .slice(0, MAX_ITEMS_READ)
    .map(({ item }) => item);
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
  const span = items.find(({ timeline }) => timeline.span !== null)?.timeline.span ?? null;
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
    startedAt: span?.startsAt ?? earliestOf(items),
    resolvedAt: endedAt ?? span?.endsAt ?? null,
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

/** The first time at which a timeline tells a state of a maintenance. */
function stepAt(items: readonly ReadItem[], state: FeedMaintenance['state']): number | null {
  const times = items
    .flatMap(({ timeline }) => timeline.updates)
    .flatMap(({ at, meaning }) =>
      at !== null && meaning.kind === 'maintenance' && meaning.state === state ? at : [],
    );
  return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
}

/**
 * Instatus publishes a maintenance at its planned start, with updates from the announcement on: a time of publication
 * that is ahead, or after an update, is that start.
 */
function plannedStart({ publishedAt, updatedAt, timeline }: ReadItem, now: number): number | null {
  const told = [updatedAt, ...timeline.updates.map(({ at }) => at)].filter((at) => at !== null);
  const isPlanned = publishedAt !== null && (publishedAt > now || told.some((at) => at < publishedAt));
  return isPlanned ? publishedAt : null;
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
  const ordered = dated.toReversed().sort((a, b) => (a.at ?? now) - (b.at ?? now));
  return ordered.map((update, index) => {
    // The newest one of what is over tells the end, whatever its own word is.
    const isEnd = index === ordered.length - 1 && statusOf(meaning) === 'resolved';
    status = isEnd ? 'resolved' : (statusOf(update.meaning) ?? status);
    return { at: update.at ?? now, status, text: boundText(update.text) };
  });
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
