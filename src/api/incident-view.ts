/** An incident as JSON, with its schemas (contract 2.3). */
import { Type } from '@sinclair/typebox';
import { formatTime } from '../domain/durations.ts';
import { INCIDENT_STATUSES, type Incident, SEVERITIES } from '../domain/incident.ts';
import { named, nullable, strict, TimeSchema, words } from '../http/schema.ts';
import { ServiceNameSchema } from './service-view.ts';

const INCIDENT_MEMBERS = {
  id: Type.String({ description: 'Stable and unique over all sources.' }),
  title: Type.String(),
  description: Type.String({ description: 'Plain text.' }),
  severity: words(SEVERITIES),
  status: words(INCIDENT_STATUSES),
  started_at: TimeSchema,
  resolved_at: nullable(TimeSchema, 'Null while it is unresolved.'),
  source_url: Type.String({
    description: 'The entry that it comes from; for our own incidents the page of the service.',
  }),
};

/** An incident without its service. */
export const IncidentSchema = named('Incident', Type.Object(INCIDENT_MEMBERS, strict));

/** An incident with its service. */
export const IncidentOfServiceSchema = named(
  'IncidentOfService',
  Type.Object({ ...INCIDENT_MEMBERS, service: ServiceNameSchema }, strict),
);

/** An incident with its timeline. */
export const IncidentWithTimelineSchema = named(
  'IncidentWithTimeline',
  Type.Object(
    {
      ...INCIDENT_MEMBERS,
      source: words(['own', 'vendor'], "Our own checks, or the vendor's status page."),
      timeline: Type.Array(
        Type.Object({ at: TimeSchema, status: words(INCIDENT_STATUSES), text: Type.String() }, strict),
        { description: 'Every update, oldest first.' },
      ),
    },
    strict,
  ),
);

/** An incident without its service. */
export function viewIncident(incident: Incident): Readonly<Record<string, string | null>> {
  return {
    id: incident.id,
    title: incident.title,
    description: incident.description,
    severity: incident.severity,
    status: incident.status,
    started_at: formatTime(incident.startedAt),
    resolved_at: incident.resolvedAt === null ? null : formatTime(incident.resolvedAt),
    source_url: incident.sourceUrl,
  };
}

/** An incident with where it comes from and its timeline, oldest first. */
export function viewIncidentInFull(incident: Incident) {
  return {
    ...viewIncident(incident),
    source: incident.source,
    timeline: incident.updates.map(({ at, status, text }) => ({ at: formatTime(at), status, text })),
  };
}
