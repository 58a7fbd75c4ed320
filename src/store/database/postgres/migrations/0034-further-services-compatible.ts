/** Step 0047 of SQLite: services beside the first one of their host, to which heartbeats and badges by domain do not go. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE services ADD COLUMN further bigint NOT NULL DEFAULT 0'];
