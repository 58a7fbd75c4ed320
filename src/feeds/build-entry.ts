/**
 * Builds the entries of feeds from what the kinds parse, with the same limits for every kind; and those of outages that a page
 * shows without an incident.
 */
import { createHash } from 'node:crypto';
import { DAY_MS } from '../domain/durations.ts';
import type { FeedEntry, FeedIncident, FeedMaintenance, FeedUpdate } from '../domain/incident/feed-entry.ts';
import { INCIDENT_STATUSES } from '../domain/incident/incident.ts';
import type { FeedAddress } from './feed-kind.ts';
import { oneLine, plainText } from './plain-text.ts';

const MAX_KEY_LENGTH = 300;
const MAX_TITLE_LENGTH = 300;
const MAX_UPDATES = 100;
const MAX_COMPONENTS = 1_000;
const MAX_RAW_NAME_LENGTH = 1_000;
const MAX_ENTRIES = 2_000;
/** Entries that started longer ago are ignored. */
export const MAX_ENTRY_AGE_MS = 400 * DAY_MS;
/** Vendors' clocks differ from ours by less. */
const MAX_CLOCK_OFFSET_MS = DAY_MS;

const SEVERITIES: readonly FeedIncident['severity'][] = ['minor', 'major', 'critical'];

/** The severities that many vendors name as the API does. */
export const COMMON_SEVERITIES = Object.fromEntries(SEVERITIES.map((word) => [word, word]));

/** The statuses that many vendors name as the API does. */
export const COMMON_STATUSES = Object.fromEntries(INCIDENT_STATUSES.map((word) => [word, word]));

/**
 * The parsed members of an entry, of any length and as the vendor wrote them: a key that is not empty, a title that may
 * contain markup and may be empty, a safe link, and updates in any order.
 */
interface EntryDraft extends Pick<FeedIncident, 'key' | 'title' | 'sourceUrl' | 'updates'> {
  /** Names and identifiers, some of them empty; an empty list: the feed does not say. */
  readonly components: readonly string[];
}

interface IncidentDraft
  extends EntryDraft,
    Pick<FeedIncident, 'severity' | 'status' | 'startedAt' | 'continues'> {
  /** Ignored unless the status is `resolved`. */
  readonly resolvedAt: number | null;
}

interface MaintenanceDraft extends EntryDraft, Pick<FeedMaintenance, 'startsAt' | 'endsAt' | 'state'> {}

/**
 * Builds an incident. If it is resolved without a time, it ended with the first of the last updates that say so. If it is
 * open, `resolvedAt` is ignored: the vendor has opened it again. It does not start after its end.
 */
export function buildIncident(draft: IncidentDraft): FeedIncident {
  const { severity, status, continues } = draft;
  const base = buildBase(draft, 'Incident', status === 'resolved');
  const resolvedAt = status === 'resolved' ? (draft.resolvedAt ?? resolvedSince(base.updates)) : null;
  const startedAt =
    draft.startedAt === null || resolvedAt === null ? draft.startedAt : Math.min(draft.startedAt, resolvedAt);
  const incident: FeedIncident = { kind: 'incident', ...base, severity, status, startedAt, resolvedAt };
  return continues === undefined ? incident : { ...incident, continues };
}

/** Builds a maintenance. An end before the start is ignored unless the maintenance is done. */
export function buildMaintenance(draft: MaintenanceDraft): FeedMaintenance {
  const { startsAt, endsAt, state } = draft;
  const base = buildBase(draft, 'Maintenance', state === 'done');
  const isEnd = endsAt !== null && (endsAt >= startsAt || state === 'done');
  return { kind: 'maintenance', ...base, startsAt, endsAt: isEnd ? endsAt : null, state };
}

/** The entries of one document: newest start first; keys are unique. */
export type FeedReading = ReturnType<typeof readFeedDocument>;

/** Parses a document and collects its entries. Throws FeedFormatError if it is of another kind. */
export function readFeedDocument({ read, listsOnlyOpen }: FeedAddress, body: Uint8Array, now: number) {
  return { entries: collectEntries(read(body, now), now), listsOnlyOpen };
}

/**
 * The newest 2,000 entries, newest start first, without those that started over 400 days before `now` (epoch
 * milliseconds). Of two entries with one key, the one with the newer update counts, else the one with the later start,
 * else the first. Times of an incident more than a day after `now` count as missing.
 */
export function collectEntries(entries: Iterable<FeedEntry | null>, now: number): FeedEntry[] {
  const byKey = new Map<string, FeedEntry>();
  for (const found of entries) {
    if (found === null) continue;
    const entry = withoutFuture(found, now + MAX_CLOCK_OFFSET_MS);
    if (startOf(entry, now) < now - MAX_ENTRY_AGE_MS) continue;
    const other = byKey.get(entry.key);
    if (other === undefined || isNewer(entry, other, now)) byKey.set(entry.key, entry);
  }
  return [...byKey.values()]
    .sort((a, b) => startOf(b, now) - startOf(a, now) || (a.key < b.key ? -1 : 1))
    .slice(0, MAX_ENTRIES);
}

/** The updates with another status for the newest, which is the last one. */
export function withLastStatus(
  updates: readonly FeedUpdate[],
  status: FeedUpdate['status'],
): readonly FeedUpdate[] {
  return updates.map((update, index) => (index === updates.length - 1 ? { ...update, status } : update));
}

/** The worst of several severities; `minor` if there is none. */
export function worstSeverity(list: readonly FeedIncident['severity'][]): FeedIncident['severity'] {
  return SEVERITIES.findLast((severity) => list.includes(severity)) ?? 'minor';
}

function buildBase(
  { key, title, sourceUrl, components, updates }: EntryDraft,
  fallbackTitle: string,
  isOver: boolean,
) {
  // Cut before they are parsed: one long name may occur in thousands of entries.
  const raw = new Set(components.map((name) => name.slice(0, MAX_RAW_NAME_LENGTH)));
  const names = [...raw].slice(0, MAX_COMPONENTS).map((name) => oneLine(plainText(name), MAX_TITLE_LENGTH));
  const named = [...new Set(names)].filter((name) => name !== '');
  // Only plain text on one line comes back from a store unchanged and contains no markup.
  const isPlainKey = oneLine(key, MAX_KEY_LENGTH) === key;
  return {
    key: isPlainKey ? key : createHash('sha256').update(key).digest('hex'),
    title: oneLine(plainText(title), MAX_TITLE_LENGTH) || fallbackTitle,
    sourceUrl,
    components: named.length === 0 ? null : named,
    // An end is the last of several updates of one moment: people publish them together afterwards.
    updates: updates
      .toSorted((a, b) => a.at - b.at || (isOver ? rankOf(a) - rankOf(b) : 0))
      .slice(-MAX_UPDATES),
  };
}

function rankOf({ status }: FeedUpdate): number {
  return status === 'resolved' ? 1 : 0;
}

/** The time of the first of the last updates that say resolved: a review that is published later is not the end. */
function resolvedSince(updates: readonly FeedUpdate[]): number | null {
  const lastOpen = updates.findLastIndex(({ status }) => status !== 'resolved');
  return updates[lastOpen + 1]?.at ?? null;
}

function isNewer(entry: FeedEntry, other: FeedEntry, now: number): boolean {
  const byUpdate = (entry.updates.at(-1)?.at ?? 0) - (other.updates.at(-1)?.at ?? 0);
  return (byUpdate || startOf(entry, now) - startOf(other, now)) > 0;
}

/** An entry without a start counts from the first reading. */
function startOf(entry: FeedEntry, now: number): number {
  return entry.kind === 'incident' ? (entry.startedAt ?? now) : entry.startsAt;
}

function withoutFuture(entry: FeedEntry, latest: number): FeedEntry {
  if (entry.kind === 'maintenance') return entry;
  const { startedAt, resolvedAt, updates } = entry;
  const past = (at: number | null) => (at !== null && at <= latest ? at : null);
  if (past(startedAt) === startedAt && past(resolvedAt) === resolvedAt && (updates.at(-1)?.at ?? 0) <= latest)
    return entry;
  return {
    ...entry,
    startedAt: past(startedAt),
    resolvedAt: past(resolvedAt),
    updates: updates.filter(({ at }) => at <= latest),
  };
}

type Severity = FeedIncident['severity'];

/** From bad to good, with the titles of outages that the page does not name. */
const TITLES: Readonly<Record<Severity, string>> = {
  critical: 'Downtime',
  major: 'Downtime',
  minor: 'Degraded performance',
};

const STATE_SEVERITIES = Object.keys(TITLES) as Severity[];

/** Keys of outages without an incident. An incident, or another severity, may continue such an outage. */
export const STATE_KEYS: readonly string[] = STATE_SEVERITIES.map(keyOf);

interface PagePart {
  /** As in the components of the page's incidents. */
  readonly id: string;
  /** All names that a service may have it by, `id` included. */
  readonly names: readonly string[];
  /** Null: it is well, or under maintenance. */
  readonly severity: Severity | null;
}

interface ShownStates {
  readonly pageUrl: string;
  readonly parts: readonly PagePart[];
  /** By the state of the page; null: it is well, or under maintenance. */
  readonly pageSeverity: Severity | null;
  /** The page's description of its state; null: it does not. */
  readonly title: string | null;
}

/**
 * One incident for each severity of the parts that no open entry of the page names, or one for the state of the page if no
 * part and no entry explains it. None if an open entry names no parts. `entries` are those of the page.
 */
export function unreportedOutages(
  { pageUrl, parts, pageSeverity, title }: ShownStates,
  entries: readonly (FeedEntry | null)[],
  now: number,
): FeedIncident[] {
  const open = entries.filter((entry) => entry !== null && isOpen(entry, now));
  if (open.some((entry) => entry?.components === null)) return [];
  const named = new Set(open.flatMap((entry) => entry?.components ?? []));
  const outageOf = (severity: Severity, components: readonly string[]) =>
    buildIncident({
      key: keyOf(severity),
      continues: STATE_KEYS.filter((key) => key !== keyOf(severity)),
      title: title ?? TITLES[severity],
      sourceUrl: pageUrl,
      components,
      updates: [],
      severity,
      status: 'investigating',
      // It began with the first reading.
      startedAt: null,
      resolvedAt: null,
    });
  const found = STATE_SEVERITIES.flatMap((severity) => {
    const bad = parts.filter((part) => part.severity === severity && !named.has(part.id));
    return bad.length === 0
      ? []
      : [
          outageOf(
            severity,
            bad.flatMap(({ names }) => names),
          ),
        ];
  });
  const isExplained = open.length > 0 || parts.some(({ severity }) => severity !== null);
  return pageSeverity === null || isExplained
    ? found
    : [{ ...outageOf(pageSeverity, []), isOfWholePage: true }];
}

function isOpen(entry: FeedEntry, now: number): boolean {
  if (entry.kind === 'incident') return entry.status !== 'resolved';
  return entry.state === 'running' || (entry.state === 'planned' && isNow(entry, now));
}

function isNow({ startsAt, endsAt }: Extract<FeedEntry, { kind: 'maintenance' }>, now: number): boolean {
  return startsAt <= now && now < (endsAt ?? now + 1);
}

function keyOf(severity: Severity): string {
  return `state ${severity}`;
}
