/** The reference implementation's quiet hours: "Quiet hours follow the clock on the wall of their time zone" (docs/alerts.md). */
import type { DefinedRule } from '../diary.ts';

const MINUTE_MS = 60_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** When a rule lets out what is ready at `at`, and goes by any of these words. Epoch milliseconds. */
export function letsOutAt({ quiet }: DefinedRule, words: readonly string[], at: number): number {
  if (quiet === null || words.some((word) => quiet.except.includes(word))) return at;
  const { from, to, timeZone } = quiet;
  const isQuiet = (time: number) => {
    const minute = minuteOf(timeZone, time);
    // "With the same time as `from` and `to`, all day is quiet", and what was held is told at that time.
    if (from === to) return minute !== to;
    return from < to ? minute >= from && minute < to : minute >= from || minute < to;
  };
  if (from !== to && !isQuiet(at)) return at;
  let time = at - (at % MINUTE_MS);
  do time += MINUTE_MS;
  while (isQuiet(time));
  return time;
}

function minuteOf(timeZone: string, at: number): number {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' });
  formats.set(timeZone, format);
  const [hour = 0, minute = 0] = format.format(at).split(':').map(Number);
  return hour * 60 + minute;
}
