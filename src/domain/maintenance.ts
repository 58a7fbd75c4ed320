/** A vendor's scheduled maintenance: known ahead, an incident while it lasts (decisions, Incidents). */
import { DAY_MS } from './durations.ts';
import type { FeedMaintenance } from './feed-entry.ts';
import type { Incident, IncidentUpdate } from './incident.ts';
import { noteOf } from './incident-text.ts';
import { mergeListed, mergeUpdates } from './vendor-incident.ts';

/** Where a maintenance stands: told ahead, at work, over. */
export const MAINTENANCE_PHASES = ['planned', 'running', 'ended'] as const;

/** Where a maintenance stands. */
export type MaintenancePhase = (typeof MAINTENANCE_PHASES)[number];

/** How long a maintenance lasts at most where its vendor names no end, or says at its end that it still goes on. */
const MAX_UNKNOWN_MS = DAY_MS;

/** A maintenance of one service. */
export interface Maintenance {
  /** The id of its incident too. */
  readonly id: string;
  readonly serviceId: number;
  readonly title: string;
  readonly description: string;
  /** Epoch milliseconds. */
  readonly startsAt: number;
  /** Null: the vendor names no end. */
  readonly endsAt: number | null;
  /** The vendor's own word at the last read. */
  readonly told: FeedMaintenance['state'];
  /** Where it stood when it was last looked at. */
  readonly phase: MaintenancePhase;
  readonly sourceUrl: string;
  /** Oldest first. */
  readonly updates: readonly IncidentUpdate[];
}

/** The maintenance after a read of its feed; its phase is not yet looked at. */
export function maintenanceOf(
  stored: Maintenance | null,
  entry: FeedMaintenance,
  { id, serviceId }: { readonly id: string; readonly serviceId: number },
): Maintenance {
  const updates = mergeListed(stored?.updates ?? [], entry.updates);
  return {
    id,
    serviceId,
    title: entry.title,
    description: updates.findLast(({ text }) => text !== '')?.text ?? '',
    startsAt: entry.startsAt,
    endsAt: entry.endsAt,
    told: entry.state,
    phase: stored?.phase ?? 'planned',
    sourceUrl: entry.sourceUrl,
    updates,
  };
}

/** Where it stands at `now`. It starts by the clock even where the vendor is slow to say so. */
export function phaseAt(maintenance: Maintenance, now: number): MaintenancePhase {
  const { startsAt, told } = maintenance;
  if (told === 'done') return 'ended';
  if (told === 'planned' && now < startsAt) return 'planned';
  return now < lastsUntil(maintenance) ? 'running' : 'ended';
}

/** When its phase changes by the clock alone, epoch milliseconds; null: never. */
export function nextPhaseAt(maintenance: Maintenance, now: number): number | null {
  const phase = phaseAt(maintenance, now);
  if (phase === 'planned') return maintenance.startsAt;
  return phase === 'running' ? lastsUntil(maintenance) : null;
}

function lastsUntil({ startsAt, endsAt, told }: Maintenance): number {
  if (endsAt === null) return startsAt + MAX_UNKNOWN_MS;
  return told === 'running' ? endsAt + MAX_UNKNOWN_MS : endsAt;
}

/** Whether `at` lies within it: what fails then is expected to. */
export function isWithin(maintenance: Maintenance, at: number): boolean {
  const phase = phaseAt(maintenance, at);
  return phase === 'running' && (at >= maintenance.startsAt || maintenance.phase === 'running');
}

/**
 * Its incident at `now`; null: it has none, for it has not begun or was called off before. `stored` is the incident
 * that it has already.
 */
export function maintenanceIncident(
  maintenance: Maintenance,
  stored: Incident | null,
  now: number,
): Incident | null {
  const phase = phaseAt(maintenance, now);
  const { startsAt, endsAt } = maintenance;
  const calledOff = maintenance.told === 'done' && endsAt !== null && endsAt < startsAt;
  if (stored === null && calledOff) return null;
  const began = stored !== null || (phase !== 'planned' && (startsAt <= now || phase === 'running'));
  if (!began) return null;
  const startedAt = stored?.startedAt ?? Math.min(startsAt, now);
  const ended = phase === 'ended';
  const resolvedAt = ended ? Math.max(startedAt, stored?.resolvedAt ?? endOf(endsAt, now)) : null;
  return {
    id: maintenance.id,
    serviceId: maintenance.serviceId,
    source: 'vendor',
    title: maintenance.title,
    description: maintenance.description,
    severity: 'maintenance',
    status: ended ? 'resolved' : 'identified',
    startedAt,
    resolvedAt,
    sourceUrl: maintenance.sourceUrl,
    goodChecks: 0,
    updates: timelineOf(mergeUpdates(stored?.updates ?? [], maintenance.updates), startedAt, resolvedAt),
  };
}

function endOf(endsAt: number | null, now: number): number {
  return endsAt === null ? now : Math.min(endsAt, now);
}

/** What the vendor wrote, and its beginning and end where the vendor wrote nothing of them. */
function timelineOf(
  written: readonly IncidentUpdate[],
  startedAt: number,
  resolvedAt: number | null,
): IncidentUpdate[] {
  const marks: IncidentUpdate[] = [];
  if (!written.some(({ at }) => at >= startedAt))
    marks.push({ at: startedAt, status: 'identified', ...noteOf({ code: 'maintenance_began' }) });
  if (resolvedAt !== null && !written.some(({ status }) => status === 'resolved'))
    marks.push({ at: resolvedAt, status: 'resolved', ...noteOf({ code: 'maintenance_over' }) });
  return mergeUpdates(written, marks);
}
