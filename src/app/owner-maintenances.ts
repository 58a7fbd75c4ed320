/** Maintenance that owners announce: planned, changed, extended, ended early and withdrawn. */
import { formatDuration, formatTime, parseDuration, readTime } from '../domain/durations.ts';
import { readTimezone } from '../domain/heartbeat/heartbeat-schedule.ts';
import {
  keptChanges,
  type Occurrence,
  OWNER_MAINTENANCE_BOUNDS,
  type OwnerMaintenance,
  occurrencesOf,
  ownerMaintenanceId,
  readOwnerMaintenanceId,
  withOccurrence,
} from '../domain/incident/owner-maintenance.ts';
import { momentOf, occurs, readRule } from '../domain/incident/recurrence.ts';
import { type Static, Type } from '../json-schema.ts';
import {
  type AccountPrincipal,
  accept,
  attempt,
  type Outcome,
  refuse,
  refuseRole,
} from '../resources/kit/change.ts';
import { mergePatch } from '../resources/kit/merge-patch.ts';
import { createDocumentReader } from '../resources/kit/read-document.ts';
import { readAll } from '../resources/kit/read-input.ts';
import type { NewOwnerMaintenance, OwnersWordsStore } from '../store/ports/owners-words.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import { readOwnerText, readOwnerTitle } from './owner-text.ts';
import { findSubjects, nameSubjects, readSubjects, type Subjects } from './subjects.ts';

/** The dependencies of these changes. */
export interface OwnerMaintenanceContext {
  readonly registry: Pick<
    OwnersWordsStore,
    'addOwnerMaintenance' | 'findOwnerMaintenance' | 'putOwnerMaintenance'
  > &
    Pick<ServiceStore, 'servicesOf'> &
    Pick<PageStore, 'pagesOf'>;
  readonly siteUrl: string;
  readonly now: () => number;
}

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
const strict = { additionalProperties: false };
const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: subjects, description }));

/** A maintenance as its owner defines it. */
export const MaintenanceDocumentSchema = Type.Object(
  {
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
        description:
          'A rule of iCalendar (RRULE), such as FREQ=WEEKLY;BYDAY=TU; at most daily. Default: once.',
      }),
    ),
    services: names('Slugs or domains of services of the account.'),
    pages: names('Slugs of status pages of the account; also the services of the account on them.'),
  },
  strict,
);

/** A maintenance as a document. */
export type MaintenanceDocument = Static<typeof MaintenanceDocumentSchema>;

/** A change of one occurrence. */
export const OccurrenceActionSchema = Type.Object(
  {
    action: Type.Unsafe<string>({
      type: 'string',
      enum: ['end', 'extend', 'skip'],
      description: 'Ends the running occurrence now, makes it longer, or cancels the next one.',
    }),
    by: Type.Optional(Type.String({ maxLength: 20, description: 'Of extend: such as 30m.' })),
  },
  strict,
);

const readStructure = createDocumentReader<MaintenanceDocument>(MaintenanceDocumentSchema);
const readAction = createDocumentReader<Static<typeof OccurrenceActionSchema>>(OccurrenceActionSchema);

/** The start that a maintenance has had; null in it: any start may be past. Null: it is new. */
type Before = { readonly startsAt: number | null } | null;

/** What a document says. */
type Read = Omit<NewOwnerMaintenance, 'accountId' | 'siteUrl' | 'now'>;

/**
 * Announces a maintenance. Refused with `role_required`, `member_invalid`, `subject_missing`, `no_subject`, `maintenance_past`,
 * `maintenance_length`, `timezone_invalid`, `recurrence_invalid` and `too_many_maintenances`.
 */
export async function announceMaintenance(
  { registry, siteUrl, now }: OwnerMaintenanceContext,
  principal: AccountPrincipal,
  document: unknown,
): Promise<Outcome<OwnerMaintenance>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const at = now();
  const reading = await readMaintenance(document, await readSubjects(registry, accountId), at, null);
  if (!reading.ok) return reading;
  return await attempt(() => registry.addOwnerMaintenance({ accountId, ...reading.value, siteUrl, now: at }));
}

/**
 * Changes a maintenance by a merge patch of its document. Refused with `no_maintenance`, `maintenance_stale`, and as
 * {@link announceMaintenance}. `revisions`: those that the client has seen; null: any.
 */
export async function changeMaintenance(
  context: OwnerMaintenanceContext,
  principal: AccountPrincipal,
  id: string,
  patch: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<OwnerMaintenance>> {
  return await change(context, principal, id, revisions, async (before, owned) => {
    const document = mergePatch(maintenanceDocumentOf(before, owned), patch);
    const reading = await readMaintenance(document, owned, context.now(), before);
    if (!reading.ok) return reading;
    return accept({ ...before, ...reading.value, changes: keptChanges(before, reading.value) });
  });
}

/** Withdraws a maintenance; one that runs ends now. Refused as {@link changeMaintenance}. */
export async function withdrawMaintenance(
  context: OwnerMaintenanceContext,
  principal: AccountPrincipal,
  id: string,
  revisions: readonly number[] | null,
): Promise<Outcome<OwnerMaintenance>> {
  return await change(context, principal, id, revisions, async (before) =>
    accept({ ...before, cancelledAt: context.now() }),
  );
}

/**
 * Ends or extends the occurrence that runs, or cancels the next one. Refused with `no_running_maintenance`,
 * `no_next_maintenance`, and as {@link changeMaintenance}.
 */
export async function changeOccurrence(
  context: OwnerMaintenanceContext,
  principal: AccountPrincipal,
  id: string,
  document: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<OwnerMaintenance>> {
  const structure = readAction(document);
  if (!structure.ok) return structure;
  const { action, by = '' } = structure.value;
  return await change(context, principal, id, revisions, async (before) => {
    const now = context.now();
    const ahead = await occurrencesOf(before, now, 2);
    if (action === 'skip') {
      const next = ahead.find(({ startsAt }) => startsAt > now);
      if (next === undefined) return refuse({ code: 'no_next_maintenance' });
      if (before.recurrence === null) return accept({ ...before, cancelledAt: now });
      return accept(withOccurrence(before, { startsAt: next.startsAt, endsAt: null }, now));
    }
    const running = ahead.find(({ startsAt }) => startsAt <= now);
    if (running === undefined) return refuse({ code: 'no_running_maintenance' });
    if (action === 'end')
      return accept(withOccurrence(before, { startsAt: running.startsAt, endsAt: now }, now));
    const longer = parseDuration(by);
    const lasts = running.endsAt + (longer ?? 0) - running.startsAt;
    if (longer === null || longer <= 0 || lasts > maxDurationMs)
      return refuse({ code: 'maintenance_length', minMs: minDurationMs, maxMs: maxDurationMs }, 'by');
    return accept(
      withOccurrence(before, { startsAt: running.startsAt, endsAt: running.startsAt + lasts }, now),
    );
  });
}

/**
 * Reads a document. `before`: the maintenance that it changes, whose start may be past, or any start may be (null); null: it
 * is new.
 */
export async function readMaintenance(
  document: unknown,
  owned: Subjects,
  now: number,
  before: Before,
): Promise<Outcome<Read>> {
  const structure = readStructure(document);
  if (!structure.ok) return structure;
  const { title, text = '', duration, recurrence, services = [], pages = [] } = structure.value;
  const { time_zone: zone = 'UTC', starts_at: start } = structure.value;
  const timeZone = readTimezone(zone.trim());
  const rule = recurrence === undefined || recurrence.trim() === '' ? null : readRule(recurrence);
  const isRecurring = recurrence !== undefined && recurrence.trim() !== '';
  const reading = readAll({
    title: readOwnerTitle(title),
    said: await readOwnerText(text, 'text'),
    startsAt: readStart(start, timeZone ?? 'UTC', now, before),
    durationMs: readLength(duration, isRecurring ? maxRecurringMs : maxDurationMs),
    timeZone: timeZone === null ? refuse({ code: 'timezone_invalid' }, 'time_zone') : accept(timeZone),
    recurrence:
      isRecurring && rule === null ? refuse({ code: 'recurrence_invalid' }, 'recurrence') : accept(rule),
    subjects: findSubjects(owned, { services, pages }),
  });
  if (!reading.ok) return reading;
  const { said, subjects: found, ...read } = reading.value;
  if (rule !== null && !(await occurs({ rule, startsAt: read.startsAt, timeZone: read.timeZone })))
    return refuse({ code: 'recurrence_invalid' }, 'recurrence');
  return accept({ ...read, ...said, ...found });
}

/** The document of a maintenance. */
export function maintenanceDocumentOf(said: Omit<Read, 'plain'>, owned: Subjects): MaintenanceDocument {
  const { services, pages } = nameSubjects(owned, said);
  return {
    title: said.title,
    ...(said.markdown === '' ? {} : { text: said.markdown }),
    starts_at: formatTime(said.startsAt),
    duration: formatDuration(said.durationMs),
    time_zone: said.timeZone,
    ...(said.recurrence === null ? {} : { recurrence: said.recurrence }),
    ...(services.length === 0 ? {} : { services }),
    ...(pages.length === 0 ? {} : { pages }),
  };
}

/** A maintenance as its account sees it by the API. `next`: its next occurrences. */
export function viewOwnerMaintenance(
  said: OwnerMaintenance,
  owned: Subjects,
  next: readonly Occurrence[],
  now: number,
) {
  return {
    id: ownerMaintenanceId(said.id),
    source: 'owner' as const,
    title: said.title,
    description: said.plain,
    definition: maintenanceDocumentOf(said, owned),
    announced_at: formatTime(said.createdAt),
    next: next.map(({ startsAt, endsAt }) => ({
      state: startsAt <= now ? ('running' as const) : ('planned' as const),
      starts_at: formatTime(startsAt),
      ends_at: formatTime(endsAt),
    })),
  };
}

async function change(
  { registry, now }: OwnerMaintenanceContext,
  principal: AccountPrincipal,
  id: string,
  revisions: readonly number[] | null,
  make: (before: OwnerMaintenance, owned: Subjects) => Promise<Outcome<OwnerMaintenance>>,
): Promise<Outcome<OwnerMaintenance>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const missing = refuse({ code: 'no_maintenance', id: id.slice(0, 100) });
  const before = await registry.findOwnerMaintenance(accountId, readOwnerMaintenanceId(id) ?? 0);
  if (before === null) return missing;
  if (revisions !== null && !revisions.includes(before.revision))
    return refuse({ code: 'maintenance_stale' });
  const made = await make(before, await readSubjects(registry, accountId));
  if (!made.ok) return made;
  const put = await attempt(() => registry.putOwnerMaintenance(made.value, now()));
  if (!put.ok) return put;
  if (put.value === 'changed') return accept({ ...made.value, revision: before.revision + 1 });
  return put.value === 'stale' ? refuse({ code: 'maintenance_stale' }) : missing;
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
