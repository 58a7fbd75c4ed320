/** Days of a service as rows and as drawings: bars and a calendar. Shape and position repeat the meaning of colours. */
import { DAY_MS } from '../../domain/durations.ts';
import { type Bucket, type DayKind, dayKindOf, SLOW_DAY_SHARE, uptimeOf } from '../../domain/sample.ts';
import type { Service } from '../../domain/service.ts';
import type { Language } from '../language/language.ts';
import type { UnreachedDays } from '../parts/uptime-bars.ts';

/**
 * The downtime of a service within a bucket, milliseconds: the ratio of failed checks multiplied by the monitored time,
 * which is one interval per check. 0 without checks.
 */
export function downMsOf({ startAt, endAt, count, downCount }: Bucket, intervalMs: number): number {
  return count === 0 ? 0 : (downCount / count) * Math.min(endAt - startAt, count * intervalMs);
}

/** Returns true if the service was checked within the bucket, even if all checks were suspect. */
export function isWatched({ count, suspectCount }: Bucket): boolean {
  return count + suspectCount > 0;
}

/** The first known day of a window; null: that is the first day of the window, or no day is known. */
export function firstKnownDay(days: readonly Bucket[]): Bucket | null {
  const first = days.findIndex(isWatched);
  return first < 1 ? null : (days[first] ?? null);
}

/** Number of days from the first known one on; 0: none is known. */
export function countKnownDays(days: readonly Bucket[]): number {
  return sinceFirst(days).length;
}

/** The texts about days on which the service could not be reached because something else was down, by the start of the day. */
export type UnreachedTexts = ReadonlyMap<number, string>;

const NONE: UnreachedTexts = new Map();

/** The texts about such days. `nameOf`: null: those who read them may not know of the cause. */
export function sayUnreached(
  days: UnreachedDays,
  { texts }: Language,
  nameOf: (cause: Service) => string | null,
): UnreachedTexts {
  const say = (cause: Service | null) =>
    cause === null ? texts.page.unreachedDay : texts.service.because(nameOf(cause));
  return new Map([...days].map(([startAt, cause]) => [startAt, say(cause)]));
}

/** A day in one line: `2026-11-20: 99.3% up, down for 10 min`. `unreached`: what is said instead if no check of it counts. */
export function describeDay(
  bucket: Bucket,
  intervalMs: number,
  { texts, formats }: Language,
  unreached?: string,
): string {
  const kind = dayKindOf(bucket);
  const date = dateOf(bucket.startAt);
  const uptime = uptimeOf([bucket]);
  if (uptime === null) return texts.page.dayWithout(date, unreached ?? texts.page.dayKind[kind]);
  const downMs = downMsOf(bucket, intervalMs);
  const slowShare = bucket.slowCount / bucket.count;
  return texts.page.day(
    date,
    formats.percent(uptime),
    downMs === 0 ? null : formats.length(downMs),
    slowShare > SLOW_DAY_SHARE ? formats.percent(slowShare) : null,
  );
}

/** The days as rows of a table, newest first; days before the first check are left out. Null: an empty cell. */
export function dayRows(
  buckets: readonly Bucket[],
  intervalMs: number,
  language: Language,
  unreached: UnreachedTexts = NONE,
) {
  return sinceFirst(buckets)

    .map((bucket) => ({
      ...rowOf(dateOf(bucket.startAt), [bucket], intervalMs, language),
      label: labelOf([bucket], language, unreached),
    }))
    .reverse();
}

/** The months as rows of a table, as {@link dayRows}. */
export function monthRows(
  buckets: readonly Bucket[],
  intervalMs: number,
  language: Language,
  unreached: UnreachedTexts = NONE,
) {
  const months = Map.groupBy(sinceFirst(buckets), ({ startAt }) => dateOf(startAt).slice(0, 7));
  return [...months]
    .map(([month, days]) => ({
      ...rowOf(month, days, intervalMs, language),
      label: labelOf(days, language, unreached),
    }))
    .reverse();
}

/** `2026-11-20`, in UTC. */
function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

const WORST_FIRST: readonly DayKind[] = ['down', 'slow', 'up', 'suspect', 'none'];

function rowOf(date: string, buckets: readonly Bucket[], intervalMs: number, { formats }: Language) {
  const uptime = uptimeOf(buckets);
  const downMs = buckets.reduce((sum, bucket) => sum + downMsOf(bucket, intervalMs), 0);
  return {
    date,
    uptime: uptime === null ? null : formats.percent(uptime),
    down: downMs === 0 ? null : formats.length(downMs),
    checks: formats.number(buckets.reduce((sum, { count }) => sum + count, 0)),
  };
}

/** The word for what was worst. */
function labelOf(buckets: readonly Bucket[], { texts }: Language, unreached: UnreachedTexts): string {
  const kinds = new Set(buckets.map(dayKindOf));
  const worst = WORST_FIRST.find((kind) => kinds.has(kind)) ?? 'none';
  const behind = buckets.map(({ startAt }) => unreached.get(startAt)).find((text) => text !== undefined);
  return (worst === 'suspect' ? behind : undefined) ?? texts.page.dayKind[worst];
}

function sinceFirst(buckets: readonly Bucket[]): readonly Bucket[] {
  const first = buckets.findIndex(isWatched);
  return first === -1 ? [] : buckets.slice(first);
}

const BAR_HEIGHT = 40;
const BAR_STEP = 11;
const BAR_WIDTH = 8;
/** Minimum part of a bar for an outage, so that a minute of downtime is visible. */
const MIN_DOWN_RATIO = 0.25;
const CELL_STEP = 13;
const CELL_SIZE = 10;

/** The bars. The upper part of a bar shows the downtime; days without checks are short bars. */
export function barsOf(
  buckets: readonly Bucket[],
  intervalMs: number,
  language: Language,
  unreached: UnreachedTexts = NONE,
) {
  return {
    width: Math.max(0, buckets.length * BAR_STEP - (BAR_STEP - BAR_WIDTH)),
    height: BAR_HEIGHT,
    barWidth: BAR_WIDTH,
    bars: buckets.map((bucket, index) => ({
      x: index * BAR_STEP,
      label: describeDay(bucket, intervalMs, language, unreached.get(bucket.startAt)),
      parts: partsOf(bucket),
    })),
  };
}

/**
 * A calendar in which a column is a week that starts on Monday. `offset`: number of empty places before the first day.
 */
export function calendarOf(
  buckets: readonly Bucket[],
  intervalMs: number,
  language: Language,
  unreached: UnreachedTexts = NONE,
) {
  const offset = weekdayOf(buckets[0]?.startAt ?? 0);
  const columns = Math.ceil((buckets.length + offset) / 7);
  const monthName = new Intl.DateTimeFormat(language.dates, { month: 'short', timeZone: 'UTC' });
  return {
    width: Math.max(0, columns * CELL_STEP - (CELL_STEP - CELL_SIZE)),
    height: 7 * CELL_STEP - (CELL_STEP - CELL_SIZE),
    columns,
    offset,
    cells: buckets.map((bucket, index) => ({
      kind: dayKindOf(bucket),
      x: Math.floor((index + offset) / 7) * CELL_STEP,
      y: ((index + offset) % 7) * CELL_STEP,
      label: describeDay(bucket, intervalMs, language, unreached.get(bucket.startAt)),
    })),
    months: buckets.flatMap(({ startAt }, index) => {
      const column = Math.ceil((index + offset) / 7);
      // The name of a month in the last columns would be cut off.
      if (new Date(startAt).getUTCDate() !== 1 || column > columns - 2) return [];
      return [{ x: column * CELL_STEP, name: monthName.format(startAt) }];
    }),
  };
}

function partsOf(bucket: Bucket) {
  const kind = dayKindOf(bucket);
  if (kind === 'none' || kind === 'suspect') {
    const height = BAR_HEIGHT / (kind === 'none' ? 8 : 2);
    return [{ kind, y: BAR_HEIGHT - height, height }];
  }
  if (kind !== 'down') return [{ kind, y: 0, height: BAR_HEIGHT }];
  const down = Math.round(Math.max(MIN_DOWN_RATIO, bucket.downCount / bucket.count) * BAR_HEIGHT);
  const rest = BAR_HEIGHT - down - 1;
  if (rest < 2) return [{ kind, y: 0, height: BAR_HEIGHT }];
  return [
    { kind, y: 0, height: down },
    { kind: 'up', y: down + 1, height: rest },
  ];
}

/** 0 for Monday to 6 for Sunday; the first day of the epoch was a Thursday. */
function weekdayOf(at: number): number {
  return (Math.floor(at / DAY_MS) + 3) % 7;
}
