/** Changes, incidents and heartbeats as lines of InfluxDB's protocol; docs/influxdb.md describes tags and fields. */

import { createHash } from 'node:crypto';
import type { Transition } from '../../../domain/current.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import { MAX_DEPENDENCIES } from '../../../domain/heartbeat-body.ts';
import type { Incident, IncidentUpdate } from '../../../domain/incident.ts';
import { describeReason } from '../../../domain/incident-text.ts';
import type { ServiceStatus } from '../../../domain/status.ts';
import type { ObservedHeartbeat } from '../../ports/observations.ts';
import type { ServiceLabels } from './influx-settings.ts';
import { escapeTag, quoteText, serviceTags } from './line-protocol.ts';

/** A status as a number, from good to bad; dashboards colour by it. */
const STATUS_NUMBERS: Readonly<Record<ServiceStatus, number>> = { up: 0, slow: 1, down: 2, unknown: 3 };

/** The names of a service as they stand beside its points; null: it is gone. */
export type LabelsOf = (serviceId: number) => Omit<ServiceLabels, 'serviceId'> | null;

/** The point of a transition, at the time when the new status began. */
export function transitionLine(transition: Transition, labelsOf: LabelsOf): string {
  const { serviceId, slug, from, to, at, reason } = transition;
  const tags = tagsOf(serviceId, labelsOf, slug);
  const why = reason === null ? '' : `,reason=${quoteText(describeReason(reason))}`;
  return `upbeat_transition,${tags} from="${from}",to="${to}",status=${STATUS_NUMBERS[to]}i${why} ${at}`;
}

/**
 * The points of an incident's timeline, one an update, of those at `from` (epoch milliseconds) or later. Each has a time
 * of its own, and the same one whenever the incident is written again.
 */
export function incidentLines(incident: Incident, labelsOf: LabelsOf, from: number): string[] {
  const { id, serviceId, source, title, severity } = incident;
  const tags = tagsOf(serviceId, labelsOf, null, `,source=${source}`);
  const what = `incident_id=${quoteText(id)},title=${quoteText(title)}`;
  const times = timesOf(incident);
  return incident.updates.flatMap(({ status }, index) => {
    const at = times[index] ?? 0;
    return at < from
      ? []
      : [`upbeat_incident,${tags} ${what},status="${status}",severity="${severity}" ${at}`];
  });
}

/** The point of a heartbeat. */
export function heartbeatLine({
  service,
  at,
  status,
  responseTimeMs,
  dependencies,
}: ObservedHeartbeat): string {
  const failing = (dependencies ?? []).filter((one) => one.status === 'down').length;
  const counts = `checks=${dependencies?.length ?? 0}i,checks_failing=${failing}i`;
  const time = responseTimeMs === null ? '' : `,response_ms=${responseTimeMs}i`;
  const tags = serviceTags({ serviceId: service.id, slug: service.slug, category: service.category });
  return `upbeat_heartbeat,${tags} status=${STATUS_NUMBERS[status]}i,${counts}${time} ${at}`;
}

/** Writes the points of dependencies, which their owner must have made public. */
export type DependencyLines = (heartbeat: ObservedHeartbeat) => string[];

/**
 * Makes the writer. Each name is a series: of a service, at most as many within a day are written as one heartbeat may
 * have (decisions, Heartbeats), so that an owner who makes up names cannot fill the server with series.
 */
export function createDependencyLines(): DependencyLines {
  /** By service: when each name was last told. */
  const namesOf = new Map<number, Map<string, number>>();

  const admit = (serviceId: number, name: string, at: number): boolean => {
    const names = namesOf.get(serviceId) ?? new Map<string, number>();
    namesOf.set(serviceId, names);
    if (!names.has(name) && names.size >= MAX_DEPENDENCIES) {
      for (const [other, toldAt] of names) if (toldAt < at - DAY_MS) names.delete(other);
      if (names.size >= MAX_DEPENDENCIES) return false;
    }
    names.set(name, at);
    return true;
  };

  return ({ service, at, dependencies }) => {
    if (service.publicDependencies !== true) {
      namesOf.delete(service.id);
      return [];
    }
    return (dependencies ?? []).flatMap(({ name, status, latencyMs }) => {
      if (!admit(service.id, name, at)) return [];
      const tags = `dependency=${escapeTag(name)},service=${escapeTag(service.slug)},service_id=${service.id}`;
      const latency = latencyMs === null ? '' : `,latency_ms=${latencyMs}i`;
      return [`upbeat_dependency,${tags} ok=${status === 'down' ? 0 : 1}i${latency} ${at}`];
    });
  };
}

function tagsOf(serviceId: number, labelsOf: LabelsOf, slug: string | null, more = ''): string {
  const labels = labelsOf(serviceId);
  if (labels !== null) return serviceTags({ serviceId, slug: labels.slug, category: labels.category }) + more;
  // A tag out of order costs the server a moment, which the few points of a removed service may.
  return `${slug === null ? '' : `service=${escapeTag(slug)},`}service_id=${serviceId}${more}`;
}

/**
 * Vendors tell whole seconds or minutes, and may move several incidents in one. Two points of one series and time would
 * be one: milliseconds made of the incident's id tell them apart, and each update stands behind the one before.
 */
function timesOf({ id, source, updates }: Incident): number[] {
  const offset = source === 'vendor' ? createHash('sha256').update(id).digest().readUInt16BE() % 1_000 : 0;
  let last = Number.NEGATIVE_INFINITY;
  return updates.map(({ at }: IncidentUpdate) => {
    last = Math.max(at % 1_000 === 0 ? at + offset : at, last + 1);
    return last;
  });
}
