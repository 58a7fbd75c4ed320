/** Services beside the first one of their host, to which heartbeats and badges by domain do not go. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE services ADD COLUMN further INTEGER NOT NULL DEFAULT 0'];
