/**
 * The life of a vendor's incident (decisions, Incidents): what is stored of an entry after each read. Pure; reading the
 * same entry again changes nothing. Also the vendor's overall status, which is shown beside ours.
 */
import { DAY_MS } from '../durations.ts';
import type { FeedIncident } from './feed-entry.ts';
import { type Incident, type IncidentUpdate, noteOf, type Severity } from './incident.ts';

/** Maximum number of updates of an incident; the first and the newest ones are kept. */
const MAX_UPDATES = 100;

/** A list of this length may have dropped old entries; a shorter one is complete. */
const FULL_LIST = 10;

/** An open entry that its list may have dropped counts as ended this long after its start. */
const FORGOTTEN_AFTER_MS = 30 * DAY_MS;

/** The incident that an entry becomes. */
interface VendorContext {
  readonly id: string;
  readonly serviceId: number;
  /** The time at which the feed was read, epoch milliseconds. */
  readonly readAt: number;
}

/** Our note on an entry that is listed no more; no word of the vendor. */
const VANISHED = noteOf({ code: 'vanished' });

/** The incident after a read; `known` is its stored state, null at the first read. */
export function vendorIncident(
  known: Incident | null,
  entry: FeedIncident,
  { id, serviceId, readAt }: VendorContext,
): Incident {
  const stored = known === null ? null : withoutInferredEnd(known, entry);
  // A feed that changes the only time of an entry with its updates does not change its start.
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

/** Resolves an incident that its page no longer lists, at the time of the first read without it. */
export function endVanished(stored: Incident, readAt: number): Incident {
  const at = Math.max(readAt, stored.startedAt, stored.updates.at(-1)?.at ?? 0);
  return {
    ...stored,
    status: 'resolved',
    resolvedAt: at,
    updates: mergeUpdates(stored.updates, [{ at, status: 'resolved', ...VANISHED }]),
  };
}

/** The entries of a document, to infer why one is missing. */
interface ListedEntries {
  readonly listsOnlyOpen: boolean;
  /** Starts of the entries listed, epoch milliseconds. */
  readonly starts: readonly number[];
  readonly readAt: number;
}

/**
 * Returns true if an open entry that started at `startedAt` and is missing from its document has ended. If the document is a
 * long list of newer entries, which may have dropped it, it has not until 30 days after its start.
 */
export function hasEnded(startedAt: number, { listsOnlyOpen, starts, readAt }: ListedEntries): boolean {
  const pushedOut = starts.length >= FULL_LIST && starts.every((start) => start > startedAt);
  return listsOnlyOpen || !pushedOut || readAt - startedAt > FORGOTTEN_AFTER_MS;
}

/**
 * A vendor with a list of open entries and a history may publish the end in the history a moment after the entry has left
 * the list. The vendor's text and time then replace the inferred ones.
 */
function withoutInferredEnd(stored: Incident, { status, updates, resolvedAt }: FeedIncident): Incident {
  const isReported = status === 'resolved' && (resolvedAt !== null || lastOf(updates, 'resolved') !== null);
  if (!isReported) return stored;
  const reported = stored.updates.filter(({ text }) => text !== VANISHED.text);
  return reported.length === stored.updates.length
    ? stored
    : { ...stored, updates: reported, resolvedAt: null };
}

/** The stored and listed updates, and one of our own if the status changed without an update. */
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
 * Merges the stored updates with those that a feed lists. A feed with only the newest state may give it a new time at every
 * read, so that a state that is already known is no update.
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
 * Merges two timelines, oldest first. Time and status identify an update, so that a corrected text replaces the old one, and
 * an update that the vendor removes is kept.
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

/**
 * From good to bad: no open incident, only maintenance, then the highest severity of the open incidents. `unknown`: the page
 * was never read.
 */
export const VENDOR_STATUSES = [
  'unknown',
  'operational',
  'maintenance',
  'minor',
  'major',
  'critical',
] as const;

export type VendorStatus = (typeof VENDOR_STATUSES)[number];

export interface ServiceVendorStatus {
  /** The page for people. */
  readonly url: string;
  /** Kind of the page. */
  readonly kind: string;
  readonly status: VendorStatus;
  /** The time at which the status began, epoch milliseconds; null: unknown, for example if the vendor never had an incident. */
  readonly since: number | null;
  /** The incident that determines the status; null: none is open. */
  readonly incidentId: string | null;
  /** The time at which the page was last read, epoch milliseconds; null: never. */
  readonly readAt: number | null;
  /** The page was not read for so long that the status may be outdated. */
  readonly stale: boolean;
}

/** An incident of the vendor that is not resolved. */
interface OpenVendorIncident {
  readonly id: string;
  readonly severity: Severity;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** The incident that determines the status: the most severe, and of these the newest; null: none is open. */
export function worstOf(open: readonly OpenVendorIncident[]): OpenVendorIncident | null {
  let worst: OpenVendorIncident | null = null;
  for (const incident of open) {
    const difference = worst === null ? 1 : rank(incident.severity) - rank(worst.severity);
    if (difference > 0 || (difference === 0 && worst !== null && incident.startedAt > worst.startedAt))
      worst = incident;
  }
  return worst;
}

function rank(severity: Severity): number {
  return VENDOR_STATUSES.indexOf(severity);
}
