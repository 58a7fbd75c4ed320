/**
 * Maintenance that accounts announce: its document, the form that files of `apply` and the API share; planned, changed, extended, ended
 * early and withdrawn (docs/maintenance.md).
 */
import { formatDuration, formatTime, parseDuration, readTime } from '../../domain/durations.ts';
import { readTimezone } from '../../domain/heartbeat/heartbeat-schedule.ts';
import {
  keptChanges,
  type Occurrence,
  OWNER_MAINTENANCE_BOUNDS,
  type OwnerMaintenance,
  occurrencesOf,
  ownerMaintenanceId,
  readOwnerMaintenanceId,
  withOccurrence,
} from '../../domain/incident/owner-maintenance.ts';
import { momentOf, occurs, readRule } from '../../domain/incident/recurrence.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';
import type { NewOwnerMaintenance, OwnerMaintenanceStore } from '../../store/ports/incidents.ts';
import { accept, attempt, type Outcome, type Principal, readAll, refuse } from '../kit/change.ts';
import { type ChangeTarget, createChanges } from '../kit/create-changes.ts';
import {
  findSubjects,
  nameSubjects,
  readPostText,
  readPostTitle,
  readSubjects,
  type SubjectStore,
  type Subjects,
} from '../kit/posts.ts';
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

type ReadMaintenance = Omit<NewOwnerMaintenance, 'accountId' | 'siteUrl' | 'now'>;

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

export interface MaintenanceContext {
  readonly registry: OwnerMaintenanceStore & SubjectStore;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  readonly now: () => number;
}

/** The changes of maintenances, which are known by ids such as `m201853664029137`. One that is removed is withdrawn: it ends now. */
export const maintenanceChanges = createChanges<
  OwnerMaintenance,
  string,
  MaintenanceDocument,
  ReadMaintenance,
  MaintenanceContext
>({
  mayChange: 'editor',
  codes: {
    missing: (id) => ({ code: 'no_maintenance', id: id.slice(0, 100) }),
    stale: 'maintenance_stale',
    at: {},
  },
  keyOf: ({ id }) => ownerMaintenanceId(id),
  list: ({ registry }, accountId) => registry.ownerMaintenancesOf(accountId),
  find: async ({ registry }, accountId, id) =>
    accountId === null
      ? null
      : await registry.findOwnerMaintenance(accountId, readOwnerMaintenanceId(id) ?? 0),
  async writer({ registry }, accountId) {
    const owned = await readSubjects(registry, accountId);
    return (maintenance) => maintenanceDocumentOf(maintenance, owned);
  },
  read: async ({ registry, now }, document, { accountId, before }) =>
    readMaintenance(document, await readSubjects(registry, accountId), now(), before),
  add: ({ registry, siteUrl, now }, accountId, wanted) =>
    attempt(() => registry.addOwnerMaintenance({ accountId, ...wanted, siteUrl, now: now() })),
  change: (context, before, wanted) =>
    put(context, { ...before, ...wanted, changes: keptChanges(before, wanted) }),
  async remove(context, before) {
    const outcome = await put(context, { ...before, cancelledAt: context.now() });
    return outcome.ok ? accept(undefined) : outcome;
  },
});

export const OccurrenceActionSchema = strictObject({
  action: Type.Unsafe<string>({
    type: 'string',
    enum: ['end', 'extend', 'skip'],
    description: 'Ends the running occurrence now, makes it longer, or cancels the next one.',
  }),
  by: Type.Optional(Type.String({ maxLength: 20, description: 'Of extend: such as 30m.' })),
});

const readAction = createDocumentReader<Static<typeof OccurrenceActionSchema>>(OccurrenceActionSchema);

/**
 * Ends or extends the occurrence that runs, or cancels the next one. Refused as `maintenanceChanges.patch`, and with
 * `no_running_maintenance`, `no_next_maintenance` and `maintenance_length`.
 */
export function changeOccurrence(
  context: MaintenanceContext,
  principal: Principal,
  target: ChangeTarget<string>,
  document: unknown,
): Promise<Outcome<OwnerMaintenance>> {
  return maintenanceChanges.change(context, principal, target, async (before) => {
    const structure = readAction(document);
    if (!structure.ok) return structure;
    const made = await withAction(before, structure.value, context.now());
    return made.ok ? await put(context, made.value) : made;
  });
}

async function withAction(
  before: OwnerMaintenance,
  { action, by = '' }: Static<typeof OccurrenceActionSchema>,
  now: number,
): Promise<Outcome<OwnerMaintenance>> {
  const ahead = await occurrencesOf(before, now, 2);
  if (action === 'skip') {
    const next = ahead.find(({ startsAt }) => startsAt > now);
    if (next === undefined) return refuse({ code: 'no_next_maintenance' });
    if (before.recurrence === null) return accept({ ...before, cancelledAt: now });
    return accept(withOccurrence(before, { startsAt: next.startsAt, endsAt: null }, now));
  }
  const running = ahead.find(({ startsAt }) => startsAt <= now);
  if (running === undefined) return refuse({ code: 'no_running_maintenance' });
  const { startsAt, endsAt } = running;
  if (action === 'end') return accept(withOccurrence(before, { startsAt, endsAt: now }, now));
  const { minDurationMs: minMs, maxDurationMs: maxMs } = OWNER_MAINTENANCE_BOUNDS;
  const longer = parseDuration(by);
  if (longer === null || longer <= 0 || endsAt + longer - startsAt > maxMs)
    return refuse({ code: 'maintenance_length', minMs, maxMs }, 'by');
  return accept(withOccurrence(before, { startsAt, endsAt: endsAt + longer }, now));
}

/** Stores a change. Refused with `maintenance_stale` and `no_maintenance`. */
async function put(
  { registry, now }: MaintenanceContext,
  after: OwnerMaintenance,
): Promise<Outcome<OwnerMaintenance>> {
  const outcome = await attempt(() => registry.putOwnerMaintenance(after, now()));
  return outcome.ok ? accept({ ...after, revision: after.revision + 1 }) : outcome;
}

/** A maintenance as its account sees it by the API. `next`: its next occurrences. */
export function viewMaintenance(
  { id, title, plain, createdAt }: OwnerMaintenance,
  definition: MaintenanceDocument,
  next: readonly Occurrence[],
  now: number,
) {
  return {
    id: ownerMaintenanceId(id),
    source: 'owner' as const,
    title,
    description: plain,
    definition,
    announced_at: formatTime(createdAt),
    next: next.map(({ startsAt, endsAt }) => ({
      state: startsAt <= now ? ('running' as const) : ('planned' as const),
      starts_at: formatTime(startsAt),
      ends_at: formatTime(endsAt),
    })),
  };
}
