/** Durations and times: their units, and how they are parsed and formatted; and the time of retention. */

/** Units of time in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const UNIT_MS = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 604_800_000,
  y: 31_536_000_000,
} as const;

/** Parses `250ms`, `1.5s`, `5m`, `90d`, `2y` into milliseconds; null: not a duration. A year has 365 days. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w|y)$/.exec(text.trim());
  if (match === null) return null;
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return Number.isSafeInteger(ms) ? ms : null;
}

/** Formats milliseconds with the largest unit that divides them: 90,000 is `90s`. */
export function formatDuration(ms: number): string {
  for (const unit of ['y', 'w', 'd', 'h', 'm', 's'] as const) {
    if (ms >= UNIT_MS[unit] && ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`;
  }
  return `${ms}ms`;
}

/** A time limit: `2.5 s` from one second on, in milliseconds below that. */
export function inSeconds(ms: number): string {
  return ms < SECOND_MS ? `${ms} ms` : `${ms / SECOND_MS} s`;
}

/** ISO 8601 UTC with milliseconds, the only form of time in the API (decisions, Services). */
export function formatTime(at: number): string {
  return new Date(at).toISOString();
}

/** As {@link formatTime}; null stays null. */
export function formatTimeOrNull(at: number | null): string | null {
  return at === null ? null : formatTime(at);
}

const FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,30}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Parses an ISO 8601 time in the profile of RFC 3339, such as `2026-11-20T10:00:00.000Z`, with or without a fraction, and
 * with `Z` or an offset, into epoch milliseconds; finer fractions are cut off. Null: not a valid time.
 */
export function readTime(text: string): number | null {
  const match = FORM.exec(text);
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const offsetMinutes = part(9) * 60 + part(10);
  if (hour > 23 || minute > 59 || second > 59 || part(9) > 23 || part(10) > 59) return null;
  const date = new Date(0);
  // `Date.UTC` would take the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const local = date.setUTCHours(hour, minute, second, milliseconds);
  return local - (match[8] === '-' ? -1 : 1) * offsetMinutes * 60_000;
}

/** Shortest retention of incidents: webhooks, feeds and pages speak of the last 30 days. */
export const MIN_INCIDENT_RETENTION_MS = 30 * DAY_MS;

/**
 * The next retention time: the time by which retention counts, epoch milliseconds. It never goes back, never exceeds the wall clock by
 * going forward, and moves at most twice as fast as time passes. So a clock that is set forward by a year for an hour makes nothing
 * older than it is by more than an hour, and the time that the program did not run is made up for as slowly. `elapsedMs`: time since
 * `known` by the monotonic clock. Whole milliseconds, as every time in the registry: PostgreSQL takes no others.
 */
export function nextRetentionTime(known: number, now: number, elapsedMs: number): number {
  return Math.floor(Math.max(known, Math.min(now, known + 2 * elapsedMs)));
}
