/** The last step of every reader: from all entries of a document, those that count, in order. */
import { DAY_MS } from '../domain/durations.ts';
import type { FeedEntry } from '../domain/feed-entry.ts';

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
