/** Which process holds the writer lease, beside its id. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE lease ADD COLUMN process TEXT`];
