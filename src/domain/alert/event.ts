/** Events that alerts are made from: the registry appends one to an ordered feed in the transaction of each change. */
import type { Phase } from '../failure.ts';
import {
  beginningOf,
  type Incident,
  type IncidentStatus,
  type Severity,
  type StatusReason,
} from '../incident/incident.ts';
import type { Maintenance } from '../incident/maintenance.ts';
import { type CurrentStatus, isScopeTransition, type NewTransition, type Scope } from '../status/current.ts';
import type { ServiceStatus, Verdict } from '../status.ts';

export interface EventIncident {
  readonly id: string;
  /** `owner`: the owner of the service or page says so. */
  readonly source: 'own' | 'vendor' | 'owner';
  readonly title: string;
  readonly text: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Page of the incident. */
  readonly url: string;
}

export type AlertChange =
  | {
      readonly type: 'status';
      readonly from: ServiceStatus;
      readonly to: Verdict;
      /** Who found it: a check, a heartbeat, or that none came. */
      readonly source: 'check' | 'heartbeat' | 'silence';
      readonly reason: StatusReason | null;
      /** Null: it is not a failure of a check. */
      readonly phase: Phase | null;
      /** The last good check or heartbeat before it, epoch milliseconds; null: not known. */
      readonly lastGoodAt: number | null;
      /** Regions in which it fails; empty: at most one region checks. */
      readonly regions: readonly string[];
    }
  | {
      readonly type: 'scope';
      readonly from: Scope | null;
      readonly to: Scope | null;
      readonly regions: readonly string[];
    }
  | {
      readonly type: 'incident';
      /** Null: it is new. */
      readonly before: IncidentStatus | null;
      readonly incident: EventIncident;
    }
  | {
      readonly type: 'maintenance';
      /** The same in all events of one maintenance: of a recurring one, of one occurrence. */
      readonly id: string;
      /** `owner`: alerts about the service are held while it runs. */
      readonly source: 'vendor' | 'owner';
      readonly phase: 'planned' | 'running' | 'ended';
      readonly title: string;
      readonly text: string;
      readonly startsAt: number;
      readonly endsAt: number | null;
      readonly url: string;
    }
  | {
      readonly type: 'certificate';
      /** End of the certificate, epoch milliseconds. */
      readonly endsAt: number;
      /** The threshold that was reached: 21, 7 or 1. */
      readonly days: number;
    };

export interface AlertEvent {
  /** Position in the feed, from 1; increases, with gaps. */
  readonly position: number;
  readonly serviceId: number;
  /** The time at which it happened, epoch milliseconds: for `down` the start of the first failed attempt. */
  readonly at: number;
  /** The time at which it was written, epoch milliseconds. */
  readonly recordedAt: number;
  readonly change: AlertChange;
}

/** An event before it is appended to the feed. */
export type NewAlertEvent = Omit<AlertEvent, 'position'>;

/** Maximum number of characters of an incident's text in an event; its page has the rest. */
const MAX_TEXT = 2_000;

/** The event of a transition. `current`: the status after it; `lastGoodAt`: the last good check before it; null: not known. */
export function eventOfTransition(
  transition: NewTransition,
  { latest }: CurrentStatus,
  lastGoodAt: number | null,
): NewAlertEvent {
  const { serviceId, from, to, at, recordedAt, reason, scope } = transition;
  const regions = scope?.regions ?? [];
  if (isScopeTransition(transition)) {
    const change = { type: 'scope', from: scope?.from ?? null, to: scope?.to ?? null, regions } as const;
    return { serviceId, at, recordedAt, change };
  }
  const source = latest?.source === 'silence' || latest?.source === 'heartbeat' ? latest.source : 'check';
  const phase = to === 'up' ? null : (latest?.failure?.phase ?? null);
  return {
    serviceId,
    at,
    recordedAt,
    change: { type: 'status', from, to, source, reason, phase, lastGoodAt, regions },
  };
}

/**
 * The events of an incident that was written: one if it is new or its status has changed. None for an incident that was over
 * when it was first seen, nor for that of a vendor's maintenance, whose phases are told. `before`: its previous status; null:
 * it is new. `now`: epoch milliseconds. `hasNews`: an update was added, which is told although the status stays.
 */
export function eventsOfIncident(
  before: IncidentStatus | null,
  incident: Incident,
  now: number,
  hasNews = false,
): NewAlertEvent[] {
  const { serviceId, status, severity, startedAt, resolvedAt, updates } = incident;
  if (
    (status === before && !hasNews) ||
    severity === 'maintenance' ||
    (before === null && status === 'resolved')
  )
    return [];
  const at = before === null ? startedAt : (resolvedAt ?? updates.at(-1)?.at ?? now);
  const told = { type: 'incident', before, incident: toEventIncident(incident) } as const;
  return [{ serviceId, at, recordedAt: now, change: told }];
}

function toEventIncident({ updates, description, sourceUrl, ...incident }: Incident): EventIncident {
  const { id, source, title, severity, status, startedAt } = incident;
  // The page of an own incident lies below that of its service.
  const url = source === 'own' ? `${sourceUrl}/incidents/${encodeURIComponent(id)}` : sourceUrl;
  const text = beginningOf(updates.at(-1)?.text ?? description, MAX_TEXT);
  return { id, source, title, text, severity, status, startedAt, url };
}

/**
 * The events of a maintenance that was written: one if it is new or its phase has changed, none for one that was over
 * when it was first seen. `before`: its previous phase; null: it is new. `now`: epoch milliseconds.
 */
export function eventsOfMaintenance(
  before: Maintenance['phase'] | null,
  maintenance: Maintenance,
  now: number,
): NewAlertEvent[] {
  const { id, serviceId, phase, title, description: text, startsAt, endsAt, sourceUrl: url } = maintenance;
  if (phase === before || (before === null && phase === 'ended')) return [];
  const at = phase === 'running' ? Math.min(startsAt, now) : now;
  const source = maintenance.ownerId === undefined ? 'vendor' : 'owner';
  const told = { id, source, phase, title, text, startsAt, endsAt, url } as const;
  return [{ serviceId, at, recordedAt: now, change: { type: 'maintenance', ...told } }];
}
