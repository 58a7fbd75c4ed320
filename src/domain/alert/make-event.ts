/** Makes the events of alerts from the changes that the registry writes. */
import { beginningOf, type Incident, type IncidentStatus } from '../incident/incident.ts';
import type { Maintenance } from '../incident/maintenance.ts';
import type { CurrentStatus, NewTransition } from '../status/current.ts';
import { isScopeTransition } from '../status/current.ts';
import type { AlertEvent, EventIncident } from './event.ts';

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
