/** Makes entries of what readers found, so that every kind keeps the bounds of an entry in the same way. */
import { createHash } from 'node:crypto';
import { DAY_MS } from '../domain/durations.ts';
import type { FeedEntry, FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/feed-entry.ts';
import { oneLine, plainText } from './plain-text.ts';

const MAX_KEY_LENGTH = 300;
const MAX_TITLE_LENGTH = 300;
const MAX_UPDATES = 100;
const MAX_COMPONENTS = 1_000;
const MAX_RAW_NAME_LENGTH = 1_000;

/** What a reader found of an entry, unbounded and as the vendor wrote it. */
interface EntryDraft {
  /** The vendor's identifier; not empty. */
  readonly key: string;
  /** May hold markup and may be empty. */
  readonly title: string;
  /** Already judged safe. */
  readonly sourceUrl: string;
  /** Names and identifiers, empty ones among them; an empty list where the feed does not say. */
  readonly components: readonly string[];
  /** In any order; texts are plain. */
  readonly updates: readonly FeedUpdate[];
}

/** An incident as a reader found it. */
export interface IncidentDraft extends EntryDraft {
  readonly severity: FeedIncident['severity'];
  readonly status: FeedIncident['status'];
  readonly startedAt: number | null;
  /** Left aside unless the status is `resolved`. */
  readonly resolvedAt: number | null;
  /** As in a {@link FeedIncident}. */
  readonly continues?: readonly string[];
}

/** A maintenance as a reader found it. */
export interface MaintenanceDraft extends EntryDraft {
  readonly startsAt: number;
  readonly endsAt: number | null;
  readonly state: FeedMaintenance['state'];
}

/**
 * An incident within its bounds. One that is resolved at no time of its own is resolved when the last updates began to
 * say so; one that the vendor opened again is not resolved, whatever time is given.
 */
export function buildIncident(draft: IncidentDraft): FeedIncident {
  const { severity, status, startedAt, continues } = draft;
  const base = buildBase(draft, 'Incident');
  const resolvedAt = status === 'resolved' ? (draft.resolvedAt ?? resolvedSince(base.updates)) : null;
  const incident: FeedIncident = { kind: 'incident', ...base, severity, status, startedAt, resolvedAt };
  return continues === undefined ? incident : { ...incident, continues };
}

/** A maintenance within its bounds. An end before its start is no end. */
export function buildMaintenance(draft: MaintenanceDraft): FeedMaintenance {
  const { startsAt, endsAt, state } = draft;
  const base = buildBase(draft, 'Maintenance');
  const isEnd = endsAt !== null && (endsAt >= startsAt || state === 'done');
  return { kind: 'maintenance', ...base, startsAt, endsAt: isEnd ? endsAt : null, state };
}

function buildBase({ key, title, sourceUrl, components, updates }: EntryDraft, fallbackTitle: string) {
  // Cut before they are read: one long name may stand in thousands of entries.
  const raw = new Set(components.map((name) => name.slice(0, MAX_RAW_NAME_LENGTH)));
  const names = [...raw].slice(0, MAX_COMPONENTS).map((name) => oneLine(plainText(name), MAX_TITLE_LENGTH));
  const named = [...new Set(names)].filter((name) => name !== '');
  return {
    key: isPlainKey(key) ? key : createHash('sha256').update(key).digest('hex'),
    title: oneLine(plainText(title), MAX_TITLE_LENGTH) || fallbackTitle,
    sourceUrl,
    components: named.length === 0 ? null : named,
    updates: orderUpdates(updates),
  };
}

/** Whether it is plain text on one line, which a store gives back as it was and which holds no markup. */
function isPlainKey(key: string): boolean {
  return oneLine(key, MAX_KEY_LENGTH) === key;
}

function orderUpdates(updates: readonly FeedUpdate[]): FeedUpdate[] {
  return updates.toSorted((a, b) => a.at - b.at).slice(-MAX_UPDATES);
}

/** When the updates at the end that all say resolved began: a look back that is published later is not the end. */
function resolvedSince(updates: readonly FeedUpdate[]): number | null {
  const lastOpen = updates.findLastIndex(({ status }) => status !== 'resolved');
  return updates[lastOpen + 1]?.at ?? null;
}

const MAX_ENTRIES = 2_000;
const MAX_AGE_MS = 400 * DAY_MS;
/** Vendors' clocks differ from ours, but not by more. */
const AHEAD_MS = DAY_MS;

/**
 * At most the 2,000 newest entries, newest start first, none that started over 400 days before `now` (epoch
 * milliseconds). Of two with the same key the one with the newer update counts, else the later start, else the first.
 * Times of an incident more than a day ahead of `now` are mistakes and read as missing.
 */
export function collectEntries(entries: Iterable<FeedEntry>, now: number): FeedEntry[] {
  const byKey = new Map<string, FeedEntry>();
  for (const found of entries) {
    const entry = withoutFuture(found, now + AHEAD_MS);
    if (startOf(entry, now) < now - MAX_AGE_MS) continue;
    const other = byKey.get(entry.key);
    if (other === undefined || isNewer(entry, other, now)) byKey.set(entry.key, entry);
  }
  return [...byKey.values()]
    .sort((a, b) => startOf(b, now) - startOf(a, now) || (a.key < b.key ? -1 : 1))
    .slice(0, MAX_ENTRIES);
}

function isNewer(entry: FeedEntry, other: FeedEntry, now: number): boolean {
  const byUpdate = (entry.updates.at(-1)?.at ?? 0) - (other.updates.at(-1)?.at ?? 0);
  return (byUpdate || startOf(entry, now) - startOf(other, now)) > 0;
}

/** An entry without a start of its own counts from the first read. */
function startOf(entry: FeedEntry, now: number): number {
  return entry.kind === 'incident' ? (entry.startedAt ?? now) : entry.startsAt;
}

function withoutFuture(entry: FeedEntry, latest: number): FeedEntry {
  if (entry.kind === 'maintenance') return entry;
  const { startedAt, resolvedAt, updates } = entry;
  const isPast = (at: number | null) => at === null || at <= latest;
  if (isPast(startedAt) && isPast(resolvedAt) && isPast(updates.at(-1)?.at ?? null)) return entry;
  return {
    ...entry,
    startedAt: isPast(startedAt) ? startedAt : null,
    resolvedAt: isPast(resolvedAt) ? resolvedAt : null,
    updates: updates.filter(({ at }) => at <= latest),
  };
}
