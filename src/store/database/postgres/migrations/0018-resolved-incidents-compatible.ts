/** Step 0032 of SQLite: an index by which old incidents are found when they are out of retention. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE INDEX incidents_resolved ON incidents (resolved_at) WHERE status = 'resolved'`,
];
