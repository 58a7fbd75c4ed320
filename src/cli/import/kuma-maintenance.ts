/** Maintenance of Uptime Kuma as documents of `apply`. */
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts';
import { momentOf, wallOf } from '../../domain/incident/recurrence.ts';
import { asText, isEmpty, type Row } from './listed-service.ts';

/** A maintenance without its subjects, or why it has no equal. */
export type MaintenanceReading =
  | {
      readonly document: {
        readonly title: string;
        readonly text?: string;
        readonly starts_at: string;
        readonly duration: string;
        readonly time_zone: string;
        readonly recurrence?: string;
      };
    }
  | { readonly problem: string };

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
/** Days after which a rule by weekdays or days of the month has occurred. */
const MAX_DAYS_TO_FIRST = 1_100;

interface Days {
  readonly rule: string;
  /** Returns true if a day is one of them, by its start on a clock without time zones. */
  readonly includes: (day: Date) => boolean;
}

/** Reads a maintenance. `serverZone`: the time zone of the program. */
export function readKumaMaintenance(row: Row, serverZone: string, now: number): MaintenanceReading {
  const given = asText(row.timezone);
  const timeZone = given === null || given === 'SAME_AS_SERVER' ? serverZone : given;
  if (!isTimeZone(timeZone)) return { problem: 'its time zone is not known' };
  const title = asText(row.title) ?? '';
  if (isEmpty(row.active) || row.active === '0') return { problem: 'it is switched off' };
  const strategy = asText(row.strategy) ?? 'single';
  if (strategy === 'manual') return { problem: 'a maintenance without an end has no equal here' };
  const text = asText(row.description);
  const common = { title, ...(text === null ? {} : { text }), time_zone: timeZone };
  const [from, until] = [readWall(row.startDate), readWall(row.endDate)];
  if (strategy === 'single') {
    if (from === null || until === null || until <= from) return { problem: 'its times cannot be read' };
    if (momentOf(until, timeZone) <= now) return { problem: 'it is over' };
    return { document: { ...common, starts_at: formatWall(from), duration: formatLength(until - from) } };
  }
  const time = readTimes(row, strategy);
  const days = readDays(row, strategy, from);
  if (time === null || time.lengthMs <= 0) return { problem: 'its times cannot be read' };
  if (days === null)
    return {
      problem: `its recurrence ${JSON.stringify(asText(row.cron) ?? strategy).slice(0, 60)} has no equal here`,
    };
  const today = startOfDay(wallOf(now, timeZone));
  if (until !== null && until < today) return { problem: 'it is over' };
  const first = firstDay(Math.max(from === null ? today : startOfDay(from), today), days);
  if (first === null) return { problem: 'it never occurs' };
  const rule =
    until === null
      ? days.rule
      : `${days.rule};UNTIL=${new Date(until).toISOString().slice(0, 10).replaceAll('-', '')}`;
  return {
    document: {
      ...common,
      starts_at: formatWall(first + time.startMs),
      duration: formatLength(time.lengthMs),
      recurrence: rule,
    },
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** A time such as `2026-11-28 02:00:00` on a clock without time zones, milliseconds; null: it is none. */
function readWall(value: unknown): number | null {
  const [, date, time = '00:00'] =
    /^\s*(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?)?Z?\s*$/.exec(asText(value) ?? '') ?? [];
  const at = date === undefined ? Number.NaN : Date.parse(`${date}T${time}:00Z`);
  return Number.isNaN(at) ? null : at;
}

/** The start of a recurring one within its day, and its duration. */
function readTimes(
  row: Row,
  strategy: string,
): { readonly startMs: number; readonly lengthMs: number } | null {
  if (strategy === 'cron') {
    const [minute, hour] = (asText(row.cron) ?? '').split(/\s+/).map(Number);
    const isOnce = isWithin(minute, 59) && isWithin(hour, 23);
    return isOnce
      ? { startMs: (hour * 60 + minute) * MINUTE_MS, lengthMs: Number(row.duration) * 1_000 }
      : null;
  }
  const [start, end] = [readTimeOfDay(row.startTime), readTimeOfDay(row.endTime)];
  if (start === null || end === null) return null;
  return { startMs: start, lengthMs: end < start ? end + DAY_MS - start : end - start };
}

function isWithin(value: number | undefined, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;
}

function readTimeOfDay(value: unknown): number | null {
  const [, hours, minutes] = /^\s*(\d{1,2}):(\d\d)/.exec(asText(value) ?? '') ?? [];
  return isWithin(Number(hours), 23) && isWithin(Number(minutes), 59)
    ? (Number(hours) * 60 + Number(minutes)) * MINUTE_MS
    : null;
}

function readDays(row: Row, strategy: string, from: number | null): Days | null {
  switch (strategy) {
    case 'recurring-interval':
      return everyDays(Number(row.intervalDay), from);
    case 'recurring-weekday':
      return onWeekdays(readList(row.weekdays).map(Number));
    case 'recurring-day-of-month':
      return onDaysOfMonth(
        readList(row.daysOfMonth).map((day) => {
          const fromEnd = /^lastDay(\d)$/.exec(String(day))?.[1];
          return fromEnd === undefined ? Number(day) : -Number(fromEnd);
        }),
      );
    case 'cron':
      return readCronDays(asText(row.cron) ?? '');
    default:
      return null;
  }
}

function readList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  try {
    const list: unknown = JSON.parse(String(value));
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function everyDays(interval: number, from: number | null): Days | null {
  if (!Number.isSafeInteger(interval) || interval < 1 || interval > 999) return null;
  const origin = from === null ? null : startOfDay(from);
  return {
    rule: interval === 1 ? 'FREQ=DAILY' : `FREQ=DAILY;INTERVAL=${interval}`,
    includes: (day) => origin === null || Math.round((day.getTime() - origin) / DAY_MS) % interval === 0,
  };
}

/** Sunday is 0 or 7. */
function onWeekdays(given: readonly number[]): Days | null {
  const days = [...new Set(given.map((day) => day % 7))].toSorted((a, b) => a - b);
  if (days.length === 0 || !given.every((day) => isWithin(day, 7))) return null;
  return {
    rule: `FREQ=WEEKLY;BYDAY=${days.map((day) => WEEKDAYS[day]).join(',')}`,
    includes: (day) => days.includes(day.getUTCDay()),
  };
}

/** -1 is the last day. */
function onDaysOfMonth(given: readonly number[]): Days | null {
  const days = [...new Set(given)].toSorted((a, b) => a - b);
  if (
    days.length === 0 ||
    days.some((day) => !Number.isSafeInteger(day) || day === 0 || day < -31 || day > 31)
  )
    return null;
  return {
    rule: `FREQ=MONTHLY;BYMONTHDAY=${days.join(',')}`,
    includes: (day) => {
      const length = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
      const date = day.getUTCDate();
      return days.includes(date) || days.includes(date - length - 1);
    },
  };
}

/** The days of a cron expression at one time of the day; null: it says more. */
function readCronDays(cron: string): Days | null {
  const [, , date, month, weekday, ...more] = cron.trim().split(/\s+/);
  if (date === undefined || weekday === undefined || month !== '*' || more.length > 0) return null;
  const isAny = (field: string) => field === '*' || field === '?';
  if (isAny(date) && isAny(weekday)) return everyDays(1, null);
  if (isAny(date)) {
    const days = expand(
      weekday.replaceAll(/[a-z]{3}/gi, (name) => String(CRON_WEEKDAYS.indexOf(name.toLowerCase()))),
      7,
    );
    return days === null ? null : onWeekdays(days);
  }
  if (!isAny(weekday)) return null;
  const days = expand(date.replaceAll(/\bL\b/gi, '99'), 99);
  return days === null ? null : onDaysOfMonth(days.map((day) => (day === 99 ? -1 : day)));
}

const CRON_WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** The numbers of a list such as `1,3-5`; null: it is none. */
function expand(list: string, most: number): number[] | null {
  const numbers: number[] = [];
  for (const part of list.split(',')) {
    const [, first, last = first] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(part) ?? [];
    const [low, high] = [Number(first), Number(last)];
    if (first === undefined || low > high || high > most) return null;
    for (let number = low; number <= high; number++) numbers.push(number);
  }
  return numbers;
}

function firstDay(from: number, { includes }: Days): number | null {
  for (let day = 0; day <= MAX_DAYS_TO_FIRST; day++)
    if (includes(new Date(from + day * DAY_MS))) return from + day * DAY_MS;
  return null;
}

function startOfDay(wall: number): number {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

function formatWall(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16);
}

function formatLength(ms: number): string {
  return `${Math.round(ms / MINUTE_MS)}m`;
}
