/** Step 0044 of SQLite: bytes that the texts of owners' incidents and maintenances take. */

/** Statements of the step, in order. */
export const statements = [
  'ALTER TABLE owner_incidents ADD COLUMN text_bytes bigint NOT NULL DEFAULT 0',
  'ALTER TABLE owner_maintenances ADD COLUMN text_bytes bigint NOT NULL DEFAULT 0',
  `UPDATE owner_incidents SET text_bytes = octet_length(title || coalesce(post_mortem, '')) + coalesce(
     (SELECT sum(octet_length(markdown || plain)) FROM owner_updates WHERE incident_id = owner_incidents.id), 0)`,
  'UPDATE owner_maintenances SET text_bytes = octet_length(title || markdown || plain)',
];
