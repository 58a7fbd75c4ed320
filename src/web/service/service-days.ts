/** Days of a service in words and in rows: how much of each it was up, and for how long it was down. */
import { type Bucket, type DayKind, dayKindOf, SLOW_DAY_SHARE } from '../../domain/sample.ts';
import type { Language } from '../language/language.ts';

/** A row of the tables that say the same as the drawings. */
export interface DayRow {
  /** A UTC day (`2026-11-20`) or month (`2026-11`). */
  readonly date: string;
  /** Null: no checks. */
  readonly uptime: string | null;
  /** Null: no checks, or it was never down. */
  readonly down: string | null;
  readonly checks: string;
  /** The worst that it was. */
  readonly said: string;
}

/**
 * How long the service was down within a bucket, milliseconds: the share of failed checks of the time that was watched,
 * which is an interval for each check. 0 without checks.
 */
export function downMsOf({ startAt, endAt, count, downCount }: Bucket, intervalMs: number): number {
  return count === 0 ? 0 : (downCount / count) * Math.min(endAt - startAt, count * intervalMs);
}

/** The service was checked within the bucket, though perhaps in vain. */
export function isWatched({ count, suspectCount }: Bucket): boolean {
  return count + suspectCount > 0;
}

/** The first day that is known of a window; null: its very first day is, or none. */
export function firstKnownDay(days: readonly Bucket[]): Bucket | null {
  const first = days.findIndex(isWatched);
  return first < 1 ? null : (days[first] ?? null);
}

/** Share of good checks over buckets, from 0 to 1; null without checks. */
export function uptimeOf(buckets: readonly Bucket[]): number | null {
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const down = buckets.reduce((sum, bucket) => sum + bucket.downCount, 0);
  return count === 0 ? null : (count - down) / count;
}

/** A day in one line: `2026-11-20: 99.3% up, down for 10 min`. */
export function sayDay(bucket: Bucket, intervalMs: number, { words, formats }: Language): string {
  const kind = dayKindOf(bucket);
  const date = dateOf(bucket.startAt);
  const uptime = uptimeOf([bucket]);
  if (uptime === null) return words.page.dayWithout(date, words.page.dayKind[kind]);
  const downMs = downMsOf(bucket, intervalMs);
  const slowShare = bucket.slowCount / bucket.count;
  return words.page.day(
    date,
    formats.percent(uptime),
    downMs === 0 ? null : formats.length(downMs),
    slowShare > SLOW_DAY_SHARE ? formats.percent(slowShare) : null,
  );
}

/** The days as rows, newest first; days before the first check are left out. */
export function dayRows(buckets: readonly Bucket[], intervalMs: number, language: Language): DayRow[] {
  return sinceFirst(buckets)
    .map((bucket) => rowOf(dateOf(bucket.startAt), [bucket], intervalMs, language))
    .reverse();
}

/** The same by months. */
export function monthRows(buckets: readonly Bucket[], intervalMs: number, language: Language): DayRow[] {
  const months = Map.groupBy(sinceFirst(buckets), ({ startAt }) => dateOf(startAt).slice(0, 7));
  return [...months].map(([month, days]) => rowOf(month, days, intervalMs, language)).reverse();
}

/** `2026-11-20`, in UTC. */
export function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

const WORST_FIRST: readonly DayKind[] = ['down', 'slow', 'up', 'suspect', 'none'];

function rowOf(
  date: string,
  buckets: readonly Bucket[],
  intervalMs: number,
  { words, formats }: Language,
): DayRow {
  const uptime = uptimeOf(buckets);
  const downMs = buckets.reduce((sum, bucket) => sum + downMsOf(bucket, intervalMs), 0);
  const kinds = new Set(buckets.map(dayKindOf));
  return {
    date,
    uptime: uptime === null ? null : formats.percent(uptime),
    down: downMs === 0 ? null : formats.length(downMs),
    checks: formats.number(buckets.reduce((sum, { count }) => sum + count, 0)),
    said: words.page.dayKind[WORST_FIRST.find((kind) => kinds.has(kind)) ?? 'none'],
  };
}

function sinceFirst(buckets: readonly Bucket[]): readonly Bucket[] {
  const first = buckets.findIndex(isWatched);
  return first === -1 ? [] : buckets.slice(first);
}
