/** A maintenance that an account announces, as a document: the form that files of `apply` and the API share. */
import { formatDuration, formatTime, parseDuration, readTime } from '../../domain/durations.ts';
import { readTimezone } from '../../domain/heartbeat/heartbeat-schedule.ts';
import { OWNER_MAINTENANCE_BOUNDS } from '../../domain/incident/owner-maintenance.ts';
import { momentOf, occurs, readRule } from '../../domain/incident/recurrence.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';
import type { NewOwnerMaintenance } from '../../store/ports/posts.ts';
import { accept, type Outcome, readAll, refuse } from '../kit/change.ts';
import { findSubjects, nameSubjects, type Subjects } from '../kit/post-subjects.ts';
import { readPostText, readPostTitle } from '../kit/post-text.ts';
import { createDocumentReader } from '../kit/read-document.ts';

/** A start that is earlier by less than this is now: forms have no seconds. */
const MAX_LATE_MS = 300_000;
const {
  subjects,
  titleCharacters,
  textCharacters,
  minDurationMs,
  maxDurationMs,
  maxRecurringMs,
  maxAheadMs,
} = OWNER_MAINTENANCE_BOUNDS;
const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: subjects, description }));

export const MaintenanceDocumentSchema = strictObject({
  title: Type.String({ minLength: 1, maxLength: titleCharacters }),
  text: Type.Optional(Type.String({ maxLength: textCharacters, description: 'In Markdown.' })),
  starts_at: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'The first start: ISO 8601, such as 2028-11-14T22:00:00Z, or on the clock of the time zone, such as 2028-11-14T22:00. Default: now.',
    }),
  ),
  duration: Type.String({
    maxLength: 20,
    description: 'Such as 90m or 2h; of a recurring one at most 1d.',
  }),
  time_zone: Type.Optional(
    Type.String({ maxLength: 64, description: 'Such as Europe/Berlin, in which it recurs. Default: UTC.' }),
  ),
  recurrence: Type.Optional(
    Type.String({
      maxLength: 300,
      description: 'A rule of iCalendar (RRULE), such as FREQ=WEEKLY;BYDAY=TU; at most daily. Default: once.',
    }),
  ),
  services: names('Slugs or domains of services of the account.'),
  pages: names('Slugs of status pages of the account; also the services of the account on them.'),
});

export type MaintenanceDocument = Static<typeof MaintenanceDocumentSchema>;

const readStructure = createDocumentReader<MaintenanceDocument>(MaintenanceDocumentSchema);

/** The start that a maintenance has had; null in it: any start may be past. Null: it is new. */
type Before = { readonly startsAt: number | null } | null;

export type ReadMaintenance = Omit<NewOwnerMaintenance, 'accountId' | 'siteUrl' | 'now'>;

/**
 * Reads a document. `before`: the maintenance that it changes, whose start may be past, or any start may be (null); null: it
 * is new.
 */
export async function readMaintenance(
  document: unknown,
  owned: Subjects,
  now: number,
  before: Before,
): Promise<Outcome<ReadMaintenance>> {
  const structure = readStructure(document);
  if (!structure.ok) return structure;
  const { title, text = '', duration, recurrence, services = [], pages = [] } = structure.value;
  const { time_zone: zone = 'UTC', starts_at: start } = structure.value;
  const timeZone = readTimezone(zone.trim());
  const rule = recurrence === undefined || recurrence.trim() === '' ? null : readRule(recurrence);
  const isRecurring = recurrence !== undefined && recurrence.trim() !== '';
  const reading = readAll({
    title: readPostTitle(title),
    text: await readPostText(text, 'text'),
    startsAt: readStart(start, timeZone ?? 'UTC', now, before),
    durationMs: readLength(duration, isRecurring ? maxRecurringMs : maxDurationMs),
    timeZone: timeZone === null ? refuse({ code: 'timezone_invalid' }, 'time_zone') : accept(timeZone),
    recurrence:
      isRecurring && rule === null ? refuse({ code: 'recurrence_invalid' }, 'recurrence') : accept(rule),
    subjects: findSubjects(owned, { services, pages }),
  });
  if (!reading.ok) return reading;
  const { text: texts, subjects: found, ...read } = reading.value;
  if (rule !== null && !(await occurs({ rule, startsAt: read.startsAt, timeZone: read.timeZone })))
    return refuse({ code: 'recurrence_invalid' }, 'recurrence');
  return accept({ ...read, ...texts, ...found });
}

export function maintenanceDocumentOf(
  maintenance: Omit<ReadMaintenance, 'plain'>,
  owned: Subjects,
): MaintenanceDocument {
  const { title, markdown, startsAt, durationMs, timeZone, recurrence } = maintenance;
  const { services, pages } = nameSubjects(owned, maintenance);
  return {
    title,
    ...(markdown === '' ? {} : { text: markdown }),
    starts_at: formatTime(startsAt),
    duration: formatDuration(durationMs),
    time_zone: timeZone,
    ...(recurrence === null ? {} : { recurrence }),
    ...(services.length === 0 ? {} : { services }),
    ...(pages.length === 0 ? {} : { pages }),
  };
}

function readStart(
  given: string | undefined,
  timeZone: string,
  now: number,
  before: Before,
): Outcome<number> {
  if (given === undefined) return accept(now);
  const wall = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)?$/.exec(given.trim());
  const onClock = wall === null ? null : readTime(`${wall[1]}${wall[2] ?? ':00'}Z`);
  const at = wall === null ? readTime(given.trim()) : onClock === null ? null : momentOf(onClock, timeZone);
  if (at === null || at > now + maxAheadMs) {
    const problem = {
      code: 'format',
      example: 'a time such as 2028-11-14T22:00:00Z, within two years',
    } as const;
    return refuse({ code: 'member_invalid', member: 'starts_at', problem }, 'starts_at');
  }
  if (before !== null && (before.startsAt === null || before.startsAt === at)) return accept(at);
  if (at < now - MAX_LATE_MS) return refuse({ code: 'maintenance_past' }, 'starts_at');
  return accept(Math.max(at, now));
}

function readLength(given: string, maxMs: number): Outcome<number> {
  const ms = parseDuration(given);
  return ms === null || ms < minDurationMs || ms > maxMs
    ? refuse({ code: 'maintenance_length', minMs: minDurationMs, maxMs }, 'duration')
    : accept(ms);
}
