/**
 * The beginnings of something that recurs: rules of iCalendar (RFC 5545, 3.3.10) on the wall clock of a time zone. The library
 * is loaded with the first rule.
 */
import { DAY_MS } from '../durations.ts';

/** Parts of a rule that are accepted. Nothing recurs more often than daily. */
const PARTS: ReadonlyMap<string, RegExp> = new Map([
  ['FREQ', /^(?:DAILY|WEEKLY|MONTHLY|YEARLY)$/],
  ['INTERVAL', /^[1-9]\d{0,2}$/],
  ['COUNT', /^[1-9]\d{0,2}$/],
  ['UNTIL', /^\d{8}(?:T\d{6}Z)?$/],
  ['BYDAY', /^(?:[+-]?[1-5]?(?:MO|TU|WE|TH|FR|SA|SU))(?:,[+-]?[1-5]?(?:MO|TU|WE|TH|FR|SA|SU)){0,13}$/],
  ['BYMONTHDAY', /^-?(?:[1-9]|[12]\d|3[01])(?:,-?(?:[1-9]|[12]\d|3[01])){0,30}$/],
  ['BYMONTH', /^(?:[1-9]|1[0-2])(?:,(?:[1-9]|1[0-2])){0,11}$/],
  ['BYSETPOS', /^-?[1-5]$/],
  ['WKST', /^(?:MO|SU)$/],
]);
const MAX_RULE_CHARACTERS = 200;
/** The search for one occurrence ends after so many periods (a daily rule lasts for 27 years) and candidate days. */
const BOUNDS = { maxIterations: 10_000, maxCandidateEvaluations: 20_000 };
/** The same for a new rule, so that one that never occurs is refused within milliseconds. */
const FIRST_BOUNDS: typeof BOUNDS = { maxIterations: 500, maxCandidateEvaluations: 2_000 };

/** A recurrence on the wall clock of a time zone. */
export interface Recurrence {
  /** The value of `RRULE`, such as `FREQ=WEEKLY;BYDAY=TU`. */
  readonly rule: string;
  /** The first occurrence, epoch milliseconds. */
  readonly startsAt: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** Reads a rule in its normal form; null: it is not accepted. Whether it ever occurs is not known yet. */
export function readRule(text: string): string | null {
  const value = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '');
  if (value.length > MAX_RULE_CHARACTERS) return null;
  const parts = new Map<string, string>();
  for (const part of value.split(';')) {
    const [name = '', said = '', ...more] = part.split('=');
    if (more.length > 0 || parts.has(name) || PARTS.get(name)?.test(said) !== true) return null;
    parts.set(name, said);
  }
  const frequency = parts.get('FREQ');
  if (frequency === undefined || (parts.has('COUNT') && parts.has('UNTIL'))) return null;
  // Numbered weekdays belong to months and years, and days of months to neither days nor weeks (RFC 5545, 3.3.10).
  const isShort = frequency === 'DAILY' || frequency === 'WEEKLY';
  if (isShort && (/\d/.test(parts.get('BYDAY') ?? '') || parts.has('BYMONTHDAY') || parts.has('BYSETPOS')))
    return null;
  return [...PARTS.keys()]
    .flatMap((name) => (parts.has(name) ? [`${name}=${parts.get(name)}`] : []))
    .join(';');
}

/** Returns true if the recurrence has an occurrence at all that is soon enough to be found. */
export async function occurs(recurrence: Recurrence): Promise<boolean> {
  try {
    return (await find(recurrence, recurrence.startsAt, 1, FIRST_BOUNDS)).length > 0;
  } catch {
    return false;
  }
}

/**
 * The starts of the first occurrences at `from` or later, epoch milliseconds, at most `limit`. A start in the gap when summer
 * time begins is as much later as the clock jumps; one that happens twice when it ends is the first (RFC 5545, 3.3.5).
 */
export async function occurrencesFrom(
  recurrence: Recurrence,
  from: number,
  limit: number,
): Promise<readonly number[]> {
  return await find(recurrence, from, limit, BOUNDS);
}

async function find(
  { rule, startsAt, timeZone }: Recurrence,
  from: number,
  limit: number,
  bounds: typeof BOUNDS,
): Promise<readonly number[]> {
  const { RRuleTemporal } = await import('rrule-temporal');
  // The library counts on a clock without summer time, so that it skips no day on which the clock jumps.
  const first = formatStamp(wallOf(startsAt, timeZone));
  const until = /UNTIL=(\d{8})(T\d{6}Z)?/.exec(rule);
  const counted = until === null ? rule : rule.replace(until[0], `UNTIL=${lastWall(until, timeZone)}`);
  const times = new RRuleTemporal({
    rruleString: `DTSTART:${first}\nRRULE:${counted}`,
    ...bounds,
  });
  const found: number[] = [];
  // An hour earlier on the wall clock may be the same or a later moment.
  let after = new Date(wallOf(from, timeZone) - DAY_MS);
  while (found.length < limit) {
    const next = times.next(after);
    if (next === null) break;
    after = new Date(next.epochMilliseconds);
    const at = momentOf(next.epochMilliseconds, timeZone);
    if (at >= from) found.push(at);
  }
  return found;
}

/** The end of a rule as a stamp of the wall clock. */
function lastWall([, day = '', time]: RegExpExecArray, timeZone: string): string {
  if (time === undefined) return `${day}T235959Z`;
  const at = Date.parse(
    `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${time.slice(1, 3)}:${time.slice(3, 5)}:${time.slice(5, 7)}Z`,
  );
  return Number.isNaN(at) ? `${day}T235959Z` : formatStamp(wallOf(at, timeZone));
}

/** A time in the basic format of ISO 8601 in UTC: `20261120T100000Z`. */
export function formatStamp(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Maximum number of formats that are kept; there are about 600 time zones. */
const MAX_FORMATS = 700;

/** The time on the wall clock of a time zone at a moment, as if it were UTC, epoch milliseconds. */
export function wallOf(at: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      ...({ year: 'numeric', month: 'numeric', day: 'numeric' } as const),
      ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
    });
    if (formats.size < MAX_FORMATS) formats.set(timeZone, format);
  }
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The moment at which the wall clock of a time zone shows `wall`, as {@link wallOf} gives it, epoch milliseconds. */
export function momentOf(wall: number, timeZone: string): number {
  // The offsets a day before and after are the two that can apply.
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((at) => wallOf(at, timeZone) - at);
  const [before = 0] = offsets;
  const moments = offsets.map((offset) => wall - offset).filter((at) => wallOf(at, timeZone) === wall);
  // In a gap the offset before it counts.
  return moments.length > 0 ? Math.min(...moments) : wall - before;
}
