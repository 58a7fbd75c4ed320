/** Scheduled maintenance by a vendor or an owner, which is an incident while it lasts (decisions, Incidents). */
import { DAY_MS } from '../durations.ts';
import type { FeedMaintenance } from './feed-entry.ts';
import { type Incident, type IncidentUpdate, noteOf } from './incident.ts';
import { mergeListed, mergeUpdates } from './vendor-incident.ts';

const MAINTENANCE_PHASES = ['planned', 'running', 'ended'] as const;

export type MaintenancePhase = (typeof MAINTENANCE_PHASES)[number];

/** Maximum duration of a maintenance without an end, and of one that the vendor extends after its end. */
const MAX_UNKNOWN_MS = DAY_MS;

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
  /** The state in the vendor's feed at the last read; of an owner's `done` once it is withdrawn. */
  readonly reportedState: FeedMaintenance['state'];
  /** The phase at the last evaluation. */
  readonly phase: MaintenancePhase;
  readonly sourceUrl: string;
  /** Oldest first. */
  readonly updates: readonly IncidentUpdate[];
  /** ID of the owner's maintenance that it is an occurrence of; absent: a vendor announced it. */
  readonly ownerId?: number;
  /** See {@link FeedMaintenance.isElsewhere}. */
  readonly isElsewhere?: true;
  /** Of an owner's: when it was announced for the service, epoch milliseconds. */
  readonly announcedAt?: number;
}

/** The maintenance after a read of its feed; its phase is not updated yet. */
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
    reportedState: entry.state,
    phase: stored?.phase ?? 'planned',
    sourceUrl: entry.sourceUrl,
    updates,
    ...(entry.isElsewhere === true ? { isElsewhere: true } : {}),
  };
}

/** The phase at `now`. A maintenance starts by the clock even if the vendor reports its start later. */
export function phaseAt(maintenance: Maintenance, now: number): MaintenancePhase {
  const { startsAt, reportedState } = maintenance;
  if (reportedState === 'done') return 'ended';
  if (reportedState === 'planned' && now < startsAt) return 'planned';
  return now < lastsUntil(maintenance) ? 'running' : 'ended';
}

/** The time at which its phase changes by the clock alone, epoch milliseconds; null: never. */
export function nextPhaseAt(maintenance: Maintenance, now: number): number | null {
  const phase = phaseAt(maintenance, now);
  if (phase === 'planned') return maintenance.startsAt;
  return phase === 'running' ? lastsUntil(maintenance) : null;
}

function lastsUntil({ startsAt, endsAt, reportedState }: Maintenance): number {
  if (endsAt === null) return startsAt + MAX_UNKNOWN_MS;
  return reportedState === 'running' ? endsAt + MAX_UNKNOWN_MS : endsAt;
}

/** Returns true if the maintenance is in progress at `at`, so that failures are expected. */
export function isWithin(maintenance: Maintenance, at: number): boolean {
  const phase = phaseAt(maintenance, at);
  return phase === 'running' && (at >= maintenance.startsAt || maintenance.phase === 'running');
}

/** The incident of a maintenance at `now`; null: it has not begun, or was cancelled before. `stored` is its stored incident. */
export function maintenanceIncident(
  maintenance: Maintenance,
  stored: Incident | null,
  now: number,
): Incident | null {
  const phase = phaseAt(maintenance, now);
  const { startsAt, endsAt } = maintenance;
  const isCancelled = maintenance.reportedState === 'done' && endsAt !== null && endsAt < startsAt;
  if (stored === null && isCancelled) return null;
  const began = stored !== null || (phase !== 'planned' && (startsAt <= now || phase === 'running'));
  if (!began) return null;
  const startedAt = stored?.startedAt ?? Math.min(startsAt, now);
  const ended = phase === 'ended';
  const resolvedAt = ended ? Math.max(startedAt, stored?.resolvedAt ?? endOf(endsAt, now)) : null;
  return {
    id: maintenance.id,
    serviceId: maintenance.serviceId,
    source: maintenance.ownerId === undefined ? 'vendor' : 'owner',
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

/** The vendor's updates, with entries for the start and end if the vendor published none. */
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
