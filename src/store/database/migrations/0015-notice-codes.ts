/** Notices have a code with parameters beside their English text, so that pages show them in their own language. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE account_notices ADD COLUMN notice TEXT`];
