/** Step 0036 of SQLite: when messages to channels were tried last. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE alert_messages ADD COLUMN tried_at bigint`];
