/** The life of an incident that this monitor's own checks open (decisions, Incidents). */

import type { CurrentStatus } from './current.ts';
import { describeOutage } from './failure-text.ts';
import type { Incident, IncidentStatus, IncidentUpdate, Severity } from './incident.ts';
import type { Service } from './service.ts';
import { fullName } from './service.ts';

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
  /** Why it is down or slow, in one line; null: it is up. */
  readonly reason: string | null;
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
  const { service, current, reason, sourceUrl } = step;
  const startedAt = current.since ?? current.observedAt;
  const description = `${describeTrouble(step)}: ${reason ?? 'no reason is known'}.`;
  return {
    id: `own-${service.id}-${current.seq}`,
    serviceId: service.id,
    source: 'own',
    title: `${fullName(service)} ${isSilence(step) ? 'has gone silent' : describeOutage(current.latest?.failure ?? null)}`,
    description,
    severity: severityOf(step),
    status: 'investigating',
    startedAt,
    resolvedAt: null,
    sourceUrl,
    goodChecks: 0,
    updates: [{ at: startedAt, status: 'investigating', text: description }],
  };
}

function reopen(open: Incident, step: IncidentStep): Incident {
  const { current, reason } = step;
  const text = `${describeTrouble(step)} again: ${reason ?? 'no reason is known'}.`;
  const at = current.since ?? current.observedAt;
  return { ...move(open, 'investigating', at, text), goodChecks: 0 };
}

function isSilence({ current }: IncidentStep): boolean {
  return current.latest?.source === 'silence';
}

/** What is wrong, before the reason; a service that reports by itself is not checked by us. */
function describeTrouble({ service, current }: IncidentStep): string {
  const source = current.latest?.source;
  const reports = source === 'heartbeat' || source === 'silence';
  return reports ? `${service.domain} is down` : `Our checks of ${service.domain} fail`;
}

function recover(open: Incident, { service, current, reason }: IncidentStep): Incident {
  const at = current.latest?.checkedAt ?? current.observedAt;
  if (open.status !== 'monitoring') {
    const how = reason === null ? '' : `, though slowly: ${reason}`;
    return {
      ...move(open, 'monitoring', at, `${service.domain} answers again${how}. We watch it.`),
      goodChecks: 1,
    };
  }
  const goodChecks = open.goodChecks + 1;
  if (goodChecks < GOOD_CHECKS_TO_RESOLVE) return { ...open, goodChecks };
  const text = `${service.domain} has answered ${GOOD_CHECKS_TO_RESOLVE} checks in a row.`;
  const resolved = move(open, 'resolved', at, text);
  return { ...resolved, goodChecks: 0, resolvedAt: resolved.updates.at(-1)?.at ?? at };
}

/** Adds an entry to the timeline, never earlier than the one before. */
function move(open: Incident, status: IncidentStatus, at: number, text: string): Incident {
  const update: IncidentUpdate = { at: Math.max(at, open.updates.at(-1)?.at ?? at), status, text };
  const updates = [...open.updates, update];
  if (updates.length > MAX_UPDATES) updates.splice(1, updates.length - MAX_UPDATES);
  return { ...open, status, updates };
}
