/** Rules: which changes an account is told of, where, and how; and their quiet hours. */
import type { Category } from '../service.ts';

export const ALERT_EVENTS = [
  'down',
  'up',
  'slow',
  'incident',
  'incident_update',
  'vendor_incident',
  'maintenance',
  'certificate',
  'heartbeat_missed',
  'run_failed',
  'scope',
] as const;

/** A word for what happened. A missed heartbeat and a failed run are also `down`. */
export type AlertEventName = (typeof ALERT_EVENTS)[number];

export const DEFAULT_ALERT_EVENTS: readonly AlertEventName[] = ['down', 'up', 'certificate'];

/** The services of a rule: each of these that is given adds services. */
export interface RuleServices {
  /** All services of the account. */
  readonly own: boolean;
  /** IDs of services: those of the account, and public ones. */
  readonly services: readonly number[];
  /** The account's services of these categories. */
  readonly categories: readonly Category[];
  /** The public services of these categories. */
  readonly publicCategories: readonly Category[];
  /** Slugs of the account's status pages: the services on them. */
  readonly pages: readonly string[];
}

export interface QuietHours {
  /** Minutes after midnight, 0 to 1,439. */
  readonly from: number;
  /** Minutes after midnight; before `from`: on the next day. */
  readonly to: number;
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Events that are told nevertheless. */
  readonly except: readonly AlertEventName[];
}

interface RuleTiming {
  /** Only what lasts so long is told, milliseconds; 0: at once. */
  readonly afterMs: number;
  /** Time between reminders until it is over or someone acknowledges it, milliseconds; null: none. */
  readonly repeatMs: number | null;
  /** Null: none. */
  readonly quiet: QuietHours | null;
}

export interface AlertRule extends RuleTiming {
  readonly id: number;
  readonly accountId: number;
  /** Unique within the account. */
  readonly name: string;
  readonly of: RuleServices;
  readonly events: readonly AlertEventName[];
  /** IDs of channels of the account. */
  readonly channels: readonly number[];
  /** False: it is switched off. */
  readonly enabled: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Increases with each change. */
  readonly revision: number;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

/** One for each time zone: making one takes far longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * The time at which messages that became ready at `at` may go out, epoch milliseconds: `at` itself outside of the quiet hours,
 * otherwise the first instant at which a clock of the time zone shows a time outside of them. An hour that occurs twice in autumn
 * counts both times; one that spring leaves out is no time. `from` = `to` is quiet all day, with an end at `to` each day.
 */
export function quietUntil({ from, to, timeZone }: QuietHours, at: number): number {
  if (from === to) return nextReading(timeZone, to, at, (minute) => minute === to);
  const isOver = (minute: number) => !isWithin(minute, from, to);
  if (isOver(readMinute(timeZone, at))) return at;
  return nextReading(timeZone, to, at, isOver);
}

/** The first start of a minute after `at` at which the clock shows `to`, or has jumped over it to a time that `isOver`. */
function nextReading(timeZone: string, to: number, at: number, isOver: (minute: number) => boolean): number {
  let time = Math.floor(at / MINUTE_MS) * MINUTE_MS;
  // At most one change of the offset lies in a day; a zone with two ends the loop a day later.
  for (let round = 0; round < 4; round += 1) {
    const minute = readMinute(timeZone, time);
    const wait = (to - minute + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
    const end = time + wait * MINUTE_MS;
    const changedAt = firstChange(timeZone, time, end);
    if (changedAt === null) return end;
    const shown = readMinute(timeZone, changedAt);
    const before = (readMinute(timeZone, changedAt - MINUTE_MS) + 1) % DAY_MINUTES;
    if (isOver(shown) || (before !== shown && isWithin(to, before, shown) && isForward(before, shown))) {
      return changedAt;
    }
    time = changedAt;
  }
  return time;
}

/** The first minute between two instants before which the clock was put forward or back; null: it was not. */
function firstChange(timeZone: string, from: number, to: number): number | null {
  const drift = (time: number) =>
    (readMinute(timeZone, time) - readMinute(timeZone, from) - (time - from) / MINUTE_MS) % DAY_MINUTES;
  if (drift(to) === 0 || Math.abs(drift(to)) === DAY_MINUTES) return null;
  let [low, high] = [from, to];
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
    if (drift(middle) === 0) low = middle;
    else high = middle;
  }
  return high;
}

function isForward(before: number, shown: number): boolean {
  return (shown - before + DAY_MINUTES) % DAY_MINUTES < DAY_MINUTES / 2;
}

/** Returns true if a minute of the day is from `from` on and before `to`, which may be on the next day. */
function isWithin(minute: number, from: number, to: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** The time on a clock of the time zone, in minutes after midnight. */
function readMinute(timeZone: string, at: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(timeZone, format);
  }
  const [hour = '0', minute = '0'] = format.format(at).split(':');
  return Number(hour) * 60 + Number(minute);
}
