/** Step 0012 of the registry's tables: which process holds the writer lease, so that it can be told from others. */

/** Statements of the step, in order. */
export const LEASE_PROCESS = [`ALTER TABLE lease ADD COLUMN process TEXT`] as const;
