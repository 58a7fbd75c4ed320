/** Schedules of heartbeats: a cron expression with a time zone says when a job runs, and so when it must report. */
import { Cron } from 'croner';

export interface HeartbeatSchedule {
  /** Five fields of cron (minute, hour, day of the month, month, day of the week) or a nickname such as `@daily`. */
  readonly cron: string;
  /** IANA time zone in which the expression is read, such as `Europe/Berlin`. */
  readonly timezone: string;
}

/** Why a schedule is not valid: the expression is malformed, it never occurs, or the time zone is unknown. */
export type ScheduleProblem = 'cron' | 'never' | 'timezone';

/** A parsed schedule, or why it is not valid. */
export type ScheduleReading =
  | { readonly ok: true; readonly schedule: HeartbeatSchedule }
  | { readonly ok: false; readonly problem: ScheduleProblem };

const MAX_CRON_LENGTH = 100;
/** A heartbeat this long before a run counts for that run, because clocks differ; milliseconds. */
const MAX_EARLY_MS = 60_000;
/** A heartbeat is not early for a run if more than this part of the time between two runs is left. */
const EARLY_PART = 1 / 4;
/** Number of runs among which the longest gap is determined; they include a weekend for every daily schedule. */
const RUNS_FOR_GAP = 8;
/** Any day: the gap hardly depends on it. */
const FIRST_DAY = new Date('2026-01-01T00:00:00Z');

/** Parses a schedule. Blanks are normalized, and the time zone gets its canonical name. */
export function readSchedule(cron: string, timezone: string): ScheduleReading {
  const zone = readTimezone(timezone.trim());
  if (zone === null) return { ok: false, problem: 'timezone' };
  const schedule = { cron: cron.trim().replace(/\s+/g, ' '), timezone: zone };
  // `?` stands for the time at which the expression is parsed, so it has no fixed meaning.
  if (schedule.cron.length > MAX_CRON_LENGTH || schedule.cron.includes('?'))
    return { ok: false, problem: 'cron' };
  try {
    return parse(schedule).nextRun(FIRST_DAY) === null
      ? { ok: false, problem: 'never' }
      : { ok: true, schedule };
  } catch {
    return { ok: false, problem: 'cron' };
  }
}

/**
 * The time of the run that a heartbeat at `from` leaves to be awaited, epoch milliseconds: the first run after it. A
 * heartbeat shortly before a run counts for that run, so the one after it is awaited.
 */
export function awaitedRun(schedule: HeartbeatSchedule, from: number): number {
  const next = runAfter(schedule, from);
  const following = runAfter(schedule, next);
  const earlyMs = Math.min(MAX_EARLY_MS, (following - next) * EARLY_PART);
  return next - from <= earlyMs ? following : next;
}

/** The longest time between two of eight consecutive runs, milliseconds. Computed once for each schedule. */
export function longestGap(schedule: HeartbeatSchedule): number {
  const known = gaps.get(schedule);
  if (known !== undefined) return known;
  const runs = cronOf(schedule).nextRuns(RUNS_FOR_GAP, FIRST_DAY);
  const gap = Math.max(
    0,
    ...runs.slice(1).map((run, index) => run.getTime() - (runs[index]?.getTime() ?? 0)),
  );
  gaps.set(schedule, gap);
  return gap;
}

const parsed = new WeakMap<HeartbeatSchedule, Cron>();
const gaps = new WeakMap<HeartbeatSchedule, number>();

function cronOf(schedule: HeartbeatSchedule): Cron {
  const known = parsed.get(schedule);
  if (known !== undefined) return known;
  const cron = parse(schedule);
  parsed.set(schedule, cron);
  return cron;
}

function parse({ cron, timezone }: HeartbeatSchedule): Cron {
  return new Cron(cron, { timezone, mode: '5-part', paused: true });
}

/** The first run after `from`, epoch milliseconds; beyond the last run that can be computed: never. */
function runAfter(schedule: HeartbeatSchedule, from: number): number {
  return cronOf(schedule).nextRun(new Date(from))?.getTime() ?? NEVER;
}

/** The latest time that a date can have, epoch milliseconds. */
const NEVER = 8.64e15;

/** The canonical name of a time zone; null: there is none with that name. */
export function readTimezone(name: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
