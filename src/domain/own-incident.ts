/** The life of an incident that this monitor's own checks open (decisions, Incidents). */

import type { CurrentStatus } from './current.ts';
import type {
  Incident,
  IncidentNote,
  IncidentStatus,
  IncidentUpdate,
  OpeningNote,
  Outage,
  Severity,
  StatusReason,
} from './incident.ts';
import { describeOpening, noteOf } from './incident-text.ts';
import { fullName, type Service } from './service.ts';

/** Good checks in a row that end an incident: the one that moves it to `monitoring`, and two more. */
const GOOD_CHECKS_TO_RESOLVE = 3;

/** A service that flaps for weeks must not grow its timeline without end; the first and the newest entries stay. */
const MAX_UPDATES = 50;

/** A judged check, as an incident sees it. */
export interface IncidentStep {
  readonly service: Service;
  /** The service's record after the check. */
  readonly current: CurrentStatus;
  /** The check changed the status. */
  readonly changed: boolean;
  /** Why it is down or slow; null: it is up. */
  readonly reason: StatusReason | null;
  /** Page of the service on this site. */
  readonly sourceUrl: string;
  /** A vendor's maintenance of the service is at work at the time of the check. */
  readonly inMaintenance: boolean;
}

/**
 * The own incident after a check; null: the check changes nothing about it. `open` is the service's unresolved own
 * incident, null where there is none. One opens when the service turns down (`investigating`, `major`), goes to
 * `monitoring` at the first good check and to `resolved` after two more, and returns to `investigating` when the
 * service fails again before that. While it is down, its severity follows the vendor's maintenance: `maintenance`
 * within one, `major` where there is none, or where it was over and the service is still down.
 */
export function stepOwnIncident(open: Incident | null, step: IncidentStep): Incident | null {
  const { current } = step;
  if (current.status === 'down') {
    if (open === null) return step.changed ? openIncident(step) : null;
    const severity = severityOf(step);
    if (open.status === 'monitoring') return { ...reopen(open, step), severity };
    return open.severity === severity ? null : { ...open, severity };
  }
  return open === null || current.status === 'unknown' ? null : recover(open, step);
}

function severityOf({ inMaintenance }: IncidentStep): Severity {
  return inMaintenance ? 'maintenance' : 'major';
}

function openIncident(step: IncidentStep): Incident {
  const { service, current, sourceUrl } = step;
  const startedAt = current.since ?? current.observedAt;
  const note: OpeningNote = {
    code: 'opened',
    name: fullName(service),
    outage: outageOf(current),
    ...troubleOf(step),
  };
  const opening = noteOf(note);
  return {
    id: `own-${service.id}-${current.seq}`,
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

/** The kind of outage, from the class of the failure. */
function outageOf({ latest }: CurrentStatus): Outage {
  if (latest?.source === 'silence') return 'silent';
  switch (latest?.failure?.class) {
    case undefined:
    case 'body':
      return 'reports_failure';
    case 'status':
      return 'errors';
    case 'tls':
      return 'insecure';
    default:
      return 'unreachable';
  }
}

function reopen(open: Incident, step: IncidentStep): Incident {
  const { current } = step;
  const at = current.since ?? current.observedAt;
  const note: IncidentNote = { code: 'failing_again', ...troubleOf(step) };
  return { ...move(open, 'investigating', at, note), goodChecks: 0 };
}

/** What is wrong; a service that reports by itself is not checked by us. */
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

/** Adds an entry to the timeline, never earlier than the one before. */
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
