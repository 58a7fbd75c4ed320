/** Bytes that the texts of owners' incidents and maintenances take. An earlier version that still runs does not count them. */

const bytes = (text: string) => `length(CAST(${text} AS BLOB))`;

/** Statements of the step, in order. */
export const statements = [
  'ALTER TABLE owner_incidents ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE owner_maintenances ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0',
  `UPDATE owner_incidents SET text_bytes = ${bytes("title || coalesce(post_mortem, '')")} + coalesce(
     (SELECT sum(${bytes('markdown || plain')}) FROM owner_updates WHERE incident_id = owner_incidents.id), 0)`,
  `UPDATE owner_maintenances SET text_bytes = ${bytes('title || markdown || plain')}`,
];
