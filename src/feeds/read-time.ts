/** Parses the times of vendors' feeds. */
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';

/** Times outside these years are mistakes. */
const EARLIEST = Date.UTC(2000, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);

const MAX_TIME_LENGTH = 80;

/**
 * `2026-09-20T10:00:00.123456+02:00`; a time without a zone is read as UTC, a day alone as its first moment. Go writes the name of
 * the zone behind its offset.
 */
const ISO =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[T ](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?\s?(?<zone>Z|UTC|GMT|[+-]\d\d:?\d\d(?: [a-z]{3,5})?|[+-]\d\d)?)?$/i;

/** `Sun, 20 Sep 2026 10:00:00 +0200` (RFC 822 and 1123; years of two digits, no seconds, full names of months). */
const RFC_822 =
  /^(?:[a-z]{3,9},?\s+)?(?<day>\d{1,2})[\s-](?<month>[a-z]{3,9})[\s-](?<year>\d{4}|\d\d)\s+(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d))?(?:\s*(?<zone>\S{1,8}))?$/i;

/** `Sun Sep 20 2026 10:00:00 GMT+0200 (Central European Summer Time)` (JavaScript's `Date`), with or without a zone. */
const DATE_TEXT =
  /^[a-z]{3},?\s+(?<month>[a-z]{3})\s+(?<day>\d{1,2})\s+(?<year>\d{4})\s+(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\s+(?:GMT|UTC)?(?<zone>[+-]\d{4})?)?(?:\s*\([^)]*\))?$/i;

const AFTER_DAY = String.raw`(?<year>\d{4}),? (?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d))?(?: ?(?<half>[ap]m))?(?: (?<zone>[a-z]{1,5}|[+-]\d\d:?\d\d))?$`;

/** `07/29/2026 20:20 PDT`, `7/29/2026 8:20:00 PM`. */
const MONTH_FIRST = new RegExp(String.raw`^(?<month>\d{1,2})/(?<day>\d{1,2})/${AFTER_DAY}`, 'i');

/** `29/07/2026 20:20`. */
const DAY_FIRST = new RegExp(String.raw`^(?<day>\d{1,2})/(?<month>\d{1,2})/${AFTER_DAY}`, 'i');

/** `Thursday, September 3, 2026, at 6:57 AM UTC`, `Aug 16, 2026 14:58`. */
const MONTH_NAME_FIRST =
  /^(?:[a-z]{6,9}, )?(?<month>[a-z]{3,9}) (?<day>\d{1,2}), (?<year>\d{4}),?(?: at)? (?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d))?(?: (?<half>[ap]m))?(?: (?<zone>[a-z]{1,5}))?\.?$/i;

const EPOCH = /^\d{9,10}(?:\.\d{1,9})?$/;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Names of the months in German, French, Italian, Portuguese and Spanish whose beginnings differ from English ones; without accents. */
const FOREIGN_MONTHS = [
  'gennaio enero,fevrier fevereiro,,abril avril,mai maggio maio,juin giugno,juillet luglio,aout agosto',
  'settembre setembro setiembre,oktober ottobre outubro,,dezember dezembro dicembre diciembre',
].flatMap((half) => half.split(',').map((names) => names.split(' ')));

const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_TIME_DIGITS = 10;

/** Hours east of Greenwich, by the names of RFC 822 and others that pages use. */
const ZONES: Readonly<Record<string, number>> = {
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  wet: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  bst: 1,
  cet: 1,
  mez: 1,
  west: 1,
  cest: 2,
  mesz: 2,
  eet: 2,
  eest: 3,
  msk: 3,
  // India's: pages of Ireland and Israel use others.
  ist: 5.5,
  pkt: 5,
  npt: 5.75,
  ict: 7,
  wib: 7,
  wita: 8,
  myt: 8,
  pht: 8,
  sgt: 8,
  hkt: 8,
  awst: 8,
  wit: 9,
  jst: 9,
  kst: 9,
  acst: 9.5,
  acdt: 10.5,
  aest: 10,
  aedt: 11,
  nzst: 12,
  nzdt: 13,
  wat: 1,
  cat: 2,
  sast: 2,
  eat: 3,
  idt: 3,
  trt: 3,
  akst: -9,
  akdt: -8,
  hst: -10,
  // The Atlantic's, not Arabia's.
  ast: -4,
  adt: -3,
  nst: -3.5,
  ndt: -2.5,
  art: -3,
  brt: -3,
  clt: -4,
  clst: -3,
  cot: -5,
  pet: -5,
};

/**
 * Epoch milliseconds of a time: ISO 8601 with `Z`, an offset or neither (UTC), RFC 822 and 1123 with zones by name or
 * number, epoch seconds (epoch milliseconds too) as number or text, and the text of JavaScript's `Date`. Null for
 * anything else, for a day that does not exist, and for a time outside of the years 2000 to 2099.
 */
export function readTime(value: unknown): number | null {
  if (typeof value === 'number') return within(value < 1e11 ? value * 1_000 : value);
  if (typeof value !== 'string' || value.length > MAX_TIME_LENGTH) return null;
  const text = value.trim();
  if (EPOCH.test(text)) return within(Number(text) * 1_000);
  if (/^\d{12,13}$/.test(text)) return within(Number(text));
  return readForm(ISO, text) ?? readForm(RFC_822, text) ?? readForm(DATE_TEXT, text);
}

/** Epoch milliseconds of a time in the order of the United States, month first; null where it is none. */
export function readMonthFirst(text: string): number | null {
  if (text.length > MAX_TIME_LENGTH) return null;
  return readForm(MONTH_FIRST, text) ?? readForm(MONTH_NAME_FIRST, text);
}

/**
 * Creates what reads the times of a document that are written with slashes, such as `9/20/2026 8:00 AM`, as epoch milliseconds; null: a text is
 * none, or the order of month and day is not certain, as one order alone has to read all of them.
 */
export function createSlashedReader(texts: Iterable<string>): (text: string) => number | null {
  const slashed = [...texts].filter((text) => text.length <= MAX_TIME_LENGTH && MONTH_FIRST.test(text));
  const orders = [MONTH_FIRST, DAY_FIRST].filter((form) =>
    slashed.every((text) => readForm(form, text) !== null),
  );
  const isCertain =
    orders.length === 1 || slashed.every((text) => readForm(MONTH_FIRST, text) === readForm(DAY_FIRST, text));
  const [order] = isCertain ? orders : [];
  return (text) => (order === undefined || text.length > MAX_TIME_LENGTH ? null : readForm(order, text));
}

/**
 * The time at which a ULID (https://github.com/ulid/spec) was generated, epoch milliseconds. Null if the text is none, or if
 * the year is not from 2000 to 2099.
 */
export function timeOfUlid(text: string): number | null {
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text)) return null;
  let at = 0;
  for (const digit of text.slice(0, ULID_TIME_DIGITS))
    at = at * ULID_DIGITS.length + ULID_DIGITS.indexOf(digit);
  return within(at);
}

const LOCAL_ZONES: ReadonlyMap<string, Intl.DateTimeFormat> = new Map(
  Object.entries({ 'us/pacific': 'America/Los_Angeles', utc: 'UTC' }).map(([name, timeZone]) => [
    name,
    new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
);

/**
 * Epoch milliseconds of a time on the wall, such as `2022-03-31 08:30`, in `US/Pacific` or `UTC`; null where either is
 * something else. Of an hour that comes twice, as summer time ends, the first.
 */
export function readLocalTime(text: string, zone: string): number | null {
  const format = LOCAL_ZONES.get(zone.toLowerCase());
  const wall = readForm(ISO, text);
  if (format === undefined || wall === null) return null;
  // The zone is at most a day away: one of its two offsets around that time brings the same time on the wall.
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((at) => offsetAt(at, format));
  const times = offsets.map((offset) => wall - offset);
  return times.find((at) => offsetAt(at, format) === wall - at) ?? times[0] ?? null;
}

/** Milliseconds east of Greenwich in the zone of a format of days and times. */
function offsetAt(at: number, format: Intl.DateTimeFormat): number {
  const [, day, month, year, hour, minute, second] = (
    /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/.exec(format.format(at)) ?? []
  ).map(Number);
  const wall = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
  return wall - Math.floor(at / 1_000) * 1_000;
}

function readForm(form: RegExp, text: string): number | null {
  const { groups } = form.exec(text) ?? {};
  const offset = readZone(groups?.zone);
  if (groups === undefined || offset === null) return null;
  const { year = '', month = '', day, half, minute = 0, second = 0, fraction = 0 } = groups;
  const hour =
    half === undefined ? (groups.hour ?? 0) : (Number(groups.hour) % 12) + (/^p/i.test(half) ? 12 : 0);
  const fullYear = Number(year) + (year.length === 2 ? 2_000 : 0);
  const date = [fullYear, Number(month) || monthOf(month), Number(day)];
  const time = timeOf(date, [hour, minute, second].map(Number), offset);
  return time === null ? null : time + Math.floor(Number(`0.${fraction}`) * 1_000);
}

/** 1 to 12; 0: no month. */
function monthOf(name: string): number {
  return MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
}

/** The English name of a month in one of several languages, whole or cut short, or with its number, such as `9月`; null: it is no month. */
export function englishMonth(name: string): string | null {
  const plain = name
    .normalize('NFD')
    .replace(/[\p{M}.]/gu, '')
    .toLowerCase();
  const month =
    monthOf(plain) ||
    FOREIGN_MONTHS.findIndex((names) => names.some((one) => one.startsWith(plain))) + 1 ||
    Number.parseInt(plain, 10);
  return MONTHS[month - 1] ?? null;
}

/** Milliseconds east of Greenwich; no zone is UTC, an unknown one null. */
function readZone(zone: string | undefined): number | null {
  if (zone === undefined) return 0;
  const match = /^(?:GMT|UTC)?([+-])(\d{1,2}?):?(\d\d)?(?: [a-z]{3,5})?$/i.exec(zone);
  if (match === null) {
    const hours = Object.hasOwn(ZONES, zone.toLowerCase()) ? ZONES[zone.toLowerCase()] : undefined;
    return hours === undefined ? null : hours * HOUR_MS;
  }
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === '-' ? -minutes : minutes) * 60_000;
}

function timeOf(date: readonly number[], clock: readonly number[], offset: number): number | null {
  const [year = 0, month = 0, day = 0] = date;
  const [hour = 0, minute = 0, second = 0] = clock;
  if (hour > 24 || minute > 59 || second > 60 || Math.abs(offset) > DAY_MS) return null;
  const midnight = new Date(Date.UTC(year, month - 1, day));
  // A day that does not exist turns into one of another month.
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return null;
  return within(midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1_000 - offset);
}

function within(time: number): number | null {
  return time >= EARLIEST && time < LATEST ? Math.floor(time) : null;
}
