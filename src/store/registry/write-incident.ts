/** Writing an incident, new or changed, by one prepared statement. */
import type { DatabaseSync } from 'node:sqlite';
import type { Incident } from '../../domain/incident.ts';

/** Writes an incident by its id, inside the caller's transaction; that of an unknown service is dropped. */
export type WriteIncident = (incident: Incident) => void;

/** Prepares the statement over an open, migrated database. */
export function prepareIncidentWriter(database: DatabaseSync): WriteIncident {
  const put = database.prepare(
    `INSERT INTO incidents (id, service_id, source, title, description, severity, status, started_at, resolved_at,
       source_url, good_checks, updates, listed, verified)
     SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1 - removed, verified FROM services WHERE id = ?
     ON CONFLICT (id) DO UPDATE SET title = excluded.title, description = excluded.description,
       severity = excluded.severity, status = excluded.status, started_at = excluded.started_at,
       resolved_at = excluded.resolved_at, source_url = excluded.source_url, good_checks = excluded.good_checks,
       updates = excluded.updates`,
  );
  return (incident) => {
    put.run(
      incident.id,
      incident.source,
      incident.title,
      incident.description,
      incident.severity,
      incident.status,
      incident.startedAt,
      incident.resolvedAt,
      incident.sourceUrl,
      incident.goodChecks,
      JSON.stringify(incident.updates),
      incident.serviceId,
    );
  };
}
