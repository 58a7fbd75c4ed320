/** Formats of numbers, times and durations in a language, by Intl. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts';

export type Formats = ReturnType<typeof createFormats>;

/** Creates the formats of a language. `dates` and `units` are locales, which may be of different regions. */
export function createFormats(dates: string, units: string) {
  const number = lazily(() => new Intl.NumberFormat(units));
  const percent = lazily(
    () => new Intl.NumberFormat(units, { style: 'percent', maximumFractionDigits: 2, roundingMode: 'floor' }),
  );
  const unit = (name: string, maximumFractionDigits = 0, unitDisplay: 'short' | 'long' = 'short') =>
    lazily(
      () => new Intl.NumberFormat(units, { style: 'unit', unit: name, unitDisplay, maximumFractionDigits }),
    );
  const [minutes, hours] = [unit('minute'), unit('hour')];
  const days = unit('day', 0, 'long');
  const [whole, tenths] = [unit('millisecond'), unit('millisecond', 1)];
  const relative = lazily(() => new Intl.RelativeTimeFormat(units));
  const dayParts = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
  const day = lazily(() => new Intl.DateTimeFormat(dates, dayParts));
  const weekday = lazily(() => new Intl.DateTimeFormat(dates, { weekday: 'long', timeZone: 'UTC' }));
  const timeParts = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;
  const time = lazily(() => new Intl.DateTimeFormat(dates, { ...dayParts, ...timeParts }));
  const second = lazily(
    () => new Intl.DateTimeFormat(dates, { ...dayParts, ...timeParts, second: '2-digit' }),
  );
  const fromNow = (ms: number, sign: 1 | -1): string => {
    // Rounded down for the past, as lengths are; 4 h 59 min ahead are 5 hours.
    const whole = sign === 1 ? Math.round : Math.floor;
    const format = (unitMs: number, name: 'second' | 'minute' | 'hour' | 'day') =>
      relative().format(sign * whole(ms / unitMs), name);
    if (ms < MINUTE_MS) return format(SECOND_MS, 'second');
    if (ms < HOUR_MS) return format(MINUTE_MS, 'minute');
    return ms < 2 * DAY_MS ? format(HOUR_MS, 'hour') : format(DAY_MS, 'day');
  };
  return {
    /** `1,200`. */
    number: (value: number): string => number().format(value),
    /**
     * A share from 0 to 1 with at most two digits, rounded down, so that 100 means all of it: `99.95%`, in German with a
     * no-break space.
     */
    percent: (ratio: number): string => percent().format(ratio).replace(/\s%$/, `${PERCENT_SPACE}%`),
    /** `40 ms`, with a tenth below 10. */
    milliseconds: (ms: number): string => (ms < 10 ? tenths : whole)().format(ms),
    /** `2 hr 5 min`: the two largest units, rounded down; days alone from 48 hours on. */
    length(ms: number): string {
      if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`;
      if (ms < HOUR_MS) return minutes().format(Math.floor(ms / MINUTE_MS));
      if (ms >= 2 * DAY_MS) return days().format(Math.floor(ms / DAY_MS));
      const rest = Math.floor((ms % HOUR_MS) / MINUTE_MS);
      const first = hours().format(Math.floor(ms / HOUR_MS));
      return rest === 0 ? first : `${first} ${minutes().format(rest)}`;
    },
    /** A day in UTC: `20 Nov 2026`. */
    day: (at: number): string => day().format(at),
    /** `Monday` for 0. */
    weekday: (index: number): string => weekday().format(FIRST_MONDAY + index * DAY_MS),
    /** A date and time in UTC with the time zone, because the server does not know the reader's. */
    time: (at: number): string => time().format(at),
    /** As `time`, with seconds. */
    second: (at: number): string => second().format(at),
    /** The time from `at` to `now`, as in `5 minutes ago`. */
    ago: (at: number, now: number): string => fromNow(Math.max(0, now - at), -1),
    /** The time from `now` to `at`, as in `in 5 minutes`. */
    ahead: (at: number, now: number): string => fromNow(Math.max(0, at - now), 1),
  };
}

/** A Monday, epoch milliseconds. */
const FIRST_MONDAY = 4 * DAY_MS;
/** A no-break space; the narrow one is not in the font of pages. */
const PERCENT_SPACE = '\u00a0';

/** Calls `make` at the first use, because a format of Intl takes two milliseconds and few pages need all of them. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
