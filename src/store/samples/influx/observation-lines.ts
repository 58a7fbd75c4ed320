/** Transitions, incidents and heartbeats as lines of InfluxDB's line protocol; docs/influxdb.md describes tags and fields. */
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

/** Statuses as numbers, from good to bad, by which dashboards choose colours. */
const STATUS_NUMBERS: Readonly<Record<ServiceStatus, number>> = { up: 0, slow: 1, down: 2, unknown: 3 };

/** The names of a service in the tags of its points; null: it was removed. */
type LabelsOf = (serviceId: number) => Omit<ServiceLabels, 'serviceId'> | null;

/** The point of a transition, at the start of the new status. */
export function transitionLine(transition: Transition, labelsOf: LabelsOf): string {
  const { serviceId, slug, from, to, at, reason } = transition;
  const tags = tagsOf(serviceId, labelsOf, slug);
  const why = reason === null ? '' : `,reason=${quoteText(describeReason(reason))}`;
  return `upbeat_transition,${tags} from="${from}",to="${to}",status=${STATUS_NUMBERS[to]}i${why} ${at}`;
}

/**
 * The points of the updates of an incident at `from` (epoch milliseconds) or later. Each has a distinct time, which stays the
 * same whenever the incident is written again.
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

/** Formats the points of dependencies, if their owner has made them public. */
type DependencyLines = (heartbeat: ObservedHeartbeat) => string[];

/**
 * Creates the formatter. Each name is a series. Within a day a service may use only as many names as one heartbeat may have
 * (decisions, Heartbeats), so that an owner with random names cannot fill the server with series.
 */
export function createDependencyLines(): DependencyLines {
  /** By service: the last time of each name. */
  const namesOf = new Map<number, Map<string, number>>();

  const admit = (serviceId: number, name: string, at: number): boolean => {
    const names = namesOf.get(serviceId) ?? new Map<string, number>();
    namesOf.set(serviceId, names);
    if (!names.has(name) && names.size >= MAX_DEPENDENCIES) {
      for (const [other, usedAt] of names) if (usedAt < at - DAY_MS) names.delete(other);
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
  // Tags out of order cost the server a moment, which does not matter for the few points of a removed service.
  return `${slug === null ? '' : `service=${escapeTag(slug)},`}service_id=${serviceId}${more}`;
}

/**
 * Times of updates. Vendors publish whole seconds or minutes, and may update several incidents at once. Because points of one
 * series and time replace each other, milliseconds from the id of the incident tell them apart, in order of the updates.
 */
function timesOf({ id, source, updates }: Incident): number[] {
  const offset = source === 'vendor' ? createHash('sha256').update(id).digest().readUInt16BE() % 1_000 : 0;
  let last = Number.NEGATIVE_INFINITY;
  return updates.map(({ at }: IncidentUpdate) => {
    last = Math.max(at % 1_000 === 0 ? at + offset : at, last + 1);
    return last;
  });
}
