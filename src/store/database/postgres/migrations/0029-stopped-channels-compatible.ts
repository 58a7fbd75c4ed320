/** Step 0042 of SQLite: channels whose receiver has stopped their e-mail. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE channels ADD COLUMN stopped_at bigint'];
