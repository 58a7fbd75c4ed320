/** Days of a service as drawings: a row of bars, and a calendar. Shape and place say what the colours say. */

import { DAY_MS } from '../../domain/durations.ts';
import { type Bucket, type DayKind, dayKindOf } from '../../domain/sample.ts';
import type { Language } from '../language/language.ts';
import { sayDay } from './service-days.ts';

const BAR_HEIGHT = 40;
const BAR_STEP = 11;
const BAR_WIDTH = 8;
/** The least of a bar that an outage takes, so that a minute of it is seen. */
const MIN_DOWN_RATIO = 0.25;
const CELL_STEP = 13;
const CELL_SIZE = 10;

/** A part of a bar, in the units of its drawing. */
export interface BarPart {
  readonly kind: DayKind;
  readonly y: number;
  readonly height: number;
}

/** A row of bars, a day each. */
export interface DayBars {
  readonly width: number;
  readonly height: number;
  readonly barWidth: number;
  readonly bars: readonly { readonly x: number; readonly said: string; readonly parts: readonly BarPart[] }[];
}

/** A calendar: a week is a column, from Monday down. */
export interface DayCalendar {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  /** Places before the first day. */
  readonly offset: number;
  readonly cells: readonly {
    readonly kind: DayKind;
    readonly x: number;
    readonly y: number;
    readonly said: string;
  }[];
  /** Names of months, each above the first week that begins in it. */
  readonly months: readonly { readonly x: number; readonly name: string }[];
}

/** The bars. An outage takes its share of the bar from above; days without checks are stubs. */
export function barsOf(buckets: readonly Bucket[], intervalMs: number, language: Language): DayBars {
  return {
    width: Math.max(0, buckets.length * BAR_STEP - (BAR_STEP - BAR_WIDTH)),
    height: BAR_HEIGHT,
    barWidth: BAR_WIDTH,
    bars: buckets.map((bucket, index) => ({
      x: index * BAR_STEP,
      said: sayDay(bucket, intervalMs, language),
      parts: partsOf(bucket),
    })),
  };
}

/** The calendar. */
export function calendarOf(buckets: readonly Bucket[], intervalMs: number, language: Language): DayCalendar {
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
      said: sayDay(bucket, intervalMs, language),
    })),
    months: buckets.flatMap(({ startAt }, index) => {
      const column = Math.ceil((index + offset) / 7);
      // A name at the very end would hang over the edge.
      if (new Date(startAt).getUTCDate() !== 1 || column > columns - 2) return [];
      return [{ x: column * CELL_STEP, name: monthName.format(startAt) }];
    }),
  };
}

function partsOf(bucket: Bucket): BarPart[] {
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
