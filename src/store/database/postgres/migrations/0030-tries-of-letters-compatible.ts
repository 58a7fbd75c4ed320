/** Step 0043 of SQLite: when letters were written and last tried. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE letters ADD COLUMN created_at bigint, ADD COLUMN tried_at bigint'];
