/**
 * The reference implementation's life of one vendor's incident, and of one maintenance. "D" is the section Incidents of the contract's
 * page of decisions, "F" docs/feeds.md. Times are epoch milliseconds.
 */
import type { Listed } from '../world-announcements.ts';

const DAY_MS = 86_400_000;

interface Update {
  readonly at: number;
  readonly status: string;
  readonly text: string;
}

/** An incident as the lists show it. */
export interface Told {
  severity: string;
  status: string;
  startedAt: number;
  resolvedAt: number | null;
  updates: Update[];
  /** Its end was inferred, because it was listed no more. */
  vanishedAt: number | null;
}

/** An entry of a page for one service, or an occurrence of an owner's maintenance. */
export interface Entry {
  readonly id: string;
  readonly service: number;
  /** The owner's maintenance; null: a vendor's. */
  readonly work: number | null;
  kind: 'incident' | 'maintenance';
  readonly title: string;
  startsAt: number;
  endsAt: number | null;
  state: 'planned' | 'running' | 'done';
  phase: 'planned' | 'running' | 'over';
  /** When its phase changes by the clock; null: never. */
  dueAt: number | null;
  /** When it was to end, as it was known last while it was not over. */
  knownEnd?: number;
  /** Of a maintenance that is over: until when it ran. */
  ranUntil?: number;
  /** It had not ended at the last reading. */
  isOpen: boolean;
  /** D: a maintenance "elsewhere on a page of many products changes nothing" for the checks of the service. */
  isElsewhere?: boolean;
  /** Updates of a maintenance. */
  written: Update[];
  incident: Told | null;
}

/** F: "Every update is kept." Time and status make an update; of two, the newer text counts. */
function merge(known: readonly Update[], added: readonly Update[]): Update[] {
  // A corrected text stays at the place of the old one.
  const all = known.map((one) => added.findLast((other) => isSame(one, other)) ?? one);
  for (const one of added) if (!all.some((other) => isSame(one, other))) all.push(one);
  return all.sort((a, b) => a.at - b.at);
}

function isSame(one: Update, other: Update): boolean {
  return one.at === other.at && one.status === other.status;
}

/** A page that lists only the newest update may give it another time at each reading. */
function mergeListed(known: readonly Update[], listed: readonly Update[]): Update[] {
  const [only] = listed;
  if (listed.length === 1 && known.some(({ status, text }) => status === only?.status && text === only.text))
    return [...known];
  return merge(known, listed);
}

function toWall(updates: readonly Update[], startAt: number): Update[] {
  return updates.map((one) => ({ ...one, at: startAt + one.at }));
}

/** An incident was listed at `now`. */
export function readIncident(
  entry: Entry,
  listed: Extract<Listed, { readonly kind: 'incident' }>,
  startAt: number,
  now: number,
): void {
  const { severity, status } = listed;
  let known = entry.incident;
  const listedAt = listed.startedAt === null ? null : startAt + listed.startedAt;
  const listedEnd = listed.resolvedAt === null ? null : startAt + listed.resolvedAt;
  const updates = toWall(listed.updates, startAt);
  // The vendor's own word about the end replaces the one that was inferred.
  const tellsEnd =
    status === 'resolved' && (listedEnd !== null || updates.some((one) => one.status === 'resolved'));
  if (known !== null && known.vanishedAt !== null && tellsEnd) {
    known = {
      ...known,
      resolvedAt: null,
      updates: known.updates.filter(({ text }) => text !== VANISHED),
      vanishedAt: null,
    };
  }
  const startedAt = Math.min(listedAt ?? Number.POSITIVE_INFINITY, known?.startedAt ?? listedAt ?? now);
  let merged = mergeListed(known?.updates ?? [], updates);
  const last = merged.at(-1);
  if (last?.status !== status) {
    // F: "If the status changes without a new text, an update without text records the time of the reading."
    const movedAt = status === 'resolved' ? (listedEnd ?? now) : now;
    const at = last !== undefined ? Math.max(movedAt, last.at) : status === 'resolved' ? movedAt : startedAt;
    merged = merge(merged, [{ at, status, text: '' }]);
  }
  const endedAt =
    listedEnd ?? known?.resolvedAt ?? merged.findLast((one) => one.status === 'resolved')?.at ?? now;
  entry.incident = {
    ...{ severity, status, startedAt, updates: merged, vanishedAt: known?.vanishedAt ?? null },
    resolvedAt: status === 'resolved' ? Math.max(startedAt, endedAt) : null,
  };
  entry.isOpen = status !== 'resolved';
}

/** A maintenance was listed at `now`. */
export function readMaintenance(
  entry: Entry,
  listed: Extract<Listed, { readonly kind: 'maintenance' }>,
  startAt: number,
  now: number,
): void {
  entry.startsAt = startAt + listed.startsAt;
  entry.endsAt = listed.endsAt === null ? null : startAt + listed.endsAt;
  entry.state = listed.state;
  entry.written = mergeListed(entry.written, toWall(listed.updates, startAt));
  moveMaintenance(entry, now);
}

/** Whether a maintenance runs at a time, by the clock and the word of who announced it. */
export function isRunningAt(entry: Entry, at: number): boolean {
  if (entry.state === 'done' || (entry.state === 'planned' && at < entry.startsAt)) return false;
  return at < endOf(entry);
}

/** F: it "lasts up to one day longer if the vendor says that it is still in progress"; without an end it lasts a day. */
function endOf({ state, startsAt, endsAt }: Entry): number {
  if (endsAt === null) return startsAt + DAY_MS;
  return state === 'running' ? endsAt + DAY_MS : endsAt;
}

function noteEnd(entry: Entry): void {
  entry.knownEnd = endOf(entry);
  delete entry.ranUntil;
}

function noteOver(entry: Entry, now: number): void {
  // Of one that was over when it was first seen, nobody knew while it ran.
  entry.ranUntil ??= entry.knownEnd === undefined ? entry.startsAt : Math.min(now, entry.knownEnd);
}

/** When the phase of a maintenance changes next by the clock; null: never. */
export function nextMoveOf(entry: Entry, now: number): number | null {
  if (entry.state === 'done') return null;
  if (entry.state === 'planned' && now < entry.startsAt) return entry.startsAt;
  const endsAt = endOf(entry);
  return now < endsAt ? endsAt : null;
}

/** D: it "enters the lists when it starts (`identified`, severity `maintenance`) and is `resolved` at its end". */
export function moveMaintenance(entry: Entry, now: number): void {
  const { state, startsAt, endsAt } = entry;
  const isPlanned = state === 'planned' && now < startsAt;
  entry.phase = isPlanned ? 'planned' : isRunningAt(entry, now) ? 'running' : 'over';
  entry.isOpen = entry.phase !== 'over';
  entry.dueAt = nextMoveOf(entry, now);
  if (entry.isOpen) noteEnd(entry);
  else noteOver(entry, now);
  const known = entry.incident;
  const isCancelled = state === 'done' && endsAt !== null && endsAt < startsAt;
  const hasBegun = entry.phase === 'running' || (entry.phase === 'over' && startsAt <= now && !isCancelled);
  if (known === null && !hasBegun) return;
  const startedAt = known?.startedAt ?? Math.min(startsAt, now);
  const endedAt = Math.max(startedAt, known?.resolvedAt ?? Math.min(endsAt ?? now, now));
  const resolvedAt = entry.phase === 'over' ? endedAt : null;
  const written = merge(known?.updates ?? [], entry.written);
  const marks: Update[] = [];
  if (!written.some(({ at }) => at >= startedAt))
    marks.push({ at: startedAt, status: 'identified', text: BEGAN });
  if (resolvedAt !== null && !written.some(({ status }) => status === 'resolved'))
    marks.push({ at: resolvedAt, status: 'resolved', text: OVER });
  entry.incident = {
    ...{ severity: 'maintenance', status: resolvedAt === null ? 'identified' : 'resolved' },
    ...{ startedAt, resolvedAt, updates: merge(written, marks), vanishedAt: null },
  };
}

/** Our own words in timelines; what they say is not compared. */
const VANISHED = '(listed no more)';
const BEGAN = '(began)';
const OVER = '(over)';

/** An entry that was open is listed no more at `now`. */
export function endEntry(entry: Entry, now: number): void {
  entry.isOpen = false;
  endMaintenance(entry, now);
  const { incident } = entry;
  if (incident === null || incident.status === 'resolved') return;
  const at = Math.max(now, incident.startedAt, incident.updates.at(-1)?.at ?? 0);
  entry.incident = {
    ...incident,
    ...{ status: 'resolved', resolvedAt: at, vanishedAt: at },
    updates: merge(incident.updates, [{ at, status: 'resolved', text: VANISHED }]),
  };
}

/** A maintenance is over by the word of its vendor, whatever its times are. */
function endMaintenance(entry: Entry, now: number): void {
  if (entry.kind !== 'maintenance') return;
  noteOver(entry, now);
  entry.state = 'done';
  entry.phase = 'over';
  entry.dueAt = null;
}
