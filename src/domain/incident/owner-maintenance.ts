/** Maintenance that owners announce for their services and status pages, once or recurring; and the bytes that all their posts take. */
import { DAY_MS } from '../durations.ts';
import { beginningOf, SHORT_TIMELINE } from './incident.ts';
import { type OwnerIncident, type OwnerText, textBytesOf } from './owner-incident.ts';
import { occurrencesFrom } from './recurrence.ts';

/** Bounds, which the documentation and refusals state. */
export const OWNER_MAINTENANCE_BOUNDS = {
  /** Of an account, those that are over included. */
  perAccount: 500,
  subjects: 100,
  titleCharacters: 200,
  textCharacters: 10_000,
  minDurationMs: 60_000,
  maxDurationMs: 30 * DAY_MS,
  /** Of one that recurs, so that none lasts until the next one. */
  maxRecurringMs: DAY_MS,
  /** Maximum time from now to the first one. */
  maxAheadMs: 2 * 366 * DAY_MS,
} as const;

interface OccurrenceChange {
  /** The start of the occurrence, epoch milliseconds. */
  readonly startsAt: number;
  /** Its end, epoch milliseconds; null: it is cancelled. */
  readonly endsAt: number | null;
}

export interface OwnerMaintenance extends OwnerText {
  readonly id: number;
  readonly accountId: number;
  readonly title: string;
  /** Start of the first occurrence, epoch milliseconds. */
  readonly startsAt: number;
  readonly durationMs: number;
  /** IANA name of the time zone in which it recurs and is shown to its owner. */
  readonly timeZone: string;
  /** The value of `RRULE`; null: it happens once. */
  readonly recurrence: string | null;
  /** IDs of services of the account. */
  readonly services: readonly number[];
  /** IDs of status pages of the account; it also concerns the services of the account on them. */
  readonly pages: readonly number[];
  /** Occurrences that were changed by themselves. */
  readonly changes: readonly OccurrenceChange[];
  /** The time at which the owner withdrew it, epoch milliseconds; null: it is in force. */
  readonly cancelledAt: number | null;
  /** Increases with each change. */
  readonly revision: number;
  /** The time at which it was announced, epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Occurrence {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Occurrences that a query may return. */
const MAX_OCCURRENCES = 200;

/** The occurrences that end after `from`, in order, at most `limit`; none if it was withdrawn. */
export async function occurrencesOf(
  maintenance: Omit<OwnerMaintenance, keyof OwnerText | 'title'>,
  from: number,
  limit: number,
): Promise<readonly Occurrence[]> {
  const { startsAt, durationMs, timeZone, recurrence: rule, changes, cancelledAt } = maintenance;
  if (cancelledAt !== null) return [];
  // A changed occurrence may last longer than others.
  const longest = Math.max(durationMs, ...changes.map((one) => (one.endsAt ?? one.startsAt) - one.startsAt));
  // At most one begins in a day, and those of the days before may have ended.
  const wanted = Math.min(MAX_OCCURRENCES, limit + changes.length + Math.ceil(longest / DAY_MS) + 1);
  const starts =
    rule === null ? [startsAt] : await occurrencesFrom({ rule, startsAt, timeZone }, from - longest, wanted);
  const changed = new Map(changes.map((one) => [one.startsAt, one.endsAt]));
  return starts
    .flatMap((start): Occurrence[] => {
      const endsAt = changed.has(start) ? (changed.get(start) ?? null) : start + durationMs;
      return endsAt === null || endsAt <= from ? [] : [{ startsAt: start, endsAt }];
    })
    .slice(0, limit);
}

/** The ID of an occurrence, which begins those that it has at services, in lists of maintenances and of incidents. */
export function occurrenceId(id: number, startsAt: number): string {
  return `owner-m${id}-${Math.round(startsAt / 1_000)}`;
}

export function ownerMaintenanceId(id: number): string {
  return `m${id}`;
}

/** The number in such an ID; null: it is none. */
export function readOwnerMaintenanceId(text: string): number | null {
  const digits = /^m(\d{1,15})$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The members that decide the times of a maintenance. */
type Times = Pick<OwnerMaintenance, 'startsAt' | 'durationMs' | 'timeZone' | 'recurrence'>;

/** The changes of single occurrences that stay when a maintenance is given these times: at other times there are others. */
export function keptChanges(before: OwnerMaintenance, times: Times): readonly OccurrenceChange[] {
  const isSame =
    times.startsAt === before.startsAt &&
    times.durationMs === before.durationMs &&
    times.timeZone === before.timeZone &&
    times.recurrence === before.recurrence;
  return isSame ? before.changes : [];
}

/** The maintenance after a change of one occurrence; changes of occurrences long past are dropped. */
export function withOccurrence(maintenance: OwnerMaintenance, change: OccurrenceChange, now: number) {
  const kept = maintenance.changes.filter(
    ({ startsAt }) =>
      startsAt !== change.startsAt && startsAt > now - 2 * OWNER_MAINTENANCE_BOUNDS.maxDurationMs,
  );
  return { ...maintenance, changes: [...kept, change] };
}

/** Of all incidents and maintenances of an account. A post that takes no more than before is never refused. */
export const MAX_POST_BYTES = 67_108_864;

/** Rows that each service of a maintenance has: the occurrence that runs or comes next, and the one after it. */
export const OCCURRENCES_AHEAD = 2;

type MaintenancePost = Pick<OwnerMaintenance, 'title' | 'markdown' | 'plain' | 'startsAt' | 'recurrence'>;

export function incidentBytesOf(
  post: Pick<OwnerIncident, 'title' | 'services' | 'updates' | 'postMortem'>,
): number {
  const { title, services, updates, postMortem } = post;
  const newest = (postMortem === null ? updates : [...updates, postMortem]).slice(-SHORT_TIMELINE.updates);
  const texts = [...newest, ...updates.slice(-1)].map(({ plain }) => beginningOf(plain)).join('');
  return Buffer.byteLength(title) + textBytesOf(post) + services.length * Buffer.byteLength(title + texts);
}

/**
 * Bytes of a maintenance that concerns `services`. `before`: the maintenance and the bytes that it took. One that moves leaves the rows
 * of its former occurrences.
 */
export function maintenanceBytesOf(
  { title, markdown, plain, startsAt, recurrence }: MaintenancePost,
  services: number,
  before: (Pick<MaintenancePost, 'startsAt' | 'recurrence'> & { readonly textBytes: number }) | null = null,
): number {
  const listed = Buffer.byteLength(title + plain) * services * OCCURRENCES_AHEAD;
  const hasMoved = before !== null && (before.startsAt !== startsAt || before.recurrence !== recurrence);
  return Buffer.byteLength(title + markdown + plain) + listed + (hasMoved ? before.textBytes : 0);
}
