/** How an incident looks in the API (contract 2.3). */
import { formatTime } from '../domain/durations.ts';
import type { Incident } from '../domain/incident.ts';
import type { Service } from '../domain/service.ts';

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

/** The service of an incident, as it stands beside it. */
export function viewIncidentService({ name, slug }: Service): {
  readonly name: string;
  readonly slug: string;
} {
  return { name, slug };
}
