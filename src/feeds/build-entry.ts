/** Makes entries of what readers found, so that every kind keeps the bounds of an entry in the same way. */
import { createHash } from 'node:crypto';
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/feed-entry.ts';
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
