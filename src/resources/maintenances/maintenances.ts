/** Maintenance that accounts announce: planned, changed, extended, ended early and withdrawn (docs/maintenance.md). */
import { formatTime, parseDuration } from '../../domain/durations.ts';
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
import { type Static, strictObject, Type } from '../../json-schema.ts';
import type { OwnerMaintenanceStore } from '../../store/ports/posts.ts';
import { accept, attempt, type Outcome, type Principal, refuse } from '../kit/change.ts';
import { type ChangeTarget, createChanges } from '../kit/create-changes.ts';
import { readSubjects, type SubjectStore } from '../kit/post-subjects.ts';
import { createDocumentReader } from '../kit/read-document.ts';
import {
  type MaintenanceDocument,
  maintenanceDocumentOf,
  type ReadMaintenance,
  readMaintenance,
} from './maintenance-document.ts';

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
