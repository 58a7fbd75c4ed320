/** Samples, transitions, incidents and heartbeats as lines of InfluxDB's line protocol; docs/influxdb.md describes tags and fields. */
import { createHash } from 'node:crypto';
import { DAY_MS } from '../../../domain/durations.ts';
import { FAILURE_CLASSES } from '../../../domain/failure.ts';
import { MAX_DEPENDENCIES } from '../../../domain/heartbeat/heartbeat-body.ts';
import { describeReason, type Incident, type IncidentUpdate } from '../../../domain/incident/incident.ts';
import type { Sample } from '../../../domain/sample.ts';
import { isScopeTransition, type Transition } from '../../../domain/status/current.ts';
import type { ServiceStatus } from '../../../domain/status.ts';
import type { ObservedHeartbeat } from '../../ports/samples.ts';
import {
  CODE_SHIFT,
  codeOf,
  isSuspect,
  latencyOf,
  regionNumberOf,
  STRIDE,
  seriesOf,
  serviceOf,
  verdictOf,
} from '../encoding.ts';
import { MEASUREMENT, type ServiceLabels } from './influx-settings.ts';

/** Maximum length of a text field, UTF-16 units; InfluxDB accepts 64 KiB. */
const MAX_TEXT_LENGTH = 2_000;

/**
 * Creates a formatter of samples. Those of a service without a name are tagged with its number and region only. `regions`:
 * the regions in the order of their numbers, which the caller extends.
 */
export function createLineWriter(regions: readonly string[] = []) {
  const services = new Map<number, ServiceLabels>();
  /** The start of the lines of a series. */
  const prefixes = new Map<number, string>();

  const prefixOf = (series: number): string => {
    const serviceId = serviceOf(series);
    const labels = services.get(serviceId);
    const region = regions[regionNumberOf(series) - 1] ?? null;
    const tags = labels === undefined ? numberTags(serviceId, region) : serviceTags(labels, region);
    const prefix = `${MEASUREMENT},${tags}`;
    prefixes.set(series, prefix);
    return prefix;
  };

  return {
    /** Sets the names of services, before their first sample and when they change. */
    name(labels: readonly ServiceLabels[]): void {
      for (const one of labels) {
        services.set(one.serviceId, one);
        for (let number = 0; number <= regions.length; number++)
          prefixes.delete(seriesOf(one.serviceId, number));
      }
    },
    /** Lines of packed samples and of what {@link packDetails} packed of them, in order. Times are milliseconds. */
    write(packed: Float64Array, details: Float64Array | null): string[] {
      const lines: string[] = [];
      for (let at = 0; at < packed.length; at += STRIDE) {
        const series = packed[at] as number;
        const prefix = prefixes.get(series) ?? prefixOf(series);
        const detail = details === null ? '' : detailFields(details, at / STRIDE);
        lines.push(`${prefix} ${fieldsOf(packed[at + 2] as number)}${detail} ${packed[at + 1]}`);
      }
      return lines;
    },
  };
}

/** Fields of verdict, suspicion and status code: few values, which recur in every sample. */
const fieldCache = new Map<number, string>();

// A later point with the same time keeps the earlier value of a field that it lacks: `timed` tells whether `latency_ms` counts.
function fieldsOf(outcome: number): string {
  const key = Math.floor(outcome / CODE_SHIFT);
  let fields = fieldCache.get(key);
  if (fields === undefined) {
    fields = outcomeFields(outcome);
    fieldCache.set(key, fields);
  }
  const latency = latencyOf(outcome);
  return latency === -1 ? `${fields},timed=0i` : `${fields},latency_ms=${latency}i,timed=1i`;
}

function outcomeFields(outcome: number): string {
  const flag = (is: boolean) => (is ? '1i' : '0i');
  const [up, slow, down] = [0, 1, 2].map((verdict) => flag(verdictOf(outcome) === verdict));
  return `up=${up},slow=${slow},down=${down},suspect=${flag(isSuspect(outcome))},status_code=${codeOf(outcome)}i`;
}

/** Numbers that the details of a sample take: five phases, the days of the certificate, the class of the failure. */
const DETAIL_STRIDE = 7;
const PHASE_FIELDS = ['dns_ms', 'connect_ms', 'tls_ms', 'first_byte_ms', 'total_ms'] as const;
const CERTIFICATE_AT = PHASE_FIELDS.length;
const FAILURE_AT = CERTIFICATE_AT + 1;

/** Packs the details of samples for the thread, in order; NaN: it did not happen. Null: no sample has details. */
export function packDetails(samples: readonly Sample[]): Float64Array<ArrayBuffer> | null {
  if (!samples.some(({ detail }) => detail !== undefined)) return null;
  const packed = new Float64Array(samples.length * DETAIL_STRIDE).fill(Number.NaN);
  for (const [index, { at, detail }] of samples.entries()) {
    if (detail === undefined) continue;
    const { timing, certificateExpiresAt, failure } = detail;
    const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = timing;
    const from = index * DETAIL_STRIDE;
    for (const [place, ms] of [dnsMs, connectMs, tlsMs, firstByteMs, totalMs].entries())
      if (ms !== null) packed[from + place] = ms;
    if (certificateExpiresAt !== null)
      packed[from + CERTIFICATE_AT] = Math.floor((certificateExpiresAt - at) / DAY_MS);
    if (failure !== null) packed[from + FAILURE_AT] = FAILURE_CLASSES.indexOf(failure);
  }
  return packed;
}

/** The fields of the sample at `index`, each after a comma; empty: none is known. */
function detailFields(packed: Float64Array, index: number): string {
  const from = index * DETAIL_STRIDE;
  let fields = '';
  for (const [place, name] of PHASE_FIELDS.entries()) {
    const ms = packed[from + place] as number;
    // At most three decimals.
    if (!Number.isNaN(ms)) fields += `,${name}=${Math.round(ms * 1_000) / 1_000}`;
  }
  const days = packed[from + CERTIFICATE_AT] as number;
  if (!Number.isNaN(days)) fields += `,certificate_days=${days}i`;
  const failure = FAILURE_CLASSES[packed[from + FAILURE_AT] as number];
  return failure === undefined ? fields : `${fields},failure="${failure}"`;
}

/** The tags of a service, and of a region, sorted by key as the server recommends. */
function serviceTags({ serviceId, slug, category }: ServiceLabels, region: string | null = null): string {
  const place = region === null ? '' : `region=${escapeTag(region)},`;
  return `category=${escapeTag(category)},${place}service=${escapeTag(slug)},service_id=${serviceId}`;
}

/** The tags of a service whose names are not needed, and of a region; null: none. */
export function numberTags(serviceId: number, region: string | null): string {
  return `${region === null ? '' : `region=${escapeTag(region)},`}service_id=${serviceId}`;
}

/** The value of a tag, never empty. */
function escapeTag(value: string): string {
  // A backslash at the end would escape the comma after it; the protocol has no escape for it.
  const plain = onOneLine(value).replaceAll('\\', '/').trim();
  return plain === '' ? '-' : plain.replaceAll(/([,= ])/g, '\\$1');
}

function quoteText(value: string): string {
  const text = onOneLine(value).slice(0, MAX_TEXT_LENGTH).toWellFormed();
  return `"${text.replaceAll(/(["\\])/g, '\\$1')}"`;
}

/** A line never contains a line break, because the spool joins lines by them. */
function onOneLine(value: string): string {
  return value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}

/** Statuses as numbers, from good to bad, by which dashboards choose colours. */
const STATUS_NUMBERS: Readonly<Record<ServiceStatus, number>> = { up: 0, slow: 1, down: 2, unknown: 3 };

/** The names of a service in the tags of its points; null: it was removed. */
type LabelsOf = (serviceId: number) => Omit<ServiceLabels, 'serviceId'> | null;

/** The point of a transition, at the start of the new status, or of a change of scope alone. */
export function transitionLine(transition: Transition, labelsOf: LabelsOf): string {
  const { serviceId, slug, from, to, at, reason, scope } = transition;
  const tags = tagsOf(serviceId, labelsOf, slug);
  const why = reason === null ? '' : `,reason=${quoteText(describeReason(reason))}`;
  if (scope !== undefined && isScopeTransition(transition)) {
    const regions = quoteText(scope.regions.join(','));
    return `upbeat_scope,${tags} from="${scope.from ?? 'none'}",to="${scope.to ?? 'none'}",regions=${regions}${why} ${at}`;
  }
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
