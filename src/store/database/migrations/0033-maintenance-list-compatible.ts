/** An index of the maintenance that vendors and owners announced, for the page of all maintenance. */

/** Statements of the step, in order. Incidents of owners have the source `vendor`, too. */
export const statements = [
  `CREATE INDEX incidents_maintenance ON incidents (started_at DESC, id)
     WHERE listed = 1 AND verified = 1 AND severity = 'maintenance' AND source = 'vendor'`,
];
