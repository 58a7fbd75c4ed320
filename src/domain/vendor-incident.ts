/**
 * The life of an incident that a vendor's page tells of (decisions, Incidents): what is stored of an entry after each
 * read. Pure, and the same entry read again changes nothing.
 */
import { DAY_MS } from './durations.ts';
import type { FeedIncident } from './feed-entry.ts';
import type { Incident, IncidentUpdate } from './incident.ts';
import { noteOf } from './incident-text.ts';

/** Updates kept of one incident: the first, and the newest. */
const MAX_UPDATES = 100;

/** A list this long may have pushed an old entry out; a shorter one lists all there is. */
const FULL_LIST = 10;

/** An open entry that its list no longer shows, and may have pushed out, counts as ended this long after its start. */
const FORGOTTEN_AFTER_MS = 30 * DAY_MS;

/** How the entry of a feed becomes the incident of a service. */
export interface VendorContext {
  readonly id: string;
  readonly serviceId: number;
  /** When the feed was read, epoch milliseconds. */
  readonly readAt: number;
}

/** What we write of an entry that is listed no more; no word of the vendor. */
const VANISHED = noteOf({ code: 'vanished' });

/** The incident after a read; `known` is what earlier reads left, null at the first. */
export function vendorIncident(
  known: Incident | null,
  entry: FeedIncident,
  { id, serviceId, readAt }: VendorContext,
): Incident {
  const stored = known === null ? null : withoutInferredEnd(known, entry);
  // A feed that moves an entry's only time along with its updates does not move its start.
  const startedAt = Math.min(
    entry.startedAt ?? Number.POSITIVE_INFINITY,
    stored?.startedAt ?? entry.startedAt ?? readAt,
  );
  const updates = timelineOf(stored, entry, startedAt, readAt);
  const ended = entry.resolvedAt ?? stored?.resolvedAt ?? lastOf(updates, 'resolved') ?? readAt;
  return {
    id,
    serviceId,
    source: 'vendor',
    title: entry.title,
    description: newestText(updates),
    severity: entry.severity,
    status: entry.status,
    startedAt,
    resolvedAt: entry.status === 'resolved' ? Math.max(startedAt, ended) : null,
    sourceUrl: entry.sourceUrl,
    goodChecks: 0,
    updates,
  };
}

/** Ends an incident that its page no longer lists. The time is inferred: the first read without it. */
export function endVanished(stored: Incident, readAt: number): Incident {
  const at = Math.max(readAt, stored.startedAt, stored.updates.at(-1)?.at ?? 0);
  return {
    ...stored,
    status: 'resolved',
    resolvedAt: at,
    updates: mergeUpdates(stored.updates, [{ at, status: 'resolved', ...VANISHED }]),
  };
}

/** What a document lists, as far as it tells why an entry is missing from it. */
export interface ListedEntries {
  readonly listsOnlyOpen: boolean;
  /** Starts of the entries listed, epoch milliseconds. */
  readonly starts: readonly number[];
  readonly readAt: number;
}

/**
 * Whether an open entry that started at `startedAt` and is missing from its document has ended. It has not where the
 * document is a long list of newer entries that may have pushed it out, until 30 days after its start.
 */
export function hasEnded(startedAt: number, { listsOnlyOpen, starts, readAt }: ListedEntries): boolean {
  const pushedOut = starts.length >= FULL_LIST && starts.every((start) => start > startedAt);
  return listsOnlyOpen || !pushedOut || readAt - startedAt > FORGOTTEN_AFTER_MS;
}

/**
 * A vendor with a list of what is open and a history may tell of the end in the history a moment after the entry has left
 * the list: then its own words and time stand, and what was inferred meanwhile goes.
 */
function withoutInferredEnd(stored: Incident, { status, updates, resolvedAt }: FeedIncident): Incident {
  const isTold = status === 'resolved' && (resolvedAt !== null || lastOf(updates, 'resolved') !== null);
  if (!isTold) return stored;
  const told = stored.updates.filter(({ text }) => text !== VANISHED.text);
  return told.length === stored.updates.length ? stored : { ...stored, updates: told, resolvedAt: null };
}

/** What is stored and what is listed, and an update of our own where the status moved without a word. */
function timelineOf(
  stored: Incident | null,
  { updates, status, resolvedAt }: FeedIncident,
  startedAt: number,
  readAt: number,
): IncidentUpdate[] {
  const merged = mergeListed(stored?.updates ?? [], updates);
  const last = merged.at(-1);
  if (last?.status === status) return merged;
  const movedAt = status === 'resolved' ? (resolvedAt ?? readAt) : readAt;
  const at = last === undefined ? (status === 'resolved' ? movedAt : startedAt) : Math.max(movedAt, last.at);
  return mergeUpdates(merged, [{ at, status, text: '' }]);
}

/**
 * One timeline of what is stored and what a feed lists. A feed that gives its newest state alone may stamp it anew at
 * every read: one that is known already is no update.
 */
export function mergeListed(
  stored: readonly IncidentUpdate[],
  listed: readonly IncidentUpdate[],
): IncidentUpdate[] {
  const only = listed.length === 1 ? listed[0] : undefined;
  if (only !== undefined && stored.some(({ status, text }) => status === only.status && text === only.text))
    return [...stored];
  return mergeUpdates(stored, listed);
}

/**
 * One timeline of two, oldest first. An update is known by its time and status, so that a text which the vendor mends
 * replaces the old one, and an update which the vendor takes away stays.
 */
export function mergeUpdates(
  stored: readonly IncidentUpdate[],
  added: readonly IncidentUpdate[],
): IncidentUpdate[] {
  const merged = new Map<string, IncidentUpdate>();
  for (const update of [...stored, ...added]) merged.set(`${update.at} ${update.status}`, update);
  const updates = [...merged.values()].sort((a, b) => a.at - b.at);
  if (updates.length > MAX_UPDATES) updates.splice(1, updates.length - MAX_UPDATES);
  return updates;
}

function newestText(updates: readonly IncidentUpdate[]): string {
  return updates.findLast(({ text }) => text !== '')?.text ?? '';
}

function lastOf(updates: readonly IncidentUpdate[], status: IncidentUpdate['status']): number | null {
  return updates.findLast((update) => update.status === status)?.at ?? null;
}
