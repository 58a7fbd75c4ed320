/** When messages to channels were tried last. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE alert_messages ADD COLUMN tried_at INTEGER`];
