/** The reference implementation's schedules of heartbeats. "H" is the section "Missed heartbeats" of docs/heartbeats.md. */
import type { DefinedSchedule } from '../diary.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Time zones of worlds, which are in winter, in minutes ahead of UTC. */
const AHEAD: Readonly<Record<string, number>> = { UTC: 0, 'Europe/Berlin': 60, 'America/New_York': -300 };

/**
 * How long a heartbeat at `from` leaves until the next one has to come, milliseconds. H: "One heartbeat is expected for each run ...
 * One that arrives up to a minute before a run (a quarter of the time between two runs, if that is less) counts for that run."
 */
export function untilRun({ cron, timezone }: DefinedSchedule, from: number): number {
  const next = runAfter(cron, timezone, from);
  const following = runAfter(cron, timezone, next);
  const isEarly = next - from <= Math.min(MINUTE_MS, (following - next) / 4);
  return (isEarly ? following : next) - from;
}

/** The first run after a time: minute by minute. Days, months and weekdays are `*` in worlds. */
function runAfter(cron: string, timezone: string, from: number): number {
  const [minutes = '*', hours = '*'] = (cron === '@daily' ? '0 0 * * *' : cron).split(' ');
  const aheadMs = (AHEAD[timezone] ?? 0) * MINUTE_MS;
  let at = Math.floor(from / MINUTE_MS) * MINUTE_MS;
  for (let tries = 0; tries <= 2 * DAY_MINUTES; tries++) {
    at += MINUTE_MS;
    const shown = Math.floor((at + aheadMs) / MINUTE_MS) % DAY_MINUTES;
    if (matches(minutes, shown % 60) && matches(hours, Math.floor(shown / 60))) return at;
  }
  throw new Error(`${cron} has no run within two days`);
}

/** Whether a field of `*`, numbers, ranges, lists and steps has a value. */
function matches(field: string, value: number): boolean {
  return field.split(',').some((part) => {
    const [range = '*', step = '1'] = part.split('/');
    const [first, last] = range === '*' ? [0, 59] : range.split('-').map(Number);
    if (first === undefined) return false;
    return value >= first && value <= (last ?? first) && (value - first) % Number(step) === 0;
  });
}
