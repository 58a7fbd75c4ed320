/** The life of an incident that this monitor's own checks open (decisions, Incidents). */
import {
  describeOpening,
  type Incident,
  type IncidentNote,
  type IncidentStatus,
  type IncidentUpdate,
  noteOf,
  type OpeningNote,
  type Outage,
  type Severity,
  type StatusReason,
} from './incident/incident.ts';
import { fullName, type Service } from './service.ts';
import type { CurrentStatus } from './status/current.ts';

/** Number of good checks in a row that resolve an incident, including the one that moves it to `monitoring`. */
const GOOD_CHECKS_TO_RESOLVE = 3;

/** Maximum length of the timeline of a service that flaps for weeks; the first and the newest entries are kept. */
const MAX_UPDATES = 50;

/** A check that has been judged. */
interface IncidentStep {
  readonly service: Service;
  /** The status after the check. */
  readonly current: CurrentStatus;
  /** The check changed the status. */
  readonly changed: boolean;
  /** Why it is down or slow; null: it is up. */
  readonly reason: StatusReason | null;
  /** Page of the service on this site. */
  readonly sourceUrl: string;
  /** A vendor's maintenance of the service was in progress when the check began. */
  readonly inMaintenance: boolean;
  /** False: it is not known yet whether the service fails by itself. Absent: it does. */
  readonly isAlone?: boolean;
  /** The beginning of the outage, epoch milliseconds; absent: that of the status. */
  readonly startedAt?: number;
}

/**
 * The own incident after a check; null: the check does not change it. `open` is the service's unresolved own incident, or null. One
 * opens when the service goes down (`investigating`, `major`), goes to `monitoring` at the first good check and to `resolved` after
 * two more, and returns to `investigating` when the service fails again before that. While the service is down, the severity is
 * `maintenance` during a maintenance of the vendor, and `major` otherwise. While it may be down behind another one, none opens.
 */
export function stepOwnIncident(open: Incident | null, step: IncidentStep): Incident | null {
  const { current, isAlone = true } = step;
  if (current.status === 'down') {
    if (open === null) return step.changed && isAlone ? openIncident(step) : null;
    const severity = severityOf(step);
    if (open.status === 'monitoring') return isAlone ? { ...reopen(open, step), severity } : null;
    return open.severity === severity ? null : { ...open, severity };
  }
  return open === null || current.status === 'unknown' ? null : recover(open, step);
}

function severityOf({ inMaintenance }: IncidentStep): Severity {
  return inMaintenance ? 'maintenance' : 'major';
}

function openIncident(step: IncidentStep): Incident {
  const { service, current, sourceUrl } = step;
  const startedAt = step.startedAt ?? current.since ?? current.observedAt;
  const note: OpeningNote = {
    code: 'opened',
    name: fullName(service),
    outage: outageOf(current),
    ...troubleOf(step),
  };
  const opening = noteOf(note);
  return {
    id: ownIncidentId(service.slug, startedAt, current.seq),
    serviceId: service.id,
    source: 'own',
    title: describeOpening(note),
    description: opening.text,
    severity: severityOf(step),
    status: 'investigating',
    startedAt,
    resolvedAt: null,
    sourceUrl,
    goodChecks: 0,
    updates: [{ at: startedAt, status: 'investigating', ...opening }],
  };
}

/**
 * The id of an incident that a service with this slug has begun with the transition `seq`. It has no number of the service, which would tell
 * how many there are besides; a slug may belong to another service later, at another time.
 */
export function ownIncidentId(slug: string, startedAt: number, seq: number): string {
  return `own-${slug}-${startedAt.toString(36)}-${seq}`;
}

/** The kind of outage, from the class of the failure. */
function outageOf({ latest }: CurrentStatus): Outage {
  if (latest?.source === 'silence') return 'silent';
  switch (latest?.failure?.class) {
    case undefined:
    case 'body':
      return 'reports_failure';
    case 'status':
    case 'content':
      return 'errors';
    case 'tls':
      return 'insecure';
    default:
      return 'unreachable';
  }
}

function reopen(open: Incident, step: IncidentStep): Incident {
  const { current } = step;
  const at = step.startedAt ?? current.since ?? current.observedAt;
  const note: IncidentNote = { code: 'failing_again', ...troubleOf(step) };
  return { ...move(open, 'investigating', at, note), goodChecks: 0 };
}

/** The trouble of a service; those that send heartbeats are not checked by us. */
function troubleOf({ service, current, reason }: IncidentStep) {
  const source = current.latest?.source;
  return { domain: service.domain, isReported: source === 'heartbeat' || source === 'silence', reason };
}

function recover(open: Incident, { service, current, reason }: IncidentStep): Incident {
  const { domain } = service;
  const at = current.latest?.checkedAt ?? current.observedAt;
  if (open.status !== 'monitoring')
    return { ...move(open, 'monitoring', at, { code: 'recovering', domain, reason }), goodChecks: 1 };
  const goodChecks = open.goodChecks + 1;
  if (goodChecks < GOOD_CHECKS_TO_RESOLVE) return { ...open, goodChecks };
  const resolved = move(open, 'resolved', at, { code: 'resolved', domain, checks: GOOD_CHECKS_TO_RESOLVE });
  return { ...resolved, goodChecks: 0, resolvedAt: resolved.updates.at(-1)?.at ?? at };
}

/** Adds an entry to the timeline, not earlier than the one before. */
function move(open: Incident, status: IncidentStatus, at: number, note: IncidentNote): Incident {
  const update: IncidentUpdate = {
    at: Math.max(at, open.updates.at(-1)?.at ?? at),
    status,
    ...noteOf(note),
  };
  const updates = [...open.updates, update];
  if (updates.length > MAX_UPDATES) updates.splice(1, updates.length - MAX_UPDATES);
  return { ...open, status, updates };
}
