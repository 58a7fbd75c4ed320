/** Ticks of axes: round numbers of milliseconds and round times. Pure. */
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import type { PictureSpan } from '../domain/picture.ts';

/** A tick and its label. */
export interface Tick {
  /** Milliseconds of response time, or epoch milliseconds. */
  readonly value: number;
  readonly label: string;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const ROUND = [1, 2, 2.5, 5, 10];
/** Longer response times are written in seconds. */
const SECONDS_FROM_MS = 2_000;

/**
 * Ticks from 0 to the first round number at or over `highest` milliseconds, with at most `most` steps. All labels have the
 * same unit.
 */
export function latencyTicks(highest: number, most: number): readonly Tick[] {
  const top = Math.max(highest, 1);
  const raw = top / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, power * (ROUND.find((factor) => factor * power >= raw * (1 - 1e-9)) ?? 10));
  const count = Math.max(1, Math.ceil(top / step - 1e-9));
  const inSeconds = step * count >= SECONDS_FROM_MS;
  return Array.from({ length: count + 1 }, (_, index) => {
    const value = index * step;
    const shown = inSeconds ? Math.round(value) / 1_000 : Math.round(value * 10) / 10;
    return { value, label: `${shown} ${inSeconds ? 's' : 'ms'}` };
  });
}

/** Ticks at round times of UTC within the span, at most `most`. */
export function timeTicks({ from, to }: PictureSpan, most: number): readonly Tick[] {
  const length = to - from;
  for (const hours of [1, 2, 3, 4, 6, 12]) {
    if (length / (hours * HOUR_MS) <= most) return hourTicks(from, to, hours);
  }
  for (const days of [1, 2, 5]) {
    if (length / (days * DAY_MS) <= most) return dayTicks(from, to, days);
  }
  if (length / (DAY_MS * 14) <= most) return dayTicks(from, to, 14);
  for (const months of [1, 2, 3]) {
    if (length / (months * 30 * DAY_MS) <= most) return monthTicks(from, to, months);
  }
  return monthTicks(from, to, 6);
}

function hourTicks(from: number, to: number, hours: number): Tick[] {
  return steps(from, to, hours * HOUR_MS).map((value) => {
    const date = new Date(value);
    const hour = date.getUTCHours();
    return { value, label: hour === 0 ? sayDay(date) : `${String(hour).padStart(2, '0')}:00` };
  });
}

function dayTicks(from: number, to: number, days: number): Tick[] {
  return steps(from, to, days * DAY_MS).map((value) => ({ value, label: sayDay(new Date(value)) }));
}

function monthTicks(from: number, to: number, months: number): Tick[] {
  const ticks: Tick[] = [];
  const first = new Date(from);
  for (let month = first.getUTCMonth(); ; month++) {
    const value = Date.UTC(first.getUTCFullYear(), month, 1);
    if (value >= to) return ticks;
    const date = new Date(value);
    const place = date.getUTCMonth();
    if (value < from || place % months !== 0) continue;
    ticks.push({ value, label: place === 0 ? `${date.getUTCFullYear()}` : (MONTHS[place] ?? '') });
  }
}

function steps(from: number, to: number, stepMs: number): number[] {
  const values: number[] = [];
  for (let value = Math.ceil(from / stepMs) * stepMs; value < to; value += stepMs) values.push(value);
  return values;
}

function sayDay(date: Date): string {
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}`;
}
